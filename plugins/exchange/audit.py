"""Audits of foreign files: imported, verified, bounded, and one verdict each."""

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, Literal

from cchybrid.host.api import solve
from cchybrid.library.formats import read_network
from cchybrid.library.formats.graph_files import is_graph_file
from cchybrid.library.instance_spec import without_modes
from cchybrid.model import Collective, Instance, Network, Schedule
from cchybrid.model.errors import CchybridError, InputError, with_context
from cchybrid.model.instance import expect_file
from cchybrid.model.shown import counted
from cchybrid.model.text import printable
from cchybrid.plugin.imported import BrokenRule, Imported
from cchybrid.plugin.registry import Registry
from cchybrid.proof.parts import infeasibility
from cchybrid.proof.reach import explain
from cchybrid.referee.verify import Violation, verify_schedule

from .foreign_bounds import FoundBound, best_bound
from .foreign_files import import_file

Verdict = Literal["valid", "invalid", "no schedule", "not judged"]

BOUND_SECONDS = 10.0
"""Seconds of processor time for the lower bound of a file."""
MAX_BOUNDED_MESSAGES = 20_000
"""Messages above which no lower bound is searched for."""

Bounds = dict[str, FoundBound]
"""By the digest of an instance: the bound."""


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    Attributes
    ----------
    file
        The name of the file.
    importer
        The name of the importer, "" if none knows the file.
    verdict
        ``valid``; ``invalid``; ``no schedule`` (the file holds a network or an instance only); or
        ``not judged`` (it cannot be read, or meant by the model).
    reason
        Why it is not valid, or why there is no verdict, as one line.
    broken
        The first broken rule, with its place in the file's own terms, or ``None``.
    unit
        ``steps``, or the file's own unit of time, such as ``epochs``.
    length
        The number of these units, or ``None``.
    rounds
        The rounds of all steps, if steps have several; else ``None``.
    spent, spent_unit
        What the lower bound is about: the number of units, or of rounds where each is a step of
        its own, as the importer has placed the transfers or the model allows.
    lower
        The lower bound on ``spent``; 0 if there is none.
    bound_by
        Its provider, or the arithmetic behind it.
    certified
        Whether the checker has accepted the evidence of the bound.
    limits, facts
        As in ``Imported``.
    ours, ours_optimal
        The length of the best schedule found here, in ``spent_unit``, of the instance that is
        bounded, and whether it is proven optimal; ``None`` unless asked for.
    imported
        What was read, or ``None``.
    """

    file: str
    importer: str
    verdict: Verdict
    reason: str = ""
    broken: BrokenRule | None = None
    unit: str = "steps"
    length: int | None = None
    rounds: int | None = None
    spent: int | None = None
    spent_unit: str = "steps"
    lower: int = 0
    bound_by: str = ""
    certified: bool = False
    limits: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    ours: int | None = None
    ours_optimal: bool = False
    imported: Imported | None = None

    @property
    def percent(self) -> Fraction | None:
        """The largest possible distance from the lower bound, in percent of it."""
        if self.verdict != "valid" or not self.lower or self.spent is None:
            return None
        return Fraction(100 * (self.spent - self.lower), self.lower)

    @property
    def sentence(self) -> str:
        """The verdict as one line."""
        if self.verdict != "valid":
            words = {"invalid": "invalid because", "not judged": "not judged:"}
            text = f"{words[self.verdict]} {self.reason}" if self.verdict in words else ""
            return text or f"{self.verdict}: {self.reason}{self._bound_alone()}"
        valid = "valid" if self.unit == "steps" else f"valid by the rules of {self.importer}"
        size = counted(self.length or 0, self.unit[:-1])
        if self.rounds is not None:
            size += f" / {counted(self.rounds, 'round')}"
        if self.percent is None:
            return f"{valid}, {size}, no lower bound"
        word = "certified " if self.certified else ""
        return f"{valid}, {size}, at most {shown_percent(self.percent)} % above " + (
            f"a {word}lower bound of {self.compared(self.lower)}"
            f"{'; rounds are not compared' if self.rounds and self.spent_unit == 'steps' else ''}"
        )

    def compared(self, count: int) -> str:
        """Return a number in ``spent_unit``, with this unit if steps have several rounds."""
        return str(count) if self.rounds is None else counted(count, self.spent_unit[:-1])

    def _bound_alone(self) -> str:
        if not self.lower:
            return ""
        word = "certified " if self.certified else ""
        return f"; {word}lower bound {counted(self.lower, self.unit[:-1])}"

    def to_json(self) -> dict[str, Any]:
        """Return the audit as a JSON object."""
        same = "file", "verdict", "sentence", "unit", "length", "rounds", "bound_by", "certified"
        return {
            **{name: getattr(self, name) for name in (*same, "ours", "ours_optimal")},
            "format": self.importer,
            "rule": None if self.broken is None else self.broken.rule,
            "place": None if self.broken is None else self.broken.place,
            "theirs": self.spent,
            "lower_bound": self.lower or None,
            "lower_bound_unit": self.spent_unit,
            "percent_above": None if self.percent is None else float(self.percent),
            "limits": list(self.limits),
            "facts": list(self.facts),
        }


def shown_percent(value: Fraction) -> str:
    """Return a percentage, rounded up to a tenth.

    Examples
    --------
    >>> shown_percent(Fraction(700, 99)), shown_percent(Fraction(0)), shown_percent(Fraction(50))
    ('7.1', '0', '50')
    """
    tenths = ceil(10 * value)
    return f"{tenths // 10}.{tenths % 10}" if tenths % 10 else str(tenths // 10)


def audit_file(
    path: str | Path,
    registry: Registry,
    network: Network | None = None,
    collective: Collective | None = None,
    *,
    format_name: str | None = None,
    improve: float | None = None,
    bound_seconds: float = BOUND_SECONDS,
    seed: int = 0,
    bounds: Bounds | None = None,
) -> Audit:
    """Import, verify and bound a file; a file that cannot be read has a verdict, too.

    Parameters
    ----------
    path
        The file.
    registry
        The plugins.
    network, collective
        The network and the collective against which it is judged.
    format_name
        The name of the importer; by default it is recognised.
    improve
        Seconds to solve the instance that is bounded.
    bound_seconds
        Seconds of processor time for the lower bound.
    seed
        Seed of the search.
    bounds
        Bounds found before, which are used and added to.

    Raises
    ------
    InputError
        There is no such file, or the format is unknown.
    """
    if format_name is not None:
        registry.importer(format_name)
    with with_context(path):
        expect_file(path)
    name = printable(Path(path).name)
    try:
        importer, imported = import_file(
            path, registry, format_name=format_name, network=network, collective=collective
        )
    except CchybridError as error:
        return _without_import(Path(path), error)
    found = _judge(name, importer, imported)
    if network is not None:
        performed = "" if collective is None else f", as {collective.name}"
        fact = printable(f"judged on {network.name}{performed}")
        found = replace(found, facts=(*found.facts, fact))
    if found.verdict in ("valid", "no schedule"):
        try:
            found = _bounded(found, registry, bound_seconds, {} if bounds is None else bounds)
        except InputError as error:
            found = replace(found, limits=(*found.limits, f"no lower bound: {error}"))
    if improve is not None and found.verdict == "valid":
        try:
            if imported.own is not None:
                raise InputError(f"schedules are found in steps, not in {found.unit}")
            found = _improved(found, improve, seed)
        except InputError as error:  # ``solve`` searches for no sums in rounds
            found = replace(found, facts=(*found.facts, f"not improved: {error}"))
    return _consistent(found)


def _without_import(path: Path, error: CchybridError) -> Audit:
    """Return the verdict of a file that no importer reads: perhaps it is a network."""
    text = str(error).removeprefix(f"{path}: ")
    if "no importer knows" in text:
        try:
            read = read_network(path)
        except (CchybridError, OSError, UnicodeError) as refused:
            if is_graph_file(path):
                text = str(refused).removeprefix(f"{path}: ")
        else:
            facts = [*read.notes]
            network = without_modes(read, facts.append)
            size = f"a network of {network.nodes} nodes, {len(network.channels)} channels"
            return Audit(
                printable(path.name), "network", "no schedule", reason=size, facts=tuple(facts)
            )
    return Audit(printable(path.name), "", "not judged", reason=text)


def _judge(name: str, importer: str, imported: Imported) -> Audit:
    """Return the verdict, without a lower bound unless the file has its own."""
    found = Audit(
        name, importer, "no schedule", limits=imported.limits, facts=imported.facts,
        imported=imported, reason="",
    )  # fmt: skip
    own, instance = imported.own, imported.instance
    if own is None and instance is not None and instance.network.has_switches:
        fact = f"judged, and bounded, for {instance.model.switching} switching"
        found = replace(found, facts=(*found.facts, fact))
    if own is not None:
        found = replace(
            found, unit=own.unit, length=own.value, spent=own.value, spent_unit=own.unit,
            lower=own.lower, bound_by=own.reason,
        )  # fmt: skip
    if imported.broken:
        return _invalid(found, imported.broken[0])
    schedule = imported.schedule
    if schedule is not None:
        violations = verify_schedule(schedule)
        if violations:
            return _violated(found, imported, violations[0])
        if own is None:
            idle = max(0, (imported.length or 0) - len(schedule.steps))
            length, rounds = len(schedule.steps) + idle, sum(schedule.rounds) + idle
            found = replace(found, length=length, rounds=None if rounds == length else rounds)
            if rounds == length or _bounded_instance(schedule.instance).model.rounds:
                found = replace(found, spent=length)
            else:
                found = replace(found, spent=rounds, spent_unit="rounds")
    elif own is None:
        text = "no instance" if imported.instance is None else imported.instance.name
        return replace(found, reason="; ".join((text, *imported.limits[:1])))
    return replace(found, verdict="valid")


def _invalid(found: Audit, broken: BrokenRule) -> Audit:
    return replace(found, verdict="invalid", broken=broken, reason=str(broken))


def _violated(found: Audit, imported: Imported, first: Violation) -> Audit:
    """Return the verdict of a schedule that the referee refuses, in the file's terms."""
    place = imported.place(first.step, first.transfer) if first.step >= 0 else ""
    if not place and first.step >= 0:
        place = f"step {first.step + 1}"
    text = first.text.split(": ", 1)[1] if first.step >= 0 else first.text
    broken = BrokenRule(first.rule, place, text)
    if imported.meaning_checked and first.rule not in ("no-such-channel", "missing-destination"):
        reason = f"it does what it says, in a way that this model cannot express: {broken}"
        return replace(found, verdict="not judged", broken=broken, reason=reason)
    return _invalid(found, broken)


