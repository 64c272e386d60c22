"""All engines: optima of small instances, repetition, hints, refusals."""

from typing import Any

import numpy as np
import pytest

from cchybrid.library.collectives import collective
from cchybrid.model import Instance, Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Engine, Stop, read_options
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import build_problem
from tests.named_instances import named

REGISTRY = load_registry()
TRIANGLE = [(0, 1), (1, 2), (2, 0)]
NETWORKS = {
    "double": Network.from_links("double", 3, TRIANGLE * 2),
    "half": Network.from_links("half", 3, TRIANGLE, half_duplex=tuple(TRIANGLE)),
}
EVOLUTION = """spidergon-8 AAS 4, mesh-3x3 AAS 6, hypercube-8 OAB 2, hypercube-8 AAB 3,
    torus-3x3 AOR 2, mesh-3x3 AAS ports=1 8, hypercube-8 AAB hops 3, mesh-2x3 OAS routing=any 3"""
OPTIMA = {
    "sga": EVOLUTION,
    "mboa": EVOLUTION,
    "umda": f"{EVOLUTION}, kautz-12 AAS 7, ring-bi-4 AAS hops 2, double AAB 1, half AAS 2",
    "tabu": f"""{EVOLUTION}, kautz-12 AAS 7, ring-bi-4 AAS hops 2, double AAB 1, half AAS 2,
        torus-4x4 AAB 4, mesh-3x3 OAS 4, mesh-3x3 AOG 4, hypercube-8 AAB ports=1 7,
        mesh-2x3 OAS routing=1 3, hypercube-8 AAS hops 4, amp-8 OAB hops 2""",
    "hgsa": """hypercube-8 OAB hops 3, amp-8 OAB hops 2, hypercube-16 OAB hops 4,
        hypercube-8 AAB hops 3, ring-bi-4 AAS hops 2, hypercube-8 AAS hops 4, spidergon-8 AAS 4,
        mesh-3x3 AAS 6, mesh-3x3 AAS ports=1 8, hypercube-8 AAB 3, torus-3x3 AOR 2""",
    "hgsa/fitness=steps": """hypercube-16 OAB hops 4, hypercube-8 AAS hops 4, spidergon-8 AAS 4,
        mesh-3x3 AAS ports=1 8, hypercube-8 AAB 3, torus-3x3 AOR 2""",
    "random": """hypercube-8 OAB hops 3, amp-8 OAB hops 2, spidergon-8 AAS 4, hypercube-8 OAB 2,
        mesh-2x3 OAS routing=any 3""",
    "random/greedy=no": "ring-bi-4 AAB 2",
    "colouring": """spidergon-8 AAS 4, hypercube-8 OAB 2, hypercube-8 OAS 3, hypercube-8 AAB 3,
        ring-bi-8 AAS 8, ring-uni-8 AAS 28, petersen-10 AAS 5, kautz-12 AAS 7, mesh-3x3 AAS 6,
        mesh-4x4 OAS root=1 routing=any 5, torus-4x4 AOR 2, hypercube-8 AAB hops 3""",
    "lns": """mesh-4x4 AAS 16, spidergon-8 AAB 3, hypercube-8 AAB hops 3, ring-bi-6 AAS hops 5,
        mesh-3x3 AAS ports=1 8, spidergon-8 AAR 3""",
    "matching": """hypercube-8 AAB 3, torus-4x4 AAB 4, petersen-10 AAB 3, hypercube-8 AAR 3,
        random-regular-20-3-2 AAB 9, random-regular-32-3-1 AAB 11, slim-fly-7 AAB 9,
        torus-3x3 AOR hops 2, hypercube-8 AAB hops 3, hypercube-8 AAB hops ports=1 7,
        hypercube-8 OAB hops ports=1 3, mesh-2x3 AAB ports=1 5, mesh-5x5 AAB hops ports=1 26,
        random-regular-20-3-3 AAB hops ports=1 19, ring-bi-4 AAS hops 2,
        mesh-4x5 AAS hops ports=1 61, mesh-4x5 AAS hops ports=2 31,
        hypercube-16 AAS hops ports=1 32, hypercube-16 AAS hops ports=2 16,
        random-regular-24-3-1 AAS hops ports=1 95, random-regular-24-3-1 AAS hops ports=2 48,
        random-geometric-20-8-1 AAS hops ports=2 50, mesh-5x5 OAS hops ports=1 24, half AAB 2""",
    "packing": """random-regular-24-3-1 AAS 42, random-regular-48-4-1 AAS 47, mesh-3x3 OAS 4,
        mesh-3x3 AOG 4, mesh-3x3 AAS ports=1 8, mesh-6x6 permutation:transpose 2,
        kautz-36 AAS 34, kautz-36 AAS routing=1 32""",
    "trees": """hypercube-8 OAB hops ports=1 3, torus-8x8 OAB hops ports=1 8, mesh-3x3 AOR hops 4,
        torus-4x4 OAB hops ports=2 4, petersen-10 AOR hops ports=1 4""",
    "broadcast": """mesh-6x6 OAB root=0 3, mesh-7x7 OAB root=0 3, torus-9x9 OAB root=0 3,
        spidergon-64 OAB root=0 3, mesh-4x4 AOR root=5 2""",
}
"""Instances of which an engine finds the optimum, the number at the end."""


