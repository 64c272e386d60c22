"""Short representations of the model's classes, and their methods that show or convert them.

The methods call ``cchybrid.view``, which imports the model and not the other way round; so its
modules are imported by name, when a method is used.
"""

from importlib import import_module
from typing import Any

from cchybrid.model.whole_numbers import whole


def call_view(module: str, function: str, *values: Any) -> Any:
    """Return the result of a function of ``cchybrid.view``."""
    return getattr(import_module(f"cchybrid.view.{module}"), function)(*values)


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "step"), counted(4032, "message")
    ('1 step', '4,032 messages')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def counted_steps(instance: Any, number: int) -> str:
    """Return a number of steps with its noun, by what steps are, and with the time of ticks."""
    text = counted(number, {"steps": "step", "slots": "slot", "ticks": "tick"}[instance.horizon])
    tick = instance.network.tick
    return text if tick is None else f"{text} ({float(number * tick):,.6g} us)"


class ShownNetwork:
    """The methods of a network that show it."""

    def __repr__(self: Any) -> str:
        size = f"{counted(self.nodes, 'node')}, {counted(len(self.channels), 'channel')}"
        return f"<Network {self.name!r}: {size}>"

    def to_networkx(self) -> Any:
        """Return the network as a graph of NetworkX, which ``cchybrid.network`` reads again.

        Returns
        -------
        networkx.DiGraph
            Its nodes are the names of the nodes, or their numbers if they have none, with the
            attributes ``endpoint``, ``switch`` and ``pos``; an edge for every channel, with
            ``capacity`` and ``half_duplex``.

        Examples
        --------
        >>> import cchybrid
        >>> graph = cchybrid.network("mesh-2x2").to_networkx()
        >>> sorted(graph.edges)[:3]
        [(0, 1), (0, 2), (1, 0)]
        """
        return call_view("frames", "network_graph", self)

    def plot(self) -> Any:
        """Draw the network.

        Returns
        -------
        matplotlib.figure.Figure
            Jupyter shows it; ``savefig`` writes it to a file.

        Raises
        ------
        InputError
            The network is too large, or matplotlib is not installed.

        Examples
        --------
        >>> import cchybrid
        >>> figure = cchybrid.network("mesh-2x2").plot()
        """
        return call_view("plot", "draw", self)


class ShownInstance:
    """The short representation of an instance."""

    def __repr__(self: Any) -> str:
        network, collective = self.network, self.collective
        return (
            f"<Instance {self.name!r}: {counted(network.nodes, 'node')}, "
            f"{counted(len(network.channels), 'channel')}, "
            f"{counted(len(collective.messages), 'message')}, {self.model.switching}>"
        )


class ShownCollective:
    """The short representation of a collective."""

    def __repr__(self: Any) -> str:
        size = counted(len(self.messages), "message")
        return f"<Collective {self.name!r}: {size} to {self.kind}>"


class ShownBound:
    """The short representation of a lower bound."""

    def __repr__(self: Any) -> str:
        kind = self.evidence.get("kind", "no evidence")
        return f"<LowerBound: {counted(self.steps, 'step')}, {kind}>"


class ShownSchedule:
    """The methods of a schedule that show or convert it."""

    def __repr__(self: Any) -> str:
        transfers = sum(map(len, self.steps))
        return (
            f"<Schedule of {self.instance.name!r}: {counted(len(self.steps), 'step')}, "
            f"{counted(transfers, 'transfer')}>"
        )

    def _repr_html_(self) -> str:
        return str(call_view("notebook", "schedule_html", self))

    def to_frame(self) -> Any:
        """Return the schedule as a table of pandas, a line per message, step and channel.

        Returns
        -------
        pandas.DataFrame
            ``message``; ``step``, from 1; ``source`` and ``target``, the two ends of the transfer;
            ``tail`` and ``head``, the two ends of the channel; and the names of these four nodes.
            Lines are in the order of the steps, and along every path.

        Raises
        ------
        InputError
            Pandas is not installed.

        Examples
        --------
        >>> import cchybrid
        >>> schedule = cchybrid.solve("mesh-2x2", "broadcast").schedule
        >>> schedule.to_frame().groupby("step").message.count().sum()
        np.int64(3)
        """
        return call_view("frames", "schedule_frame", self)

    def to_networkx(self) -> Any:
        """Return the network as a graph of NetworkX whose edges say when they are used.

        Returns
        -------
        networkx.DiGraph
            As ``Network.to_networkx``; every edge has further ``steps``, the steps (from 1) in
            which it is used, and ``messages``, per use the step and the message.

        Examples
        --------
        >>> import cchybrid
        >>> graph = cchybrid.solve("mesh-2x2", "allgather").schedule.to_networkx()
        >>> set(graph.edges[0, 1]["steps"]) <= {1, 2}
        True
        """
        return call_view("frames", "schedule_graph", self)

    def utilisation(self) -> Any:
        """Return the number of messages on every channel in every step.

        Returns
        -------
        Utilisation
            ``uses`` and ``capacity``, integer arrays of the shape (channels, steps); and
            ``channels``, the two nodes of the channel of every row, by name.

        Raises
        ------
        InputError
            The schedule uses a channel that the network does not have.

        Examples
        --------
        >>> import cchybrid
        >>> found = cchybrid.solve("mesh-2x2", "allgather").schedule.utilisation()
        >>> found.uses.shape, found.channels[0]
        ((8, 2), ('0', '1'))
        """
        return call_view("frames", "utilisation", self)

    def plot(self, step: int | None = None) -> Any:
        """Draw one step, or all of them beside each other.

        Parameters
        ----------
        step
            The number of the step, from 1; by default all.

        Returns
        -------
        matplotlib.figure.Figure
            Jupyter shows it; ``savefig`` writes it to a file.

        Raises
        ------
        InputError
            No such step, an invalid schedule, or matplotlib is not installed.

        Examples
        --------
        >>> import cchybrid
        >>> figure = cchybrid.solve("mesh-2x2", "allgather").schedule.plot(step=1)
        """
        return call_view("plot", "draw", self, None if step is None else whole(step, "step"))