def _bounded_instance(instance: Instance) -> Instance:
    """Return the instance whose steps are bounded: that with single rounds if they are as good.

    A step of r rounds is as good as r steps of one if messages go hop by hop and only channels
    have limits, each its own: its transfers can be spread over r steps, as a node has held what it
    sends since before them. With ports, links of two directions or paths of several hops, odd
    cycles of conflicts can need more; and a sum can replace one that is sent in the same step.
    """
    model = instance.model
    independent = (
        model.hop_by_hop
        and model.inject is None
        and model.accept is None
        and not instance.network.half_duplex
        and not instance.collective.with_sums
    )
    return instance.with_model(rounds=()) if independent else instance


def _consistent(found: Audit) -> Audit:
    """Return the audit; none is valid that contradicts its bound."""
    if found.verdict != "valid" or found.spent is None or found.spent >= found.lower:
        return found
    spent, lower = (counted(count, found.spent_unit[:-1]) for count in (found.spent, found.lower))
    reason = f"its {spent} are below the lower bound of {lower}"
    reason += f" ({found.bound_by}): an error of cchybrid, please report it"
    return replace(found, verdict="not judged", reason=reason)


def _bounded(found: Audit, registry: Registry, seconds: float, bounds: Bounds) -> Audit:
    """Return the audit with a lower bound on its steps, unless it has one."""
    assert found.imported is not None
    if found.imported.own is not None or found.imported.instance is None:
        return found
    instance = _bounded_instance(found.imported.instance)
    if len(instance.collective.messages) > MAX_BOUNDED_MESSAGES:
        text = f"more than {MAX_BOUNDED_MESSAGES:,} messages: no lower bound was searched for"
        return replace(found, limits=(*found.limits, text))
    lost = infeasibility(instance)
    if lost is not None:
        reason = explain(instance, lost).words(instance.network)
        return replace(found, reason=f"{found.reason}; {reason}")
    if instance.digest not in bounds:
        providers = registry.bound_providers
        bounds[instance.digest] = best_bound(instance, providers, seconds, found.spent)
    best = bounds[instance.digest]
    limits = (*found.limits, *best.troubles)
    return replace(
        found, lower=best.steps, bound_by=best.kind, certified=best.steps > 0, limits=limits
    )


