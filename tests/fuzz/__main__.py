"""A run of the fuzzer for some time: ``python -m tests.fuzz --minutes 60 --report FILE``."""

import argparse
import itertools
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.readers import READERS
from tests.fuzz.run import CLEAN, MIB, SECONDS, Outcome, Runner

ROUND = 100
"""Mutants of a reader before those of the next one."""


def main() -> int:
    """Run, write the report, and return 1 if there was a finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--reader", action="append", choices=[each.name for each in READERS])
    given = parser.parse_args()
    started = time.monotonic()

    def jobs() -> Iterator[tuple[str, int, int]]:
        for first in itertools.count(given.first, ROUND):
            for each in READERS:
                if not given.reader or each.name in given.reader:
                    yield each.name, first, ROUND

    with Runner() as runner:
        until = started + 60 * given.minutes
        found = runner.run(jobs(), until, lambda finding: print(finding, flush=True))
    text = report(found, (time.monotonic() - started) / 60, given.first)
    if given.report:
        given.report.write_text(text, encoding="utf-8")
    print(text)
    return 1 if found.findings else 0


def report(found: Outcome, minutes: float, first: int) -> str:
    """Return the report of a run as Markdown."""
    total = sum(sum(count.values()) for count in found.answers.values())
    lines = [
        "# Mutated input files",
        "",
        f"`python -m tests.fuzz --minutes {round(minutes)} --first {first}` on Python"
        f" {platform.python_version()}, in one process at low priority: {total:,} mutants in"
        f" {minutes:.0f} minutes, of which the process got {found.seconds.total() / 60:.0f} of"
        " processor time to make, read and judge them.",
        "",
        f"A mutant may take {SECONDS:g} s of processor time, and a process {MIB} MiB beyond what it"
        " needs at its start. A clean answer is a value that the judge of the reader confirms"
        " (`tests/fuzz/judges.py`), or an error of one printable line of bounded length; anything"
        " else is a finding.",
        "",
        "| reader | mutants | accepted and right | refused | findings | mean, ms | slowest, s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, count in found.answers.items():
        wrong = sum(times for outcome, times in count.items() if outcome not in CLEAN)
        lines.append(
            f"| {name} | {sum(count.values()):,} | {count['accepted']:,} | {count['refused']:,}"
            f" | {wrong} | {1000 * found.seconds[name] / sum(count.values()):.1f}"
            f" | {found.slowest[name]:.2f} |"
        )
    lines += ["", "## Findings", ""]
    lines += [f"- `{finding}`" for finding in found.findings] or ["None."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
