"""The table of constructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .context import Context, Draft
from .diagonal_exchange import diagonal_exchange
from .dimensional_trees import dimensional_trees
from .disjoint_trees import disjoint_trees
from .dominating_sets import dominating_sets
from .hypercubes import binomial_tree, double_tree, xor_exchange
from .packing import packed_scatter
from .recursive_doubling import recursive_doubling
from .relayed_exchange import relayed_exchange
from .rings import ring_pipeline, two_way_ring
from .sequential_tree import sequential_tree
from .shared_switches import shared_switches
from .translated_exchange import translated_exchange


class Construction(NamedTuple):
    """A construction: its name, a line about it, and the function that makes it.

    The function raises ``DoesNotApplyError`` where it is not for the instance.
    """

    name: str
    summary: str
    make: Callable[[Context], Draft]


CONSTRUCTIONS = (
    Construction(
        "binomial-tree",
        "broadcast on hypercubes, one port: log2 n steps (Sullivan, Bashkow 1977)",
        binomial_tree,
    ),
    Construction(
        "double-tree",
        "broadcast on hypercubes, all ports: d / 2 steps (McKinley, Trefftz 1993)",
        double_tree,
    ),
    Construction(
        "xor-exchange",
        "scatter on hypercubes: a label and its complement per step, e-cube routing",
        xor_exchange,
    ),
    Construction(
        "diagonal-exchange",
        "scatter on square tori of an even side n: n^3 / 8 steps, all channels full",
        diagonal_exchange,
    ),
    Construction(
        "dimensional-trees",
        "broadcast on grids, one port: doubling along each dimension (Barnett et al. 1993)",
        dimensional_trees,
    ),
    Construction(
        "disjoint-trees",
        "all-to-all broadcast over translations of one time-arc-disjoint tree (Tvrdík 1997)",
        disjoint_trees,
    ),
    Construction(
        "two-way-ring",
        "all-to-all broadcast both ways round a ring of paths: n / 2 steps (Saad, Schultz 1989)",
        two_way_ring,
    ),
    Construction(
        "ring",
        "all-to-all broadcast round a ring of paths: n - 1 steps, optimal with one port",
        ring_pipeline,
    ),
    Construction(
        "sequential-tree",
        "anything: sources send one by one over shortest paths (separate addressing)",
        sequential_tree,
    ),
    Construction(
        "dominating-sets",
        "broadcast over subgroups of translations (Ho, Kao 1995; Tsai, McKinley 1997)",
        dominating_sets,
    ),
    Construction(
        "translated-exchange",
        "all-to-all on Cayley networks: paths that translations carry to all nodes of an orbit",
        translated_exchange,
    ),
    Construction(
        "relayed-exchange",
        "store-and-forward all-to-all on Cayley networks: as many hops per step as fit",
        relayed_exchange,
    ),
    Construction(
        "shared-switches",
        "all-to-all between terminals, as many at each switch: that of the switches, repeated",
        shared_switches,
    ),
    Construction(
        "packed-scatter",
        "scatter on anything: longest paths first, each into the first step with a way for it",
        packed_scatter,
    ),
    Construction(
        "recursive-doubling",
        "broadcasts on anything: all that are informed inform others (McKinley et al. 1995)",
        recursive_doubling,
    ),
)
"""All of them: what is made at once, then what always applies, then what has to be sought."""
