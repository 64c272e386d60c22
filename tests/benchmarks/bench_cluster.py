"""Measure what a run on a Dask cluster costs the coordinator, and how many workers it can feed.

Run as ``python -m tests.benchmarks.bench_cluster``. A scheduler and two workers are started as
processes of this machine, and jobs that only return the answer of a real run (indented by
``json.tool``, so a little longer than it is) go through them. Times are processor seconds per run,
so other work on the machine changes them little:

- *client*: submitting the job and reading its answer, in the coordinator's process;
- *scheduler*: in the process of Dask's scheduler;
- *verify*: reading the schedule, the referee, and the check of the bound's evidence;
- *store*: the transaction of the run.

The coordinator does all but the second one after another, and the scheduler works beside it, so
that runs are taken in at the pace of the slower of both; with runs of T seconds, T divided by its
seconds per run is the number of workers that are fed. The scheduler's figure holds the heartbeats
of the workers, too, and is therefore too large on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.runner import Task, run_of, verified
from cchybrid_plugins.bench.store import Store
from cchybrid_plugins.cluster.dask_executor import DaskExecutor

from cchybrid.host.api import instance, solve
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.plugin.executor import ExecutorSettings, Job, JobAnswer
from cchybrid.plugin.registry import load_registry
from tests.host.running_jobs import wait_for
from tests.plugins.cluster.dask_processes import dask_processes

ROWS = (("spidergon-8", "AAS"), ("hypercube-32", "AAB"), ("torus-8x8", "AAS"))
REPEATS = 5
RUN_SECONDS = (1, 10, 60)


def answer_of(topology: str, collective: str) -> bytes:
    """Return the answer of a run, as a worker sends it."""
    result = solve(
        instance(topology, collective), engines=["classical"], time_limit=10.0, threads=1
    )
    assert result.schedule is not None
    record = {**result.to_json(), "digest": result.instance.digest}
    if not result.certified:
        record["certified_evidence"] = result.certified_bound.evidence
    return json.dumps({"result": record, "schedule": result.schedule.to_json()}).encode()


def keep_cost(topology: str, collective: str, answer: bytes) -> tuple[float, float]:
    """Return the processor seconds of verifying and of storing a run."""
    task = Task(Row(InstanceSpec(topology, collective)), Contestant(("classical",)), 0)
    digest = instance(topology, collective).digest
    kind = load_registry().benchmark("schedules")
    verify = store = 0.0
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "s"), write=True) as opened:
        for _ in range(REPEATS):
            start = time.process_time()
            run = verified(run_of(task, JobAnswer("1", answer)), task.row, kind, digest)
            assert not run.failure, run.failure
            between = time.process_time()
            opened.put(run)
            verify += between - start
            store += time.process_time() - between
    return verify / REPEATS, store / REPEATS


def processor_seconds(process: int) -> float:
    """Return the processor seconds of another process so far (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def transport_cost(answer: bytes, jobs: int) -> tuple[float, float]:
    """Return the processor seconds per job of the client and of the scheduler."""
    with tempfile.TemporaryDirectory() as folder, dask_processes(Path(folder), 2) as cluster:
        executor = DaskExecutor(ExecutorSettings(str(cluster.file)))
        try:
            wait_for(lambda: executor.slots(1) == 2, "no workers")
            run_through(executor, answer, 10)
            scheduler = processor_seconds(cluster.scheduler.pid)
            client = time.process_time()
            run_through(executor, answer, jobs)
            client = time.process_time() - client
            scheduler = processor_seconds(cluster.scheduler.pid) - scheduler
        finally:
            executor.close()
    return client / jobs, scheduler / jobs


def run_through(executor: DaskExecutor, answer: bytes, jobs: int) -> None:
    """Run jobs that return this answer, two at a time."""
    for number in range(0, jobs, 2):
        for job in (number, number + 1):
            executor.submit(Job(f"{time.monotonic()}-{job}", "json.tool", answer))
        running = 2
        while running:
            for found in executor.poll(1.0):
                assert not found.failure, found.failure
                running -= 1


def bench_row(topology: str, collective: str, jobs: int) -> str:
    """Return a line of figures."""
    answer = answer_of(topology, collective)
    client, scheduler = transport_cost(answer, jobs)
    verify, store = keep_cost(topology, collective, answer)
    shown = "".join(f"{1000 * each:10.1f}" for each in (client, scheduler, verify, store))
    pace = max(client + verify + store, scheduler)
    fed = "".join(f"{seconds / pace:9.0f}" for seconds in RUN_SECONDS)
    return f"{f'{topology} {collective}':20}{len(answer) / 1000:8.0f}{shown}{fed}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200, help="jobs per row")
    jobs = parser.parse_args().jobs
    print("milliseconds of processor time per run, and workers fed with runs of some seconds")
    heads = "".join(f"{name:>10}" for name in ("client", "scheduler", "verify", "store"))
    fed = "".join(f"{f'{seconds} s':>9}" for seconds in RUN_SECONDS)
    print(f"{'run':20}{'kB':>8}{heads}{fed}")
    for row in ROWS:
        print(bench_row(*row, jobs), flush=True)


if __name__ == "__main__":
    main()
