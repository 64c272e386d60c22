"""The pieces of the benchmark scripts work; what they measure is not looked at here."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from cchybrid.host.api import instance
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.problem import build_problem
from cchybrid.referee.verify import verify
from tests.benchmarks import (
    bench_cluster,
    bench_cpsat,
    bench_fixed_paths,
    bench_kernels,
    bench_sccl,
    bench_start,
    bench_verify,
    textbook,
)
from tests.random_instances import instances, list_schedule, valid_schedules


@pytest.mark.parametrize("words", [("ring-bi-4", "AAS"), ("hypercube-8", "AAB")])
def test_the_kernel_and_its_twin_count_the_same(words: tuple[str, str]) -> None:
    assert bench_kernels.bench(*words, 200, 200) > 0  # it fails where the counts differ


@pytest.mark.long
def test_a_row_of_the_cluster_has_the_costs_of_a_run() -> None:
    assert bench_cluster.bench_row("ring-bi-4", "AAS", 4).startswith("ring-bi-4 AAS")


def test_a_row_of_the_referee_has_its_twin() -> None:
    assert bench_verify.bench_row("hypercube-8", True).endswith("x its twin")


def test_a_row_of_starts_compares_two_workers() -> None:
    line, ratio = bench_start.bench_row("ring-bi-4", "AAS")
    assert line.startswith("ring-bi-4 AAS: 12 deliveries")
    assert ratio > 0


def test_the_textbook_and_cpsat_prove_the_same_optimum() -> None:
    line, ratio = bench_cpsat.bench_row(("spidergon-6", "AAS", 3), 1, 2, 20.0)
    assert line.startswith("spidergon-6 AAS 3")
    assert ratio > 0
    with pytest.raises(SystemExit, match="contradicts"):
        bench_cpsat.bench_row(("spidergon-6", "AAS", 4), 1, 2, 20.0)


def test_the_textbook_decides_scatter_only() -> None:
    verdict, found, _ = textbook.decide(build_problem(instance("ring-bi-4", "AAS")), 2, 0, 1, 20.0)
    assert verdict is True
    assert found.steps == 2
    with pytest.raises(ValueError, match="scatter"):
        textbook.textbook_model(build_problem(instance("ring-bi-4", "AAB")), 2)


def test_fixed_paths_cost_steps() -> None:
    """A mesh whose paths are ordered by dimension loads its middle channels with 16 messages."""
    fixed, chosen = bench_fixed_paths.bench_row("spidergon-8", 2, 20.0)
    assert int(chosen) == 4 <= int(fixed)
    problem = build_problem(instance("mesh-4x4", "AAS"))
    chosen = bench_fixed_paths.ordered_by_dimension(problem)
    used = np.concatenate([problem.resources_of(option) for option in chosen.tolist()])
    load = np.bincount(used, minlength=problem.resources)
    assert load[~problem.implied].max() == 16
    assert bench_fixed_paths.shown(7, False) == "<= 7"


SCCL = {"kinds": ["deliver"], "switchings": ["store-and-forward"], "ports": ["all"]}


@given(valid_schedules(**SCCL, max_nodes=5, max_messages=4))
def test_every_valid_schedule_satisfies_the_encoding_of_sccl(schedule: Schedule) -> None:
    z3 = pytest.importorskip("z3")
    from tests.benchmarks import sccl

    steps = len(schedule.steps)
    encoding = sccl.encode(schedule.instance, steps)
    arrivals = {
        (transfer.message, *transfer.path): step
        for step, transfers in enumerate(schedule.steps, 1)
        for transfer in transfers
    }
    received = {(chunk, node): step for (chunk, _, node), step in arrivals.items()}
    solver = z3.Solver()
    solver.add(encoding.constraints)
    solver.add([send == (key in arrivals) for key, send in encoding.sends.items()])
    solver.add([encoding.times[key] == step for key, step in received.items()])
    assert solver.check() == z3.sat


@given(instances(**SCCL, max_nodes=5, max_messages=4))
def test_what_the_encoding_of_sccl_finds_is_valid(drawn: Instance) -> None:
    pytest.importorskip("z3")
    from tests.benchmarks import sccl

    drawn = replace(drawn, network=replace(drawn.network, half_duplex=()))
    steps = len(list_schedule(drawn, 0))
    verdict, found = sccl.decide(drawn, steps, 0)
    assert verdict is True
    assert not verify(drawn, tuple(filter(None, found)))


@pytest.mark.parametrize(
    ("row", "optimum"),
    [
        ("dgx-1 allgather", 2),
        pytest.param("ring-uni-4 alltoall", 6, marks=pytest.mark.long),
        pytest.param("mesh-3x3 AAB", 4, marks=pytest.mark.long),
    ],
)
def test_sccl_decides_as_cchybrid_certifies(row: str, optimum: int) -> None:
    pytest.importorskip("z3")
    found = bench_sccl.read_row(row)
    assert bench_sccl.solve(*row.split(), 0, 60.0)[0] == optimum
    assert bench_sccl.decide(found, optimum, optimum, 0, 60.0)[0] is True
    assert bench_sccl.decide(found, optimum - 1, optimum, 0, 60.0)[0] is False
    with pytest.raises(SystemExit, match=f"finds {optimum} steps"):
        bench_sccl.decide(found, optimum, optimum + 1, 0, 60.0)
    with pytest.raises(SystemExit, match=f"refutes {optimum - 1} steps"):
        bench_sccl.decide(found, optimum - 1, optimum - 1, 0, 60.0)


@pytest.mark.long
def test_a_row_of_sccl_names_the_limit() -> None:
    pytest.importorskip("z3")
    line = bench_sccl.bench_row("ring-bi-4 allgather", 1, 60.0, 60.0)
    assert line.split()[:3] == ["ring-bi-4", "allgather", "2"]
    late = bench_sccl.decide(bench_sccl.read_row("hypercube-8 alltoall"), 4, 4, 0, 1.0)
    assert late == (None, 1.0)


@pytest.mark.parametrize("row", ["dgx-1", "mesh-3x3 reduce", "nonsense-4 allgather"])
def test_a_row_that_sccl_does_not_encode_is_refused(row: str) -> None:
    with pytest.raises(InputError):
        bench_sccl.read_row(row)
