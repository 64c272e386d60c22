"""Every installed engine passes the conformance suite, and the suite finds every breach."""

import doctest
import io
import re
import time
from collections.abc import Iterator

import pytest

import cchybrid.plugin.conformance.conformance
from cchybrid.plugin.conformance import (
    ConformanceCase,
    ConformanceError,
    check_engine,
    conformance_cases,
    conformance_instances,
)
from cchybrid.plugin.engine import EngineInfo, Run, Stop
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import INJECT, Problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests import conformance_engines as bad

BASIC = ("scatter", "broadcast", "store-and-forward")
QUICK = ("unsupported", "offers")
"""Checks on all instances in every run, for baselines on the basic instances; the others run on
the basic instances, and not for baselines, unless long."""


IN_A_WORKER = sorted(load_registry().engines)[:2]
"""Engines whose check in a worker process is in every run; known optima are found by all."""


def marks(info: EngineInfo, case: ConformanceCase) -> list[pytest.MarkDecorator]:
    basic = case.example is None or case.example.name in BASIC
    quick = (case.check in QUICK and basic) if info.baseline else (case.check in QUICK or basic)
    if case.check == "host":
        quick = info.name in IN_A_WORKER
    return [] if quick else [pytest.mark.long]


CASES = [
    pytest.param(case, id=f"{info.name}: {case}", marks=marks(info, case))
    for info in load_registry().engines.values()
    for case in conformance_cases(info.name)
]


@pytest.fixture(scope="module", autouse=True)
def _release() -> Iterator[None]:
    """Compile the kernels of the bad engines; at the end release those that do not return."""
    first_fit(conformance_instances()[0].problem(), 0)
    bad.RELEASE.clear()  # a worker may come back to this file
    yield
    bad.RELEASE.set()


@pytest.mark.parametrize("case", CASES)
def test_an_engine_keeps_to_its_contract(case):
    case()


def case_of(engine: type | EngineInfo, check: str, instance: str | None) -> ConformanceCase:
    patience = 1.0 if engine is bad.Deaf or check == "evaluations" else 10.0
    return next(
        case
        for case in conformance_cases(engine, patience=patience)
        if case.check == check and (case.example.name if case.example else None) == instance
    )


@pytest.mark.parametrize(
    ("engine", "check", "instance", "words"),
    [
        (bad.NoOptionsAtAll, "options", None, "has no dataclass Options; without options, use No"),
        (bad.ThawedOptions, "options", None, "frozen=True"),
        (bad.BareOptions, "options", None, "no default for Options.rounds; give it one"),
        (bad.Unbuildable, "options", None, "cannot be constructed with its default options: Type"),
        (bad.info(bad.Sound, name="a.b"), "record", None, "is registered as 'a.b', which does not"),
        (bad.info(bad.Sound, summary=""), "record", None, "has no summary of one line"),
        (bad.info(bad.Sound, api=1), "record", None, "written for plugin interface 1, this is 2"),
        (EngineInfo("lost", "nowhere:Lost", "-"), "options", None, "cannot be loaded from 'nowhe"),
        (bad.SupportsNothing, "support", None, "supports no conformance instance at all; of 'sin"),
        (bad.info(bad.Sound, kind="exact"), "proof", None, "proved on no conformance instance"),
        (bad.Slow, "stop", None, "was still running 0.5 s after it was asked to stop; ask run.s"),
        (bad.info(bad.DiesInWorkers), "host", None, "but not in a worker process on 'scatter'"),
        (bad.RaisesInUnsupported, "unsupported", "scatter", "raised KeyError: 'no such thing' in"),
        (bad.RaisesInSolve, "offers", "scatter", "raised IndexError: list index out of range in"),
        (bad.ReturnsNothing, "offers", "scatter", "returned None from solve; return a cchybrid"),
        (bad.OffersNothing, "offers", "scatter", "neither offered a schedule nor reported a bou"),
        (bad.AllAtOnce, "offers", "scatter", "offered an invalid schedule: "),
        (bad.WrongOption, "offers", "scatter",
         "breaks a rule: the options of delivery d are option"),
        (bad.WrongShape, "offers", "scatter", "whose option is no array of shape (12,); start"),
        (bad.WrongType, "offers", "scatter", "whose step has type float64; use integers"),
        (bad.NotesText, "offers", "scatter", "give run.note numbers only"),
        (bad.ClaimsTooMuch, "offers", "scatter", "steps are needed, but a schedule has 2"),
        (bad.ClaimsOnSamples, "offers", "sampled paths", "although the Problem is not complete"),
        (bad.Forges, "offers", "scatter", "gave evidence for 1 steps, not for 2"),
        (bad.info(bad.ProvesUnasked), "offers", "scatter", "register it with kind='exact', or do"),
        (bad.GlobalRandom, "offers", "scatter", "make a generator of your own from run.seed"),
        (bad.Mutates, "offers", "scatter", "changed problem.capacity; others use it too"),
        (bad.Endless, "target", "scatter", "steps was reached; loop over run.targets()"),
        (bad.Endless, "closed", "scatter", "the best schedule met the lower bound; stop when run"),
        (bad.Endless, "evaluations", "scatter", "evaluations were spent; call run.spend after e"),
        (bad.Deaf, "offers", "scatter", "did not return although it had found something and was"),
        (bad.Remembers, "repeatable", "endpoints", "other schedules for the same seed and evalu"),
        (bad.TrustsHints, "hints", "scatter", "offered an invalid schedule: "),
    ],
)  # fmt: skip
def test_the_suite_finds_a_breach(engine, check, instance, words, monkeypatch):
    monkeypatch.setattr("cchybrid.plugin.conformance.watch.MAX_STOP_SECONDS", 0.5)
    with pytest.raises(ConformanceError) as caught:
        case_of(engine, check, instance)()
    name = engine.name if isinstance(engine, EngineInfo) else engine.__name__
    place = check if instance is None else f"{check} on {instance!r}"
    assert str(caught.value).startswith(f"{name} ({place}) ")
    assert words in str(caught.value)


