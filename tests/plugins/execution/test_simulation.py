"""Schedules replayed in SimGrid, where it is installed: what shares no channel is not delayed."""

import tomllib
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

import pytest
from cchybrid_plugins.execution import simulation, smpi
from cchybrid_plugins.execution.simulation import Replay, Row, replay, simgrid_python
from cchybrid_plugins.execution.time_models import TimeModel
from cchybrid_plugins.execution.time_plot import plot_times

import cchybrid
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import (
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Schedule,
    Transfer,
)
from cchybrid.model.errors import InputError
from cchybrid.referee.verify import verify_schedule
from tests.refusals import refused

MODEL = TimeModel(startup=1.0, bandwidth=100.0, per_hop=0.25)


@cache
def obstacle() -> str:
    try:
        simgrid_python()
    except InputError as error:
        return str(error)
    return ""


def found_first(topology: str, collective: str, **more: object) -> Schedule:
    instance = cchybrid.instance(topology, collective, **more)
    return cchybrid.solve(instance, engines=[], bounds=False).schedule


needs_simgrid = pytest.mark.skipif("obstacle()", reason="SimGrid is not installed")


@needs_simgrid
@pytest.mark.parametrize(
    ("topology", "collective", "more"),
    [
        pytest.param("mesh-3x3", "AAS", {}, marks=pytest.mark.long),
        ("hypercube-8", "AAB", {"ports": 1}),
        ("dgx-1", "allgather", {"switching": "store-and-forward"}),
        ("spidergon-8", "reduce-scatter", {}),
        ("ring-bi-6", "allreduce", {"chunks": 2}),
    ],
)
def test_a_valid_schedule_takes_the_time_of_the_model(topology, collective, more):
    schedule = found_first(topology, collective, **more)
    found = replay(schedule, MODEL, [1000, 64000])
    assert found.undisturbed is found.to_json()["undisturbed"] is True
    for row in found.rows:
        assert row.schedule == pytest.approx(sum(MODEL.step_times(schedule, row.size)), rel=1e-3)


CHAIN = Network.from_links("chain", 4, [(0, 1), (1, 2), (2, 3)])
PAIRS = Instance(CHAIN, Collective("pairs", (Message(0, (2,)), Message(1, (3,)))))
BOTH = (Transfer(0, (0, 1, 2)), Transfer(1, (1, 2, 3)))


@needs_simgrid
@pytest.mark.parametrize(
    ("instance", "step"),
    [
        (PAIRS, BOTH),  # both over the channel from 1 to 2
        (  # both directions of a half-duplex link
            Instance(
                Network("pair", 2, ((0, 1, 1), (1, 0, 1)), ((0, 1),)),
                Collective("swap", (Message(0, (1,)), Message(1, (0,)))),
            ),
            (Transfer(0, (0, 1)), Transfer(1, (1, 0))),
        ),
        (  # one port to accept
            Instance(CHAIN, PAIRS.collective).with_model(inject=1, accept=1),
            (Transfer(0, (0, 1)), Transfer(1, (2, 1))),
        ),
    ],
)
def test_a_planted_conflict_is_found(instance, step):
    together = Schedule(instance, (step,))
    assert verify_schedule(together)  # the referee sees it, too
    found = replay(together, MODEL, [10_000])
    assert len(found.delayed) == 2
    assert found.delayed[0][2] == pytest.approx(2.0, rel=0.05)
    apart = Schedule(instance, tuple((transfer,) for transfer in step))
    assert replay(apart, MODEL, [10_000]).undisturbed


@needs_simgrid
@pytest.mark.parametrize(("capacity", "rounds"), [(1, (2,)), (2, ())])
def test_paths_of_any_length_have_equal_shares_of_a_channel(capacity, rounds):
    """A line and a branch of it; every channel carries at most two messages in the one step."""
    links = [(i, i + 1) for i in range(20)] + [(11, 21), (21, 22), (22, 23), (23, 24)]
    network = Network.from_links("line", 25, links * capacity)
    paths = [tuple(range(21)), (2, 3), (10, 11, 21, 22, 23, 24), (21, 22)]
    messages = Collective("four", tuple(Message(path[0], (path[-1],)) for path in paths))
    instance = Instance(network, messages, CommunicationModel(rounds=rounds))
    schedule = Schedule(instance, [list(enumerate(paths))])
    assert not verify_schedule(schedule)
    found = replay(schedule, MODEL, [10_000])
    assert found.undisturbed
    assert found.rows[0].schedule <= sum(MODEL.step_times(schedule, 10_000)) * 1.001


