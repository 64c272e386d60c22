"""The cases of a conformance suite: each one check of a plugin, with or without an example."""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cchybrid.plugin.conformance.subject import PluginSubject
from cchybrid.plugin.conformance.watch import ConformanceError

LONG = ("host", "repeatable", "hints")
"""Checks that need a process, or many evaluations more: half of the time of a suite."""
QUIET_SECONDS = 1.0
"""Seconds without a line of progress."""


class Example(Protocol):
    """The work that a plugin is tried on: an instance for engines, a task for designers."""

    @property
    def name(self) -> str:
        """A description of it."""


@dataclass(frozen=True)
class ConformanceCase:
    """One check of a plugin, with or without an example. Call it to run the check.

    Parameters
    ----------
    subject
        The plugin.
    check
        The name of the check.
    function
        The check, called with the subject, and with the example if there is one.
    example
        What the plugin is tried on.
    """

    subject: PluginSubject
    check: str
    function: Callable[..., None]
    example: Example | None = None

    @property
    def long(self) -> bool:
        """Whether it takes longer than others, so that it may be left out of every run."""
        return self.check in LONG

    def __str__(self) -> str:
        """Return the case's name for test reports: the check and the example."""
        return self.check if self.example is None else f"{self.check} {self.example.name}"

    def __call__(self) -> None:
        """Run the check; raise a ``ConformanceError`` that says what to correct."""
        examples = () if self.example is None else (self.example,)
        try:
            self.function(self.subject, *examples)
        except ConformanceError as error:
            place = "".join(f" on {example.name!r}" for example in examples)
            line = f"{self.subject.name} ({self.check}{place}) {error}"
            raise ConformanceError(line) from error.__cause__


def cases_of(
    subject: PluginSubject,
    checks: Mapping[str, Callable[..., None]],
    examples: Iterable[Example],
    checks_of_example: Mapping[str, Callable[..., None]],
) -> list[ConformanceCase]:
    """Return the cases of all checks of the plugin as a whole, and on every example."""
    return [
        *(ConformanceCase(subject, name, check) for name, check in checks.items()),
        *(
            ConformanceCase(subject, name, check, example)
            for example in examples
            for name, check in checks_of_example.items()
        ),
    ]


def run_cases(cases: Sequence[ConformanceCase]) -> None:
    """Run every case, and raise one ``ConformanceError`` with a line per case that failed.

    On a terminal a line on standard error shows how far it has come, after a second.
    """
    failures: list[ConformanceError] = []
    started = time.monotonic()
    for number, case in enumerate(cases, 1):
        if sys.stderr.isatty() and time.monotonic() - started > QUIET_SECONDS:
            text = f"{number}/{len(cases)} {case}, {len(failures)} failed"
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
        try:
            case()
        except ConformanceError as error:
            failures.append(error)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if failures:
        raise ConformanceError("\n".join(map(str, failures))) from failures[0]
