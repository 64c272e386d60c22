"""Refutation of a number of steps by CaDiCaL: a propositional proof, or a schedule instead."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cchybrid.checker import Network
from cchybrid.checker.clauses import Formula
from cchybrid.checker.instance import TooLargeError
from cchybrid.model import Steps, Transfer
from cchybrid.model.steps import reverse_steps
from cchybrid.proof import cadical
from cchybrid.proof.lrat import packed


@dataclass(frozen=True)
class Refutation:
    """The outcome of a refutation: at most one field is set, none if the time was up.

    Parameters
    ----------
    evidence
        Evidence that no schedule has this number of steps.
    shorter
        A schedule of at most this number of steps.
    too_large
        The reason why the formula is too large.
    """

    evidence: dict[str, Any] | None = None
    shorter: Steps | None = None
    too_large: str | None = None


def refute(
    network: Network, steps: int, seconds: float, should_stop: Callable[[], bool]
) -> Refutation:
    """Decide whether there is a schedule of at most ``steps`` steps."""
    if steps < 1:
        return Refutation(too_large="nothing is left to refute")
    try:
        formula = Formula(network, steps)
        order = pinned_messages(formula)
        formula.pin(order)
    except TooLargeError as error:
        return Refutation(too_large=str(error))
    verdict = cadical.refute(formula.clauses, seconds, should_stop)
    if verdict.model is not None:
        return Refutation(shorter=_schedule(network, formula, verdict.model, steps))
    if verdict.proof is None:
        return Refutation()
    evidence: dict[str, Any] = {"kind": "refutation", "steps": steps + 1}
    if order:
        evidence["order"] = order
    return Refutation(evidence={**evidence, "proof": packed(verdict.proof)})


def pinned_messages(formula: Formula) -> list[int]:
    """Return messages that need different steps, at most as many as there are steps.

    They all use one channel or port of capacity 1, whatever their paths, so fixing their steps
    breaks the symmetry of interchangeable steps. Where steps are not interchangeable, the list is
    empty.
    """
    network = formula.network
    alone = all(len(goals) == 1 for _, goals in network.messages)
    if not alone or network.hop_by_hop or len(network.rounds) > 1:
        return []
    users: dict[tuple[Any, ...], list[int]] = {}
    for message, (source, (goal,)) in enumerate(network.messages):
        links = [{network.link(a, b) for a, b in pairwise(p)} for p in formula.paths[message, goal]]
        certain: list[tuple[Any, ...]] = [("inject", source), ("accept", goal)]
        certain += [("channel", *link) for link in set.intersection(*links or [set()])]
        for kind, *place in certain:
            ports = network.inject if kind == "inject" else network.accept
            size = network.channels[place[0], place[-1]] if kind == "channel" else ports[place[0]]
            if network.in_step(1, size) == 1:
                users.setdefault((kind, *place), []).append(message)
    return max(users.values(), key=len, default=[])[: len(formula.steps)]


def _schedule(network: Network, formula: Formula, model: frozenset[int], steps: int) -> Steps:
    """Return the schedule of a model of the formula, without empty steps where rounds are equal."""
    found: list[list[Transfer]] = [[] for _ in range(steps)]
    for (message, node), paths in formula.paths.items():
        for t in range(1, steps + 1):
            if formula.number["gets", message, node, t] not in model:
                continue
            taken = paths
            if len(paths) > 1:
                taken = [p for p in paths if formula.number["path", message, node, p, t] in model]
            found[t - 1].append(Transfer(message, taken[0]))
    steps_found = tuple(tuple(step) for step in found if step or len(network.rounds) > 1)
    return reverse_steps(steps_found) if network.backwards else steps_found
