"""Studies: suites that name contestants, budgets, fixed steps and published success rates."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cchybrid_plugins.bench.contestant import (
    Contestant,
    contestants,
    labels,
    with_budget,
    with_first_schedule,
)
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.study import RunBudget, read_seeds
from cchybrid_plugins.bench.suite import read_suite

from cchybrid.library.formats.network_json import network_record
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import made, suite_of

RING = '[[rows]]\ntopology = "ring-bi-4"\n'
ROWS = f'{RING}collective = "AAS"\n'


def test_lists_multiply_to_contestants(tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path,
        """
        [[contestants]]
        engine = "UMDA"
        options = { population = [50, 100], mutation = [0.0, 0.9], sweeps = 0 }
        [[contestants]]
        without = ["Tabu", "tabu+lns"]
        [[contestants]]
        engine = ["colouring", "umda+cpsat", "colouring"]
        strategy = ["race", "auto"]
        """
        + ROWS,
    )
    assert list(labels(suite.contestants).values()) == [
        "umda mutation=0.0 population=50", "umda mutation=0.9 population=50",
        "umda mutation=0.0 population=100", "umda mutation=0.9 population=100", "auto without tabu",
        "auto without lns+tabu", "colouring (race)", "colouring", "cpsat+umda (race)", "cpsat+umda",
    ]  # fmt: skip
    assert suite.contestants[0].options == {
        "umda": {"population": "50", "mutation": "0.0", "sweeps": "0"}
    }
    ready = with_budget(load_registry(), suite.contestants, evaluations=9, time_limit=None)
    assert {(each.time_limit, each.evaluations) for each in ready} == {(None, 9)}


def test_former_names_of_engines_become_the_present_ones(tmp_path: Path) -> None:
    text = '[[contestants]]\nengine = "milp"\noptions = { columns = 3 }\n'
    (ready,) = with_budget(load_registry(), suite_of(tmp_path, text + ROWS).contestants)
    named = contestants(load_registry(), ["milp"], [], {"milp": {"columns": "3"}})
    assert named == [ready]
    assert ready.name == "covering"
    assert ready.options == {"covering": {"columns": "3"}}


def test_options_of_the_engines_of_a_team(tmp_path: Path) -> None:
    text = '[[contestants]]\nengine = "a+b"\noptions = { "a.x" = [1, 2], "b.y" = 3 }\n'
    found = [contestant.options for contestant in suite_of(tmp_path, text + ROWS).contestants]
    assert found == [{"a": {"x": "1"}, "b": {"y": "3"}}, {"a": {"x": "2"}, "b": {"y": "3"}}]
    text = '[[contestants]]\nengine = "a+b"\nstrategy = "Relay"\noptions = { "relay.z" = 4 }\n'
    assert suite_of(tmp_path, text + ROWS).contestants[0].options == {"relay": {"z": "4"}}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("engine = 'of-a-plugin'", "of-a-plugin"),
        ("without = 'of-a-plugin'", "without: no engine is called of-a-plugin"),
        ("without = 'umda'", "without: umda does not take part anyway; drop it"),
        ("strategy = 'luck'", "no strategy is called luck"),
    ],
)
def test_names_are_looked_up_when_the_suite_is_run(
    tmp_path: Path, text: str, complaint: str
) -> None:
    suite = suite_of(tmp_path, f"[[contestants]]\n{text}\n{ROWS}")
    with pytest.raises(InputError, match=complaint):
        with_budget(load_registry(), suite.contestants)


def test_the_greedy_schedule_takes_part_for_all_contestants_or_for_none(tmp_path: Path) -> None:
    alone = Contestant(())
    auto, umda, greedy = with_first_schedule([Contestant(), Contestant(("umda",)), alone], None)
    assert (auto.first_schedule, umda.first_schedule, greedy.first_schedule) == (False, False, True)
    assert [each.name for each in (auto, umda, greedy)] == ["auto", "umda", "host greedy"]
    # None of them says that it has none, as if the others had it.
    assert {each.budget for each in (auto, umda, greedy)} == {"60 s, 1 thread"}
    auto, greedy = with_first_schedule([Contestant(), alone], None)
    assert auto.budget == "60 s, 1 thread, greedy schedule"
    (umda,) = with_first_schedule([Contestant(("umda",))], True)
    assert umda.budget == "60 s, 1 thread, greedy schedule"
    for wrong in (replace(alone, strategy="race"), replace(alone, options={"umda": {}})):
        with pytest.raises(InputError, match="host greedy has no strategy and no options"):
            with_first_schedule([wrong], None)
    text = "[[contestants]]\nengine = ['host greedy', 'umda']\n[budget]\nfirst_schedule = true\n"
    suite = suite_of(tmp_path, text + ROWS)
    assert [each.engines for each in suite.contestants] == [(), ("umda",)]
    assert suite.budget.first_schedule is True


def test_older_keys_of_contestants_say_what_was_run() -> None:
    for engines in (None, ("umda",)):
        record = json.loads(Contestant(engines).key)
        del record["first_schedule"]
        read = Contestant.from_key(json.dumps(record))
        assert read.first_schedule == (engines is None)
    with pytest.raises(ValueError, match="is no contestant"):
        Contestant.from_key(json.dumps({**record, "first_schedule": 1}))


@pytest.mark.slow
def test_the_greedy_schedule_alone_is_a_contestant() -> None:
    run = made("schedules", Row.from_text({"topology": "ring-bi-6", "collective": "AAS"}, Path()),
               replace(Contestant(()), first_schedule=True))  # fmt: skip
    assert (run.result["engine"], run.result["steps"]) == ("host greedy", 5)


def test_a_budget(tmp_path: Path) -> None:
    text = '[budget]\ntime_limit = 0.5\nevaluations = 20\nthreads = 2\nseeds = "0-2,9"\n'
    assert suite_of(tmp_path, text + ROWS).budget == RunBudget(0.5, 20, 2, (0, 1, 2, 9))


def test_seeds() -> None:
    assert read_seeds("3") == (0, 1, 2)
    assert read_seeds("3,3") == (3,)
    for text in ("0", "1001", "x", "", "0-2000", "\u0663"):
        with pytest.raises(InputError, match="seeds"):
            read_seeds(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("contestants = 3", "contestants: no list of tables"),
        ("[[contestants]]\nengines = 'umda'", "contestants[0]: a contestant has no 'engines'"),
        ("[[contestants]]\nengine = []", "contestants[0]: engine: an empty list"),
        ("[[contestants]]\nengine = 'a b'", "engine: 'a b' names no engine"),
        ("[[contestants]]\nwithout = 'a b'", "without: 'a b' names no engine"),
        ("[[contestants]]\nwithout = []", "contestants[0]: without: an empty list"),
        ("[[contestants]]\nengine = 'a'\nwithout = 'b'", "without: given beside engine"),
        ("[[contestants]]\nengine = { a = 1 }", "engine: {'a': 1} is no value"),
        ("[[contestants]]\nengine = 'umda'\noptions = 3", "options: no table"),
        (
            "[[contestants]]\nengine = 'umda'\noptions = { moves = [1, 2], 'umda.moves' = 3 }",
            "contestants[0]: options: umda.moves is given twice",
        ),
        ("[[contestants]]\noptions = { a = 1 }", 'of which engine is a?; write "umda.a"'),
        ("[[contestants]]\nengine = 'a+b'\noptions = { c = 1 }", 'is c?; write "a.c"'),
        ("[[contestants]]\nengine = 'a+b'\noptions = { 'd.c' = 1 }", 'd.c?; write "a.c" or "b.c"'),
        ("[[contestants]]\nengine = 'a'\noptions = { x = [] }", "options.x: an empty list"),
        ("budget = 3", "budget: no table; write [budget]"),
        ("[budget]\nhours = 3", "budget: a budget has no 'hours'"),
        ("[budget]\ntime_limit = 0", "budget: time_limit: 0 makes no sense"),
        ("[budget]\ntime_limit = nan", "time_limit: nan makes no sense"),
        ("[budget]\nevaluations = 1.5", "evaluations: 1.5 makes no sense; use a whole number"),
        ("[budget]\nfirst_schedule = 'yes'", "first_schedule: 'yes' is neither; write true or"),
        ("[budget]\nthreads = true", "threads: True makes no sense"),
        ("[budget]\nseeds = 'many'", "budget: seeds: 'many' names no seeds"),
        (f"{RING}fixed_steps = 0", "fixed_steps: 0 makes no sense"),
        (f"{RING}goal = 'few'", "goal: 'few' is no whole number"),
        (f"{RING}engine = 'a'\nsuccess_percent = 101", "'101' is no percentage; write 0 to 100"),
        (f"{RING}engine = 'a'\nsuccess_percent = '1_0'", "'1_0' is no percentage"),
        (f"{RING}engine = 'a'\nsuccess_percent = 'nan'", "'nan' is no percentage"),
        (f"{RING}success_percent = 90", "success_percent: a value of an engine without its name"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError) as raised:
        suite_of(tmp_path, f"{text}\n{ROWS}")
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)


def test_equal_contestants_are_counted_before_they_are_made(tmp_path: Path) -> None:
    many = ", ".join(["1"] * 900)
    options = ", ".join(f"{name} = [{many}]" for name in ("population", "moves", "sweeps"))
    text = f'[[contestants]]\nengine = "umda"\noptions = {{ {options} }}\n'
    with pytest.raises(InputError, match="too many contestants; at most 1000"):
        suite_of(tmp_path, text + ROWS)


def test_fixed_steps_are_part_of_the_name() -> None:
    row = Row.from_text({"topology": "mesh-3x3", "collective": "AAS", "fixed_steps": "3"}, Path())
    assert row.name == "mesh-3x3 AAS in 3 steps"
    assert Row.from_json(row.to_json()) == row


def test_published_rates_of_several_engines_meet_in_one_row(tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text(
        "topology,collective,engine,success_percent,goal\n"
        "ring-bi-4,AAS,SGA,10,2\nring-bi-4,AAS,umda,97.5,2\nring-bi-4,OAB,hgsa,,1\n"
    )
    table = "[[tables]]\nfile = 'rates.csv'\n"
    first, second = suite_of(tmp_path, table).rows
    assert (first.published.rates, first.published.goal) == ({"sga": 10, "umda": 97.5}, 2)
    assert (second.published.rates, second.published.goal) == ({}, 1)
    assert Row.from_json(first.to_json()) == first
    with (tmp_path / "rates.csv").open("a") as file:
        file.write("ring-bi-4,AAS,umda,50,2\n")
    with pytest.raises(InputError, match=r"line 5|umda has two values of rates"):
        suite_of(tmp_path, table)


def test_a_row_that_is_listed_twice_must_say_the_same(tmp_path: Path) -> None:
    for more in ("", "steps = 3\nsource = 'A'\n"):
        text = f"{ROWS}steps = 3\nsource = 'A'\n{ROWS}{more}"
        assert len(suite_of(tmp_path, text).rows) == 1
    nodes = Network.from_links("x", 3, [(0, 1), (1, 2)], node_names=("A", "a", "b"))
    (tmp_path / "case.json").write_text(json.dumps(network_record(nodes)))
    pairs = "[[rows]]\ntopology = './case.json'\ncollective = ['pairs:A>b', 'pairs:a>b']\n"
    for text, line in (
        (pairs, "two rows are called case"),
        (f"{ROWS}steps = 3\nsource = 'A'\n{ROWS}steps = 2\nsource = 'B'\n", "ring-bi-4 AAS is lis"),
    ):
        with pytest.raises(InputError, match=line):
            suite_of(tmp_path, text)


@pytest.mark.slow
def test_a_run_for_another_number_of_steps_does_not_count() -> None:
    values = {"topology": "ring-bi-4", "collective": "AAS"}
    kind = load_registry().benchmark("schedules")
    rows = [Row.from_text({**values, **more}, Path()) for more in ({}, {"fixed_steps": "2"})]
    entry = Contestant(("umda",), time_limit=None, evaluations=500)
    row, run = rows[1], made("schedules", rows[1], entry)
    assert kind.check(row, run)["steps"] == 2
    other = replace(row, target=1), rows[0]
    for wrong in other:
        with pytest.raises(InputError, match="run for another number of steps than its row"):
            kind.check(wrong, run)
    plain = replace(run, result={k: v for k, v in run.result.items() if k != "fixed_steps"})
    with pytest.raises(InputError, match="run for another number of steps than its row"):
        kind.check(row, plain)


def test_the_studies_that_ship() -> None:
    """As many contestants as the thesis' figures have, and every rate of its tables."""
    names = ("sga", "mboa", "umda")
    counts = {name: len(read_suite(f"sweep-{name}").contestants) for name in names}
    assert counts == {"sga": 75, "mboa": 15, "umda": 15}
    rows = read_suite("success-hypercubes").rows
    assert [len(row.published.rates) for row in rows] == [3] * 20
    rates = {row.name: row.published.rates for row in rows}
    assert rates["hypercube-64 OAB in 3 steps"] == {"sga": 50, "mboa": 70, "umda": 90}
    assert rates["hypercube-64 AAB in 11 steps"] == {"sga": 0, "mboa": 0, "umda": 10}
    for row in (*rows, *read_suite("success-multistage").rows):
        assert row.published.goal is not None
    assert len(read_suite("success-hypercubes").budget.seeds or ()) == 10
