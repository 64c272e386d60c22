"""The cost terms of cchybrid."""

from collections.abc import Mapping

from cchybrid.plugin.records import CostTermInfo


def _term(
    name: str, function: str, summary: str, index: int = 0, maximised: bool = False
) -> CostTermInfo:
    target = f"{__package__}.term_functions:{function}"
    return CostTermInfo(name, target, summary, index=index, maximised=maximised)


TERMS: Mapping[str, CostTermInfo] = {
    term.name: term
    for term in (
        _term("latency", "latencies", "mean latency over all n x n pairs, in hops"),
        _term("max-latency", "latencies", "maximum latency, in hops", 1),
        _term("contention", "contentions", "mean latency under moderate contention, in hops"),
        _term("max-contention", "contentions", "maximum latency under moderate contention", 1),
        _term("contention-deviation", "contentions", "standard deviation of messages per link", 2),
        _term("wire", "longest_wire", "longest wire, Manhattan distance"),
        _term("connectivity", "fewest_links", "links of the node with the fewest", maximised=True),
        _term("bisection", "fewest_between", "fewest links between two halves", maximised=True),
        _term("node-deviation", "deviations", "standard deviation of paths through nodes"),
        _term("link-deviation", "deviations", "standard deviation of paths through links", 1),
        _term("node-faults", "without_a_node", "mean latency without one node, mean of all"),
        _term("max-node-faults", "without_a_node", "maximum latency without one node", 1),
        _term("random-faults", "at_random", "mean latency under random faults, mean of draws"),
        _term("max-random-faults", "at_random", "maximum latency under random faults", 1),
        _term("steps", "steps_of_network",
              "lower bound of the steps of the task's collective, by counting"),
    )
}  # fmt: skip
"""The cost terms by name."""

CHEAPEST_FIRST = (
    "wire", "connectivity", "latency", "steps", "random-faults", "node-faults", "node-deviation",
    "contention", "bisection",
)  # fmt: skip
"""A term of every function, in ascending order of the time that the function takes."""

LATENCY_TERMS = ("latency", "max-latency")
"""The terms that designers compute by their own kernels."""
