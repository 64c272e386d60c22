"""Engines start from each other's results, and the result names what they started from."""

import io
import json

import cchybrid
from cchybrid.host import engine_worker
from cchybrid.host.engine_worker import WorkerRun
from cchybrid.host.wire import encode_steps
from cchybrid.plugin.engine import cut_to
from cchybrid.problem import Assignment, build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit

INSTANCE = cchybrid.instance("mesh-3x3", "AAS")
BUDGET = {"seconds": None, "evaluations": 100, "threads": 1, "memory": None}


class Pipe(io.BytesIO):
    """A worker's end of the pipe to the host."""

    def offers(self) -> list[tuple[str, str]]:
        """Return how every schedule was found, and the engine that seeded it."""
        lines = map(json.loads, self.getvalue().splitlines())
        return [(line["how"], line["seeded_by"]) for line in lines if line["event"] == "offer"]


def worker_run(*kinds: str) -> tuple[Pipe, WorkerRun, Assignment]:
    """Return a run that has received a schedule of others as news of these kinds."""
    pipe = Pipe()
    job = {"seed": 0, "budget": BUDGET, "target": None, "blind": False, "lower": 1, "news": []}
    run = WorkerRun(job, pipe)
    run.problem = build_problem(INSTANCE)
    known = first_fit(run.problem, 0)
    steps = encode_steps(run.problem.lift(known).steps)
    for kind, author in zip(kinds, ("one", "other"), strict=False):
        news = {kind: known.steps, "violations": 1, "steps": steps, "by": author, "number": 0}
        run.receive(news)
    return pipe, run, known


def test_what_is_offered_without_a_hint_has_no_seed():
    pipe, run, known = worker_run("best")
    run.offer(known)
    assert pipe.offers() == [("", "")]


def test_a_near_solution_is_named_as_the_seed():
    pipe, run, known = worker_run("draft")
    assert run.hint(known.steps) is not None
    run.offer(known)
    assert pipe.offers() == [(f"from one's near-solution of {known.steps} steps", "one")]


def test_a_schedule_cut_short_is_named_unless_it_is_not_taken():
    pipe, run, known = worker_run("best")
    assert run.hint(known.steps - 1, complete=True) is None
    assert run.hint(known.steps + 1, complete=True) is not None
    assert run.hint(known.steps) is not None
    run.offer(known)
    assert pipe.offers() == [(f"from one's schedule of {known.steps} steps", "one")]


def test_the_last_hint_that_fits_is_the_seed():
    pipe, run, known = worker_run("best", "draft")
    for hints in ((known.steps, known.steps + 9), (known.steps,)):
        assert all(run.hint(steps) is not None for steps in hints)
        run.offer(known)
    assert [seed for _, seed in pipe.offers()] == ["one", "other"]


def test_the_hint_is_the_best_near_solution_of_all_others():
    _, run, known = worker_run("draft")
    shorter = cut_to(known, known.steps - 1)
    for author, violations, seed in (("other", 2, "one"), ("third", 0, "third"), ("one", 0, "one")):
        steps = encode_steps(run.problem.lift(shorter, known.steps).steps)
        draft = {"draft": known.steps, "violations": violations, "steps": steps, "by": author}
        run.receive({**draft, "number": 0})
        run.hint(known.steps)
        assert run._hints[known.steps][0] == seed


def test_a_migrant_is_a_near_solution_that_was_not_returned_before():
    _, run, known = worker_run("best")
    assert run.migrant(known.steps) is None  # a schedule is none
    steps = encode_steps(run.problem.lift(known).steps)
    for read in (run.migrant, run.hint):
        draft = {"draft": known.steps, "violations": 1, "steps": steps, "by": "one", "number": 0}
        run.receive(draft)
        assert run.migrant(known.steps - 1) is None
        assert read(known.steps).step.tolist() == known.step.tolist()
        assert run.migrant(known.steps) is None


def test_migrants_come_in_the_order_of_their_violations():
    _, run, known = worker_run("best")
    steps = encode_steps(run.problem.lift(known).steps)
    for number, violations in enumerate((3, 1, 2)):
        draft = {"draft": known.steps, "violations": violations, "steps": steps, "by": "one"}
        run.receive({**draft, "number": number})
    unread, order = run._unread[known.steps], []
    while before := set(unread):
        assert run.migrant(known.steps) is not None
        ((_, number),) = before - unread
        order.append(number)
    assert order == [1, 2, 0]
    assert run.migrant(known.steps) is None


def test_a_near_solution_without_any_violation_is_offered():
    pipe, run, known = worker_run()
    run.suggest(known)
    assert len(pipe.offers()) == 1
    run.suggest(cut_to(known, known.steps - 1))
    assert [json.loads(line)["event"] for line in pipe.getvalue().splitlines()][1:] == ["suggest"]


def test_an_engine_can_say_which_of_several_it_started_from():
    pipe, run, known = worker_run("draft", "best")
    near, whole = run.hint(known.steps), run.hint(known.steps + 1)
    for given in (near, whole, known):
        run.started_from(given)
        run.offer(known)
    assert [seed for _, seed in pipe.offers()] == ["one", "other", ""]


def test_an_engines_own_schedule_is_no_seed():
    pipe, run, known = worker_run()
    run.offer(known)
    assert run.hint(known.steps) is not None
    run.offer(known)
    assert pipe.offers() == [("", ""), ("", "")]


def test_a_long_text_is_read_when_it_is_used(monkeypatch):
    found = []
    for limit in (1 << 20, 0):
        monkeypatch.setattr(engine_worker, "MAX_READ_CHARACTERS", limit)
        _, run, known = worker_run("best", "draft")
        assert isinstance(run._schedule, str) == (limit == 0)
        for steps in (known.steps, known.steps - 1):
            hint = run.hint(steps)
            found.append((hint.option.tolist(), hint.step.tolist(), run._hints[steps]))
    assert found[:2] == found[2:]
    assert found[0][0] == known.option.tolist()
