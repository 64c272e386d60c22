"""Search for lower bounds and proofs; ``checker`` checks the evidence independently."""

from cchybrid.proof.records import BoundInfo

BOUNDS = (
    BoundInfo("growth", "cchybrid.proof.growth:growth_bounds", order=10,
        summary="the informed set grows no faster than its ports and channels allow"),
    BoundInfo("nested-sets", "cchybrid.proof.nested_sets:nested_set_bounds", order=15,
        summary="sets that a message enters by few channels, one inside the other (few messages)"),
    BoundInfo("cut", "cchybrid.proof.cut:cut_bounds", order=20,
        summary="what enters a node, a neighbourhood or all but it, over what can enter per step"),
    BoundInfo("cut-over-time", "cchybrid.proof.cut_over_time:cut_over_time_bounds", order=22,
        summary="cuts, with the first and last steps of what enters (hop by hop)"),
    BoundInfo("prices", "cchybrid.proof.flow:price_bounds", order=30,
        summary="deliveries over links or ports; scatters: dual prices of the arc-flow program"),
    BoundInfo("arborescences", "cchybrid.proof.arborescences:arborescence_bounds", order=35,
        summary="trees of messages to all nodes over ports, hop by hop, or half-duplex links"),
    BoundInfo("flow-cut", "cchybrid.proof.flow:flow_cut_bounds", order=40,
        summary="cuts along the channels that the linear program prices"),
    BoundInfo("step-prices", "cchybrid.proof.step_prices:step_price_bounds", order=45,
        summary="dual prices per step of flows over time (scatters, hop by hop)"),
    BoundInfo("blocks", "cchybrid.proof.blocks:block_bounds", order=48, rounds=True,
        summary="dual of the relaxation between blocks that wide channels join (broadcasts)"),
    BoundInfo("farkas", "cchybrid.proof.farkas:farkas_bounds", order=50, rounds=True,
        summary="dual of the time-expanded relaxation, checked exactly (messages that spread)"),
)  # fmt: skip
"""The bound providers of cchybrid, cheap ones first."""
