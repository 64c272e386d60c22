"""The kind of benchmarks ``schedules``: instances that engines solve."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cchybrid.host import api
from cchybrid.library.collectives import PAIRS_OF_FILE
from cchybrid.library.instance_spec import resolve
from cchybrid.model import Instance
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.model.shown import counted
from cchybrid.plugin.benchmark import Benchmark, CheckedSuite, SettingsError, StoredRun
from cchybrid.plugin.benchmark_report import Report
from cchybrid.plugin.records import BenchmarkKind
from cchybrid.plugin.registry import Registry

from .features import facts_of
from .row import Row
from .run_cost import CostMeter
from .schedule_checks import checked_columns, schedule_record


class Schedules(Benchmark[Row]):
    """Instances that engines solve."""

    engines = True

    def __init__(self, info: BenchmarkKind) -> None:
        super().__init__(info)
        self._facts: dict[str, Mapping[str, Any]] = {}

    def from_text(self, values: Mapping[str, str], folder: Path) -> Row:
        """Return the row of a line of a table, or of listed values."""
        return Row.from_text(values, folder)

    def changed(self, values: Mapping[str, str], changes: Mapping[str, str], folder: Path) -> Row:
        """Return the changed row; published values of one instance do not hold for another."""
        row = Row.from_text({**values, **changes}, folder)
        own = dict(values)
        if not own.get("collective"):  # then the table alone names no instances
            own["collective"] = changes.get("collective", "")
        if "comparable" in changes or row.spec == Row.from_text(own, folder).spec:
            return row
        return replace(row, published=replace(row.published, comparable=False))

    def joined(self, known: Row, row: Row) -> Row:
        """Return the known row with the success rates of the other, too."""
        if known.spec != row.spec:
            raise InputError(
                f"two rows are called {row.name}", hint="give files or nodes other names"
            )
        return known.with_rates_of(row)

    def from_json(self, record: Mapping[str, Any]) -> Row:
        """Return the row of a stored object."""
        return Row.from_json(record)

    def digest(self, row: Row, registry: Registry) -> str:
        """Return the digest of the instance."""
        instance = self.resolved(row.name, row.spec, registry)
        self._facts[repr(row.spec)] = facts_of(instance)
        return instance.digest

    def check_settings(self, row: Row, solve: Mapping[str, Any], registry: Registry) -> None:
        """Refuse engines, strategies and options for allreduces and scans, and what these lack.

        The host solves them with engines of its own: a success would be of no engine that is named.
        """
        facts = self.facts(row, registry)
        named = (solve["engines"], solve["without"], solve["options"], solve["strategy"] != "auto")
        own = (
            'drop engines, strategy and options, or name "host greedy"; other rows to another suite'
        )
        for wrong, where, hint in (
            (any(named), "contestants", own),
            (solve["evaluations"] is not None, "evaluations", "set a time limit"),
            (row.target is not None, "fixed_steps", "leave it out"),
            (facts["rounds"] != "1", "rounds", "leave them out"),
        ):
            if wrong and facts["with_sums"]:
                text = "not available for allreduces and scans, which have engines of their own"
                raise InputError(text, where=where, hint=hint)

    def instance(self, row: Row, registry: Registry) -> Instance:
        """Return the instance that a row names."""
        return resolve(row.spec, registry)

    def facts(self, row: Row, registry: Registry) -> Mapping[str, Any]:
        """Return the features (``facts_of``) of the instance of which a row has the digest.

        Instances of large networks take seconds to build, and much memory to keep.
        """
        name = repr(row.spec)  # files of several folders may have one name
        if name not in self._facts:
            self.digest(row, registry)
        return self._facts[name]

    def job(self, row: Row, registry: Registry) -> dict[str, Any]:
        """Return the row, of a file with its instance, as other machines lack the file."""
        record, collective = row.to_json(), row.spec.collective or ""
        if Path(row.spec.topology).is_absolute() or collective.startswith(PAIRS_OF_FILE):
            record["instance"] = self.instance(row, registry).to_json()
        return record

    def work(
        self, job: Mapping[str, Any], solve: Mapping[str, Any], seed: int, registry: Registry
    ) -> tuple[dict[str, Any], Any]:
        """Solve the instance of a row; return the result and the schedule, if there is one."""
        row = Row.from_json(job)
        if "instance" in job:
            instance = Instance.from_json(job["instance"])
        else:
            instance = self.instance(row, registry)
        meter = CostMeter() if row.measure else None
        study: dict[str, Any] = {} if row.target is None else {"steps": row.target, "blind": True}
        try:
            with meter or contextlib.nullcontext():
                result = api.solve(
                    instance,
                    seed=seed,
                    registry=registry,
                    on_event=None if meter is None else meter.on_event,
                    **solve,
                    **study,
                )
        except InputError as error:
            # The instance is valid, so the settings are not; they would fail in every row.
            raise SettingsError(error.what, where=error.where, hint=error.hint) from None
        if result.interrupted:
            raise CchybridError("interrupted")
        record: dict[str, Any] = {**result.to_json(), "digest": instance.digest}
        if row.target is not None:
            record["fixed_steps"] = row.target
        if meter is not None:
            record["cost"] = meter.to_json(instance, result.schedule)
        if not result.certified:
            record["certified_evidence"] = result.certified_bound.evidence
        if result.schedule is not None:
            return record, schedule_record(result.schedule)
        record["evidence_without_schedule"] = result.lower_bound.evidence or None
        record["instance_record"] = instance.to_json()
        return record, None

    def words(self, result: Mapping[str, Any]) -> str:
        """Return the steps and the bound, or the conflicts of a study."""
        steps, bound = result.get("steps"), result.get("lower_bound", 0)
        certified = result.get("certified")
        word = "" if certified or bound <= 1 else " (claimed)"
        if result["status"] == "infeasible":
            return "infeasible"
        if steps is None and result.get("conflicts") is not None:
            return f"{result['conflicts']} conflicts left"
        if steps is None:
            found = f"nothing found; at least {counted(bound, 'step')}{word}"
            return "; ".join((found, *result.get("remarks", ())))
        end = f"at least {bound}{word}"
        if result["status"] == "optimal":
            end = f"optimal ({'certified' if certified else 'claimed'})"
        return f"{counted(steps, 'step')}, {end}, {result['seconds']:.1f} s"

    def check(self, row: Row, run: StoredRun) -> dict[str, Any]:
        """Verify the schedule and check the bound; return the columns of the run's result."""
        if run.result.get("fixed_steps") != row.target:
            raise InputError("it was run for another number of steps than its row")
        if row.measure and not run.result.get("cost"):
            raise InputError("it was run without `measure`, which its row has")
        return checked_columns(run)

    def report(
        self, checked: CheckedSuite, other: CheckedSuite | None, registry: Registry
    ) -> Report:
        """Return own and published results side by side, and statistics of the contestants."""
        # Imported here: pandas takes long, and only reports need it.
        from .report.reading import reading_of
        from .report.sections import compose

        there = None if other is None else reading_of(other, registry)
        return compose(reading_of(checked, registry), there)
