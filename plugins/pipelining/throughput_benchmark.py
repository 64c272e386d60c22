"""The kind of benchmarks ``throughputs``: rounds per chunk, beside the published ones."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from cchybrid.checker import RoundsVerdict
from cchybrid.checker.throughput import check_throughput
from cchybrid.library.instance_spec import InstanceSpec, resolve
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.plugin.benchmark import (
    Benchmark,
    CheckedSuite,
    StoredRun,
    amount,
    read_collective,
    read_topology,
    shown_collective,
    shown_topology,
)
from cchybrid.plugin.benchmark_report import Report, Section, counts_of, exclusions, missing
from cchybrid.plugin.registry import Registry

from .throughput import throughput_instance, throughput_of

TIME_LIMIT = 3600.0
"""Seconds of a row: no row that is published takes a minute."""
COLUMNS = ("topology", "collective", "rounds_per_chunk", "source", "note")
"""The columns of a table of throughputs."""
REPORT_COLUMNS = (
    "topology", "collective", "published", "ours", "bound", "verdict", "proof", "seconds",
    "source", "note",
)  # fmt: skip
"""The columns of ``report.csv``."""
SUMMARY_TEXT = (
    "Rounds per chunk of endless schedules; fewer are better. Impossible: the published value is"
    " below a certified bound."
)


@dataclass(frozen=True)
class ThroughputRow:
    """A named network and collective, and the published rounds per chunk.

    Parameters
    ----------
    topology, collective
        Names as in ``cchybrid throughput``.
    rounds_per_chunk
        The published fraction, such as ``7/6``; "" if there is none.
    source, note
        The source of the published value, and a remark.
    """

    topology: str
    collective: str
    rounds_per_chunk: str = ""
    source: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        """Raise an error for values that no row has."""
        text = self.rounds_per_chunk
        if text and not re.fullmatch(r"[1-9][0-9]{0,8}(/[1-9][0-9]{0,8})?", text):
            raise InputError(
                f"{text[:40]!r} is no fraction", where="rounds_per_chunk", hint="write 7/6, or 4"
            )

    @property
    def name(self) -> str:
        """The unique name."""
        return f"{shown_topology(self.topology)} {shown_collective(self.collective)} throughput"

    @property
    def published(self) -> Fraction | None:
        """The published rounds per chunk."""
        return Fraction(self.rounds_per_chunk) if self.rounds_per_chunk else None

    @property
    def spec(self) -> InstanceSpec:
        """The words that name its instance."""
        return InstanceSpec(topology=self.topology, collective=self.collective)

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object, as in the store."""
        return {"throughput": asdict(self)}


class CheckedThroughput(NamedTuple):
    """The rounds per chunk of trees and their lower bound, added up again; seconds as stored."""

    verdict: RoundsVerdict
    seconds: float


