"""Schedules performed by real MPI ranks, as a module and as a program of their own."""

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from cchybrid_plugins.execution.mpi import export_mpi, mpi_plan

import cchybrid
from cchybrid.model import Schedule, Transfer

BIN = Path(sys.executable).parent
MPIEXEC = shutil.which("mpiexec", path=str(BIN)) or shutil.which("mpiexec")


HOPS = "store-and-forward"


def long(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.long)


def run(ranks: int, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MPIEXEC, "-n", str(ranks), sys.executable, *arguments],
        capture_output=True, text=True, check=False, timeout=120, cwd=cwd,
    )  # fmt: skip


@cache
def obstacle() -> str:
    """Return why there is no MPI here, or nothing."""
    if MPIEXEC is None:
        return "there is no mpiexec: pip install mpich"
    code = "from mpi4py import MPI; print(MPI.COMM_WORLD.Get_size())"
    done = run(2, "-c", code, cwd=Path())
    # The lines of the two ranks may be mixed.
    return "" if done.stdout.count("2") == 2 else f"mpi4py does not run: {done.stderr[-300:]}"


@pytest.fixture(autouse=True)
def _needs_mpi() -> None:
    if obstacle():
        pytest.skip(obstacle())


@cache
def solved(topology: str, collective: str, **more: object) -> Schedule:
    instance = cchybrid.instance(topology, collective, **more)
    return cchybrid.solve(instance, engines=[], bounds=False).schedule


def copies(schedule: Schedule) -> int:
    """Return how many messages arrive, over all nodes; the sources of messages have theirs."""
    collective = schedule.instance.collective
    if collective.kind == "combine":
        return len(collective.messages)
    if collective.kind == "allreduce":
        return sum(len(message.members) for message in collective.messages)
    return sum(1 + len(message.destinations) for message in collective.messages)


