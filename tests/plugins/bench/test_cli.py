"""The commands ``bench``: what has no use is refused, names are suggested and completed."""

from __future__ import annotations

from pathlib import Path

import pytest
from cchybrid_plugins.bench import cli
from cchybrid_plugins.bench.store import Store
from cchybrid_plugins.bench.suite import read_suite

from cchybrid.cli.app import run
from cchybrid.plugin.registry import load_registry
from tests.cli.completed import check_names
from tests.plugins.bench.kinds import needs
from tests.plugins.bench.test_runner import HALF, SUITE

WRONG_SETTINGS = [
    ("rnu smoke", "did you mean run? see: cchybrid bench --help"),
    ("run smoke --engin tabu", "did you mean --engine? see: cchybrid bench run --help"),
    ("run smok", "did you mean smoke?"),
    (
        "run none",
        "no suite is called none; use broadcast-time, compare-engines, cooperation, covering",
    ),
    ("run none.toml", "none.toml: cannot be read"),
    (f"run {'n' * 300}", "no suite is called"),
    ("run wrong.toml", "row ring-bi-1 AAS: ring-bi-1"),
    ("run six.toml --engine none", "none"),
    ("run six.toml --without none", "without: no engine is called none"),
    ("run six.toml --without umda", "without: umda does not take part anyway; drop it"),
    ("run six.toml --without lns --engine tabu", "--without: given beside --engine"),
    ("run six.toml --strategy none", "no strategy is called none"),
    ("run six.toml --seeds x", "'x' names no seeds"),
    ("run six.toml --seeds 0", "0 seeds are none at all"),
    ("run six.toml --option colouring.nope=1", "nope"),
    ("run six.toml --option umda.population", "the value of umda.population is missing"),
    (
        "run six.toml --engine lns --engine colouring --option colouring.patience=-3",
        "contestant colouring: options of colouring: patience is",
    ),
    ("run six.toml --option auto.probe_seconds=x", "contestant auto: --option auto.probe_seconds:"),
    ("run six.toml --option quotients.batch=-3", "contestant auto: options of quotients: batch is"),
    (
        "run study.toml",
        "study.toml: contestant colouring patience=x: --option colouring.patience: ",
    ),
    *(
        (f"run sums.toml {words}", f"row ring-bi-4 exscan: {where}: not available for allreduces")
        for words, where in (
            ("--engine random", "contestants"),
            ("--without lns", "contestants"),
            ("--strategy race", "contestants"),
            ("--option lns.patience=9", "contestants"),
            ("--evaluations 5", "evaluations"),
        )
    ),
    ("run rounds.toml", "row ring-bi-4 exscan rounds 2: rounds: not available for allreduces"),
    (
        "run steps.toml",
        "row ring-bi-4 exscan in 9 steps: fixed_steps: not available for allreduces",
    ),
    ("run six.toml --jobs 0", "--jobs: 0 makes no sense"),
    ("run six.toml --jobs 1 --jobs 2", "--jobs: given twice; it has one value: drop one"),
    ("run six.toml --time-limit 0", "time_limit: 0.0 makes no sense; use a number above 0 and"),
    ("run six.toml --time-limit 5s", "--time-limit: '5s' is no number of seconds; use a number"),
    ("run six.toml --store no/folder.sqlite", "cannot be used as a store"),
]
WRONG_SHARDS = [
    ("run six.toml --shard 3/2", "--shard: '3/2' is no shard"),
    ("run six.toml --shards 3", "--shards: there is no script; add --slurm FILE"),
    ("run six.toml --slurm a", "--shards: the number of jobs is missing"),
    ("run six.toml --slurm a --shards 0", "--shards: 0 makes no sense"),
    ("run six.toml --slurm a --shards 2 --shard 1/2", "--shard: has no place"),
    ("run six.toml --slurm a --shards 2 --executor local", "--executor: has no place"),
    ("run six.toml --slurm no/a --shards 2", "no/a"),
    ("merge a b -o c --output d", "--output: given twice; it has one value: drop one"),
    ("merge a.sqlite b.sqlite -o all.sqlite", "has other rows than"),
    ("merge none.sqlite -o all.sqlite", "there is no such store"),
    ("merge a.txt -o all.sqlite", "cannot be used as a store"),
    ("merge a.sqlite -o a.sqlite", "is one of the stores to merge"),
    ("merge a.sqlite -o no/all.sqlite", "cannot be used as a store"),
]
ON_A_CLUSTER = [
    ("run six.toml --slurm a --shards 2 --cluster x", "--cluster: has no place"),
    ("run six.toml --jobs 2 --cluster tcp://x:1", "--jobs: the cluster has as many jobs"),
]
WRONG_STORES = [
    ("report none.sqlite", "there is no such store"),
    ("report a.txt", "cannot be used as a store: file is not a database"),
    ("report a.sqlite --suite other", "the store has no suite other; use six, small"),
    ("report a.sqlite", "several suites; choose with --suite: six, small"),
    ("report b.sqlite -o a.txt", "a.txt cannot be written: a.txt is no folder"),
    ("report b.sqlite -o a.txt/x", "a.txt/x cannot be written"),
]
OTHER_KINDS = [
    ("throughputs", "run forestcoll --engine tabu", "need no engines"),
    ("throughputs", "run forestcoll --without tabu", "need no engines"),
    ("throughputs", "run forestcoll --seeds 3", "--seeds: the rows of forestcoll have no budget"),
    ("throughputs", "run forestcoll --time-limit 3", "--time-limit: the rows of forestcoll have"),
    ("throughputs", "run forestcoll --threads 3", "--threads: the rows of forestcoll have no"),
    ("throughputs", "report forestcoll.sqlite --pages", "have no pages of schedules"),
    ("designs", "run gappin --strategy race", "need no engines"),
    ("throughputs", "report forestcoll.sqlite --latex", "throughputs have no table in LaTeX"),
    ("designs", "report gappin.sqlite a.sqlite", "reports of designs compare no stores"),
    ("designs", "report gappin.sqlite --latex", "--latex: designs have no table in LaTeX"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with suites, stores without runs, and a file that is none."""
    # Nothing is compiled before all is known to be usable.
    monkeypatch.setattr(cli, "compile_kernels", lambda engines: pytest.fail("compiled"))
    monkeypatch.chdir(tmp_path)
    Path("wrong.toml").write_text(SUITE.replace('"ring-bi-6", "mesh-2x3"', '"ring-bi-1"'))
    Path("small.toml").write_text(HALF.replace("six", "small"))
    contestants = '[[contestants]]\nengine = "colouring"\noptions = { patience = [9, "x"] }\n'
    Path("study.toml").write_text(HALF + contestants)
    sums = '[[rows]]\ntopology = "ring-bi-4"\ncollective = ["AAS", "exscan"]\n'
    for name, line in (("sums", ""), ("rounds", 'rounds = "2"\n'), ("steps", "fixed_steps = 9\n")):
        Path(f"{name}.toml").write_text(sums + line)
    Path("a.txt").write_text("no store" * 100)
    for store, text in (("a", SUITE), ("b", HALF)):
        Path("six.toml").write_text(text)
        with Store(f"{store}.sqlite", write=True) as opened:
            opened.put_suite(read_suite("six.toml"))
    Path("six.toml").write_text(SUITE)
    with Store("a.sqlite", write=True) as opened:
        opened.put_suite(read_suite("small.toml"))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        *WRONG_SETTINGS, *WRONG_SHARDS, *WRONG_STORES,
        *(ON_A_CLUSTER if "dask" in load_registry().executors else ()),
        *(pytest.param(*words, marks=needs(kind)) for kind, *words in OTHER_KINDS),
    ],
)  # fmt: skip
def test_wrong_words_are_refused_in_one_line(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store, _, _ = words.partition(".sqlite")
    if store in ("report forestcoll", "report gappin"):
        with Store(f"{store.split()[1]}.sqlite", write=True) as opened:
            opened.put_suite(read_suite(store.split()[1]))
    before = {*Path().iterdir()}
    assert run(["bench", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert line in err
    assert {*Path().iterdir()} - before <= {Path("all.sqlite")}


@pytest.mark.parametrize(
    ("words", "expected", "others"),
    [
        ("ben", "bench", "solve"),
        ("bench run th", "thesis", "smoke"),
        ("bench run smoke --engine umda+c", "umda+cpsat", "umda+tabu"),
    ],
)
def test_names_are_completed(
    words: str, expected: str, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_names(words, expected, others, monkeypatch)


def test_a_refused_merge_leaves_no_store() -> None:
    assert run(["bench", "merge", "a.sqlite", "b.sqlite", "-o", "all.sqlite"]) == 2
    assert not [*Path().glob("all.sqlite*")]


@needs("throughputs")
def test_suites_of_one_name_and_of_other_kinds_are_not_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("small.toml").write_text('[[throughputs]]\ntopology = "dgx-1"\ncollective = "AAB"\n')
    with Store("c.sqlite", write=True) as opened:
        opened.put_suite(read_suite("small.toml"))
    words = ["bench", "report", "a.sqlite", "c.sqlite", "--suite", "small", "-o", "out"]
    assert run(words) == 2
    error = capsys.readouterr().err
    assert "c.sqlite: its suite small is of throughputs, the other of schedules" in error
    assert not Path("out").exists()


@pytest.mark.slow
def test_runs_that_ended_before_a_search_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "compile_kernels", lambda engines: None)
    words = ["bench", "run", "small.toml", "--engine", "random", "--jobs", "1", "--seeds", "1"]
    rows = len(read_suite("small.toml").rows)
    assert run([*words, "--time-limit", "0.01"]) == 0
    line = f"{rows} of {rows} runs ended before any search began: raise --time-limit or lower"
    assert line in capsys.readouterr().out
    assert run([*words, "--evaluations", "5"]) == 0
    assert "before any search" not in capsys.readouterr().out