class Throughputs(Benchmark[ThroughputRow]):
    """Rounds per chunk of endless schedules."""

    budget = False

    def from_text(self, values: Mapping[str, str], folder: Path) -> ThroughputRow:
        """Return the row of a line with columns of ``COLUMNS``."""
        for key in values:
            if key not in COLUMNS:
                raise InputError(
                    f"a throughput has no {key!r}", hint=f"use one of {', '.join(COLUMNS)}"
                )
        text = {key: value.strip() for key, value in values.items() if value.strip()}
        for key in ("topology", "collective"):
            if key not in text:
                raise InputError(f"a row without a {key}", where=key, hint="name one")
        text["topology"] = read_topology(text["topology"], folder)
        text["collective"] = read_collective(text["collective"], folder)
        return ThroughputRow(**text)

    def from_json(self, record: Mapping[str, Any]) -> ThroughputRow:
        """Return the row of a stored object."""
        values = record["throughput"]
        if not all(isinstance(value, str) for value in values.values()):
            raise ValueError(f"invalid values of {values.get('topology')}")
        return ThroughputRow(**values)

    def digest(self, row: ThroughputRow, registry: Registry) -> str:
        """Return the digest of the instance."""
        return throughput_instance(self.resolved(row.name, row.spec, registry)).digest

    def work(
        self, job: Mapping[str, Any], solve: Mapping[str, Any], seed: int, registry: Registry
    ) -> tuple[dict[str, Any], Any]:
        """Return the result and the ``cchybrid-throughput/1`` object; ``solve`` plays no part."""
        started = time.monotonic()
        instance = throughput_instance(resolve(self.from_json(job).spec, registry))
        found = throughput_of(instance, TIME_LIMIT)
        result = {
            "digest": instance.digest,
            "status": "optimal" if found.certified else "feasible",
            "certified": found.certified,
            "rounds_per_chunk": str(found.rounds_per_chunk),
            "bound": str(found.bound),
            "seconds": time.monotonic() - started,
        }
        return result, dict(found.record)

    def words(self, result: Mapping[str, Any]) -> str:
        """Return the rounds per chunk and their bound."""
        ours, bound = result["rounds_per_chunk"], result["bound"]
        end = "optimal (certified)" if ours == bound else f"at least {bound}"
        return f"{ours} rounds per chunk, {end}"

    def check(self, row: ThroughputRow, run: StoredRun) -> CheckedThroughput:
        """Add up the trees again, and check their bound."""
        record = run.unpacked()
        instance = Instance.from_json(record["instance"])
        verdict = check_throughput({**record, "instance": instance.to_json()})
        stated = (run.result["rounds_per_chunk"], run.result["bound"])
        if stated != (str(verdict.rounds_per_chunk), str(verdict.bound)):
            raise InputError("the trees are not those of the result")
        if instance.digest != run.result["digest"]:
            raise InputError("the trees are of another instance")
        return CheckedThroughput(verdict, amount(run.result))

    def report(
        self, checked: CheckedSuite, other: CheckedSuite | None, registry: Registry
    ) -> Report:
        """Return own and published rounds per chunk side by side."""
        lines = [
            _line(row, found)
            for row in checked.rows
            if (found := [run.found for run in checked.runs[row.name] if not run.failure])
        ]
        verdicts, proofs = ([line[key] for line in lines] for key in ("verdict", "proof"))
        words = ("better", "equal", "worse", "impossible", "new")
        summary = {"rows": len(checked.rows), "optimal and certified": proofs.count("yes")}
        summary |= {word: verdicts.count(word) for word in words}
        shown = [{key: line[key] for key in line if key != "note"} for line in lines]
        sections = [
            Section("Summary", SUMMARY_TEXT, table=[summary]),
            *missing(checked),
            *exclusions(checked),
            Section("All rows", table=shown),
        ]
        facts = [
            counts_of(checked),
            "the independent checker added up all trees and checked all bounds for this report",
        ]
        return Report(facts, sections, lines, REPORT_COLUMNS)


def _line(row: ThroughputRow, found: Sequence[CheckedThroughput]) -> dict[str, Any]:
    """Return the line of a row: the fewest rounds and the best bound of all its runs."""
    best = min(found, key=lambda each: (each.verdict.rounds_per_chunk, each.seconds))
    ours = best.verdict.rounds_per_chunk
    bound = max(each.verdict.bound for each in found)
    return {
        "topology": shown_topology(row.topology),
        "collective": shown_collective(row.collective),
        "published": row.rounds_per_chunk,
        "ours": str(ours),
        "bound": str(bound),
        "verdict": _compared(row.published, ours, bound),
        "proof": "yes" if ours == bound else "no",
        "seconds": best.seconds,
        "source": row.source,
        "note": row.note,
    }


def _compared(published: Fraction | None, ours: Fraction, bound: Fraction) -> str:
    if published is None:
        return "new"
    if published < bound:
        return "impossible"
    return "equal" if ours == published else "better" if ours < published else "worse"