@pytest.mark.slow
@pytest.mark.parametrize(
    "collective", [long("AAS"), long("AAB"), long("reduce-scatter"), "allreduce"]
)
def test_the_ranks_deliver_every_byte(collective, tmp_path):
    schedule = solved("mesh-2x3", collective)
    schedule.save(tmp_path / "s.json")
    done = run(6, "-m", "cchybrid_plugins.execution", "s.json", "--repetitions", "0", "--json",
               "--sizes", "8,4096", cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    rows = [(row["bytes"], row["messages_checked"]) for row in json.loads(done.stdout)["rows"]]
    assert rows == [(8, copies(schedule)), (4096, copies(schedule))]


@pytest.mark.long
@pytest.mark.parametrize(
    ("topology", "collective", "more", "library"),
    [
        ("hypercube-8", "AAS", {}, "Alltoall"),
        ("hypercube-8", "allreduce", {"chunks": 2, "switching": HOPS}, "Allreduce"),
        ("ring-bi-8", "allgather", {"participants": (0, 2, 5)}, "Allgather"),
        long("hypercube-8", "allgather", {"chunks": 2, "switching": HOPS}, "Allgather"),
        long("ring-bi-8", "broadcast", {"root": 3}, "Bcast"),
        long("ring-bi-8", "scatter", {"root": 2}, "Scatter"),
        long("ring-bi-8", "gather", {}, "Gather"),
        long("ring-bi-8", "reduce", {"switching": HOPS}, "Reduce"),
        long("hypercube-8", "reduce-scatter", {"switching": HOPS}, "Reduce_scatter"),
    ],
)
def test_a_program_of_its_own_checks_and_times(topology, collective, more, library, tmp_path):
    schedule = solved(topology, collective, **more)
    (tmp_path / "program.py").write_text(export_mpi(schedule))
    done = run(8, "program.py", "--repetitions", "2", "--json", "--sizes", "64", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = json.loads(done.stdout)["rows"]
    assert row["messages_checked"] == copies(schedule)
    assert row["library"].startswith(library)
    assert min(row["schedule_us"], row["exchange_us"], row["library_us"]) > 0


@pytest.mark.slow
def test_what_does_not_arrive_is_seen(tmp_path):
    """Each of these programs performs a schedule that is not valid."""
    sound = solved("ring-bi-4", "broadcast")
    last = sound.steps[-1][0]
    elsewhere = Transfer(last.message, (*last.path[:-1], last.path[0]))
    for steps in (sound.steps[:-1], (*sound.steps[:-1], (*sound.steps[-1][1:], elsewhere))):
        (tmp_path / "p.py").write_text(export_mpi(Schedule(sound.instance, steps)))
        done = run(4, "p.py", "--repetitions", "0", "--sizes", "8", cwd=tmp_path)
        assert done.returncode != 0
        assert "never arrived" in done.stderr


@pytest.mark.long
def test_a_part_that_is_counted_twice_is_seen(tmp_path):
    sound = solved("ring-bi-8", "allreduce", switching="store-and-forward")
    text, plan = export_mpi(sound), mpi_plan(sound)

    def performed() -> subprocess.CompletedProcess[str]:
        end = f"PLAN = {plan!r}\nsys.exit(main(PLAN, sys.argv[1:]))"
        (tmp_path / "p.py").write_text(text[: text.index("PLAN = ")] + end)
        return run(8, "p.py", "--repetitions", "0", cwd=tmp_path)

    first = next(step for step in plan["steps"] if step)
    first.append(first[0])  # the same part once more
    assert performed().returncode == 0
    first[-1] = [*first[0][:3], None]
    plan |= {"kind": "combine", "steps": plan["steps"][:1]}
    done = performed()
    assert done.returncode == 1
    assert "is wrong" in done.stderr


@pytest.mark.slow
def test_a_sum_of_other_parts_is_seen(tmp_path):
    """Rank 0 adds up as many parts as there are, with the same sum of ranks: 0+1, 1+5 and 3+5."""
    sound = solved("ring-bi-6", "allreduce")
    text, plan = export_mpi(sound), mpi_plan(sound)
    nodes = range(6)
    plan["steps"] = [
        [[0, a, b, [a]] for a in nodes for b in nodes if a != b and b],
        [[0, 1, 0, [0, 1]], [0, 1, 0, [1, 5]], [0, 3, 0, [3, 5]]],
    ]
    end = f"PLAN = {plan!r}\nsys.exit(main(PLAN, sys.argv[1:]))"
    (tmp_path / "p.py").write_text(text[: text.index("PLAN = ")] + end)
    done = run(6, "p.py", "--repetitions", "0", "--sizes", "64", cwd=tmp_path)
    assert (done.returncode, done.stderr.strip()) == (1, "rank 0: message 0 is wrong")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "words", "line"),
    [
        (2, "s.json", "has 4 nodes: start as many ranks, not 2"),
        (2, "scan.json", "the format mpi does not express scan"),
        long(2, "broken.json", "not a valid schedule"),
        long(4, "s.json --sizes 12", "give multiples of 8"),
        long(2, "nothing.json", "nothing.json: cannot be read"),
        long(4, "s.json --sizes x", "give multiples of 8"),
        (4, "cut.json --sizes 64", "give multiples of 24, such as 72,4104,65544"),
    ],
)
def test_bad_input_is_one_line_of_one_rank(ranks, words, line, tmp_path):
    sound = solved("ring-bi-4", "broadcast")
    sound.save(tmp_path / "s.json")
    solved("ring-bi-4", "scan").save(tmp_path / "scan.json")
    solved("ring-bi-4", "broadcast", chunks=3, switching=HOPS).save(tmp_path / "cut.json")
    Schedule(sound.instance, sound.steps[:1]).save(tmp_path / "broken.json")
    done = run(ranks, "-m", "cchybrid_plugins.execution", *words.split(), cwd=tmp_path)
    assert done.returncode == 2
    lines = [text for text in done.stderr.splitlines() if line in text]
    assert len(lines) == 1
    assert "Traceback" not in done.stderr
