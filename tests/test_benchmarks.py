"""The pieces of the benchmark scripts work; what they measure is not looked at here."""

from dataclasses import replace

import pytest
from hypothesis import given

from cchybrid.model.errors import InputError
from cchybrid.referee.verify import verify
from tests.benchmarks import bench_cluster, bench_kernels, bench_sccl, bench_verify
from tests.random_instances import instances, list_schedule, valid_schedules


@pytest.mark.parametrize("words", [("ring-bi-4", "AAS"), ("hypercube-8", "AAB")])
def test_the_kernel_and_its_twin_count_the_same(words):
    assert bench_kernels.bench(*words, 200, 200) > 0  # it fails where the counts differ


@pytest.mark.long
def test_a_row_of_the_cluster_has_the_costs_of_a_run():
    assert bench_cluster.bench_row("ring-bi-4", "AAS", 4).startswith("ring-bi-4 AAS")


def test_a_row_of_the_referee_has_its_twin():
    assert bench_verify.bench_row("hypercube-8", True).endswith("x its twin")


SCCL = {"kinds": ["deliver"], "switchings": ["store-and-forward"], "ports": ["all"]}


@given(valid_schedules(**SCCL, max_nodes=5, max_messages=4))
def test_every_valid_schedule_satisfies_the_encoding_of_sccl(schedule):
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
def test_what_the_encoding_of_sccl_finds_is_valid(drawn):
    pytest.importorskip("z3")
    from tests.benchmarks import sccl

    drawn = replace(drawn, network=replace(drawn.network, half_duplex=()))
    steps = len(list_schedule(drawn, 0))
    verdict, found = sccl.decide(drawn, steps, 0)
    assert verdict is True
    assert not verify(drawn, tuple(filter(None, found)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("row", "optimum"), [("dgx-1 allgather", 2), ("ring-uni-4 alltoall", 6), ("mesh-3x3 AAB", 4)]
)
def test_sccl_decides_as_cchybrid_certifies(row, optimum):
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
def test_a_row_of_sccl_names_the_limit():
    pytest.importorskip("z3")
    line = bench_sccl.bench_row("ring-bi-4 allgather", 1, 60.0, 60.0)
    assert line.split()[:3] == ["ring-bi-4", "allgather", "2"]
    late = bench_sccl.decide(bench_sccl.read_row("hypercube-8 alltoall"), 4, 4, 0, 1.0)
    assert late == (None, 1.0)


@pytest.mark.parametrize("row", ["dgx-1", "mesh-3x3 reduce", "nonsense-4 allgather"])
def test_a_row_that_sccl_does_not_encode_is_refused(row):
    with pytest.raises(InputError):
        bench_sccl.read_row(row)
