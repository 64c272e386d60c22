"""Search for lower bounds and proofs; ``checker`` checks the evidence independently."""

from functools import partial

from cchybrid.proof.records import BoundInfo

_bound = partial(BoundInfo, own_worker=False)

BOUNDS = (
    _bound("exchanges", "cchybrid.proof.parts:exchange_bounds", order=5, effort="low", rounds=True,
        allreduce=True, summary="each member sends a part, and receives the sum (allreduce)"),
    _bound("cut-in-ticks", "cchybrid.proof.ticks:cuts_in_ticks", order=8, effort="low",
        horizons=("ticks",), summary="what enters a set of nodes, and its way before and after"),
    _bound("growth", "cchybrid.proof.growth:growth_bounds", order=10, effort="low",
        summary="the informed set grows no faster than its ports and channels allow"),
    _bound("nested-sets", "cchybrid.proof.nested_sets:nested_set_bounds", order=15, effort="low",
        summary="sets that a message enters by few channels, one inside the other (few messages)"),
    _bound("levels", "cchybrid.proof.levels:level_bounds", order=18,
        summary="nodes at each distance that a message can reach in time (ports, hop by hop)",
        immediate_size=70_000),
    _bound("cut", "cchybrid.proof.cut:cut_bounds", order=20, effort="low",
        summary="what enters a node, a neighbourhood or all but it, over what can enter per step"),
    _bound("cut-over-time", "cchybrid.proof.cut_over_time:cut_over_time_bounds", order=22,
        summary="cuts, with the first and last steps of what enters (hop by hop)",
        immediate_size=300),
    _bound("prices", "cchybrid.proof.flow:price_bounds", order=30, effort="high",
        summary="deliveries over links or ports; scatters: dual prices of the arc-flow program",
        immediate_size=1_200),  # columns of its linear program
    _bound("arborescences", "cchybrid.proof.arborescences:arborescence_bounds", order=35,
        summary="trees of messages to all nodes over ports, hop by hop, or half-duplex links"),
    _bound("flow-cut", "cchybrid.proof.flow:flow_cut_bounds", order=40, effort="high",
        summary="cuts along the channels that the linear program prices"),
    _bound("step-prices", "cchybrid.proof.step_prices:step_price_bounds", order=45, effort="high",
        summary="dual prices per step of flows over time (scatters, hop by hop)"),
    _bound("blocks", "cchybrid.proof.blocks:block_bounds", order=48, rounds=True, effort="high",
        summary="dual of the relaxation between blocks that wide channels join (broadcasts)"),
    # ``prove`` solves this relaxation itself, for the steps of the schedule alone.
    _bound("farkas", "cchybrid.proof.farkas:farkas_bounds", order=50, rounds=True, effort="high",
        summary="dual of the time-expanded relaxation, checked exactly (messages that spread)",
        in_prove=False),
)  # fmt: skip
"""The bound providers of cchybrid, cheap ones first."""