@pytest.mark.long
@needs_simgrid
def test_a_conflict_among_many_transfers_is_found():
    """Two steps of a valid schedule at once: some channel carries two messages."""
    schedule = found_first("mesh-3x3", "AAS")
    first, second, *rest = schedule.steps
    merged = Schedule(schedule.instance, ((*first, *second), *rest))
    assert verify_schedule(merged)
    assert {step for step, _, _ in replay(merged, MODEL, [10_000]).delayed} == {0}


@needs_simgrid
@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.long)])
def test_no_schedule_of_the_smoke_suite_has_a_delayed_transfer(stride):
    checked = 0
    suite = (files("cchybrid_instances") / "suites" / "smoke.toml").read_text()
    rows = [
        dict(zip(row, values, strict=True))
        for row in tomllib.loads(suite)["rows"]
        for values in product(*(v if isinstance(v, list) else [v] for v in row.values()))
    ][::stride]
    for row in rows:
        failed = {"fail_links": [row.pop("fail_links")]} if "fail_links" in row else {}
        instance = cchybrid.instance(row.pop("topology"), row.pop("collective"), **row, **failed)
        if instance.collective.kind == "allreduce":
            continue
        steps = first_schedule(instance, lambda: False)
        assert steps is not None
        assert replay(Schedule(instance, steps), MODEL, [10_000]).undisturbed, instance.name
        checked += 1
    assert checked > len(rows) / 2 > 1


def test_the_platform_is_well_formed_and_complete():
    instance = cchybrid.instance("mesh-2x2", "AAS", ports=1)
    text = simulation.platform(instance, MODEL, {("node-0", "node-3"): (0, 1, 3)})
    root = ET.fromstring(text)
    links = {link.get("id"): link for link in root.iter("link")}
    named = [part.get("id") for part in root.find(".//route")]
    assert named[:4] == ["inject 0", "0>1", "1>3", "accept 3"]
    assert links.keys() >= {*named}
    assert (links["0>1"].get("bandwidth"), links["0>1"].get("latency")) == ("100Bps", "0.25s")


needs_smpi = pytest.mark.skipif(
    "obstacle() or not smpi.is_installed()", reason="SMPI is not installed"
)


@pytest.mark.parametrize(
    ("collective", "more", "name", "root"),
    [
        ("AAS", {}, "Alltoall", 0),
        ("AAB", {"chunks": 2}, "Allgather", 0),
        ("OAB", {"root": 3}, "Bcast", 3),
        ("OAS", {"root": 2}, "Scatter", 2),
        ("AOG", {"root": 2}, "Gather", 2),
        ("AOR", {"root": 1}, "Reduce", 1),
        ("AAR", {}, "Reduce_scatter_block", 0),
        ("allreduce", {}, "Allreduce", 0),
        ("allgather", {"participants": (0, 2, 5)}, "Allgather", 0),
        ("broadcast", {"root": 5, "participants": (0, 2, 5)}, "Bcast", 2),
    ],
)
def test_the_collective_of_mpi_is_known(collective, more, name, root):
    call = smpi.library_call(cchybrid.instance("ring-bi-6", collective, **more))
    assert (call.name, call.root) == (name, root)
    assert call.nodes == more.get("participants", tuple(range(6)))


@pytest.mark.parametrize(
    "messages",
    [
        [(0, 2), (1, 3)],
        [(0, [1, 2, 3]), (1, [0, 2, 3])],
        [(0, 1), (0, 1), (0, 2)],
        [(1, 0), (1, 0), (2, 0)],
        [cchybrid.Reduction((1, 2), 0), cchybrid.Reduction((0, 2), 1)],
    ],
)
def test_some_messages_are_no_collective_of_mpi(messages):
    assert smpi.library_call(cchybrid.instance(CHAIN, messages)) is None


@needs_smpi
def test_smpi_is_timed_on_the_same_platform(tmp_path):
    """A broadcast to one neighbour, which no algorithm does otherwise, takes what it has to."""
    schedule = found_first("ring-bi-4", "OAB", participants=(0, 1, 2))
    found = replay(schedule, MODEL, [1000, 64000], tmp_path)
    assert (found.library, found.remark) == ("Bcast", "")
    # Parts that are sent one after the other, or forwarded: some transfers, and some start-ups.
    for row in found.rows:
        alone = MODEL.startup + MODEL.per_hop + row.size / MODEL.bandwidth
        assert alone <= row.library <= 3 * alone + 8 * MODEL.startup
    assert "MPI_Bcast" in (tmp_path / "collective.c").read_text()
    assert found.to_json()["times"][0]["library_us"] > 0