def _improved(found: Audit, seconds: float, seed: int) -> Audit:
    """Return the audit with the best schedule found here of the instance that is bounded."""
    assert found.imported is not None
    if found.imported.instance is None:
        return found
    started = time.monotonic()
    result = solve(_bounded_instance(found.imported.instance), time_limit=seconds, seed=seed)
    if result.interrupted:
        raise KeyboardInterrupt
    facts = (*found.facts, f"solved here in {time.monotonic() - started:.1f} s of {seconds:g}")
    lower = result.certified_bound
    if lower.steps > found.lower:
        kind = str(lower.evidence.get("kind", result.bound_by))
        found = replace(found, lower=lower.steps, bound_by=kind, certified=bool(lower.evidence))
    optimal = result.status == "optimal" and result.certified
    return replace(found, ours=result.steps, ours_optimal=optimal, facts=facts)


def valid_schedule(path: str | Path, imported: Imported) -> Schedule:
    """Return the schedule of a foreign file, which is valid.

    Raises
    ------
    InputError
        It has none, or breaks a rule; the place is in the file's terms.
    """
    found = _judge(Path(path).name, "", imported)
    if found.verdict in ("invalid", "not judged"):
        raise InputError(found.sentence, where=str(path), hint="see: cchybrid audit")
    if imported.schedule is None:
        limits = "; ".join(imported.limits) or "the file holds no schedule"
        raise InputError(limits, where=str(path), hint="see: cchybrid audit")
    return imported.schedule
