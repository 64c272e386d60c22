"""``archive add``: the best known schedules and certificates, as files."""

from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import typer

from cchybrid.checker import EvidenceError
from cchybrid.cli.documented import add_command
from cchybrid.cli.help_text import Group
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.model import LowerBound, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.instance import read_json
from cchybrid.view.screen import print_lines, print_note

from .archive import Archive
from .checking import check_suite, damage_refused, stored_suite
from .progress import checking
from .schedule_checks import certified_steps, stored_schedule
from .store import Store

DEFAULT = Path("docs/archive")
SUMMARY = "Keep the best known schedule and certificate of every instance."
archive = typer.Typer(name="archive", cls=Group, help=SUMMARY, no_args_is_help=True)


def add(schedule: Path, certificate: Path | None = None, archive: Path = DEFAULT) -> None:
    """Verify a schedule or a store, and put what is better than before into an archive.

    Referee and checker verify first. An entry is replaced by fewer steps or a higher certified
    bound.

    Exit status: 0 all holds, 1 some runs of the store do not and were left out, 2 bad input.

    Arguments
    ---------
    schedule : FILE
        A schedule, or a store of bench run.
    certificate : CERTIFICATE
        The certificate of the schedule; default: the bound inside it counts.

    Options
    -------
    archive : --archive FOLDER
        The archive, made if there is none.
    """
    into = Archive(archive)
    if schedule.suffix == ".sqlite":
        if certificate is not None:
            what, hint = "a store has its own evidence", "leave it out"
            raise InputError(what, where=str(certificate), hint=hint)
        raise typer.Exit(_add_store(into, schedule))
    proof = None if certificate is None else read_json(certificate)
    try:
        outcome, entry = into.add(Schedule.load(schedule), proof)
    except EvidenceError as error:
        raise InputError(f"refused: {error}", where=str(certificate or schedule)) from None
    print_lines([f"{entry.instance}: {outcome}; the archive has {entry.words}"])


add_command(archive, add)


def _add_store(into: Archive, path: Path) -> int:
    """Add the runs of a store; print what was done, and return the exit status."""
    registry, counts = load_plugins(), Counter[str]()
    with Store(path) as store, damage_refused(path):
        suites = store.suites()
    for name in suites:
        suite = stored_suite(path, name, registry)
        if suite.kind != "schedules":
            what = f"its suite {name} is of {suite.kind}"
            raise InputError(what, where=str(path), hint="add stores of schedules")
        with checking(path) as watch:
            checked = check_suite(path, suite, registry, watch)
        refused = list(checked.excluded)
        for each in chain(*checked.runs.values()):
            result = each.run.result
            if not each.held:
                refused.append(f"{each.run.title}: {each.failure}")
            elif not each.failure and (schedule := stored_schedule(each.run)):
                if not result.get("certified"):
                    evidence = result.get("certified_evidence") or {}
                    bound = LowerBound(certified_steps(result), evidence)
                    schedule = replace(schedule, lower_bound=bound)
                counts[into.add(schedule, names=[(name, each.run.row)])[0]] += 1
        for line in refused:
            print_note(f"left out: {line}")
        counts["refused"] += len(refused)
    words = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    print_lines([f"{path}: {words or 'no schedules'}; the archive has {len(into.entries)} rows"])
    return 1 if counts["refused"] else 0
