"""Coordinates for networks that have none: circles, layers, and distances in the plane.

References
----------
- E. R. Gansner, Y. Koren, S. North, Graph drawing by stress majorization, Graph Drawing 2004,
  doi:10.1007/978-3-540-31843-9_25
- U. Brandes, C. Pich, Eigensolver methods for progressive multidimensional scaling of large data,
  Graph Drawing 2006, doi:10.1007/978-3-540-70904-6_6
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cchybrid.library.topologies import layouts
from cchybrid.model import Network

Points = NDArray[np.float64]
Links = list[list[int]]

MAX_STRESS = 400
"""Nodes up to which all distances are brought into the plane."""
MAX_PIVOTS = 20_000
"""Nodes up to which the distances from some are."""
PIVOTS = 50
ROUNDS = 300
SWEEPS = 8


def computed_positions(network: Network) -> Points:
    """Return coordinates of shape (nodes, 2) from the links alone; neighbours a unit apart."""
    links: Links = [[] for _ in range(network.nodes)]
    for a, b in sorted({(min(c[:2]), max(c[:2])) for c in network.channels}):
        links[a].append(b)
        links[b].append(a)
    points = np.zeros((network.nodes, 2))
    left = bottom = height = 0.0
    components = _components(links)
    shelf = 2.0 * math.sqrt(network.nodes)
    for nodes in components:
        own = _component(network, links, nodes) if len(nodes) > 1 else np.zeros((1, 2))
        own = own - own.min(axis=0)
        width, tall = own.max(axis=0)
        if left and left + width > max(shelf, np.ptp(points[components[0], 0])):
            left, bottom, height = 0.0, bottom - height - 1, 0.0
        points[nodes] = own + np.array((left, bottom - tall))
        left, height = left + width + 1, max(height, tall)
    return points


def _components(links: Links) -> list[list[int]]:
    """Return the nodes of the connected components, the largest first."""
    seen = [False] * len(links)
    found = []
    for start in range(len(links)):
        if not seen[start]:
            nodes = list(_depths(links, [start]))
            for node in nodes:
                seen[node] = True
            found.append(sorted(nodes))
    return sorted(found, key=lambda nodes: (-len(nodes), nodes))


def _depths(links: Sequence[Sequence[int]], starts: Iterable[int]) -> dict[int, int]:
    """Return the distance of every node that can be reached from the nearest start, in order."""
    depth = dict.fromkeys(starts, 0)
    queue = list(depth)
    for node in queue:
        for neighbour in links[node]:
            if neighbour not in depth:
                depth[neighbour] = depth[node] + 1
                queue.append(neighbour)
    return depth


def _component(network: Network, links: Links, nodes: list[int]) -> Points:
    """Return the coordinates of the nodes of one component, in their order."""
    index = {node: number for number, node in enumerate(nodes)}
    inner = [[index[neighbour] for neighbour in links[node]] for node in nodes]
    size, ends = len(nodes), sum(map(len, inner))
    if ends == size * (size - 1):
        return np.array(layouts.circle(size))
    layers = _layers(network, nodes)
    if layers is not None:
        ordered = _fewest_crossings([[index[node] for node in layer] for layer in layers], inner)
        across = _rows(ordered, size)
        return across if network.symmetric else np.column_stack((across[:, 1], -across[:, 0]))
    if size <= MAX_STRESS:
        return _level(_stress(_distances(inner, range(size))), inner)
    if size <= MAX_PIVOTS:
        return _level(_pivot_scaling(inner), inner)
    side = math.isqrt(size - 1) + 1
    return np.array([divmod(number, side) for number in range(size)], dtype=np.float64)


def _layers(network: Network, nodes: list[int]) -> list[list[int]] | None:
    """Return the nodes by distance from the endpoints, if all channels join adjacent layers."""
    ends = sorted(set(network.endpoints).intersection(nodes))
    depth = _depths(network.successors, ends)
    if not ends or len(depth) < len(nodes):
        return None
    last = max(depth.values())
    for source in nodes:
        for target in network.successors[source]:
            back_to_ends = depth[source] == last and depth[target] == 0
            if abs(depth[source] - depth[target]) != 1 and not back_to_ends:
                return None
    layers: list[list[int]] = [[] for _ in range(last + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    return layers


def _fewest_crossings(layers: list[list[int]], links: Links) -> list[list[int]]:
    """Return the layers reordered by the means of the neighbours' places; the shortest links win.

    Sweeps in both directions, as in K. Sugiyama, S. Tagawa, M. Toda (1981).
    """
    size = len(links)
    best, shortest = layers, _length(layers, links, size)
    for _ in range(SWEEPS):
        for order in (range(1, len(layers)), range(len(layers) - 2, -1, -1)):
            layers = [list(layer) for layer in layers]
            for number in order:
                other = layers[number - 1 if order.step > 0 else number + 1]
                place = {node: (rank + 0.5) / len(other) for rank, node in enumerate(other)}
                keys = {}
                for rank, node in enumerate(layers[number]):
                    known = [place[neighbour] for neighbour in links[node] if neighbour in place]
                    keys[node] = round(sum(known) / len(known), 9) if known else 0.5, rank
                layers[number].sort(key=keys.__getitem__)
            length = _length(layers, links, size)
            if length < shortest - 1e-9:
                best, shortest = layers, length
    return best


def _length(layers: list[list[int]], links: Links, size: int) -> float:
    across = _rows(layers, size)[:, 0]
    return float(sum(abs(across[a] - across[b]) for a in range(size) for b in links[a]))


def _rows(layers: list[list[int]], size: int) -> Points:
    """Return points in rows from the bottom up, all as wide as the widest."""
    widest = max(map(len, layers))
    points = np.zeros((size, 2))
    for row, layer in enumerate(layers):
        for rank, node in enumerate(layer):
            points[node] = (rank + 0.5) * widest / len(layer), row * max(1.0, widest / 8)
    return points


def _distances(links: Links, starts: Iterable[int]) -> NDArray[np.float64]:
    """Return the distances in links, a row per start."""
    rows = []
    for start in starts:
        row = np.zeros(len(links))
        depth = _depths(links, [start])
        row[list(depth)] = list(depth.values())
        rows.append(row)
    return np.array(rows)


def _stress(distances: NDArray[np.float64]) -> Points:
    """Return points whose distances come close to the given ones, near ones weighing more."""
    size = len(distances)
    points = _scaling(distances)
    # Points that coincide would stay together for ever.
    spiral = np.arange(size) * math.pi * (3 - math.sqrt(5))
    points = points + 0.05 * np.column_stack((np.cos(spiral), np.sin(spiral)))
    weights = 1 / (distances + np.eye(size)) ** 2 - np.eye(size)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(ROUNDS):
        lines = points[:, None, :] - points[None, :, :]
        length = np.hypot(lines[..., 0], lines[..., 1])
        pull = np.divide(weights * distances, length, out=np.zeros_like(length), where=length > 0)
        moved = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ points
        shift = np.abs(moved - points).max()
        points = moved
        if shift < 1e-4:
            break
    return points


def _scaling(distances: NDArray[np.float64]) -> Points:
    """Return the plane of classical multidimensional scaling, from any starts to all nodes."""
    squares = distances**2
    inner = squares.mean(axis=0) + squares.mean(axis=1)[:, None] - squares - squares.mean()
    product = inner.T @ inner
    # Symmetric networks have equal eigenvalues: without a small difference between the nodes,
    # the rounding of the machine would choose among their eigenvectors.
    scale = float(np.trace(product)) / len(product) or 1.0
    product = product + np.diag(np.linspace(0.0, 1e-3 * scale, len(product)))
    values, vectors = np.linalg.eigh(product)
    values, vectors = values[:-3:-1].clip(0), vectors[:, :-3:-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), range(vectors.shape[1])])
    return np.asarray(vectors * (values**0.5 / 2) ** 0.5)


def _pivot_scaling(links: Links) -> Points:
    """Return the plane of the distances from some nodes that are far from each other."""
    rows = [_distances(links, [0])[0]]
    while len(rows) < PIVOTS:
        rows.append(_distances(links, [int(np.min(rows, axis=0).argmax())])[0])
    distances = np.array(rows)
    squares = distances**2
    inner = squares.mean(axis=0) + squares.mean(axis=1)[:, None] - squares - squares.mean()
    vectors = np.linalg.eigh(inner @ inner.T)[1][:, :-3:-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), range(2)])
    points = inner.T @ vectors
    near = [np.hypot(*(points[a] - points[b])) for a, row in enumerate(links) for b in row]
    return np.asarray(points / (np.median(near) or 1.0))


def _level(points: Points, links: Links) -> Points:
    """Return the points rotated so that links are level or upright, and no taller than wide."""
    ends = np.array([(a, b) for a, row in enumerate(links) for b in row if a < b])
    lines = points[ends[:, 1]] - points[ends[:, 0]]
    angles = np.arctan2(lines[:, 1], lines[:, 0])
    candidates = np.linspace(0, math.pi / 2, 180, endpoint=False)
    skew = np.abs(np.sin(2 * (angles[:, None] - candidates[None, :]))).sum(axis=0)
    best = float(candidates[skew.round(6).argmin()])
    for angle in (best, best + math.pi / 2):
        cosine, sine = math.cos(angle), math.sin(angle)
        level = points @ np.array([[cosine, -sine], [sine, cosine]])
        if np.ptp(level[:, 0]) >= np.ptp(level[:, 1]) - 1e-6:
            break
    return np.asarray(level)