@pytest.mark.parametrize(
    ("found", "sizes", "words"),
    [
        (None, [8], "apt-get install libsimgrid-dev"),
        ("/bin/smpicc", [8, 1 << 29], "a size times 4 ranks is more than 2147483647 bytes"),
    ],
)
def test_without_smpi_or_beyond_its_sizes_the_column_is_left_out(
    found, sizes, words, monkeypatch, tmp_path
):
    monkeypatch.setattr(smpi.shutil, "which", lambda name: found)
    instance = cchybrid.instance("ring-bi-4", "OAB")
    name, remark, times = simulation._library_times(instance, MODEL, sizes, tmp_path)
    assert (name, times) == ("", [None] * len(sizes))
    assert words in remark


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_plot_shows_all_times(suffix, tmp_path):
    rows = (Row(64, 1.0, 2.0, 3.0), Row(1024, 10.0, 30.0, 20.0))
    path = tmp_path / f"times{suffix}"
    plot_times(Replay("mesh AAS", rows, (), 5, "Alltoall"), path)
    assert path.stat().st_size > 1000
    for label in ("mesh AAS", "schedule", "all messages at once", "MPI_Alltoall of SMPI"):
        assert suffix == ".png" or label in path.read_text()
    with pytest.raises(InputError, match="cannot be written"):
        plot_times(Replay("", rows, (), 5), tmp_path / "none" / f"a{suffix}")


def test_without_simgrid_there_is_one_line(monkeypatch):
    simgrid_python.cache_clear()
    monkeypatch.setattr(simulation.sys, "executable", "/nowhere/python")
    monkeypatch.setattr(simulation, "SYSTEM_PYTHON", "/nowhere/else")
    with pytest.raises(InputError, match="SimGrid is not installed; on Debian"):
        simgrid_python()
    simgrid_python.cache_clear()


@pytest.mark.parametrize("switching", ["store-and-forward", "wormhole"])
def test_messages_take_paths_past_endpoints_where_there_is_no_other(switching: Any) -> None:
    line = Network.from_links("line", 4, [(0, 1), (1, 2), (2, 3), (3, 0)], endpoints=(1,))
    cut = replace(line, channels=tuple(c for c in line.channels if {*c[:2]} != {0, 3}))
    messages = Collective("OAB", (Message(0, (1, 2)),))
    model = CommunicationModel(switching=switching)
    assert simulation.direct_paths(Instance(line, messages, model)) == [(0, 1), (0, 3, 2)]
    assert simulation.direct_paths(Instance(cut, messages, model)) == [(0, 1), (0, 1, 2)]


def test_an_exchange_that_passes_endpoints_is_said_to_do_so(monkeypatch: Any) -> None:
    monkeypatch.setattr(simulation, "simgrid_python", lambda: "")
    monkeypatch.setattr(simulation, "_library_times", lambda *_: ("", "no MPI", [None]))
    line = Network.from_links("line", 3, [(0, 1), (1, 2)], endpoints=(1,))
    model = CommunicationModel(switching="store-and-forward")
    for goals, words in (
        ((1,), "no MPI"),
        ((1, 2), "no MPI; all at once, messages pass endpoints"),
    ):
        instance = Instance(line, Collective("OAB", (Message(0, goals),)), model)
        steps = [[(0, (node, node + 1))] for node in range(len(goals))]
        simulated = {"time": 1.0, "durations": [[1.0]] * len(steps)}
        monkeypatch.setattr(simulation, "_run", lambda *_, each=simulated: [each] * 3)
        found = simulation.replay(Schedule(instance, steps), MODEL, [64])
        assert found.remark.partition(", where")[0] == words


@pytest.mark.parametrize(("before", "delayed"), [(1.0, 1), (1.4e11, 0)])
def test_a_short_time_after_long_ones_is_rounded(
    monkeypatch: Any, before: float, delayed: int
) -> None:
    """A transfer of 0.0005 us, on a clock at 40 hours of which the numbers are 0.00003 us apart."""
    monkeypatch.setattr(simulation, "simgrid_python", lambda: "")
    monkeypatch.setattr(simulation, "_library_times", lambda *_: ("", "no MPI", [None, None]))
    runs = [{"time": time, "durations": [[time]]} for time in (before, 5.1e-4, 1, 1, 1, 5e-4)]
    monkeypatch.setattr(simulation, "_run", lambda *_: runs)
    line = Network.from_links("line", 2, [(0, 1)])
    instance = Instance(line, Collective("OAB", (Message(0, (1,)),)), CommunicationModel())
    found = simulation.replay(Schedule(instance, [[(0, (0, 1))]]), MODEL, [2**40, 1])
    assert len(found.delayed) == delayed


def test_a_destination_out_of_reach_is_refused() -> None:
    apart = Network.from_links("apart", 4, [(0, 1), (2, 3)])
    instance = Instance(apart, Collective("OAB", (Message(0, (1, 2)),)))
    with refused("schedule: a destination of", "cannot be reached"):
        simulation.direct_paths(instance)
