"""The exports of ``cchybrid``: names, examples, short representations."""

import doctest
import inspect
import pickle
import pydoc
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

import cchybrid
import cchybrid.plugin
import cchybrid.problem
import cchybrid.toolkit
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


def test_the_help_of_solve_fits_a_screen():
    lines = pydoc.plain(pydoc.render_doc(cchybrid.solve)).splitlines()
    assert sum(max(1, -(-len(line) // 80)) for line in lines) <= 60


@pytest.mark.slow
def test_results_are_pickled_and_compare_by_content():
    result = cchybrid.solve("mesh-3x3", "allgather", time_limit=20)
    again = pickle.loads(pickle.dumps(result))
    for value, same in (
        (result, again), (result.schedule, again.schedule), (result.instance, again.instance),
    ):  # fmt: skip
        assert value == same
        assert value is not same
    other = cchybrid.instance("mesh-3x3", "alltoall")
    assert other == cchybrid.instance("mesh-3x3", "alltoall") != result.instance


USE = """
from typing_extensions import assert_type

import cchybrid
import cchybrid.plugin
import cchybrid.problem
import cchybrid.toolkit

{names}

result = cchybrid.solve("mesh-3x3", "allgather", time_limit=1)
assert_type(result, cchybrid.Result)
assert_type(result.steps, int | None)
assert_type(result.instance, cchybrid.Instance)
assert_type(cchybrid.network("mesh-3x3"), cchybrid.Network)
assert_type(cchybrid.instance("mesh-3x3", "allgather"), cchybrid.Instance)
assert_type(cchybrid.bound("mesh-3x3", "allgather"), cchybrid.Result)
assert_type(cchybrid.verify(cchybrid.Schedule.load("s.json")), tuple[cchybrid.Violation, ...])
problem = cchybrid.problem.build_problem(result.instance)
assert_type(problem, cchybrid.problem.Problem)
assert_type(problem.deliveries, int)
"""


@pytest.mark.slow
def test_the_types_of_the_public_interface_are_complete(tmp_path):
    modules = (cchybrid, cchybrid.plugin, cchybrid.problem, cchybrid.toolkit)
    names = [f"{m.__name__}.{name}" for m in modules for name in getattr(m, "__all__", ())]
    assert len(names) > 80
    script = tmp_path / "use.py"
    script.write_text(USE.format(names="\n".join(f"print({name})" for name in names)))
    words = ["--strict", "--disallow-any-expr", "--follow-imports=silent", "--config-file="]
    done = run_python("-m", "mypy", *words, str(script), cwd=tmp_path)
    # Arguments that take many types are declared Any; what a name or a call returns has a type.
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert not [line for line in errors if "Expression type contains" not in line], done.stdout
    assert "success" in done.stdout.lower() or errors, done.stderr
