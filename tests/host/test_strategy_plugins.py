"""Strategies of plugins: they are used as those of cchybrid, and harm no run."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

import cchybrid
from cchybrid.host.replay import replay_file
from cchybrid.host.run_history import RunHistory
from cchybrid.model.errors import CchybridError, InputError, PluginError
from cchybrid.plugin.engine import NoOptions
from cchybrid.plugin.registry import load_registry
from cchybrid.plugin.strategy import planned

PLUGIN = """
from dataclasses import dataclass
from cchybrid.plugin import NoOptions, StrategyInfo, hookimpl
from cchybrid.plugin.records import EngineInfo
from cchybrid.plugin.strategy import Arm, Phase, Strategy

@dataclass(frozen=True)
class Options:
    patience: float = 5.0

def turns(engines, threads, history, options):
    arms = [Arm(engine, threads) for engine in engines]
    while active := [arm for arm in arms if arm.key not in history.finished]:
        for arm in active:
            yield Phase((arm,), patience=options.patience, pause=True)

def fails(engines, threads, history, options):
    yield Phase((Arm(engines[0], threads),), patience=0.2)
    raise KeyError("lost")

def no_phase(engines, threads, history, options):
    yield [engines[0]]

def stranger(engines, threads, history, options):
    yield Phase((Arm(EngineInfo("stranger", "a:B", ""), threads),))

def no_view(engines, threads, history, options):
    yield Phase((Arm(engines[0], threads, "dreams"),))

def no_threads(engines, threads, history, options):
    yield Phase((Arm(engines[0], 0),))

def forever(engines, threads, history, options):
    while True:
        yield Phase(())

def forges(engines, threads, history, options):
    history.finished.add("all")
    history.contributions.clear()
    assert history.finished == set()
    yield Phase((Arm(engines[0], threads),), patience=0.2)
    history.contributions.clear()

TURNS = Strategy(turns, Options)
FAILS, NO_PHASE, STRANGER, NO_VIEW, NO_THREADS, FOREVER, FORGES = (
    Strategy(each, NoOptions)
    for each in (fails, no_phase, stranger, no_view, no_threads, forever, forges)
)

@hookimpl
def cchybrid_strategies():
    named = "turns fails no_phase stranger no_view no_threads forever lost options forges".split()
    return [
        StrategyInfo(name.replace("_", "-"), f"{__name__}:{name.upper()}", "-") for name in named
    ] + [
        StrategyInfo("absent", "nowhere.at.all:X", "-"),
        StrategyInfo("Patient", f"{__name__}:TURNS", "-"),
        StrategyInfo("Sound", f"{__name__}:TURNS", "-"),
        StrategyInfo("AUTO", f"{__name__}:TURNS", "-"),
        StrategyInfo("prover", f"{__name__}:TURNS", "-"),
    ]
OPTIONS = Options
"""


@pytest.fixture(autouse=True)
def plugin(tmp_path, monkeypatch) -> None:
    (tmp_path / "planned.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines,planned")


def solve(strategy: str, **arguments: object) -> cchybrid.Result:
    settings = {"engines": ["sound"], "time_limit": 20, "bounds": False}
    return cchybrid.solve("mesh-2x3", "AAS", strategy=strategy, **{**settings, **arguments})


@pytest.mark.slow
def test_a_strategy_of_a_plugin_is_used_with_its_options(tmp_path):
    log = tmp_path / "run.jsonl"
    lines: list[Mapping[str, Any]] = []
    options = {"turns": {"patience": 0.5}}
    result = solve("Turns", engines=["colouring", "cpsat"], options=options, log=lines.append)
    log.write_text("\n".join(map(json.dumps, lines)))
    record = result.to_json()
    assert (result.status, record["strategy"]) == ("optimal", "turns")
    assert record["options"]["turns"] == options["turns"]
    assert replay_file(log).steps == result.steps


@pytest.mark.slow
def test_a_strategy_with_a_capital_in_its_name_has_options_in_any_case():
    result = solve("PATIENT", options={"patient": {"patience": 0.5}}, time_limit=1)
    record = result.to_json()
    assert (record["strategy"], record["options"]["Patient"]) == ("Patient", {"patience": 0.5})


@pytest.mark.parametrize(
    ("strategy", "trouble"),
    [
        ("no-phase", "no Phase"),
        ("stranger", "engine stranger does not take part"),
        ("no-view", "no Arm"),
        ("no-threads", "0 threads"),
    ],
)
def test_what_is_no_phase_is_refused(strategy, trouble):
    registry, history = load_registry(), RunHistory(ordered=False)
    target, engines = registry.strategy(strategy).target, [registry.engine("sound")]
    with pytest.raises(PluginError, match=trouble):
        list(planned(target, engines, 2, history, NoOptions()))


@pytest.mark.slow
def test_a_faulty_strategy_is_named_and_the_run_ends_with_what_it_has():
    result = solve("fails")
    assert result.schedule is not None
    assert "strategy fails: KeyError: 'lost'" in result.troubles


@pytest.mark.slow
def test_a_strategy_changes_nothing_of_the_history():
    result = solve("forges", first_schedule=False)
    assert result.troubles == ()
    assert [each.author for each in result.contributions] == ["sound"]


def test_auto_starts_with_engines_of_plugins():
    phases: list[list[str]] = []

    def on_event(event: Mapping[str, Any]) -> None:
        if event["event"] == "phase":
            phases.append(event["engines"])

    solve("auto", engines=["tabu", "sound", "restless"], on_event=on_event, stop=lambda: phases)
    assert phases[:1] == [["restless", "sound"]]


def test_an_endless_strategy_ends_with_the_time():
    result = solve("forever", time_limit=1.5)
    assert result.engine == "host greedy"
    assert 1.3 < result.seconds < 10


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        ("absent", "plugin planned: strategy absent: ModuleNotFoundError"),
        ("lost", "plugin planned: strategy lost: "),
        ("options", "its target is no Strategy"),
    ],
)
def test_a_strategy_that_cannot_be_loaded_is_refused_in_one_line(strategy, text):
    with pytest.raises(CchybridError, match=text):
        solve(strategy)


def test_names_of_strategies_engines_and_the_prover_differ():
    [row] = [row for row in load_registry().plugins if row.name == "planned"]
    for text in ("strategy Sound: sound is the name", "AUTO is already", "prover is the name"):
        assert text in row.trouble


def test_an_unknown_strategy_or_option_is_refused():
    with pytest.raises(InputError, match="no strategy is called turn; did you mean turns"):
        solve("turn")
    with pytest.raises(InputError, match="turns has no option seconds"):
        solve("turns", options={"turns": {"seconds": 1}})
