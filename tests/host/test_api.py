"""``solve`` and ``bound`` in Python: callbacks, initial schedules, threads, wrong types."""

import json
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import cchybrid
from cchybrid.model import CommunicationModel
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit

HARD = cchybrid.instance("mesh-4x4", "AAS", ports=1)
"""An instance that no run of a second solves."""
SMALL = cchybrid.instance("ring-bi-4", "AAS")
TWO = [*load_registry().engines][:2]
PATIENT = {"tabu": {"patience": 1}}


def one_by_one(instance: cchybrid.Instance) -> cchybrid.Schedule:
    """Return a valid schedule of an all-to-all scatter with one transfer per step."""
    problem = build_problem(instance)
    found = problem.lift(first_fit(problem, 0))
    steps = tuple((transfer,) for step in found.steps for transfer in step)
    return cchybrid.Schedule(instance, steps)


def test_stop_ends_the_run_with_the_best_so_far():
    calls: list[bool] = []

    def stop() -> bool:
        calls.append(True)
        return len(calls) > 3

    result = cchybrid.solve(HARD, stop=stop, time_limit=600)
    assert result.interrupted
    assert cchybrid.verify(result.schedule) == ()
    assert len(calls) == 4  # it is not called after it has ended the run


def test_on_event_gets_the_events_in_order(capsys):
    events: list[Any] = []

    def on_event(event: Any) -> None:
        events.append(event)
        print(event["event"])

    result = cchybrid.solve(SMALL, on_event=on_event)
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-1]) == ("run", "result")
    assert {"schedule", "bound"} < set(kinds)
    assert events[-1]["steps"] == result.steps
    assert sorted(event["seconds"] for event in events) == [e["seconds"] for e in events]
    assert capsys.readouterr().out.split() == kinds


@pytest.mark.parametrize("name", ["stop", "on_event"])
def test_an_exception_in_a_callback_ends_the_run_and_is_raised(name):
    calls: list[object] = []

    def fail(*values: object) -> None:
        calls.append(values)
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        cchybrid.solve(HARD, time_limit=600, **{name: fail})
    assert len(calls) == 1


def test_the_greedy_schedule_alone_or_not_at_all():
    alone = cchybrid.solve(SMALL, engines=[], bounds=False)
    assert (alone.engine, dict(alone.evaluations)) == ("host greedy", {})
    without = cchybrid.solve(SMALL, engines=[], first_schedule=False, bounds=False)
    assert without.schedule is None


def test_the_greedy_schedule_stands_against_equally_good_ones():
    ring = cchybrid.instance("ring-bi-6", "AAS")
    found = {
        first: cchybrid.solve(ring, engines=["classical"], first_schedule=first, bounds=False)
        for first in (True, False)
    }
    assert {each.steps for each in found.values()} == {5}
    assert (found[True].engine, found[False].engine) == ("host greedy", "classical")
    assert found[True].seconds_to_best < found[False].seconds_to_best


def test_an_initial_schedule_is_the_result_unless_a_better_one_is_found(tmp_path):
    initial = one_by_one(SMALL)
    initial.save(tmp_path / "initial.json")
    for source in (initial, tmp_path / "initial.json", str(tmp_path / "initial.json")):
        kept = cchybrid.solve(
            SMALL, engines=[], initial_schedule=source, first_schedule=False, bounds=False
        )
        assert kept.schedule.steps == initial.steps
        assert (kept.engine, kept.status) == ("initial schedule", "feasible")
    better = cchybrid.solve(SMALL, initial_schedule=initial)
    assert (better.status, better.steps < len(initial.steps)) == ("optimal", True)
    assert better.engine != "initial schedule"


def test_an_initial_schedule_of_other_names_is_refused():
    there, here = nx.path_graph(["a", "b", "c"]), nx.path_graph(["b", "a", "c"])
    found = cchybrid.solve(there, "allgather", time_limit=20).schedule
    with pytest.raises(InputError, match="node 0 is called a there, and b in"):
        cchybrid.solve(here, "allgather", initial_schedule=found)


def test_an_initial_schedule_that_is_not_valid_is_refused():
    initial = one_by_one(SMALL)
    cut_short = cchybrid.Schedule(SMALL, initial.steps[:-1])
    with pytest.raises(InputError, match=r"initial_schedule: not valid for ring-bi-4 AAS: .+"):
        cchybrid.solve(SMALL, initial_schedule=cut_short)
    with pytest.raises(InputError, match="not valid for mesh-4x4"):
        cchybrid.solve(HARD, initial_schedule=initial)


