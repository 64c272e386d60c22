"""The cases of a conformance suite: each one check of a plugin, with or without an example."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from cchybrid.plugin.conformance.subject import PluginSubject
from cchybrid.plugin.conformance.watch import ConformanceError


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


def run_cases(cases: Iterable[ConformanceCase]) -> None:
    """Run every case, and raise one ``ConformanceError`` with a line per case that failed."""
    failures: list[ConformanceError] = []
    for case in cases:
        try:
            case()
        except ConformanceError as error:
            failures.append(error)
    if failures:
        raise ConformanceError("\n".join(map(str, failures))) from failures[0]
