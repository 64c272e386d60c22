"""``prove`` and ``check`` through the command line, and the checker on its own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cchybrid
from cchybrid.cli.app import run
from cchybrid.host import proving
from cchybrid.model import Schedule
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.fuzz.reader import read_corpus
from tests.python_process import run_python

ROOT = Path(__file__).parents[2]


def save(path: Path, topology: str, collective: str, **more: object) -> Path:
    """Write a schedule that is valid and not short."""
    instance = cchybrid.instance(topology, collective, **more)
    problem = build_problem(instance)
    Schedule(instance, problem.lift(first_fit(problem, 0)).steps).save(path)
    return path


def solved(path: Path, topology: str, collective: str) -> Path:
    result = cchybrid.solve(topology, collective, time_limit=120)
    assert result.schedule is not None
    result.schedule.save(path)
    return path


def alone(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_python("-m", "cchybrid.checker", *words, cwd=cwd)


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """A folder with an optimal schedule and its certificate."""
    folder = tmp_path_factory.mktemp("proved")
    solved(folder / "s.json", "ring-bi-6", "AAB")
    assert run(["prove", str(folder / "s.json")]) == 0
    return folder


@pytest.mark.slow
def test_prove_and_check(command, answer, tmp_path):
    solved(tmp_path / "s.json", "b-tree-8", "AAB")
    words = "valid, 7 steps, optimal (certified); scope: any routing; linear"
    assert words in command("prove s.json").stdout
    assert "optimal (certified)" in command("check s.json s.certificate.json").stdout
    record = answer("check s.json s.certificate.json")
    assert (record["holds"], record["optimal"], record["bound"]) == (True, True, 7)
    record = answer("prove s.json -o mine.json")
    assert record["certificate"] == "mine.json"
    assert record["tried"]
    own = alone("s.json", "mine.json", cwd=tmp_path)
    assert own.returncode == 0
    assert "7 steps, optimal" in own.stdout


def test_check_explains_the_argument_of_rounds(command, tmp_path):
    schedule, certificate = read_corpus("rounds-worth")
    (tmp_path / "s.json").write_text(json.dumps(schedule))
    (tmp_path / "c.json").write_text(json.dumps(certificate))
    lines = command("check s.json c.json --explain").stdout.splitlines()
    bound = certificate["claim"]["rounds_per_chunk"]
    assert any(line.startswith("  Let the messages be cut into equal chunks") for line in lines)
    assert lines[-1].endswith(f" rounds per chunk: at least {bound}.")


@pytest.mark.slow
def test_prices_and_failures_name_the_nodes(command, tmp_path):
    (tmp_path / "line.edges").write_text("ada bob\nbob cy\ncy dan\n")
    save(tmp_path / "s.json", str(tmp_path / "line.edges"), "alltoall")
    command("prove s.json --time-limit 20")
    shown = command("check s.json s.certificate.json --explain").stdout
    name = "(ada|bob|cy|dan)"
    assert re.search(rf"  The highest prices of channels: {name}->{name} \(\d+\)[,.]", shown)
    path = solved(tmp_path / "sum.json", str(tmp_path / "line.edges"), "allreduce")
    command("prove sum.json --time-limit 20", 1)  # 3 steps are shown by no kind of evidence
    record = json.loads(path.read_text())
    record["steps"].pop()
    path.write_text(json.dumps(record))
    failed = command("check sum.json sum.certificate.json", 1).stdout
    assert "FAILED: node 0 (ada) has not all parts of message 0" in failed


def test_the_argument_about_a_reduction_says_its_direction(command, tmp_path):
    path = save(tmp_path / "s.json", "full-tree-7", "reduce")
    run(["prove", str(path), "--time-limit", "20"])
    shown = command("check s.json s.certificate.json --explain").stdout
    assert "Read backwards, on reversed channels, a reduction is a broad" in shown


def test_the_checker_alone_needs_only_the_standard_library(proved):
    """Without site-packages: numpy and the rest are out of reach."""
    package = Path(cchybrid.__file__).parents[1]
    code = (
        f"import sys; sys.path.insert(0, {str(package)!r})\n"
        "from cchybrid.checker.__main__ import main\n"
        "status = main(['s.json', 's.certificate.json'])\n"
        "assert not {'numpy', 'ortools', 'networkx', 'typer'} & set(sys.modules)\n"
        "sys.exit(status)"
    )
    done = run_python("-S", "-I", "-c", code, cwd=proved)
    assert done.returncode == 0, done.stderr
    assert "optimal" in done.stdout


def test_a_schedule_that_is_not_the_best(command, tmp_path):
    path = save(tmp_path / "s.json", "mesh-3x3", "OAB", root=0)
    shown = command("prove s.json", 1).stdout
    shorter = len(Schedule.load(path).steps) - 1
    assert f"not optimal, there is a schedule of {shorter} steps" in shown
    assert "are needed" in shown
    # The certificate of the best bound is there, and true.
    command("check s.json s.certificate.json")


def test_what_does_not_belong_together(command, proved, tmp_path):
    solved(tmp_path / "other.json", "ring-bi-8", "AAB")
    certificate = str(proved / "s.certificate.json")
    shown = command(f"check other.json {certificate}", 1).stdout
    assert "FAILED: the certificate is about another instance" in shown
    assert alone("other.json", certificate, cwd=tmp_path).returncode == 1


def test_an_invalid_schedule_fails_the_check(command, proved, tmp_path):
    record = json.loads((proved / "s.json").read_text())
    record["steps"][0].append(record["steps"][0][0])
    (tmp_path / "s.json").write_text(json.dumps(record))
    shown = command(f"check s.json {proved / 's.certificate.json'}", 1).stdout
    assert "FAILED: the schedule is not valid: step 1" in shown


@pytest.mark.parametrize(
    ("answer", "ends", "status", "line"),
    [
        ("SENTENCE", 0, 0, "also checked by the program extracted from the Coq proof"),
        ("5 steps, optimal", 0, 1, "FAILED: the verified checker: 5 steps, optimal"),
        ("FAILED: no", 1, 1, "FAILED: the verified checker: FAILED: no"),
        ("not proved by machine: scan", 3, 2, "--verified: not proved by machine: scan; leave"),
        ("", 137, 2, "--verified: ended with status 137"),
        (None, 0, 2, "build it by make verified-checker in a clone"),
    ],
)
def test_the_verified_checker_must_come_to_the_same_verdict(
    answer, ends, status, line, proved, tmp_path, monkeypatch, capsys
):
    files = [str(proved / "s.json"), str(proved / "s.certificate.json")]
    program = tmp_path / "program"
    if answer is not None:
        sentence = answer.replace("SENTENCE", cchybrid.check(*files).sentence)
        program.write_text(f"#!/bin/sh\necho '{sentence}'\nexit {ends}\n")
        program.chmod(0o755)
    monkeypatch.setattr(proving, "VERIFIED_CHECKER", program)
    assert run(["check", *files, "--verified"]) == status
    shown = capsys.readouterr()
    assert line in shown.out + shown.err
    assert run(["check", *files, "--verified", "--json"]) == status
    if status < 2:
        assert json.loads(capsys.readouterr().out)["verified"] == (status == 0)


def test_the_proof_is_about_certificates(command, proved):
    shown = command(f"check {proved / 's.json'} --verified", 2).stderr
    assert "--verified: the proof is about certificates; name one" in shown


@pytest.mark.parametrize(("old", "new"), [("steps", '"steps":1,'), ("seconds", '"more":NaN,')])
def test_both_checkers_refuse_ambiguous_files(old, new, command, proved, tmp_path):
    text = (proved / "s.certificate.json").read_text()
    (tmp_path / "c.json").write_text(text.replace(f'"{old}":', f'{new}"{old}":', 1))
    command(f"check {proved / 's.json'} c.json", 2)
    assert alone(str(proved / "s.json"), "c.json", cwd=tmp_path).returncode == 2


@pytest.mark.slow
def test_a_format_of_a_plugin_is_an_option(tmp_path, monkeypatch):
    save(tmp_path / "even.json", "ring-bi-4", "AAS")
    save(tmp_path / "odd.json", "complete-4", "OAB")

    def prove(words):
        root = str(Path(__file__).parents[2])
        plugin = {"PYTHONPATH": root, "CCHYBRID_PLUGINS": "tests.full_plugin"}
        return run_python("-m", "cchybrid", "prove", *words.split(), cwd=tmp_path, **plugin)

    done = prove("even.json --claim-text out --json")
    assert done.returncode in (0, 1), done.stderr
    record = json.loads(done.stdout)
    assert record["files"] == ["out/claim.txt"]
    assert (tmp_path / "out" / "claim.txt").read_text() == str(record["bound"])
    done = prove("odd.json --claim-text more")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "proof format claim-text failed: ValueError: an odd number of steps" in done.stderr
    assert (tmp_path / "odd.certificate.json").exists()


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A function that makes a source text a plugin, the only one beside those of cchybrid."""

    def load(text):
        (tmp_path / "own_plugin.py").write_text(
            f"from cchybrid.plugin import BoundInfo, CheckInfo, hookimpl\n{text}"
        )
        monkeypatch.delitem(sys.modules, "own_plugin", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("CCHYBRID_PLUGINS", "own_plugin")

    return load


@pytest.mark.slow
def test_what_a_bound_provider_prints_is_no_part_of_the_json(plugin, tmp_path, capsys):
    plugin(
        "def loud(instance):\n    print('{\"certified\": true}')\n    return iter(())\n"
        "@hookimpl\n"
        "def cchybrid_bounds():\n"
        "    return [BoundInfo('loud', 'own_plugin:loud', '-', own_worker=False)]\n"
    )
    path = save(tmp_path / "s.json", "hypercube-8", "AAS")
    run(["prove", str(path), "--json", "--time-limit", "3"])
    shown = capsys.readouterr()
    assert json.loads(shown.out)["instance"]
    assert '{"certified": true}' in shown.err


def test_no_file_of_a_folder_hides_another_that_has_a_check(plugin, command, tmp_path):
    plugin(
        "def check(path, record, explain, as_json): return True\n"
        "@hookimpl\n"
        "def cchybrid_checks(): return [\n"
        "    CheckInfo(f'{name}/1', 'own_plugin:check', '-', folder=True) for name in 'ab']\n"
    )
    for name, text in {"y": '{"format": "a/1"}', "x": '{"format": "a/1"}', "broken": "{"}.items():
        (tmp_path / f"{name}.json").write_text(text)
    command(f"check {tmp_path}")
    (tmp_path / "z.json").write_text('{"format": "b/1"}')
    line = f"{tmp_path}: files of a/1 and b/1; move those of one"
    assert line in command(f"check {tmp_path}", 2).stderr
    for name in "xyz":
        (tmp_path / f"{name}.json").unlink()
    assert "broken.json" in command(f"check {tmp_path}", 2).stderr


def test_a_check_of_a_plugin_must_return_a_bool(plugin, command, tmp_path):
    plugin(
        "def check(path, record, explain, as_json): return record['answer']\n"
        "@hookimpl\n"
        "def cchybrid_checks(): return [CheckInfo('odd/1', 'own_plugin:check', '-')]\n"
    )
    for answer, status in ((True, 0), (False, 1), ("no, it is false", 2), (1, 2)):
        (tmp_path / "f.json").write_text(json.dumps({"format": "odd/1", "answer": answer}))
        done = command("check f.json", status)
    assert "the check of odd/1 returned 1, no bool" in done.stderr


def test_the_folder_of_the_checker_is_enough(proved, tmp_path):
    """The line in docs/trust.md for a reader without cchybrid."""
    (line,) = re.findall(r"`(PYTHONPATH=[^`]+)`", (ROOT / "docs" / "trust.md").read_text())
    shutil.copytree(ROOT / "cchybrid" / "checker", tmp_path / "cchybrid" / "checker")
    words = line.replace("python3 -P", f"{sys.executable} -S -P")  # -S: without what is installed
    words = words.replace("FILE", str(proved / "s.json"))
    words = words.replace("CERTIFICATE", str(proved / "s.certificate.json"))
    done = subprocess.run(words, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.startswith("3 steps, optimal")
