"""``prove`` and ``check``: certificates that a schedule has the fewest steps."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cchybrid.checker import EvidenceError, RoundsVerdict
from cchybrid.cli import arguments
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.schedules import ScheduleFile, read_described
from cchybrid.cli.writable_files import check_writable
from cchybrid.model import Instance
from cchybrid.model.errors import CchybridError, InputError, PluginError
from cchybrid.model.instance import read_json
from cchybrid.model.shown import counted, counted_steps
from cchybrid.model.text import described, error_line
from cchybrid.plugin.records import ProofFormatInfo, load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.system.output import command_output_to_stderr, output_to_stderr
from cchybrid.view import argument
from cchybrid.view.activity import show_detail
from cchybrid.view.screen import print_lines

if TYPE_CHECKING:
    from cchybrid.host.proving import ProofResult


def _with_proof_formats(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option per registered format of proofs; it gets the folders by record."""
    formats = {_word(info): info for info in load_registry().proof_formats.values()}

    @functools.wraps(command)
    def call(**given: Any) -> None:
        named = {info: given.pop(word) for word, info in formats.items()}
        folders = {info: folder for info, folder in named.items() if folder is not None}
        command(**given, folders=folders)

    *own, _ = inspect.signature(command, eval_str=True).parameters.values()
    options = [
        inspect.Parameter(
            word, own[-1].kind, default=None, annotation=Annotated[
                Path | None, arguments.option("FOLDER", info.summary, f"--{info.name}")
            ],
        )
        for word, info in formats.items()
    ]  # fmt: skip
    call.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
    return call


def _word(info: ProofFormatInfo) -> str:
    """Return the name of the parameter of a format, which is no other's."""
    return "to_" + re.sub(r"\W", "_", info.name)


@_with_proof_formats
def prove(
    schedule: ScheduleFile,
    output: Path | None = None,
    time_limit: arguments.TimeLimit = 600.0,
    as_json: arguments.AsJson = False,
    folders: Mapping[ProofFormatInfo, Path] = MappingProxyType({}),
) -> None:
    """Prove that no schedule has fewer steps, and write a certificate that check accepts.

    Options with a FOLDER write the same claim for checkers of other projects.

    Exit status: 0 the schedule is proven optimal, 1 it is not (a certificate of the best bound is
    written nevertheless), 2 bad input.

    Options
    -------
    output : -o, --output FILE
        Default: beside it, NAME.certificate.json.
    """
    from cchybrid.host import proving
    from cchybrid.system.background import avoid_full_collections

    avoid_full_collections()
    check_writable(output)
    for info, folder in folders.items():
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is no folder", where=f"--{info.name}", hint="name one")
    target = output or schedule.with_name(f"{schedule.stem}.certificate.json")
    if target.exists() and schedule.exists() and target.samefile(schedule):
        raise InputError("this is the schedule", where=f"-o {output}", hint="name another file")
    read, about = read_described(schedule)
    registry = load_plugins()
    # Standard output may be JSON, and bound providers of plugins may print.
    with command_output_to_stderr():
        outcome = proving.prove(
            schedule, time_limit=time_limit, report=show_detail, registry=registry
        )
    verdict = outcome.verdict
    files: list[Path] = []
    failure: CchybridError | None = None
    if verdict is not None:
        outcome.save(target)
        try:
            left = max(time_limit - outcome.seconds, 1.0)
            for info, folder in folders.items():
                files += _write(info, outcome, folder, left)
        except CchybridError as error:
            failure = error  # raised after the verdict is printed
    if as_json:
        record = {
            **outcome.to_json(),
            **_shown(verdict, outcome.schedule.instance),
            "certificate": None if verdict is None else str(target),
            "files": list(map(str, files)),
        }
        print(json.dumps(record))
    else:
        lines = outcome.details()
        if verdict is not None:
            lines.append(f"{schedule}: {_sentence(verdict, read.instance)}")
            lines += about
            lines.append(f"written to {target} ({target.stat().st_size:,} bytes)")
        lines += [f"written to {path} ({path.stat().st_size:,} bytes)" for path in files]
        if outcome.interrupted:
            lines.append("interrupted")
        print_lines(lines)
    if failure is not None:
        raise failure
    raise typer.Exit(0 if outcome.optimal else 1)


def _write(info: ProofFormatInfo, outcome: ProofResult, folder: Path, seconds: float) -> list[Path]:
    """Write the files of a format; return their paths."""
    assert outcome.certificate is not None
    instance = outcome.schedule.to_json()["instance"]
    try:
        with output_to_stderr():  # standard output may be JSON
            files = list(load_target(info.target)(instance, outcome.certificate, folder, seconds))
    except CchybridError:
        raise
    except Exception as error:
        raise PluginError(f"proof format {info.name} failed: {error_line(error)}") from error
    for path in files:
        if not (isinstance(path, Path) and path.is_file()):
            raise PluginError(f"proof format {info.name}: {path!r:.60} is no path of a file")
    return files


