"""Methods of networks and schedules that show them: tables, graphs, figures.

They call the package ``view``, which is imported only then: the model must not depend on it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from cchybrid.model.network import Network
    from cchybrid.model.schedule import Schedule


class ShownNetwork:
    """What a network looks like."""

    def to_networkx(self: Network) -> nx.DiGraph:  # type: ignore[misc]
        """Return the network as a directed graph, from which ``cchybrid.network`` makes it again.

        Nodes are the names if the network has some, otherwise numbers. The attributes are those of
        graph files (``docs/formats.md``).

        Examples
        --------
        >>> import cchybrid
        >>> graph = cchybrid.network("mesh-2x2").to_networkx()
        >>> sorted(graph.successors(0)), graph.edges[0, 1]
        ([1, 2], {'capacity': 1})
        """
        graph: nx.DiGraph = _view("frames").network_graph(self)
        return graph

    def plot(self: Network) -> Figure:  # type: ignore[misc]
        """Return a figure of the network (needs matplotlib: ``pip install 'cchybrid[draw]'``).

        Examples
        --------
        >>> import cchybrid
        >>> figure = cchybrid.network("mesh-2x2").plot()
        """
        figure: Figure = _view("drawing.figures").draw_network(self)
        return figure


class ShownSchedule:
    """What a schedule looks like."""

    def to_frame(self: Schedule) -> pd.DataFrame:  # type: ignore[misc]
        """Return a table with one row for every channel that a message uses in a step.

        Columns: ``step`` (from 1), ``message`` (its number), ``source`` and ``target`` of the
        transfer, ``hop`` (from 1), ``tail`` and ``head`` of the channel. Nodes are names if the
        network has some, otherwise numbers. Needs pandas: ``pip install 'cchybrid[report]'``.

        Examples
        --------
        >>> import cchybrid
        >>> schedule = cchybrid.solve(cchybrid.instance("ring-uni-3", "AAS")).schedule
        >>> frame = schedule.to_frame()
        >>> len(frame), sorted(frame.step.unique())
        (9, [1, 2, 3])
        """
        frame: pd.DataFrame = _view("frames").schedule_frame(self)
        return frame

    def to_networkx(self: Schedule) -> nx.DiGraph:  # type: ignore[misc]
        """Return the network as a directed graph whose edges have an attribute ``steps``.

        It lists ``(step, message)`` for every use of the channel, in order.

        Examples
        --------
        >>> import cchybrid
        >>> schedule = cchybrid.solve(cchybrid.instance("ring-uni-3", "OAB")).schedule
        >>> schedule.to_networkx().edges[0, 1]["steps"]
        [(1, 0)]
        """
        graph: nx.DiGraph = _view("frames").schedule_graph(self)
        return graph

    def utilisation(self: Schedule) -> NDArray[np.float64]:  # type: ignore[misc]
        """Return the share of every channel's capacity that is used in every step.

        Returns
        -------
        numpy.ndarray
            Array of shape (channels, steps), 0 to 1; rows in the order of
            ``instance.network.channels``. The two channels of a half-duplex pair share one
            capacity, so their rows add up to at most 1.

        Examples
        --------
        >>> import cchybrid
        >>> schedule = cchybrid.solve(cchybrid.instance("ring-uni-3", "AAS")).schedule
        >>> schedule.utilisation().mean()
        np.float64(1.0)
        """
        shares: NDArray[np.float64] = _view("frames").utilisation(self)
        return shares

    def plot(self: Schedule, step: int | None = None) -> Figure:  # type: ignore[misc]
        """Return a figure of all steps, or of one (from 1).

        Needs matplotlib: ``pip install 'cchybrid[draw]'``.

        Examples
        --------
        >>> import cchybrid
        >>> schedule = cchybrid.solve(cchybrid.instance("ring-uni-3", "AAS")).schedule
        >>> figure = schedule.plot(step=1)
        """
        figures = _view("drawing.figures")
        figure: Figure = figures.draw_steps(self) if step is None else figures.draw_step(self, step)
        return figure

    def _repr_html_(self: Schedule) -> str:  # type: ignore[misc]
        text: str = _view("html").schedule_html(self)
        return text


def _view(name: str) -> Any:
    return import_module(f"cchybrid.view.{name}")
