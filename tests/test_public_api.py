"""The exports of ``cchybrid``: names, examples, short representations."""

import doctest
import inspect
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

import cchybrid
from cchybrid.problem import Assignment, build_problem
from tests.python_process import run_python

CLASSES = (cchybrid.Result, cchybrid.Schedule, cchybrid.Network)
METHODS = ("summary", "plot", "to_frame", "to_networkx", "utilisation")


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions, and the methods that show or convert."""
    for name in (*cchybrid.__all__, *cchybrid._registered()):
        value = getattr(cchybrid, name)
        if inspect.isfunction(value):
            yield name, value
    for owner in CLASSES:
        for name in METHODS:
            if hasattr(owner, name):
                yield f"{owner.__name__}.{name}", getattr(owner, name)


FUNCTIONS = dict(functions())


def test_everything_public_is_seen_and_found():
    assert set(cchybrid.__all__) <= set(dir(cchybrid))
    assert cchybrid.__all__ == sorted(cchybrid.__all__, key=lambda name: (name[0].islower(), name))
    for name in cchybrid.__all__:
        assert getattr(cchybrid, name) is not None
    assert {*chain.from_iterable(cchybrid._LATER.values())} <= set(cchybrid.__all__)


def test_the_import_is_light():
    code = (
        "import sys, cchybrid; hasattr(cchybrid, '__wrapped__')\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('numpy', 'networkx')])\n"
        "print([name for name in sys.modules if name.startswith('cchybrid.')])"
    )
    done = run_python("-c", code)
    assert done.stdout.split() == ["[]", "[]"]


@pytest.mark.parametrize(
    ("typo", "hint"),
    [
        ("slove", "did you mean solve"),
        ("Shedule", "did you mean Schedule"),
        ("netwrok", "did you mean network"),
        ("qqqq", "dir(cchybrid) lists"),
    ],
)
def test_a_typo_gets_the_nearest_name(typo, hint):
    with pytest.raises(AttributeError) as error:
        getattr(cchybrid, typo)
    assert hint in str(error.value)
    assert not hasattr(cchybrid, typo)


SLOW = (
    "Result.plot", "bound", "check", "check_front", "design", "design_front", "pareto", "verify",
)  # fmt: skip
"""Functions whose examples take seconds; other tests call them in every run."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name in SLOW else []) for name in FUNCTIONS],
)
def test_the_examples_of_public_functions_run(name):
    function = FUNCTIONS[name]
    finder = doctest.DocTestFinder(recurse=False)
    examples = [test for test in finder.find(function, name) if test.examples]
    assert examples, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in examples:
        assert runner.run(test).failed == 0


def test_representations_are_short():
    instance = cchybrid.instance("torus-8x8", "AAS")
    problem = build_problem(cchybrid.instance("ring-bi-4", "AAS"))
    steps = ((cchybrid.Transfer(0, (0, 1)),),) * 1000
    values = {
        "Instance": instance, "Network": instance.network, "Collective": instance.collective,
        "Schedule": cchybrid.Schedule(instance, steps),
        "LowerBound": cchybrid.LowerBound(3, {"kind": "linear", "channels": [*range(1000)]}),
        "Problem": problem, "Assignment": Assignment(np.zeros(9, np.int32), np.zeros(9, np.int32)),
    }  # fmt: skip
    for kind, value in values.items():
        assert repr(value).startswith(f"<{kind}")
        assert len(repr(value)) < 120
    assert repr(instance) == (
        "<Instance 'torus-8x8 AAS': 64 nodes, 256 channels, 4,032 messages, wormhole>"
    )
