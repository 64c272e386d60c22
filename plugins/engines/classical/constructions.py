"""The table of constructions."""

from collections.abc import Callable

from .context import AnyDraft, Context
from .coset_exchange import coset_exchange
from .diagonal_exchange import diagonal_exchange
from .dimensional_trees import dimensional_trees
from .disjoint_trees import disjoint_trees
from .dominating_sets import dominating_sets
from .hypercubes import binomial_tree, double_tree
from .offset_exchange import offset_exchange
from .packing import packed_scatter
from .quadrant_exchange import quadrant_exchange
from .recursive_doubling import recursive_doubling
from .relayed_exchange import relayed_exchange
from .rings import bidirectional_ring, ring_pipeline
from .sequential_tree import sequential_tree
from .shared_switches import shared_switches
from .switched_exchange import switched_exchange
from .switched_trees import switched_trees
from .translated_exchange import translated_exchange

CONSTRUCTIONS: dict[str, Callable[[Context], AnyDraft]] = {
    # broadcast on hypercubes, one port: log2 n steps (Sullivan, Bashkow 1977)
    "binomial-tree": binomial_tree,
    # broadcast on hypercubes, all ports: d / 2 steps (McKinley, Trefftz 1993)
    "double-tree": double_tree,
    # scatter on hypercubes and HyperX: a coset of offsets per step, dimension by dimension
    "offset-exchange": offset_exchange,
    # scatter on square tori of an even side n: n^3 / 8 steps, all channels full
    "diagonal-exchange": diagonal_exchange,
    # scatter on meshes of even sides: as few steps as the channels in the middle allow
    "quadrant-exchange": quadrant_exchange,
    # broadcast on grids, one port: doubling along each dimension (Barnett et al. 1993)
    "dimensional-trees": dimensional_trees,
    # all-to-all broadcast over translations of one time-arc-disjoint tree (Tvrdík 1997)
    "disjoint-trees": disjoint_trees,
    # all-to-all broadcast on switches: one tree, mapped by translations to all participants
    "switched-trees": switched_trees,
    # all-to-all on switches: the paths of one participant, mapped by translations to all
    "switched-exchange": switched_exchange,
    # all-to-all broadcast in both directions of a ring of paths: n / 2 steps (Saad, Schultz 1989)
    "two-way-ring": bidirectional_ring,
    # all-to-all broadcast round a ring of paths: n - 1 steps, optimal with one port
    "ring": ring_pipeline,
    # any collective: sources send one by one over shortest paths (separate addressing)
    "sequential-tree": sequential_tree,
    # broadcast over subgroups of translations (Ho, Kao 1995; Tsai, McKinley 1997)
    "dominating-sets": dominating_sets,
    # scatter on tori whose sides have large common divisors: as many steps as the busiest channel
    # carries messages (compare Varvarigos, Bertsekas 1992)
    "coset-exchange": coset_exchange,
    # all-to-all on Cayley networks: paths mapped by translations to all nodes of an orbit
    "translated-exchange": translated_exchange,
    # store-and-forward all-to-all on Cayley networks: as many hops per step as fit
    "relayed-exchange": relayed_exchange,
    # all-to-all between terminals, equally many per switch: that of the switches, repeated
    "shared-switches": shared_switches,
    # scatter on any network: longest paths first, each into the first step where it fits
    "packed-scatter": packed_scatter,
    # broadcasts on any network: all informed nodes inform others (McKinley et al. 1995)
    "recursive-doubling": recursive_doubling,
}
"""The constructions by name: immediate ones first, then the general one, then those with a search.

A construction raises ``DoesNotApplyError`` if it does not apply to the instance.
"""
