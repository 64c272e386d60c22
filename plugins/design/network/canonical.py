"""Canonical forms: equal for two networks if and only if these are isomorphic.

References
----------
B. D. McKay and A. Piperno, Practical graph isomorphism, II, Journal of Symbolic Computation 60
(2014), https://doi.org/10.1016/j.jsc.2013.09.003.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import pynauty

from .ports import Ports, links_of


def canonical_form(ports: Ports, marks: Sequence[bool] | None = None) -> bytes:
    """Return the canonical form of a network; redundant links count.

    With ``marks``, one per node, only isomorphisms that map marked nodes to marked ones count.
    Redundant links become vertices, one in the middle of each bundle, coloured by their number.
    """
    nodes = len(ports)
    joined: defaultdict[int, list[int]] = defaultdict(list)
    bundles: defaultdict[int, list[int]] = defaultdict(list)
    vertices = nodes
    for (a, b), count in sorted(Counter(links_of(ports)).items()):
        if count == 1:
            joined[a].append(b)
        else:
            joined[vertices] = [a, b]
            bundles[count].append(vertices)
            vertices += 1
    marked = {node for node in range(nodes) if marks is not None and marks[node]}
    parts = [set(range(nodes)) - marked, marked, *map(set, (bundles[c] for c in sorted(bundles)))]
    graph = pynauty.Graph(
        vertices, adjacency_dict=dict(joined), vertex_coloring=[part for part in parts if part]
    )
    sizes = repr((len(marked), [(count, len(bundles[count])) for count in sorted(bundles)]))
    certificate: bytes = pynauty.certificate(graph)
    return sizes.encode() + certificate
