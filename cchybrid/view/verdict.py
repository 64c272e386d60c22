"""The verdict of a run in a few lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.host.result import Result
from cchybrid.host.run_history import Contribution

_REASONS = {
    "linear": "all messages together pay more for channels and ports than fewer steps offer",
    "nested-sets": "few channels lead into sets of nodes, one inside the other",
    "refutation": "a propositional proof, checked step by step",
    "exchanges": "each other member must send a part, and receive the sum, at least once",
}


def verdict(result: Result, *, explain: bool = False) -> list[str]:
    """Return the lines that state the schedule, the bound, its evidence, and the troubles.

    Parameters
    ----------
    explain
        Add the contributions of every engine.
    """
    lines = [_headline(result)]
    if result.unreachable is None:
        lines.append(_bound(result))
    if result.schedule is not None:
        lines.append(
            f"found by {result.engine} after {result.seconds_to_best:.2f} s, verified; "
            f"{result.schedule.channel_uses} channel uses; seed {result.seed}; "
            f"{result.seconds:.2f} s in all"
        )
    if result.overrun:
        lines.append(_overrun(result))
    if explain:
        lines.extend(f"  {line}" for line in contributions(result))
    if result.interrupted:
        lines.append("interrupted: this is the best so far")
    lines.extend(f"trouble: {text}" for text in result.troubles)
    lines.extend(f"remark: {text}" for text in result.remarks)
    return lines


def _overrun(result: Result) -> str:
    """Return by how much the run took longer than asked, and where its time went."""
    limit = result.budget["seconds"]
    parts = ", ".join(
        f"{name} {seconds:.1f} s" for name, seconds in result.times.items() if seconds >= 0.05
    )
    text = f"took {result.overrun:.1f} s longer than the {limit:g} s asked"
    return f"{text}: {parts}" if parts else text


def contributions(result: Result) -> list[str]:
    """Return a line for each engine and bound provider: the best that it added, and when.

    Results that another engine had found before are not contributions.
    """
    latest: dict[tuple[str, str], Contribution] = {}
    for entry in result.contributions:
        latest.pop((entry.author, entry.what), None)
        latest[entry.author, entry.what] = entry
    return [f"{entry.seconds:.2f} s: {contribution(entry)}" for entry in latest.values()]


def contribution(entry: Contribution) -> str:
    """Return a contribution as text, such as ``tabu: 8 steps``."""
    if entry.what == "bound":
        sure = "certified" if entry.certified else "claimed"
        return f"{entry.author}: at least {_count(entry.lower)}, {sure}"
    if entry.what == "draft":
        return f"{entry.author}: near-solution of {entry.how}"
    how = f" ({entry.how})" if entry.how else ""
    return f"{entry.author}: {_count(entry.steps or 0)}{how}"


def _headline(result: Result) -> str:
    name, steps = result.instance.name, result.steps
    how = "certified" if result.certified else "claimed"
    if result.status == "infeasible":
        reason = _unreachable(result) or "no schedule has so few steps"
        return f"{name}: infeasible ({how}): {reason}"
    if steps is None and not result.search_seconds:  # as by cchybrid.bound
        lower = _count(result.lower_bound.steps)
        return f"{name}: at least {lower} (no engine has searched for a schedule)"
    if steps is None:
        return f"{name}: no schedule found ({result.seconds:.1f} s)"
    if result.status == "optimal":
        return f"{name}: {_count(steps)}, optimal ({how})"
    return f"{name}: {_count(steps)}; between {result.lower_bound.steps} and {steps} is open"


def _unreachable(result: Result) -> str:
    """Return the destination that cannot be reached, by name, and the reason."""
    lost, name = result.unreachable, result.instance.network.node_name
    if lost is None:
        return ""
    ends = f"node {name(lost.destination)} cannot be reached from node {name(lost.source)}"
    return f"{ends} (message {lost.message}): {lost.reason}"


def _bound(result: Result) -> str:
    bound = result.lower_bound
    if not result.certified:
        return (
            f"lower bound: {_count(bound.steps)}, claimed by {result.bound_by}, not certified"
            f" (certified: {result.certified_bound.steps})"
        )
    if not bound.evidence:
        return f"lower bound: {_count(bound.steps)} (trivial)"
    evidence: Mapping[str, Any] = bound.evidence
    kind = str(evidence["kind"])
    part = ""
    if kind == "part":
        ends = ("the reduction to", "to") if "to" in evidence else ("the broadcast of", "from")
        node = result.instance.network.node_name(evidence[ends[1]])
        part, evidence = f" of {ends[0]} node {node}", evidence["evidence"]
        kind = str(evidence.get("kind", "trivial"))
    reason = _REASONS.get(kind, kind)
    if part:
        return f"lower bound: {_count(bound.steps)}, certified by {kind}{part} alone ({reason})"
    return f"lower bound: {_count(bound.steps)}, certified by {kind} ({reason})"


def _count(steps: int) -> str:
    return "1 step" if steps == 1 else f"{steps} steps"
