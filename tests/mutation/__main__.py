"""Report of the mutants of the trusted code: ``python -m tests.mutation``, see `make mutation`.

Mutants that change nothing that a caller can observe stand in ``equivalent.toml``, each as the
changed line of a function before and after, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mutmut.configuration import config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import walk_mutatable_files
from mutmut.utils.format_utils import orig_function_and_class_names_from_key

ROOT = Path(__file__).parents[2]
MIN_PERCENT = 97
"""Share of the mutants of a module, those that are equivalent aside, that tests must kill."""
KILLED = ("killed", "timeout", "segfault", "suspicious")
"""Statuses of mutmut that mean a failed test, or one that ends its process or does not end."""


class Survivor(NamedTuple):
    """A mutant that no test notices: its function, and the changed lines before and after."""

    function: str
    before: str
    after: str


class Module:
    """The results of one module, read from the folder ``mutants``."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, ".".join(path.with_suffix("").parts)
        data = SourceFileMutationData(path=path)
        data.load()
        statuses = {key: status_by_exit_code[code] for key, code in data.exit_code_by_key.items()}
        self.total = len(statuses)
        self.killed = sum(status in KILLED for status in statuses.values())
        self.survivors = [
            self._survivor(key)
            for key, status in statuses.items()
            if status in ("survived", "no tests")
        ]
        self.untried = self.total - self.killed - len(self.survivors)

    def _survivor(self, key: str) -> Survivor:
        name, parent = orig_function_and_class_names_from_key(key)
        changed: dict[str, list[str]] = {"-": [], "+": []}
        for line in get_diff_for_mutant(key, path=self.path).splitlines()[2:]:
            changed.get(line[:1], []).append(line[1:])
        before, after = (" ".join(" ".join(lines).split()) for lines in changed.values())
        return Survivor(f"{self.name}.{f'{parent}.' if parent else ''}{name}", before, after)

    def left_out(self) -> int:
        """Return the number of mutants that leave out a statement; the code has no ``pass``."""
        text = Path("mutants", self.path).read_text("utf-8")
        return len(re.findall(r"^\s*pass\b", text, re.MULTILINE))

    def not_mutated(self) -> list[str]:
        """Return the names of the functions with a decorator, which mutmut leaves alone."""
        return [
            node.name
            for node in ast.walk(ast.parse(self.path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef)
            and not {"staticmethod", "classmethod"}.issuperset(
                map(ast.unparse, node.decorator_list)
            )
        ]

    def texts(self) -> int:
        """Return the number of lines whose expressions the settings of mutmut leave alone."""
        pattern = "|".join(config().do_not_mutate_patterns)
        return sum(bool(re.search(pattern, line)) for line in self.path.open(encoding="utf-8"))


def read_equivalents() -> dict[Survivor, str]:
    """Return the reason of every mutant that is listed as equivalent."""
    listed = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text("utf-8"))
    return {
        Survivor(entry["function"], entry["before"], after): entry["reason"]
        for entry in listed["equivalent"]
        for after in entry["after"]
    }


def main() -> int:
    """Write the report; return 1 if a module is below ``MIN_PERCENT``, or the list is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--report", type=Path, default=ROOT / "docs/reports/mutation/README.md")
    report = parser.parse_args().report
    equivalents = read_equivalents()
    modules = [module for module in map(Module, sorted(walk_mutatable_files())) if module.total]
    found = {survivor for module in modules for survivor in module.survivors}
    partly = tuple(f"{module.name}." for module in modules if module.untried)
    wrong = [
        f"listed as equivalent, but no mutant that survives: {entry.function}: {entry.before}"
        f" -> {entry.after}"
        for entry in equivalents
        if entry not in found and not entry.function.startswith(partly or ("-",))
    ]
    rows, survivors, reasons, untried = [], [], Counter[tuple[str, str]](), []
    totals = Counter[str]()
    for module in modules:
        left = [survivor for survivor in module.survivors if survivor not in equivalents]
        equal = len(module.survivors) - len(left)
        tried = module.killed + len(module.survivors)
        if 100 * len(left) > (100 - MIN_PERCENT) * (tried - equal):
            wrong.append(f"{module.name}: {len(left)} of {tried - equal} survive, too many")
        numbers = {
            "mutants": module.total, "killed": module.killed, "equal": equal, "left": len(left),
            "untried": module.untried,
        }  # fmt: skip
        rows.append(_row(module.name.removeprefix("cchybrid."), numbers))
        totals.update(numbers)
        survivors += [f"- `{s.function}`: `{s.before}` -> `{s.after}`" for s in left]
        reasons.update(
            (module.name, equivalents[survivor])
            for survivor in module.survivors
            if survivor in equivalents
        )
        names = ", ".join(f"`{name}`" for name in module.not_mutated())
        if names or module.texts():
            untried.append(
                f"- {module.name}: {names or 'no function'}; lines of refusals: {module.texts()}"
            )
    rows.append(_row("all", totals))
    rest = [f"- {name}: {number}: {reason}" for (name, reason), number in sorted(reasons.items())]
    text = Path(__file__).with_name("report.md").read_text("utf-8")
    for name, lines in {
        "modules": rows, "survivors": survivors, "equivalent": rest, "untried": untried,
        "left out": [str(sum(module.left_out() for module in modules))],
    }.items():  # fmt: skip
        text = text.replace(f"({name})", "\n".join(lines) or "None.")
    report.write_text(text, "utf-8")
    print(*rows, *wrong, sep="\n")
    return 1 if wrong else 0


def _row(name: str, numbers: Mapping[str, int]) -> str:
    tried = numbers["killed"] + numbers["left"]
    percent = f"{100 * numbers['killed'] / tried:.1f} %" if tried else "-"
    return f"| {' | '.join([name, *map(str, numbers.values()), percent])} |"


if __name__ == "__main__":
    sys.exit(main())