def check(
    schedule: Path,
    certificate: Path | None = None,
    explain: bool = False,
    verified: bool = False,
    as_json: arguments.AsJson = False,
) -> None:
    """Check a schedule and its certificate, from the two files alone; or another kind of file.

    The checker needs only Python's standard library; the referee verifies the schedule, too.
    Exit status: 0 the check held, 1 it failed, 2 bad input.

    Arguments
    ---------
    schedule : FILE
        A cchybrid-schedule/1 file; or alone a file or folder of another kind that proves something.
    certificate : CERTIFICATE
        The cchybrid-certificate/1 file of the schedule.

    Options
    -------
    explain
        Print the argument in sentences, with its numbers.
    verified
        Check also by the program extracted from the Coq proof (make verified-checker).
    """
    from cchybrid.host import proving

    if explain and as_json:
        raise InputError("the argument is sentences", where="--explain", hint="leave out --json")
    if certificate is None and verified:
        raise InputError("the proof is about certificates", where="--verified", hint="name one")
    if certificate is None:
        raise typer.Exit(0 if _check_alone(schedule, explain, as_json) else 1)
    read, about = read_described(schedule)
    verdict, failure = None, ""
    try:
        verdict = proving.check(schedule, certificate)
        if verified:
            proving.check_verified(schedule, certificate, verdict)
    except EvidenceError as error:
        verdict, failure = None, _with_names(str(error), read.instance.network.node_names or ())
    if as_json:
        record = {
            "holds": verdict is not None,
            "instance": read.instance.name,
            "description": [line.strip() for line in about],
            "steps": len(read.steps),
            **_shown(verdict, read.instance),
            "optimal": verdict is not None and verdict.optimal,
            "failure": failure,
            "verified": verified and verdict is not None,
        }
        print(json.dumps(record))
    elif verdict is None:
        print_lines([f"{schedule}: FAILED: {failure}", *about])
    else:
        lines = argument.explain(read.instance.to_json(), read_json(certificate)) if explain else []
        also = ["  also checked by the program extracted from the Coq proof"] * verified
        print_lines([f"{schedule}: {_sentence(verdict, read.instance)}", *also, *about])
        print_lines(f"  {line}" for line in lines)
    raise typer.Exit(0 if verdict is not None else 1)


def _with_names(text: str, names: Sequence[str]) -> str:
    """Return an error of the checker, where nodes are numbers, with the names of these."""
    shown = dict(enumerate(f" ({name})" for name in names))
    return re.sub(r"\bnode (\d+)", lambda node: node[0] + shown.get(int(node[1]), ""), text)


def _check_alone(path: Path, explain: bool, as_json: bool) -> bool:
    """Check a file that needs no certificate beside it, or a folder, as its format says."""

    registry = load_plugins()
    found: dict[str, Any] = {}
    unread: list[InputError] = []
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        try:
            record = read_json(file)
        except InputError as error:  # in a folder the check of another file decides about it
            unread.append(error)
            continue
        name = str(record.get("format")) if isinstance(record, dict) else ""
        info = registry.checks.get(name)
        if info is not None and info.folder == path.is_dir():
            found.setdefault(name, record)
    if len(found) > 1:
        kinds = " and ".join(found)
        raise InputError(
            f"files of {kinds}", where=str(path), hint="move those of one kind elsewhere"
        )
    for name, record in found.items():
        holds = registry.load("check", registry.checks[name])(path, record, explain, as_json)
        if type(holds) is not bool:
            raise PluginError(f"the check of {name} returned {described(holds)}, no bool")
        return holds
    if unread:
        raise unread[0]
    # Such as the halves of an allreduce, in the folder of ``best``.
    inner = sorted({file.parent for file in path.glob("*/*.json")})
    if inner and not as_json:
        held = [_check_alone(each, explain, as_json) for each in inner]
        return all(held)
    raise InputError(
        "no plugin checks it without a certificate",
        where=str(path),
        hint=f"name {inner[0]}" if inner else "name the certificate after the schedule",
    )


def _shown(verdict: Any, instance: Instance) -> dict[str, Any]:
    """Return the verdict as the entries of a JSON object."""
    from cchybrid.proof.reach import farthest

    if isinstance(verdict, RoundsVerdict):
        return {
            "chunks": verdict.chunks,
            "rounds": verdict.rounds,
            "ratio": str(verdict.rounds_per_chunk),
            "bound": str(verdict.bound),
            "fewest_steps": farthest(instance),
            "kind": verdict.kind,
        }
    return {key: getattr(verdict, key, None) for key in ("bound", "scope", "kind")}


def _sentence(verdict: Any, instance: Instance) -> str:
    """Return the verdict as a sentence, with the scope of the claim."""
    size = counted_steps(instance, verdict.steps)
    if isinstance(verdict, RoundsVerdict):
        word = "optimal (certified)" if verdict.optimal else "not proven optimal"
        return (
            f"valid, {size}, {counted(verdict.rounds, 'round')}, {word}: at most {size} "
            f"need {verdict.bound} rounds per chunk or more; {verdict.kind}"
        )
    word = "optimal (certified)" if verdict.optimal else f"at least {verdict.bound} are needed"
    return f"valid, {size}, {word}; scope: {verdict.scope}; {verdict.kind}"