@pytest.mark.slow
def test_a_sound_engine_passes():
    check_engine(bad.info(bad.Sound))
    for engine in (bad.Sound, f"{bad.__name__}:Sound"):
        for case in conformance_cases(engine)[:4]:
            case()


@pytest.mark.slow
def test_check_engine_names_all_that_is_wrong():
    with pytest.raises(ConformanceError) as caught:
        check_engine(bad.ThawedOptions, options=bad.Thawed())
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(ConformanceError) as caught:
        check_engine(bad.ReturnsNothing)
    assert len(str(caught.value).splitlines()) > len(conformance_instances())


@pytest.mark.slow
def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(cchybrid.plugin.conformance.conformance).failed == 0


def test_instances_are_small_and_of_every_kind():
    problems = [case.problem() for case in conformance_instances()]
    assert {problem.complete for problem in problems} == {True, False}
    assert {problem.ordered for problem in problems} == {True, False}
    assert {bool(problem.required.all()) for problem in problems} == {True, False}
    ports = [problem.implied[problem.kind >= INJECT] for problem in problems]
    assert {bool(implied.all()) for implied in ports} == {True, False}
    assert any((problem.capacity[problem.kind == 0] > 1).any() for problem in problems)
    assert {kind for problem in problems for kind in problem.kind.tolist()} == {0, 1, 2, 3}
    assert {case.instance.collective.kind for case in conformance_instances()} == {
        "deliver",
        "combine",
    }
    assert max(problem.options for problem in problems) <= 100


class Stuck(bad.Sound):
    """Never finds anything."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        while not run.should_stop():
            time.sleep(0.01)
        return Stop.LIMIT


def test_an_engine_that_found_nothing_once_has_less_time_later(monkeypatch):
    monkeypatch.setattr("cchybrid.plugin.conformance.subject.LATER_SECONDS", 0.1)
    first, second = [
        case for case in conformance_cases(Stuck, patience=0.2) if case.check == "offers"
    ][:2]
    with pytest.raises(ConformanceError, match=r"within 0\.2 s, and never .* for ever"):
        first()
    with pytest.raises(ConformanceError, match=r"within 0\.1 s, and never"):
        second()


class Fast(bad.Sound):
    """Spends evaluations, and never ends by itself."""

    seconds = 0.0

    def solve(self, problem: Problem, run: Run) -> Stop:
        while not run.should_stop():
            time.sleep(self.seconds)
            run.spend(1)
        return Stop.LIMIT


class Slow(Fast):
    seconds = 0.05


@pytest.mark.slow
def test_slow_engines_make_fewer_evaluations_and_fast_ones_a_hundred():
    of = {engine: conformance_cases(engine)[0].subject.evaluations for engine in (Fast, Slow)}
    assert of == {Fast: 100, Slow: 10}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_only(monkeypatch):
    monkeypatch.setattr("cchybrid.plugin.conformance.cases.QUIET_SECONDS", 0.0)
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stderr", stream)
        check_engine(bad.Sound)
        shown = re.findall(r"\r(\d+)/(\d+) ([^\x1b]+), 0 failed", stream.getvalue())
        assert bool(shown) == stream.isatty()
    assert stream.getvalue() == ""


def test_long_cases_are_marked():
    cases = conformance_cases(bad.Sound)
    assert {case.check for case in cases if case.long} == {"host", "repeatable", "hints"}
    assert sum(case.long for case in cases) < len(cases) / 2
