"""Runs of the fuzzer: mutants are read in child processes, and what is no clean answer is found."""

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).parents[2]
SECONDS = 5.0
"""Processor time for one mutant."""
MIB = 512
"""Memory for all mutants that a process reads, beyond what it needs at its start."""
SILENT_SECONDS = 300.0
"""Wall-clock time without an answer after which a child is ended: it hangs in compiled code."""
PART = 20
"""Mutants between two looks at the clock."""
CLEAN = ("accepted", "refused")


class Finding(NamedTuple):
    """A mutant without a clean answer; a negative number is that of an unchanged seed file."""

    reader: str
    number: int
    outcome: str
    text: str

    def __str__(self) -> str:
        text = f"{self.reader} {self.number}: {self.outcome}: {self.text}"
        return text.encode("ascii", "backslashreplace").decode()  # half a character, too


@dataclass
class Outcome:
    """The answers to the mutants of all readers.

    Attributes
    ----------
    answers
        By reader the number of mutants by answer, ``accepted`` and ``refused`` among them.
    findings
        The mutants without a clean answer.
    slowest
        By reader the largest processor time of a mutant, in seconds, with its judge.
    seconds
        By reader the processor time of all mutants: made, read and judged.
    report
        Called with every finding.
    """

    answers: dict[str, Counter[str]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    slowest: dict[str, float] = field(default_factory=dict)
    seconds: Counter[str] = field(default_factory=Counter)
    report: Callable[[Finding], None] = lambda finding: None

    def add(self, name: str, number: int, record: dict[str, Any]) -> None:
        """Count the answer to a mutant."""
        if number >= 0:
            self.answers.setdefault(name, Counter())[record["outcome"]] += 1
            self.slowest[name] = max(self.slowest.get(name, 0.0), record.get("seconds", 0.0))
            self.seconds[name] += record.get("all_seconds", 0.0)
        if record["outcome"] not in CLEAN or (number < 0 and record["outcome"] != "accepted"):
            self.findings.append(Finding(name, number, record["outcome"], record["text"]))
            self.report(self.findings[-1])


class Runner:
    """Reads mutants in a child process, which is started when it is needed and kept until it ends.

    To be used in a ``with`` block.
    """

    def __init__(self) -> None:
        self._child: _Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def run(
        self,
        jobs: Iterable[tuple[str, int, int]],
        until: float | None = None,
        report: Callable[[Finding], None] = lambda finding: None,
    ) -> Outcome:
        """Read mutants: of each job (reader, first number, count), one after another.

        Parameters
        ----------
        report
            Called with every finding.
        until
            The time of ``time.monotonic`` at which the run ends, by default when all jobs are done.
        """
        outcome = Outcome(report=report)
        for name, first, count in jobs:
            for number in range(first, first + count, PART):
                if until is not None and time.monotonic() >= until:
                    return outcome
                self._read(name, number, min(PART, first + count - number), outcome)
        return outcome

    def _read(self, name: str, first: int, count: int, outcome: Outcome) -> None:
        while count:
            self._child = self._child or _Child()
            done = self._child.read(name, first, count, outcome)
            first, count = first + done, count - done
            if self._child.ended:  # go on behind the mutant that ended it
                self._end()

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """A child process, and what it last said."""

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by ``end``)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.child", str(SECONDS), str(MIB)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, cwd=ROOT,
            env={**os.environ, "MALLOC_ARENA_MAX": "1"},  # or each thread reserves 64 MiB
        )  # fmt: skip
        self._waiting = selectors.DefaultSelector()
        assert self._process.stdout is not None
        self._waiting.register(self._process.stdout, selectors.EVENT_READ)
        self._pending = b""
        self.ended = False
        """Whether it has ended by itself, or hung, and can read no more."""

    def read(self, name: str, first: int, count: int, outcome: Outcome) -> int:
        """Have the mutants of a job read, and return how many were; the last may end the child."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, first, count]).encode() + b"\n")
        self._process.stdin.flush()
        number = None
        while True:
            line = self._line()
            if line is None:
                self.ended = True
                self._log.seek(0)
                words = self._log.read()[-1500:].decode(errors="replace")
                if number is None:
                    raise RuntimeError(f"no mutant of {name}: {words}")
                why = "ended the process"
                try:
                    self._process.wait(5.0)
                except subprocess.TimeoutExpired:
                    why = "hung"
                outcome.add(name, number, {"outcome": why, "text": " ".join(words.split())[-300:]})
                return max(0, number + 1 - first)
            if line.startswith(b">"):
                _, number = json.loads(line[1:])
            elif line.startswith(b"<"):
                assert number is not None
                outcome.add(name, number, json.loads(line[1:]))
                if number == first + count - 1:
                    return count

    def _line(self) -> bytes | None:
        while b"\n" not in self._pending:
            if not self._waiting.select(SILENT_SECONDS):
                return None
            assert self._process.stdout is not None
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._waiting.close()
        self._log.close()
