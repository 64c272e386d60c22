"""Every installed designer passes the conformance suite, and the suite finds every breach."""

import doctest
import math
from collections.abc import Iterator
from typing import Any

import cchybrid_plugins.design.network.conformance.conformance
import pytest
from cchybrid_plugins.design.network.all_networks import all_networks
from cchybrid_plugins.design.network.conformance import (
    check_designer,
    conformance_tasks,
    designer_cases,
)
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.ports import ports_of

from cchybrid.plugin.conformance.cases import ConformanceCase
from cchybrid.plugin.conformance.watch import ConformanceError
from cchybrid.plugin.records import DesignerInfo
from cchybrid.plugin.registry import load_registry
from tests.plugins.design import conformance_designers as bad
from tests.plugins.design import faulty_designers as faulty
from tests.plugins.design.network.all_labelled import labelled_networks

QUICK = ("moore", "short wires", "bisection", "fault tolerant", "two nodes")
"""Tasks of every run; the others are in the long run, but for the offers."""


@pytest.fixture(scope="module", autouse=True)
def _release() -> Iterator[None]:
    """At the end release the designers that do not return."""
    bad.RELEASE.clear()  # a worker may come back to this file
    yield
    bad.RELEASE.set()


def marks(name: str, case: ConformanceCase) -> list[pytest.MarkDecorator]:
    quick = case.example is None or case.example.name in QUICK or case.check == "offers"
    if case.check == "host":  # a worker process each
        quick = name in ("annealing", "exhaustive")
    return [] if quick else [pytest.mark.long]


CASES = [
    pytest.param(case, id=f"{name}: {case}", marks=marks(name, case))
    for name in load_registry().designers
    for case in designer_cases(name)
]


@pytest.mark.parametrize("case", CASES)
def test_a_designer_keeps_to_its_contract(case: ConformanceCase) -> None:
    case()


def case_of(designer: type | DesignerInfo, check: str, task: str | None) -> ConformanceCase:
    patience = 1.0 if check in ("evaluations", "target") else 10.0
    return next(
        case
        for case in designer_cases(designer, patience=patience)
        if case.check == check and (case.example.name if case.example else None) == task
    )


@pytest.mark.parametrize(
    ("designer", "check", "task", "words"),
    [
        (bad.NoOptionsAtAll, "options", None, "has no dataclass Options"),
        (bad.Unbuildable, "options", None, "cannot be constructed with its default options: Type"),
        (bad.info(bad.Sound, name="a.b"), "record", None, "is registered as 'a.b', which does not"),
        (bad.info(bad.Sound, summary=""), "record", None, "has no summary of one line"),
        (bad.info(bad.Sound, api=1), "record", None, "written for plugin interface 1, this is 2"),
        (DesignerInfo("lost", "nowhere:Lost", "-"), "options", None, "cannot be loaded from 'no"),
        (faulty.Picky, "support", None, "supports no conformance task at all; of 'two n"),
        (bad.info(bad.Sound, kind="exact"), "proof", None, "ended on no conformance task with"),
        (bad.Slow, "stop", None, "was still running 0.5 s after it was asked to stop; ask run.s"),
        (bad.info(bad.DiesInWorkers), "host", None, "but not in a worker process on 'two nodes'"),
        (bad.RaisesInUnsupported, "unsupported", "ring", "raised KeyError: 'no such thing' in"),
        (bad.FalseInUnsupported, "unsupported", "ring", "returned False from unsupported(); r"),
        (faulty.Raise, "offers", "ring", "raised RuntimeError: the designer broke"),
        (bad.ReturnsNothing, "offers", "ring", "returned None from design; return a cchybrid"),
        (faulty.Faulty, "offers", "ring", "offered no network; say in unsupported()"),
        (bad.Liar, "offers", "ring", "was offered as one of cost"),
        (faulty.Infinite, "offers", "ring", "offered a network of cost inf"),
        (faulty.Star, "offers", "odd", "offered a network that is not allowed: links: node 0 has"),
        (bad.LongWires, "offers", "short wires", "the wire from 0 to 7 has length 7"),
        (bad.Texts, "offers", "ring", "offered what are no links and a cost"),
        (bad.NotesText, "offers", "ring", "give run.note numbers only"),
        (bad.info(bad.ClaimsPaths, kind="exact"), "offers", "ring", "returned Stop.EXHAUSTED with"),
        (bad.GlobalRandom, "offers", "ring", "make a generator of your own from run.seed"),
        (bad.Mutates, "offers", "ring", "changed task.allowed; others use it too"),
        (bad.Endless, "target", "ring", "the target was reached; ask run.should_stop() after"),
        (bad.Endless, "evaluations", "ring", "evaluations were spent; call run.spend after e"),
        (bad.Coarse, "evaluations", "ring", "spent 10000 evaluations of 1000; ask run.should_"),
        (bad.Remembers, "repeatable", "moore", "gave other networks for the same seed and eval"),
        (bad.TrustsKnown, "known", "ring", "raised TypeError"),
    ],
)
def test_the_suite_finds_a_breach(
    designer: type | DesignerInfo,
    check: str,
    task: str | None,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cchybrid.plugin.conformance.watch.MAX_STOP_SECONDS", 0.5)
    with pytest.raises(ConformanceError) as caught:
        case_of(designer, check, task)()
    name = designer.name if isinstance(designer, DesignerInfo) else designer.__name__
    place = check if task is None else f"{check} on {task!r}"
    assert str(caught.value).startswith(f"{name} ({place}) ")
    assert words in str(caught.value)


@pytest.mark.slow
def test_a_sound_designer_passes() -> None:
    check_designer(bad.Sound)
    check_designer(bad.info(bad.Sound))


def test_check_designer_names_all_that_is_wrong() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_designer(bad.ReturnsNothing)
    assert len(str(caught.value).splitlines()) > len(conformance_tasks())


@pytest.mark.long
def test_the_example_in_the_docstring_runs() -> None:
    assert doctest.testmod(cchybrid_plugins.design.network.conformance.conformance).failed == 0


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case in conformance_tasks() if case.optimum is not None])
def test_the_optima_are_those_of_all_networks(case: Any) -> None:
    task = case.task
    cost = Cost(task)
    listed = (
        all_networks(task, maximal=False)
        if task.nodes > 6
        else labelled_networks(task.nodes, task.degree)
    )
    best = min(cost(ports_of(task.nodes, task.degree, links)) for links in listed)
    assert math.isclose(best, case.optimum)
