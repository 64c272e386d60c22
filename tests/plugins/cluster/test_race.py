"""One instance raced on other machines: everything that they report is verified."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from cchybrid_plugins.cluster.race import race_arms

import cchybrid
from cchybrid.cli.app import run as command
from cchybrid.host.local_executor import LocalExecutor
from cchybrid.host.replay import replay
from cchybrid.host.run_config import RunConfig
from cchybrid.model.errors import InputError
from cchybrid.plugin.executor import ExecutorSettings, Job, JobAnswer
from cchybrid.plugin.registry import load_registry
from cchybrid.referee.verify import verify_schedule


class Recorder(LocalExecutor):
    """Machines whose jobs are recorded, and whose answers may be changed."""

    def __init__(self, jobs: int) -> None:
        super().__init__(ExecutorSettings(jobs=jobs))
        self.jobs: list[dict[str, Any]] = []
        self.cancelled = False

    def submit(self, job: Job) -> None:
        self.jobs.append(json.loads(job.content))
        super().submit(job)

    def poll(self, seconds: float) -> list[JobAnswer]:
        return [JobAnswer(a.key, self.changed(a.output), a.failure) for a in super().poll(seconds)]

    def changed(self, output: bytes) -> bytes:
        return output

    def cancel(self) -> None:
        self.cancelled = True
        super().cancel()


def race(
    executor: Recorder, topology: str = "spidergon-8", engine: str = "colouring", **settings: Any
) -> cchybrid.Result:
    instance = cchybrid.instance(topology, "AAS")
    try:
        return cchybrid.solve(instance, engines=[engine], executor=executor, threads=1, **settings)
    finally:
        executor.close()


@pytest.mark.slow
def test_slices_on_other_machines_find_and_certify_the_optimum():
    executor, lines = Recorder(2), []
    result = race(executor, time_limit=1000, log=lambda line: lines.append(dict(line)))
    assert (result.steps, result.status, result.certified) == (4, "optimal", True)
    assert result.troubles == ()
    assert not verify_schedule(result.schedule)
    assert result.engine == "auto"
    assert executor.cancelled
    # The first slices start from the coordinator's own schedule.
    first = executor.jobs[0]
    assert len(first["schedule"]["steps"]) == 5
    assert first["config"]["bounds"] == []
    # The log holds every event, so that the run can be replayed.
    again, _ = replay(json.loads(json.dumps(lines)))
    assert (again.steps, again.lower_bound, again.status) == (4, result.lower_bound, "optimal")


@pytest.mark.long
def test_later_slices_get_the_best_schedule_and_bound_so_far():
    """With one machine: the bound of a slice is in a later one, checked there again."""
    executor = Recorder(1)

    def last_bound() -> dict[str, Any]:
        return executor.jobs[-1]["schedule"]["lower_bound"] if executor.jobs else {"steps": 1}

    result = race(
        executor, "mesh-5x5", "random", time_limit=1000, stop=lambda: last_bound()["steps"] > 1
    )
    assert result.interrupted
    first, second, *_ = executor.jobs
    assert [[info["name"] for info in job["config"]["engines"]] for job in (first, second)] == [
        ["random"],
        [],
    ]
    assert first["schedule"]["lower_bound"]["steps"] == 1
    assert len({job["config"]["seed"] for job in executor.jobs}) == len(executor.jobs)
    assert last_bound()["steps"] == result.certified_bound.steps
    assert last_bound()["evidence"] == result.certified_bound.evidence


BOUND = {"event": "bound", "steps": 5}


def long(*values: object) -> Any:
    return pytest.param(*values, marks=pytest.mark.long)


class Liar(Recorder):
    """Machines that report whatever a test says."""

    events: tuple[Mapping[str, Any], ...] = ()
    raw = b""

    def changed(self, output: bytes) -> bytes:
        return self.raw or b"".join(json.dumps(event).encode() + b"\n" for event in self.events)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("events", "complaint"),
    [
        ([{"event": "offer", "steps": [[]], "spent": 0, "how": ""}], "invalid schedule"),
        long([{**BOUND, "evidence": {"kind": "linear", "steps": 1}}], "evidence"),
        long([{**BOUND, "evidence": {"kind": "word"}}], "proves nothing"),
        long([{**BOUND, "steps": 9, "complete": True}], "claimed a bound"),
        long([{"event": "opened", "name": "x", "role": "host"}], "sent an unknown event"),
        long([{"event": "infeasible", "evidence": {}}], "sent an unknown event"),
        long(b"no event\n", "sent a line that is not JSON"),
    ],
)
def test_a_false_report_is_refused_and_named(events, complaint):
    liar = Liar(1)
    if isinstance(events, bytes):
        liar.raw = events
    else:
        liar.events = tuple(events)
    reported: list[str] = []

    def note(event: Mapping[str, Any]) -> None:
        if event["event"] == "trouble":
            reported.append(event["text"])

    result = race(liar, time_limit=600, on_event=note, stop=lambda: reported)
    assert complaint in reported[0]
    assert reported[0].startswith(("auto: ", "bound "))
    assert (result.steps, result.status) == (5, "feasible")
    assert result.engine == "host greedy"
    assert not verify_schedule(result.schedule)


def test_the_arms_are_all_engines_bounds_each_engine_and_quotients():
    registry = load_registry()
    infos = [registry.engine(name) for name in ("cpsat", "tabu")]
    options = {"tabu": {"sweeps": "1"}, "auto": {"slice_seconds": "2"}}
    config = RunConfig(infos, list(registry.bounds.values()), options=options)
    arms = race_arms(config)
    assert [(arm.title, arm.proves) for arm in arms] == [
        ("auto", True), ("bound providers", False), ("cpsat", True), ("tabu", False),
        ("quotients", False),
    ]  # fmt: skip
    assert [set(arm.config.options) for arm in arms] == [
        {"tabu", "auto"}, set(), {"auto"}, {"tabu", "auto"}, {"tabu"},
    ]  # fmt: skip
    alone = race_arms(RunConfig(infos[:1], [], strategy="race"))
    assert [arm.title for arm in alone] == ["race"]


def test_what_no_race_can_do_is_refused():
    for settings, complaint in (
        ({"evaluations": 5}, "needs a time limit"),
        ({"steps": 3, "blind": True}, "needs a time limit"),
    ):
        with pytest.raises(InputError, match=complaint):
            race(Recorder(1), **settings)
    allreduce = cchybrid.instance("ring-bi-4", "allreduce")
    with pytest.raises(InputError, match="not available for allreduce"):
        cchybrid.solve(allreduce, executor=Recorder(1))


@pytest.mark.long
def test_an_initial_schedule_brings_its_bound_if_the_evidence_holds():
    instance = cchybrid.instance("ring-bi-6", "AAS")
    found = cchybrid.solve(instance, engines=["colouring"], time_limit=60)
    assert found.certified
    settings: dict[str, Any] = {"engines": ["random"], "bounds": False, "time_limit": 30}
    again = cchybrid.solve(instance, initial_schedule=found.schedule, **settings)
    assert (again.status, again.certified, again.bound_by) == ("optimal", True, "initial schedule")
    false = cchybrid.LowerBound(found.lower_bound.steps, {"kind": "linear", "steps": 1})
    schedule = cchybrid.Schedule(instance, found.schedule.steps, false)
    refused = cchybrid.solve(
        instance, initial_schedule=schedule, on_event=None, stop=lambda: True, **settings
    )
    assert refused.lower_bound.steps == 1
    assert "bound initial schedule: gave evidence" in refused.troubles[0]


@pytest.mark.long
def test_solve_races_on_a_dask_cluster(capsys):
    words = ("solve", "spidergon-8", "AAS", "--engine", "colouring", "--time-limit", "600")
    assert command([*words, "--threads", "1", "--json", "--cluster"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["steps"], shown["status"], shown["certified"]) == (4, "optimal", True)
    assert shown["troubles"] == []
