"""``prove`` and ``check`` through the command line, and the checker on its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import cchybrid
from cchybrid.cli.app import run
from cchybrid.model import Schedule
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.fuzz.reader import read_corpus
from tests.python_process import run_python


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


def test_prove_and_check(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    solved(tmp_path / "s.json", "b-tree-8", "AAB")
    assert run(["prove", "s.json"]) == 0
    assert (
        "valid, 7 steps, optimal (certified); scope: any routing; linear" in capsys.readouterr().out
    )
    assert run(["check", "s.json", "s.certificate.json"]) == 0
    assert "optimal (certified)" in capsys.readouterr().out
    assert run(["check", "s.json", "s.certificate.json", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["holds"], record["optimal"], record["bound"]) == (True, True, 7)
    assert run(["prove", "s.json", "-o", "mine.json", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["certificate"] == "mine.json"
    assert record["tried"]
    own = alone("s.json", "mine.json", cwd=tmp_path)
    assert own.returncode == 0
    assert "7 steps, optimal" in own.stdout


def test_check_explains_the_argument_of_rounds(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, record in zip(("s.json", "c.json"), read_corpus("rounds-worth"), strict=True):
        Path(name).write_text(json.dumps(record))
    assert run(["check", "s.json", "c.json", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    bound = json.loads(Path("c.json").read_text())["claim"]["rounds_per_chunk"]
    assert any(line.startswith("  Let the messages be cut into equal chunks") for line in lines)
    assert lines[-1].endswith(f" rounds per chunk: at least {bound}.")


def test_the_argument_about_a_reduction_says_its_direction(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "s.json", "full-tree-7", "reduce")
    run(["prove", "s.json", "--time-limit", "20"])
    capsys.readouterr()
    assert run(["check", "s.json", "s.certificate.json", "--explain"]) == 0
    assert "Read backwards, on reversed channels, a reduction is a broad" in capsys.readouterr().out


def test_the_checker_alone_needs_only_the_standard_library(tmp_path):
    """Without site-packages: numpy and the rest are out of reach."""
    solved(tmp_path / "s.json", "spidergon-8", "AAS")
    assert run(["prove", str(tmp_path / "s.json")]) == 0
    package = Path(cchybrid.__file__).parents[1]
    code = (
        f"import sys; sys.path.insert(0, {str(package)!r})\n"
        "from cchybrid.checker.__main__ import main\n"
        "status = main(['s.json', 's.certificate.json'])\n"
        "assert not {'numpy', 'ortools', 'networkx', 'typer'} & set(sys.modules)\n"
        "sys.exit(status)"
    )
    done = run_python("-S", "-I", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "optimal" in done.stdout


def test_a_schedule_that_is_not_the_best(tmp_path, capsys):
    path = save(tmp_path / "s.json", "mesh-3x3", "OAB", root=0)
    steps = len(Schedule.load(path).steps)
    assert run(["prove", str(path)]) == 1
    out = capsys.readouterr().out
    assert f"not optimal, there is a schedule of {steps - 1} steps" in out
    assert "are needed" in out
    # The certificate of the best bound is there, and true.
    assert run(["check", str(path), str(tmp_path / "s.certificate.json")]) == 0


def test_what_does_not_belong_together(tmp_path, capsys):
    one = solved(tmp_path / "one.json", "ring-bi-6", "AAB")
    other = solved(tmp_path / "other.json", "ring-bi-8", "AAB")
    assert run(["prove", str(one)]) == 0
    capsys.readouterr()
    assert run(["check", str(other), str(tmp_path / "one.certificate.json")]) == 1
    assert "FAILED: the certificate is about another instance" in capsys.readouterr().out
    assert alone("other.json", "one.certificate.json", cwd=tmp_path).returncode == 1


def test_an_invalid_schedule_fails_the_check(tmp_path, capsys):
    path = solved(tmp_path / "s.json", "ring-bi-6", "AAB")
    assert run(["prove", str(path)]) == 0
    record = json.loads(path.read_text())
    record["steps"][0].append(record["steps"][0][0])
    path.write_text(json.dumps(record))
    capsys.readouterr()
    assert run(["check", str(path), str(tmp_path / "s.certificate.json")]) == 1
    assert "FAILED: the schedule is not valid: step 1" in capsys.readouterr().out


def test_both_checkers_refuse_ambiguous_files(tmp_path):
    path = solved(tmp_path / "s.json", "ring-bi-6", "AAB")
    assert run(["prove", str(path)]) == 0
    text = (tmp_path / "s.certificate.json").read_text()
    (tmp_path / "twice.json").write_text(text.replace('"steps":', '"steps":1,"steps":', 1))
    (tmp_path / "nan.json").write_text(text.replace('"seconds":', '"more":NaN,"seconds":', 1))
    for name in ("twice.json", "nan.json"):
        assert run(["check", str(path), str(tmp_path / name)]) == 2
        assert alone("s.json", name, cwd=tmp_path).returncode == 2


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


def test_what_a_bound_provider_prints_is_no_part_of_the_json(tmp_path, monkeypatch, capsys):
    (tmp_path / "loud_bound.py").write_text(
        "from cchybrid.plugin import BoundInfo, hookimpl\n"
        "def loud(instance):\n    print('{\"certified\": true}')\n    return iter(())\n"
        "@hookimpl\n"
        "def cchybrid_bounds():\n"
        "    return [BoundInfo('loud', 'loud_bound:loud', '-', own_worker=False)]\n"
    )
    save(tmp_path / "s.json", "hypercube-8", "AAS")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "loud_bound")
    run(["prove", str(tmp_path / "s.json"), "--json", "--time-limit", "3"])
    shown = capsys.readouterr()
    assert json.loads(shown.out)["instance"]
    assert '{"certified": true}' in shown.err


def test_no_file_of_a_folder_hides_another_that_has_a_check(tmp_path, monkeypatch, capsys):
    (tmp_path / "folder_check.py").write_text(
        "from cchybrid.plugin import CheckInfo, hookimpl\n"
        "def check(path, record, explain, as_json): return True\n"
        "@hookimpl\n"
        "def cchybrid_checks(): return [\n"
        "    CheckInfo(f'{name}/1', 'folder_check:check', '-', folder=True) for name in 'ab']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "folder_check")
    for name in "yx":
        (tmp_path / f"{name}.json").write_text('{"format": "a/1"}')
    (tmp_path / "broken.json").write_text("{")
    assert run(["check", str(tmp_path)]) == 0
    (tmp_path / "z.json").write_text('{"format": "b/1"}')
    assert run(["check", str(tmp_path)]) == 2
    assert f"{tmp_path}: files of a/1 and b/1; move those of one" in capsys.readouterr().err
    for name in "xyz":
        (tmp_path / f"{name}.json").unlink()
    assert run(["check", str(tmp_path)]) == 2
    assert "broken.json" in capsys.readouterr().err


def test_a_check_of_a_plugin_must_return_a_bool(tmp_path, monkeypatch, capsys):
    (tmp_path / "odd_check.py").write_text(
        "from cchybrid.plugin import CheckInfo, hookimpl\n"
        "def check(path, record, explain, as_json): return record['answer']\n"
        "@hookimpl\n"
        "def cchybrid_checks(): return [CheckInfo('odd/1', 'odd_check:check', '-')]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "odd_check")
    for answer, status in ((True, 0), (False, 1), ("no, it is false", 2), (1, 2)):
        (tmp_path / "f.json").write_text(json.dumps({"format": "odd/1", "answer": answer}))
        assert run(["check", str(tmp_path / "f.json")]) == status
    assert "the check of odd/1 returned 1, no bool" in capsys.readouterr().err