def made(words: str) -> Engine:
    """Return an engine from its name and options, as in ``hgsa/fitness=steps``."""
    name, *options = words.split("/")
    kind = load_target(REGISTRY.engine(name).target)
    chosen = read_options(name, kind.Options, dict(each.split("=") for each in options))
    engine: Engine = kind(chosen)
    return engine


def case(words: str) -> Instance:
    """Return a named instance, or one on a network of this file."""
    name, pattern, *_ = words.split()
    if name in NETWORKS:
        return Instance(NETWORKS[name], collective(pattern, NETWORKS[name]))
    return named(words)


def run_of(words: str, lower: int = 1, **rest: Any) -> LocalRun:
    problem = build_problem(case(words))
    return LocalRun(problem, first_lower=lower, **{"budget": Budget(seconds=60), **rest})


@pytest.mark.parametrize(
    ("engine", "words", "steps"),
    [
        (name, *each.strip().rsplit(" ", 1))
        for name, cases in OPTIMA.items()
        for each in cases.split(",")
    ],
)
def test_it_reaches_the_optimum(engine, words, steps):
    run = run_of(words, int(steps))
    assert made(engine).solve(run.problem, run) is Stop.EXHAUSTED
    assert run.best() == int(steps)
    assert (run.violations, run.bounds) == ([], [])


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("engine", "words", "lower", "evaluations", "threads"),
    [
        ("tabu/patience=2000", "kautz-12 AAS", 6, 40_000, 2),
        ("hgsa", "kautz-12 AAS", 6, 200_000, 2),
        ("umda", "mesh-3x3 AAS", 5, 600, 2),
        ("sga", "mesh-3x3 AAS", 5, 600, 2),
        ("mboa", "mesh-3x3 AAS", 5, 600, 2),
        ("random", "mesh-3x3 AAS", 5, 3000, 2),
        ("random/greedy=no", "mesh-3x3 AAS", 5, 3000, 2),
        ("colouring/patience=50", "mesh-3x3 AAB", 1, 40, 1),
        pytest.param("matching", "random-regular-28-3-1 AAB", 8, 700, 1, marks=LONG),
        pytest.param("matching", "random-links-20-36-1 AAS hops ports=1", 60, 60, 1, marks=LONG),
        ("packing", "random-regular-24-3-1 AAS", 30, 3, 1),
        ("cpsat", "mesh-3x3 AAB", 1, 1500, 2),
        pytest.param("covering", "mesh-4x4 AAS ports=1", 1, 12_000, 1, marks=LONG),
    ],
)
def test_the_same_seed_and_evaluations_repeat_exactly(engine, words, lower, evaluations, threads):
    found = []
    for seed in (3, 3, 4):
        budget = Budget(seconds=None, evaluations=evaluations, threads=threads)
        run = run_of(words, lower, seed=seed, budget=budget)
        stop = made(engine).solve(run.problem, run)
        assert (stop is Stop.LIMIT and run.spent >= evaluations) or engine == "cpsat"
        near = [(each.option.tolist(), each.step.tolist()) for each in run.suggestions]
        schedules = [schedule.steps for schedule in run.schedules]
        found.append((schedules, near, run.progressed, run.bounds, run.notes))
    assert found[0] == found[1]
    assert found[0] != found[2]


