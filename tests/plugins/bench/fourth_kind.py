"""A kind of benchmarks of a stranger's plugin: sums of numbers, beside published ones."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cchybrid.model.errors import InputError
from cchybrid.plugin import BenchmarkKind, hookimpl
from cchybrid.plugin.benchmark import Benchmark, CheckedSuite, StoredRun, amount
from cchybrid.plugin.benchmark_report import Report, Section, exclusions, missing
from cchybrid.plugin.registry import Registry


@dataclass(frozen=True)
class SumRow:
    numbers: str
    published: str = ""

    @property
    def name(self) -> str:
        return f"sum of {self.numbers}"

    def to_json(self) -> dict[str, Any]:
        return {"sums": asdict(self)}


class Sums(Benchmark[SumRow]):
    def from_text(self, values: Mapping[str, str], folder: Path) -> SumRow:
        if not {*values} <= {"numbers", "published"}:
            raise InputError("a sum has no such column", hint="use numbers, published")
        return SumRow(**values)

    def from_json(self, record: Mapping[str, Any]) -> SumRow:
        return SumRow(**record["sums"])

    def digest(self, row: SumRow, registry: Registry) -> str:
        return f"digest of {row.numbers}"

    def work(
        self, job: Mapping[str, Any], solve: Mapping[str, Any], seed: int, registry: Registry
    ) -> tuple[dict[str, Any], Any]:
        row = self.from_json(job)
        found = sum(map(int, row.numbers.split()))
        return {"digest": self.digest(row, registry), "sum": found, "seconds": 0.5}, [found, seed]

    def words(self, result: Mapping[str, Any]) -> str:
        return f"the sum is {result['sum']}"

    def check(self, row: SumRow, run: StoredRun) -> float:
        if run.unpacked()[0] != run.result["sum"] or run.result["sum"] != eval(
            row.numbers.replace(" ", "+")
        ):
            raise ValueError("it is another sum")
        amount(run.result)
        return float(run.result["sum"])

    def report(
        self, checked: CheckedSuite, other: CheckedSuite | None, registry: Registry
    ) -> Report:
        lines = [
            {"row": row.name, "sum": run.found, "published": row.published}
            for row in checked.rows
            for run in checked.runs[row.name]
            if not run.failure
        ]
        summary = Section("Summary", table=[{"rows": len(checked.rows), "sums": len(lines)}])
        sections = [summary, *missing(checked), *exclusions(checked), Section("All", table=lines)]
        return Report(["sums were added up again"], sections, lines, ("row", "sum", "published"))


@hookimpl
def cchybrid_benchmarks() -> Iterable[BenchmarkKind]:
    return (BenchmarkKind("sums", f"{__name__}:Sums", "sums of numbers"),)
