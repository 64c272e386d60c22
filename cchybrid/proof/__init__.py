"""Finders of lower bounds and of proofs; what they find, ``checker`` checks independently."""

from cchybrid.proof.records import BoundInfo

BOUNDS = (
    BoundInfo(
        "growth",
        "cchybrid.proof.growth:growth_bounds",
        "the informed set grows no faster than its ports and channels allow",
        order=10,
    ),
    BoundInfo(
        "cut",
        "cchybrid.proof.cut:cut_bounds",
        "what enters a node, a neighbourhood or all but it, over what can enter in a step",
        order=20,
    ),
    BoundInfo(
        "regions",
        "cchybrid.proof.regions:region_bounds",
        "growth on both sides of a cut that carries only so much per step (few messages)",
        order=25,
    ),
    BoundInfo(
        "prices",
        "cchybrid.proof.flow:price_bounds",
        "dual prices of the arc-flow linear program, checked exactly (scatter-like collectives)",
        order=30,
    ),
    BoundInfo(
        "flow-cut",
        "cchybrid.proof.flow:flow_cut_bounds",
        "cuts along the channels that the linear program prices",
        order=40,
    ),
    BoundInfo(
        "farkas",
        "cchybrid.proof.farkas:farkas_bounds",
        "dual of the time-expanded relaxation, checked exactly (messages that spread)",
        order=50,
    ),
)
"""The kinds that ship with cchybrid, cheap ones first."""
