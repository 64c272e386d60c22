"""Networks from adjacency matrices and from lists of channels."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cchybrid.library.graphs import read_graph
from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError
from cchybrid.model.network import MAX_NODES

if TYPE_CHECKING:  # importing numpy takes long
    import networkx as nx
    import numpy as np

_WHERE = "the matrix"


def read_matrix(matrix: Any, name: str) -> Network:
    """Return the network of an adjacency matrix: entry (a, b) is the capacity from a to b.

    Parameters
    ----------
    matrix
        A NumPy array (masked entries are 0), or a sparse matrix or array of SciPy, of shape
        (nodes, nodes), with whole numbers from 0 and zeros on the diagonal.

    Raises
    ------
    InputError
        Another shape, or other entries.

    Examples
    --------
    >>> import numpy as np
    >>> read_matrix(np.array([[0, 2], [1, 0]]), "pair").channels
    (Channel(source=0, target=1, capacity=2), Channel(source=1, target=0, capacity=1))
    """
    rows, columns, values = _cells(matrix)
    sizes = _whole(values)
    channels = []
    cells_in_order = sorted(
        zip(rows.tolist(), columns.tolist(), sizes, strict=True), key=lambda cell: cell[:2]
    )
    for a, b, size in cells_in_order:
        if a == b or size is None:
            what = f"node {a} is linked to itself" if a == b else f"entry ({a}, {b}) is no capacity"
            raise InputError(
                what, where=_WHERE, hint="use whole numbers from 0, and 0 on the diagonal"
            )
        channels.append(Channel(a, b, size))
    return Network(name, int(matrix.shape[0]), tuple(channels))


def read_bandwidths(matrix: Any) -> "nx.DiGraph":
    """Return the graph of a matrix of bandwidths in GB/s; 0 stands for no channel."""
    import networkx as nx

    cells = (each.tolist() for each in _cells(matrix))
    graph = nx.DiGraph(name="matrix")
    graph.add_nodes_from(range(matrix.shape[0]))
    graph.add_weighted_edges_from(zip(*cells, strict=True), weight="bandwidth")
    return graph


def _cells(matrix: Any) -> "tuple[Any, Any, np.ndarray[Any, Any]]":
    """Return the rows, columns and values of the entries of a square matrix other than 0."""
    import numpy as np

    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1] or not 0 < shape[0] <= MAX_NODES:
        raise InputError(
            f"its shape is {shape}", where=_WHERE, hint="give one row and one column per node"
        )
    if hasattr(matrix, "tocsr"):
        cells = matrix.tocoo()
        kept = np.flatnonzero(cells.data)
        return cells.row[kept], cells.col[kept], np.asarray(cells.data)[kept]
    dense = np.asarray(matrix.filled(0) if isinstance(matrix, np.ma.MaskedArray) else matrix)
    rows, columns = np.nonzero(dense)
    return rows, columns, dense[rows, columns]


def _whole(values: "np.ndarray[Any, Any]") -> list[int | None]:
    """Return the entries as capacities; ``None`` where an entry is none."""
    sizes: list[int | None] = []
    for value in values.tolist():
        try:
            size = int(value)
            sizes.append(size if size == value and 0 < size < 1 << 31 else None)
        except (TypeError, ValueError, OverflowError):
            sizes.append(None)
    return sizes


def read_channels(pairs: Iterable[Any], name: str) -> Network:
    """Return the network of directed channels: pairs ``(a, b)`` or triples ``(a, b, capacity)``.

    Raises
    ------
    InputError
        An item is no pair or triple, or a node is linked to itself.

    Examples
    --------
    >>> read_channels([(0, 1), (1, 0, 3)], "pair").channels
    (Channel(source=0, target=1, capacity=1), Channel(source=1, target=0, capacity=3))
    """
    import networkx as nx

    graph = nx.MultiDiGraph()
    for number, pair in enumerate(pairs):
        where = f"item {number} of the list"
        try:
            # A set has no order.
            a, b, *rest = list(pair) if not isinstance(pair, (str, set, frozenset)) else []
            graph.add_edge(a, b, **({"capacity": rest[0]} if rest else {}))
        except (TypeError, ValueError):
            rest = [None, None]
        if len(rest) > 1:
            raise InputError(
                f"{str(pair)[:40]!r} is no channel",
                where=where,
                hint="write (from, to) or (from, to, capacity)",
            )
    return read_graph(graph, name).network