@pytest.mark.parametrize("engine", ["tabu", "umda", "hgsa"])
def test_it_starts_from_a_hint(engine):
    first = run_of("spidergon-8 AAS", 4)
    made("tabu").solve(first.problem, first)
    known = first.problem.match(first.schedules[-1].steps)
    run = run_of("spidergon-8 AAS", 4, seed=9, hints={4: known})
    made(engine).solve(run.problem, run)
    assert np.array_equal(run.problem.match(run.schedules[-1].steps).step, known.step)


@pytest.mark.parametrize(
    "engine", ["tabu/control=raise/patience=300", "hgsa/control=raise/patience=500"]
)
def test_raising_the_steps_ends_with_the_first_schedule(engine):
    run = run_of("spidergon-8 AAS", 3)
    made(engine).solve(run.problem, run)
    assert [len(schedule.steps) for schedule in run.schedules] == [4]
    assert {steps for steps, _ in run.progressed} >= {3}


@pytest.mark.parametrize(
    ("engine", "words", "reason"),
    [
        ("colouring/max-edges=100", "mesh-3x3 AAS", "more than 100"),
        ("cpsat/max-booleans=500", "mesh-3x3 AAS", "more than 500"),
        ("tabu/memory=1", "hypercube-64 AAS", "4032 deliveries"),
        ("packing", "mesh-3x3 AAB", "messages are forwarded"),
        ("packing", "mesh-3x3 AAS hops", "messages are forwarded"),
        ("matching", "mesh-3x3 AAS", "no message is forwarded"),
        ("covering", "mesh-3x3 AAR", "wait for others"),
        ("covering/max-columns=100", "mesh-3x3 AAS", "options, more than 100"),
        ("broadcast", "ring-bi-8 OAB hops", "not wormhole"),
        ("broadcast", "ring-bi-8 OAS", "every message has one destination"),
        ("broadcast", "mesh-3x3 AAB", "9 messages, more than 4"),
        ("broadcast/max-variables=50", "mesh-5x5 OAB",
         "82 variables for two steps of one hop, more than 50"),
    ],
)  # fmt: skip
def test_refusals_say_why(engine, words, reason):
    problem = build_problem(case(words))
    assert reason in str(made(engine).unsupported(problem))
    name, has_options, _ = engine.partition("/")
    assert not has_options or made(name).unsupported(problem) is None


SENSELESS = """population=1 replacement=0 replacement=1.5 mutation=-0.1 mutation=nan moves=0
    sweeps=-1 polish=-1 patience=0 greedy=1.1 radius=-1 conflicts=some control=sideways"""


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("hgsa", """processes=0 moves=-1 exchange=0 mutation=1.5 genes=0 temperature=0 cooling=1
            floor=0 floor=2 weight=-1 fitness=length end=-1 longest=-1 control=up patience=0"""),
        ("tabu", "width=0 tenure=-1 decay=-1 patience=0 attempts=0 width=2000000000 control=up"),
        ("umda", f"parents=0 sampled=2 {SENSELESS}"),
        ("sga", f"crossover=1.5 {SENSELESS}"),
        ("mboa", f"parents=0 candidates=-1 leaves=0 {SENSELESS}"),
        ("colouring", "patience=0 max-edges=-1"),
        ("broadcast", "reach=-1 reaches=0"),
        ("cpsat", "draws=0 max-booleans=0"),
        ("lns", "units=0.0 max-units=0.05"),
        ("covering", "pricing-units=0.0 categories=0"),
    ],
)  # fmt: skip
def test_senseless_options_are_refused(engine, options):
    for option in options.split():
        name = option.split("=")[0].replace("-", "_")
        with pytest.raises(InputError, match=f"{name}( is .*, use |: 'nan')"):
            made(f"{engine}/{option}")