@pytest.mark.long
def test_runs_in_threads_do_not_disturb_each_other():
    found: dict[int, cchybrid.Result] = {}
    streams = sys.stdout, sys.stderr

    def run(number: int) -> None:
        found[number] = cchybrid.solve(
            SMALL, engines=["colouring"], seed=number, time_limit=60, observers=[lambda e: None]
        )

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {result.status for result in found.values()} == {"optimal"}
    assert all(result.troubles == () for result in found.values())
    assert (sys.stdout, sys.stderr) == streams


@pytest.mark.long
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_script_needs_no_main_guard(method, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"import multiprocessing\nmultiprocessing.set_start_method({method!r})\n"
        "import cchybrid\n"
        "result = cchybrid.solve('ring-bi-4', 'AAS', engines=['colouring'], time_limit=60)\n"
        "print(result.engine, result.status, result.troubles)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout == "host greedy optimal ()\n"
    assert done.stderr == ""


def test_numpy_integers_go_wherever_integers_go():
    one, three = np.int64(1), np.int8(3)
    result = cchybrid.solve(
        cchybrid.instance("ring-bi-4", "broadcast", root=three, ports=one, routing=np.uint8(0)),
        seed=np.int32(5), steps=np.int16(9), threads=one, time_limit=np.float64(30),
        memory=np.int64(4096),
    )  # fmt: skip
    assert (result.seed, result.status) == (5, "optimal")
    network = cchybrid.Network(
        "own", three, [(np.int64(0), 1), (one, 0), (1, 2, np.int8(2))],
        endpoints=np.array([0]), half_duplex=[np.array([0, 1])], switches=[np.int64(1)],
    )  # fmt: skip
    message = cchybrid.Message(np.int64(0), (np.int64(2),))
    collective = cchybrid.Collective("own", [message])
    model = CommunicationModel(inject=one, accept=np.array([1, 1, 1]).tolist())
    instance = cchybrid.Instance(network, collective, model)
    assert cchybrid.Instance.from_json(json.loads(json.dumps(instance.to_json()))) == instance
    transfer = cchybrid.Transfer(np.int64(0), tuple(np.array([0, 1, 2])))
    schedule = cchybrid.Schedule(instance, ((transfer,),))
    assert cchybrid.verify(schedule) == ()
    assert cchybrid.Schedule.from_json(json.loads(json.dumps(schedule.to_json()))) == schedule
    assert cchybrid.LowerBound(one).steps == 1
    reduction = cchybrid.Reduction((np.int64(0), one), np.int64(2))
    assert json.dumps(cchybrid.Collective("sum", (reduction,)).to_json())


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: cchybrid.solve("nope"), "instance: 'nope' is no instance; make one"),
    (lambda: cchybrid.solve(3), "3 is no instance"),
    (lambda: cchybrid.solve(None), "None is no instance"),
    (lambda: cchybrid.solve(nx.Graph(), "AAS"), "no nodes"),
    (lambda: cchybrid.solve(SMALL, "AAS"), "collective: the instance has one already"),
    (lambda: cchybrid.instance(network=5, collective="AAS"), "5 is no network"),
    (lambda: cchybrid.instance(network=5), "no collective"),
    (lambda: cchybrid.bound(3.5), "3.5 is no instance"),
    (lambda: cchybrid.solve(SMALL, time_limit="5"), "time_limit: '5' makes no sense"),
    (lambda: cchybrid.solve(SMALL, time_limit=float("nan")), "time_limit: nan makes no sense"),
    (lambda: cchybrid.solve(SMALL, certify="no"), "certify: 'no' is no flag; use True or False"),
    (lambda: cchybrid.solve(SMALL, bounds=None), "bounds: None is no flag"),
    (lambda: cchybrid.network("mesh-2x2", ignore_attributes="no"), "ignore_attributes: 'no' is"),
    (lambda: cchybrid.instance("mesh-2x2", "AAB", ignore_attributes=0), "ignore_attributes: 0 is"),
    (lambda: cchybrid.solve(SMALL, threads=True), "threads: True makes no sense"),
    (lambda: cchybrid.solve(SMALL, threads=np.True_), "threads: a bool makes no sense"),
    (lambda: cchybrid.solve(SMALL, steps=1.0), "steps: 1.0 makes no sense"),
    (lambda: cchybrid.solve(SMALL, seed=[1]), "seed: a list is no seed"),
    (lambda: cchybrid.solve(SMALL, engines=3), "engines: 3 makes no sense; give their names"),
    (lambda: cchybrid.solve(SMALL, engines=[3]), "engines: 3 is no name"),
    (lambda: cchybrid.solve(SMALL, without=3), "without: 3 makes no sense; give their names"),
    (lambda: cchybrid.solve(SMALL, without=["nope"]), "without: no engine is called nope"),
    (lambda: cchybrid.solve(SMALL, without="umda"), "without: umda does not take part anyway"),
    (
        lambda: cchybrid.solve(SMALL, engines=TWO[:1], without=TWO[1:]),
        f"without: {TWO[1]} does not",
    ),
    (lambda: cchybrid.solve(SMALL, engines=TWO, without=[TWO[1].upper(), TWO[0]]), "no engine is"),
    (
        lambda: cchybrid.solve(SMALL, without=["tabu"], options=PATIENT),
        "options: tabu does not take",
    ),
    (lambda: cchybrid.solve(SMALL, strategy=3), "strategy: 3 is no name"),
    (lambda: cchybrid.solve(SMALL, options={"tabu": 3}), "options: 'tabu' is 3, no dictionary"),
    (lambda: cchybrid.solve(SMALL, options={"tabu.width": "q"}), "write {'tabu': {'width': 'q'}}"),
    (lambda: cchybrid.solve(SMALL, options=3), "options: 3 makes no sense"),
    (lambda: cchybrid.solve(SMALL, stop=3), "stop: 3 is no function"),
    (lambda: cchybrid.solve(SMALL, on_event="print"), "on_event: 'print' is no function"),
    (lambda: cchybrid.solve(SMALL, initial_schedule=3), "initial_schedule: 3 is no schedule"),
    (lambda: cchybrid.solve(SMALL, initial_schedule="none.json"), "none.json: cannot be read"),
    (lambda: cchybrid.solve(SMALL, registry=3), "registry: 3 is no registry"),
    (lambda: cchybrid.solve(SMALL, observers=3), "observers: 3 is no list"),
    (lambda: cchybrid.verify(SMALL), "an Instance is no schedule"),
    (lambda: cchybrid.prove(None), "None is no schedule"),
    (lambda: cchybrid.Network("own", "3", ()), "network.nodes: '3' is no whole number"),
    (lambda: cchybrid.Network("own", 3, 3), "network.channels: 3 is no list"),
    (lambda: cchybrid.Network("own", 3, [(0,)]), r"network.channels\[0\]: 1 numbers"),
    (lambda: cchybrid.Network(3, 3, ()), "network.name: 3 is no name"),
    (lambda: cchybrid.Network("own", 1, (), node_names=[1]), "1 is no text"),
    (lambda: cchybrid.Collective("own", 3), "3 is no list of messages"),
    (lambda: cchybrid.Collective("own", [(0, 1)]), "is no message; give Message"),
    (lambda: cchybrid.Instance("mesh-2x2", "AAS"), "'mesh-2x2' is no Network"),
    (lambda: CommunicationModel(inject="x", accept=1), "model.inject: 'x' is no whole number"),
    (lambda: cchybrid.Schedule("own", ()), "'own' is no Instance"),
    (lambda: cchybrid.Schedule(SMALL, [3]), "not a list of steps"),
    (lambda: cchybrid.Schedule.load(3), "3 is no name of a file"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_type_gets_one_line_in_the_words_of_the_user(call, message):
    with pytest.raises(InputError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["run", "schedule", "bound", "result"])
def test_ctrl_c_in_any_event_is_no_error(kind):
    def raise_interrupt(event: Any) -> None:
        if event["event"] == kind:
            raise KeyboardInterrupt

    result = cchybrid.solve(SMALL, time_limit=600, on_event=raise_interrupt)
    assert result.interrupted == (kind != "result")
    assert (result.steps is None) == (kind == "run")


@pytest.mark.slow
def test_engines_that_are_left_out_do_not_take_part():
    engines = ["colouring", "random", "umda"]
    result = cchybrid.solve(
        SMALL, engines=engines, without=["UMDA", "random"], evaluations=5, bounds=False
    )
    assert {*result.to_json()["evaluations"]} == {"colouring"}


@pytest.mark.slow
def test_names_forge_no_line_of_a_sentence():
    given = replace(cchybrid.instance("mesh-1x3", "OAB"), name="m\nbest: 1 step, optimal")
    assert "\n" not in cchybrid.bound(given).sentence
