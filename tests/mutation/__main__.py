"""Mutation testing of the code that is trusted: ``python -m tests.mutation --report FILE``.

The tests of a module are collected once. Every mutant then gets a process of its own, a copy of
this one (``fork``), in which one function is replaced, and the tests run, fast ones first, until
one fails. So a mutant that is found costs a fraction of a second.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from tests.mutation.mutants import Mutant, install, mutants

ROOT = Path(__file__).parents[2]
SECONDS, TIMES = 10, 5
"""Processor time of a mutant: N seconds, and N times that of the tests without one. A
mutant that takes longer is found, as a test would hang."""
MIB = 2048
"""Memory of a mutant."""


class Target(NamedTuple):
    """A module, and its tests: files, and an expression of pytest that selects among them."""

    module: str
    tests: tuple[str, ...]
    only: str = ""


EVIDENCE = (
    "tests/checker/test_checker.py", "tests/checker/test_evidence.py",
    "tests/checker/test_mutants.py", "tests/checker/test_tricks.py",
)  # fmt: skip
TARGETS = (
    Target("cchybrid.referee.verify", (
        "tests/referee/test_verify.py", "tests/referee/test_verify_random.py",
        "tests/referee/test_contributions.py",
    )),
    Target("cchybrid.problem.violations", ("tests/problem/test_violations.py",)),
    Target("cchybrid.checker.schedule", (
        "tests/checker/test_schedule.py", "tests/checker/test_tricks.py",
        "tests/checker/test_allreduce.py",
    )),
    Target(
        "cchybrid.checker.growth", ("tests/checker/test_growth.py", *EVIDENCE),
        "growth or regions or reductions or test_refused",
    ),
    Target(
        "cchybrid.checker.cut", ("tests/checker/test_cut.py", *EVIDENCE), "cut or test_refused"
    ),
    Target("cchybrid.checker.prices", EVIDENCE, "price or test_refused or fractions"),
    Target("cchybrid.checker.farkas", (
        "tests/checker/test_farkas.py", "tests/checker/test_evidence.py",
        "tests/checker/test_mutants.py",
    ), "farkas or duals or test_refused"),
    Target("cchybrid.checker.relaxation", (
        "tests/checker/test_rows_hold.py", "tests/checker/test_farkas.py",
    ), "row or multiples or harder"),
    Target(
        "cchybrid.checker.blocks",
        ("tests/proof/test_blocks.py", "tests/checker/test_rows_hold.py", *EVIDENCE), "block",
    ),
    Target("cchybrid.checker.refutation", (
        "tests/checker/test_mutants.py", "tests/checker/test_evidence.py",
        "tests/proof/test_refutation.py", "tests/checker/test_tricks.py",
    ), "refut or proof or order or lines or test_refused"),
)  # fmt: skip
"""The modules that are trusted, with tests that name them."""


class Tester:
    """A plugin of pytest that runs the collected tests once per mutant."""

    def __init__(self, module: str, chosen: Sequence[Mutant], until: float) -> None:
        self.module = importlib.import_module(module)
        self.chosen, self.until = chosen, until
        self.killed: list[Mutant] = []
        self.survived: list[Mutant] = []
        self.seconds = 0.0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests without a mutant, and then with every one of them."""
        from tests.checker.certified import CASES, certified

        if any("test_mutants" in item.nodeid for item in session.items):
            for index in range(len(CASES)):  # seeds of the tests, made by the code as it is
                certified(index)
        items, self.seconds = _in_order(session.items)
        print(f"{self.module.__name__}: {len(items)} tests, {self.seconds:.1f} s", flush=True)
        for mutant in self.chosen:
            if time.monotonic() > self.until:
                break
            killed = _fails(items, self.module, mutant, SECONDS + int(TIMES * self.seconds))
            (self.killed if killed else self.survived).append(mutant)
            print(f"{'killed' if killed else 'SURVIVED'}: {mutant}", flush=True)
        return True


def _in_order(items: list[Any]) -> tuple[list[Any], float]:
    """Return the tests, the fastest first, and their processor time; all must pass."""
    from _pytest.runner import runtestprotocol

    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            times = []
            for item, following in zip(items, [*items[1:], None], strict=True):
                started = time.process_time()
                for outcome in runtestprotocol(item, nextitem=following, log=False):
                    if outcome.failed:
                        os.write(write, f"{item.nodeid} fails\n{outcome.longrepr}".encode()[-9000:])
                        os._exit(1)
                times.append(time.process_time() - started)
            os.write(write, " ".join(map(repr, times)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    text = b""
    while part := os.read(read, 1 << 16):
        text += part
    os.close(read)
    if os.waitpid(child, 0)[1]:
        raise SystemExit(f"the tests fail without a mutant: {text.decode()}")
    times = list(map(float, text.split()))
    order = sorted(range(len(items)), key=times.__getitem__)
    return [items[place] for place in order], sum(times)


def _fails(items: list[Any], module: Any, mutant: Mutant, seconds: int) -> bool:
    """Return whether a test fails, or takes longer, where a module has a mutant in it."""
    from _pytest.runner import runtestprotocol

    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    status = 1
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds + int(time.process_time()),) * 2)
        resource.setrlimit(resource.RLIMIT_AS, (_size() + (MIB << 20),) * 2)
        install(module, mutant)
        for item, following in zip(items, [*items[1:], None], strict=True):
            if any(each.failed for each in runtestprotocol(item, nextitem=following, log=False)):
                os._exit(1)
        status = 0
    finally:
        os._exit(status)


def _size() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def main() -> int:
    """Test the modules, write the report, and return 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--module", action="append", choices=[each.module for each in TARGETS])
    parser.add_argument("--sample", type=int, default=0, help="mutants of a module; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600.0, help="for each module")
    parser.add_argument("--lines", help="only mutants of these lines, such as 30-60")
    parser.add_argument("--report", type=Path, help="a folder, for a file per module")
    given = parser.parse_args()
    settings.register_profile(
        "mutation", max_examples=25, deadline=None, derandomize=True, database=None
    )
    settings.load_profile("mutation")
    for target in TARGETS:
        if given.module and target.module not in given.module:
            continue
        every = mutants(target.module)
        if given.lines:
            first, last = map(int, given.lines.split("-"))
            every = [mutant for mutant in every if first <= mutant.line <= last]
        chosen = list(every)
        if 0 < given.sample < len(every):
            chosen = random.Random(given.seed).sample(every, given.sample)
        tester = Tester(target.module, chosen, time.monotonic() + 60 * given.minutes)
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not long"]
        pytest.main([*options, "-k", target.only, *target.tests], plugins=[tester])
        if given.report:
            name = target.module.removeprefix("cchybrid.")
            (given.report / f"{name}.md").write_text(_report(target, tester, len(every)), "utf-8")
    return 0


def _report(target: Target, tester: Tester, total: int) -> str:
    tested = len(tester.killed) + len(tester.survived)
    lines = [
        f"# {target.module}",
        "",
        f"{total} mutants, {tested} tested, {len(tester.killed)} killed"
        f" ({len(tester.killed) / max(1, tested):.1%}).",
        "",
        f"Tests: {', '.join(f'`{name}`' for name in target.tests)}"
        f"{f', of these `{target.only}`' if target.only else ''}; {tester.seconds:.1f} s.",
        "",
        "## Survivors",
        "",
    ]
    lines += [f"- {mutant}" for mutant in sorted(tester.survived, key=lambda m: m.line)] or [
        "None."
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
