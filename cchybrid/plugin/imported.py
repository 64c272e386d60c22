"""Requests to importers, and their results: foreign schedules with the file's own places."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cchybrid.model import Collective, Instance, Network, Schedule
from cchybrid.model.errors import InputError, PluginError
from cchybrid.model.text import error_line

RECOGNISED_CHARACTERS = 1 << 16
"""Characters at the beginning of a file by which its format is recognised."""

Place = tuple[int, int]
"""Indices of a transfer: ``schedule.steps[step][transfer]``."""


@dataclass(frozen=True)
class ImportRequest:
    """Options that the user gives for a foreign file.

    Parameters
    ----------
    name
        The name of the file without its suffixes, for the names of what it holds.
    network
        The network against which the schedule is judged; ``None``: what the file says, or the
        channels that the schedule uses.
    collective
        The collective that the schedule must perform; ``None``: what the file says.
    """

    name: str = "file"
    network: Network | None = None
    collective: Collective | None = None


@dataclass(frozen=True)
class BrokenRule:
    """A rule that a foreign file breaks.

    Parameters
    ----------
    rule
        The name of the rule: of the referee, or of the format (``docs/audit.md``).
    place
        Where in the file, in its own terms, such as ``gpu 0, tb 3, step 5`` or ``epoch 17``.
    text
        What is wrong there.
    """

    rule: str
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text} ({self.rule})" if self.place else self.text


@dataclass(frozen=True)
class OwnBound:
    """A lower bound in the file's own measure of time, which the model of cchybrid lacks.

    Parameters
    ----------
    value
        The number of time units that the file says it takes.
    lower
        The number that every schedule of its collective on its network needs; 0: none is known.
    unit
        The time unit, in the plural, in small letters with an ``s`` at the end, such as ``epochs``;
        neither ``steps`` nor ``rounds``.
    reason
        The arithmetic behind the bound, as one line.
    """

    value: int
    lower: int
    unit: str
    reason: str = ""


@dataclass(frozen=True)
class Imported:
    """A foreign schedule.

    Parameters
    ----------
    instance
        What is to be scheduled, on the network and for the collective of the request if they are
        given; ``None`` if the file does not say it in full.
    schedule
        The schedule of this instance; ``None`` if the file holds none, or if the model cannot
        express it.
    broken
        Rules that the file breaks and that only its importer can see, first one first: that one is
        reported, and the file is invalid.
    places
        The place in the file of transfers of the schedule, by which violations are reported.
    length
        The number of steps that the file takes, those included in which nothing new is sent; a
        number below the steps of the schedule has no effect.
    limits
        What the model cannot mean of the file, a line each.
    facts
        Further figures of the file, a line each.
    own
        Its length and a bound in the file's own measure of time; the verdict is then ``valid by the
        rules of`` the importer.
    meaning_checked
        Whether the importer has executed the file and found that all data arrive: then a schedule
        that breaks another rule than ``no-such-channel``, or ``missing-destination`` of a message
        that the file lacks, is one that the model cannot express.
    """

    instance: Instance | None = None
    schedule: Schedule | None = None
    broken: tuple[BrokenRule, ...] = ()
    places: Mapping[Place, str] = field(default_factory=dict)
    length: int | None = None
    limits: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    own: OwnBound | None = None
    meaning_checked: bool = False

    def place(self, step: int, transfer: int) -> str:
        """Return the place of a transfer in the file, "" if there is none."""
        return self.places.get((step, transfer), "")


def importer_of(importers: Mapping[str, Any], text: str) -> Any:
    """Return the ``ImporterInfo`` that recognises a text, the first by name.

    Raises
    ------
    CchybridError
        There is none, or an importer fails.
    """
    if not text.strip():
        raise InputError("the file is empty", hint="name another file")
    for _, info in sorted(importers.items()):
        try:
            if info.recognises(text[:RECOGNISED_CHARACTERS]):
                return info
        except Exception as error:
            raise PluginError(f"importer {info.name} failed: {error_line(error)}") from error
    names = ", ".join(sorted(info.name for info in importers.values()))
    hint = f"formats of other tools, for audit --from: {names}"
    raise InputError("no importer knows this file", hint=hint)


def foreign_instance(importers: Mapping[str, Any], text: str, name: str) -> Instance:
    """Return the instance that a file of another tool holds, without a schedule.

    Raises
    ------
    CchybridError
        There is none, or an importer fails.
    """
    found = importer_of(importers, text).read(text, ImportRequest(name))
    if type(found.instance) is not Instance or found.schedule or found.own or found.broken:
        raise InputError("no instance alone", hint="for schedules: cchybrid audit, import")
    return found.instance
