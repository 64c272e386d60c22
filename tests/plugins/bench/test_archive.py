"""The archive: what is better replaces, and what does not hold is refused."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cchybrid_plugins.bench import archive as archive_module
from cchybrid_plugins.bench.archive import ENTRIES, INDEX, Archive, Entry

import cchybrid
from cchybrid.checker import EvidenceError, check
from cchybrid.cli.app import run as command
from cchybrid.host.certificates import certificate
from cchybrid.model import LowerBound, Schedule
from cchybrid.model.errors import InputError
from cchybrid.referee.verify import verify_schedule
from tests.plugins.bench.local_runs import COLOURING, fill, made, packed, suite_of
from tests.refusals import refused

DOCS = Path(__file__).parents[3] / "docs" / "archive"
RING = cchybrid.instance("ring-bi-4", "AAB")
FIRST = [(node, (node, (node + hop) % 4)) for node in range(4) for hop in (1, 3)]
SECOND = [(0, (0, 1, 2)), (1, (1, 0, 3)), (2, (2, 3, 0)), (3, (3, 2, 1))]
BOUND = LowerBound(2, {"kind": "linear", "steps": 2, "channels": [[1, 0, 1], [3, 0, 1]]})
"""Node 0 receives three messages by two channels."""
SHORT = Schedule(RING, (tuple(FIRST), tuple(SECOND)), BOUND, {"engine": "mine", "seed": 7})
LONG = Schedule(RING, (tuple(FIRST), tuple(SECOND[:2]), tuple(SECOND[2:])))
PROOF = certificate(
    RING.to_json(), {"steps": 2, "scope": "minimal routing"}, BOUND.evidence, {"version": "x"}
)

SUITE = """
[[rows]]
topology = "ring-bi-4"
collective = "AAB"
[[rows]]
topology = "ring-bi-4"
collective = "AAS"
"""


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive")


def only(archive: Archive) -> Entry:
    """Return the one entry of an archive, read again, with its one file, which holds."""
    (entry,) = Archive(archive.folder).entries.values()
    assert [path.name for path in (archive.folder / ENTRIES).iterdir()] == [entry.file]
    holds(archive, entry)
    return entry


def holds(archive: Archive, entry: Entry) -> None:
    """Check by the checker that the file of an entry is what its row says."""
    record, proof = archive.records(entry)
    assert len(record["steps"]) == entry.steps
    assert Schedule.from_json(record).instance.digest == entry.digest
    assert (proof is not None) == (entry.certified == "yes")
    if proof is None:
        assert not verify_schedule(Schedule.from_json(record))
        assert entry.bound == 0
    else:
        verdict = check(record, proof)
        assert (verdict.steps, verdict.bound) == (entry.steps, entry.bound)
    made_by = record.get("made_by", {})
    found = [str(made_by.get(key, "")) for key in ("engine", "version", "seed")]
    assert found == [entry.engine, entry.version, entry.seed]


def test_fewer_steps_and_a_higher_bound_replace_and_nothing_else_does(archive: Archive) -> None:
    assert archive.add(LONG)[0] == "new"
    assert only(archive).words == "3 steps, no bound"
    assert archive.add(LONG)[0] == "not better"
    assert archive.add(replace(LONG, lower_bound=BOUND))[0] == "better"
    assert only(archive).words == "3 steps, at least 2"
    assert archive.add(replace(SHORT, lower_bound=None))[0] == "better"  # the certificate stays
    best = only(archive)
    assert (best.words, best.engine, best.seed) == ("2 steps, optimal", "mine", "7")
    for worse in (LONG, replace(LONG, lower_bound=BOUND), SHORT):
        assert archive.add(worse)[0] == "not better"
        assert only(archive) == best


def test_a_certificate_counts_for_the_schedule_that_is_there(archive: Archive) -> None:
    archive.add(replace(SHORT, lower_bound=None))
    assert archive.add(LONG, PROOF)[0] == "better"
    assert only(archive).words == "2 steps, optimal"


def test_the_rows_of_one_instance_share_a_file(archive: Archive) -> None:
    archive.add(SHORT, names=[("thesis", "b"), ("smoke", "a")])
    assert archive.add(LONG, names=[("general", "c")])[0] == "not better"
    found = Archive(archive.folder).entries
    assert list(found) == [("general", "c"), ("smoke", "a"), ("thesis", "b")]
    assert len({entry._replace(suite="", instance="") for entry in found.values()}) == 1
    other = replace(SHORT, instance=cchybrid.instance("ring-bi-5", "OAB"))
    with refused("not a valid schedule"):
        archive.add(other)
    line = Schedule(cchybrid.instance("mesh-1x2", "OAB"), (((0, (0, 1)),),))
    with refused("smoke: a", "another instance"):
        archive.add(line, names=[("smoke", "a")])
    assert len(list((archive.folder / ENTRIES).iterdir())) == 1


def test_a_large_entry_has_a_row_alone(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_ENTRY_BYTES", 100)
    archive.add(replace(LONG, lower_bound=BOUND))
    (entry,) = Archive(archive.folder).entries.values()
    assert entry.file == ""
    assert "of 100 bytes" in entry.note
    assert archive.add(replace(SHORT, lower_bound=None))[0] == "not better"  # its bound is worse
    monkeypatch.undo()
    assert archive.add(SHORT)[0] == "better"
    assert only(archive).note == ""


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "no space")])
@pytest.mark.parametrize("write", ["write_bytes", "write_text"])
def test_an_interrupted_write_leaves_the_old_entry(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, error: BaseException, write: str
) -> None:
    archive.add(LONG)
    before = (archive.folder / INDEX).read_bytes()

    def interrupted(*_: Any) -> None:
        raise error

    monkeypatch.setattr(archive_module, write, interrupted)
    with pytest.raises(type(error)):
        archive.add(SHORT)
    monkeypatch.undo()
    assert (archive.folder / INDEX).read_bytes() == before
    again = Archive(archive.folder)
    (entry,) = again.entries.values()
    holds(again, entry)
    assert again.add(SHORT)[0] == "better"


def refusal(words: list[Any], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line by which the command refuses its words."""
    assert command(["archive", "add", *map(str, words)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    return shown.err


def test_the_command_says_what_it_did(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / f"{name}.json" for name in ("long", "short", "proof")}
    LONG.save(files["long"])
    replace(SHORT, lower_bound=None).save(files["short"])
    files["proof"].write_text(json.dumps(PROOF))
    for words, outcome in (
        (["long"], "new; the archive has 3 steps, no bound"),
        (["short", "proof"], "better; the archive has 2 steps, optimal"),
        (["long", "proof"], "not better; the archive has 2 steps, optimal"),
    ):
        given = [str(files[word]) for word in words]
        assert command(["archive", "add", *given, "--archive", str(archive.folder)]) == 0
        assert capsys.readouterr().out == f"ring-bi-4 AAB: {outcome}\n"
    assert only(archive).suite == "other"


def test_what_does_not_hold_is_refused_in_one_line(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.add(LONG)
    before = (archive.folder / INDEX).read_bytes()
    schedule, proof = tmp_path / "s.json", tmp_path / "c.json"
    at = ["--archive", archive.folder]
    short, bound = SHORT.to_json(), {"steps": 2, "evidence": {**BOUND.evidence, "steps": 3}}
    for record, word in (
        ({**short, "steps": short["steps"][:1]}, "not a valid schedule"),
        ({**short, "lower_bound": bound}, "refused"),
        ({**short, "lower_bound": {"steps": 3, "evidence": BOUND.evidence}}, "refused"),
        ([], "s.json"),
    ):
        schedule.write_text(json.dumps(record))
        assert word in refusal([schedule, *at], capsys)
    SHORT.save(schedule)
    for claim in (
        {**PROOF, "claim": {"steps": 3, "scope": "minimal routing"}},
        {**PROOF, "instance": {"sha256": "0"}},
        {**PROOF, "evidence": {}},
        {**PROOF, "format": "cchybrid-certificate/2"},
        [],
    ):
        proof.write_text(json.dumps(claim))
        assert "refused" in refusal([schedule, proof, *at], capsys)
    (tmp_path / "no.sqlite").write_text("no store")
    for words, word in (
        ([tmp_path / "none.json", *at], "none.json: cannot be read"),
        ([tmp_path / "none.sqlite", *at], "there is no such store"),
        ([tmp_path / "no.sqlite", *at], "cannot be used as a store"),
        ([tmp_path / "no.sqlite", proof, *at], "a store has its own evidence"),
        ([schedule, "--archive", schedule], "cannot be"),
    ):
        assert word in refusal(words, capsys)
    assert (archive.folder / INDEX).read_bytes() == before
    (archive.folder / INDEX).write_text("suite,steps\na,b\n")
    assert "damaged" in refusal([schedule, *at], capsys)


@pytest.mark.slow
def test_the_runs_of_a_store_are_added_and_forged_ones_are_left_out(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = suite_of(tmp_path, SUITE)
    runs = [made("schedules", row, COLOURING) for row in suite.rows]
    record = runs[0].unpacked()
    record["steps"][0].pop()
    forged = replace(runs[0], record=packed(record))
    store = fill(tmp_path / "a.sqlite", suite, [forged, runs[1]])
    words = ["archive", "add", str(store), "--archive", str(archive.folder)]
    assert command(words) == 1
    shown = capsys.readouterr()
    assert "left out: ring-bi-4 AAB [colouring, seed 0]: does not hold: " in shown.err
    assert shown.out == f"{store}: 1 new, 1 refused; the archive has 1 rows\n"
    store = fill(tmp_path / "b.sqlite", suite, runs)
    words[2] = str(store)
    assert command(words) == 0
    assert capsys.readouterr().out == f"{store}: 1 new, 1 not better; the archive has 2 rows\n"
    found = Archive(archive.folder)
    assert {name for name, _ in found.entries} == {"mine"}
    for entry in found.entries.values():
        holds(found, entry)
        assert entry.engine


def test_the_archive_has_the_files_that_its_index_names() -> None:
    found = Archive(DOCS)
    files = {entry.file for entry in found.entries.values() if entry.file}
    assert files == {path.name for path in (DOCS / ENTRIES).iterdir()}
    assert all(entry.file or entry.note for entry in found.entries.values())
    with (DOCS / INDEX).open() as file:
        lines = [(line["suite"], line["instance"]) for line in csv.DictReader(file)]
    assert lines == sorted({*lines})
    size = sum(path.stat().st_size for path in DOCS.rglob("*") if path.is_file())
    assert size < 20_000_000


SAMPLE = 20


@pytest.mark.parametrize(
    "count",
    [pytest.param(SAMPLE, marks=pytest.mark.slow), pytest.param(None, marks=pytest.mark.long)],
)
def test_the_files_of_the_archive_are_what_its_index_says(count: int | None) -> None:
    found = Archive(DOCS)
    entries = [entry for entry in found.entries.values() if entry.file]
    for entry in entries if count is None else Random(0).sample(entries, count):
        holds(found, entry)


@pytest.mark.slow
def test_the_commands_of_its_page_check_an_entry(tmp_path: Path) -> None:
    text = (DOCS / "README.md").read_text()
    block = text.split("```bash\n")[1].split("```")[0]
    tool = tmp_path / "cchybrid"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cchybrid "$@"\n')
    tool.chmod(0o755)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "archive").symlink_to(DOCS)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-e", "-c", block], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "optimal" in done.stdout


def test_a_damaged_file_is_named(archive: Archive) -> None:
    archive.add(LONG)
    path = archive.folder / ENTRIES / only(archive).file
    path.write_bytes(gzip.compress(b"{}\n{}\n")[:-9])
    with refused(path.name, "damaged"):
        archive.add(replace(LONG, lower_bound=BOUND))
    with pytest.raises(EvidenceError):
        archive.add(SHORT, {})


def test_what_is_no_archive_or_is_damaged_stays_as_it_is(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="no archive, and not empty"):
        Archive(tmp_path / "other")
    _, entry = archive.add(LONG)
    path = archive.folder / "entries" / entry.file
    path.write_text("junk")
    with pytest.raises(InputError, match="damaged"):
        archive.add(LONG)
    (archive.folder / INDEX).write_text("junk\n")
    with pytest.raises(InputError, match="names other columns"):
        Archive(archive.folder)
    assert (archive.folder / INDEX).read_text() == "junk\n"
