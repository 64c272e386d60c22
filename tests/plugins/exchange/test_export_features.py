"""Every exporter with every feature of a schedule: written and read back, or refused."""

import re
from dataclasses import replace

import pytest
from cchybrid_plugins.exchange.audit import audit_file
from cchybrid_plugins.exchange.csv_import import read_csv
from cchybrid_plugins.exchange.export_goal import export_goal
from cchybrid_plugins.exchange.export_text import export_csv
from hypothesis import given, settings

import cchybrid
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import (
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
    Schedule,
    Transfer,
)
from cchybrid.model.collective import one_and_many
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.expressed import FEATURES, features, refuse_unexpressed
from cchybrid.plugin.imported import ImportRequest
from cchybrid.plugin.records import ExporterInfo
from cchybrid.plugin.registry import load_registry
from cchybrid.referee.verify import verify_schedule
from tests.examples import examples
from tests.plugins.exchange.schedules import made, schedule
from tests.random_instances import SEVERAL, valid_schedules
from tests.refusals import refused

WORMHOLE = {"switching": "wormhole"}


def relayed(build: type) -> Schedule:
    """Return a message over a node that is none of its ends."""
    network = cchybrid.network("mesh-1x3")
    message = Message(0, (2,)) if build is Message else Reduction((0,), 2)
    instance = Instance(
        network, Collective("one", (message,)), CommunicationModel("store-and-forward")
    )
    return Schedule(instance, ((Transfer(0, (0, 1)),), (Transfer(0, (1, 2)),)))


def with_an_empty_step() -> Schedule:
    instance = cchybrid.instance("mesh-1x2", "broadcast", root=0, rounds=[1, 2])
    return Schedule(instance, ((), (Transfer(0, (0, 1)),)))


def on(network: Network, collective: str, **more: object) -> Schedule:
    return made(cchybrid.instance(network, collective, **more), 0)


def half_duplex() -> Schedule:
    ring = cchybrid.network("ring-bi-4")
    pairs = tuple((c.source, c.target) for c in ring.channels if c.source < c.target)
    return on(replace(ring, half_duplex=pairs), "allgather", switching="store-and-forward")


def by_a_table() -> Schedule:
    instance = cchybrid.instance("mesh-2x3", "alltoall", routing="xy")
    steps = first_schedule(instance)
    assert steps is not None
    return Schedule(instance, steps)


LINKS = [(0, 4), (1, 4), (2, 4), (3, 4)]
SCHEDULES = {
    "plain": lambda: schedule("complete-4", "alltoall", **WORMHOLE),
    "several hops": lambda: schedule("mesh-2x3", "alltoall", **WORMHOLE),
    "store-and-forward": lambda: schedule("mesh-2x2", "allgather"),
    "relays": lambda: relayed(Message),
    "relays of a reduction": lambda: relayed(Reduction),
    "root": lambda: schedule("mesh-2x2", "broadcast", root=2),
    "gather": lambda: schedule("mesh-2x2", "gather", root=3),
    "extra hops": lambda: schedule("ring-bi-4", "alltoall", routing=2, **WORMHOLE),
    "any routing": lambda: schedule("ring-bi-4", "alltoall", routing="any", **WORMHOLE),
    "routing table": by_a_table,
    "limited ports": lambda: schedule("mesh-2x2", "allgather", ports=1),
    "several ports": lambda: on("complete-4", "alltoall", ports=2),
    "ports by node": lambda: made(
        cchybrid.instance("complete-4", "alltoall").with_model(
            inject=(1, 2, 1, 2), accept=(2, 1, 2, 1)
        ),
        0,
    ),
    "rounds": lambda: schedule("ring-bi-4", "allgather", chunks=2, rounds=(2,)),
    "different rounds": lambda: schedule("ring-bi-5", "allgather", rounds=(1, 2)),
    "rounds of a reduction": lambda: schedule("ring-bi-5", "reduce-scatter", rounds=(1, 3, 2)),
    "rounds of a wormhole": lambda: schedule("ring-bi-5", "alltoall", rounds=(2, 3), **WORMHOLE),
    "rounds of an allreduce": lambda: schedule("ring-bi-4", "allreduce", rounds=(2,)),
    "empty steps": with_an_empty_step,
    "chunks": lambda: schedule("ring-bi-4", "alltoall", chunks=2),
    "combining": lambda: schedule("mesh-2x2", "reduce", root=2),
    "reduce-scatter": lambda: schedule("mesh-2x2", "reduce-scatter"),
    "allreduce": lambda: schedule("mesh-2x2", "allreduce"),
    "scan": lambda: schedule("mesh-2x2", "scan"),
    "exscan": lambda: schedule("mesh-2x3", "exscan", **WORMHOLE),
    "wide channels": lambda: on(
        Network.from_links("wide", 3, 2 * [(0, 1), (1, 2), (2, 0)]), "alltoall", chunks=3
    ),
    "half duplex": half_duplex,
    "endpoints": lambda: on(
        Network.from_links("star", 5, LINKS, endpoints=(0, 1, 2, 3)), "allgather"
    ),
    "switches": lambda: on(Network.from_links("star", 5, LINKS, switches=(4,)), "alltoall"),
    "names": lambda: on(
        Network.from_links("lab", 3, [(0, 1), (1, 2)], node_names=("x 1", "b", "a")), "allgather"
    ),
}  # fmt: skip
"""Small valid schedules; together they have every feature."""
FORMATS = sorted(load_registry().exporters)
GPUS = ("msccl", "mscclpp")


def test_the_schedules_have_every_feature():
    assert set.union(*(features(build()) for build in SCHEDULES.values())) == FEATURES


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_feature_is_written_or_refused(name):
    found = SCHEDULES[name]()
    for to in FORMATS:
        info = load_registry().exporters[to]
        if missing := features(found) - set(info.expresses):
            with refused(f"the format {to} does not express {', '.join(sorted(missing))}; use"):
                info.export(found)
            continue
        try:
            text = info.export(found)
        except InputError:
            assert to in (*GPUS, "anynet")
            continue
        if found.instance.model.rounds and to in ROUNDS:
            assert ROUNDS[to] in text, to


def test_texts_and_drawings_express_a_scan():
    found = SCHEDULES["scan"]()
    for to in ("text", "table", "markdown", "latex", "html", "svg"):
        assert load_registry().exporters[to].export(found)
    text = load_registry().exporters["text"].export(found)
    assert "1 (0+1)->3: 1,3" in text


def test_an_exporter_that_names_no_feature_gets_plain_schedules_only():
    for name, build in SCHEDULES.items():
        found = build()
        if features(found):
            with refused("the format new does not express"):
                refuse_unexpressed(found, "new", ())
        else:
            refuse_unexpressed(found, "new", ())
            assert name in ("plain", "several hops", "root", "gather", "names"), name


ROUNDS = {
    "csv": ",rounds", "text": " round", "table": " round", "markdown": " round",
    "latex": " round", "graphml": "rounds", "dot": "rounds: ", "routes": ",rounds",
    "jsonl": '"rounds": ', "msccl": "rounds ", "mscclpp": "rounds ", "mpi": "rounds ",
    "html": '"rounds":',
}  # fmt: skip


def same(again: Schedule, found: Schedule) -> None:
    """Check that steps, messages and rounds are those of the exported schedule."""
    messages = [
        [
            (one, sorted(many))
            for one, many in (one_and_many(each.instance.collective.messages[m]) for m, _ in step)
        ]
        for each in (again, found)
        for step in each.steps
    ]
    half = len(found.steps)
    assert messages[:half] == messages[half:]
    assert [[p for _, p in step] for step in again.steps] == [
        [p for _, p in step] for step in found.steps
    ]
    assert (again.rounds, again.sums) == (found.rounds, found.sums)
    assert again.instance.model.switching == found.instance.model.switching
    ports = (again.instance.model.inject, again.instance.model.accept)
    assert ports == (found.instance.model.inject, found.instance.model.accept)


READ = sorted(set(SCHEDULES) - {"empty steps", "ports by node", "routing table", "scan", "exscan"})


@pytest.mark.parametrize("name", READ)
def test_csv_is_read_back_with_and_without_the_network(name):
    found = SCHEDULES[name]()
    text = export_csv(found)
    alone = read_csv(text, ImportRequest("back")).schedule
    assert verify_schedule(alone) == ()
    assert alone.rounds == found.rounds
    network = found.instance.network
    for collective in (None, found.instance.collective):
        again = read_csv(text, ImportRequest("back", network, collective)).schedule
        assert verify_schedule(again) == ()
        same(again, found)
        if found.instance.model.switching == "wormhole":
            assert again.instance.model.extra_hops == found.instance.model.extra_hops


@settings(max_examples=examples(60), deadline=None)
@given(valid_schedules(ports=("all", "one"), **SEVERAL))
def test_csv_of_random_schedules_is_read_back(found):
    if not all(found.steps):
        return
    text = export_csv(found)
    again = read_csv(text, ImportRequest("back", found.instance.network)).schedule
    same(again, found)
    assert verify_schedule(again) == ()
    assert verify_schedule(read_csv(text, ImportRequest("back")).schedule) == ()


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("to", ["csv", "msccl"])
def test_the_audit_of_an_export_is_valid(to, name, tmp_path):
    found, file = SCHEDULES[name](), tmp_path / "exported"
    network = found.instance.network
    try:
        file.write_text(load_registry().exporters[to].export(found))
    except InputError:
        assert to == "msccl"
        return
    audit = audit_file(file, load_registry(), network, bound_seconds=0.01)
    assert audit.verdict == "valid", audit.sentence
    rounds = sum(found.rounds)
    if to == "csv":
        assert audit.length == len(found.steps)
        assert audit.rounds == (None if rounds == len(found.steps) else rounds)
    else:  # a program leaves timing open: transfers may begin earlier
        assert audit.spent <= rounds


def test_a_feature_that_is_unknown_is_refused():
    with pytest.raises(PluginError, match="exporter new: no feature is called 'wings'"):
        ExporterInfo("new", str, "-", expresses=("wings",))


def test_interfaces_of_goal_are_as_many_as_a_round_uses():
    def used(name: str) -> set[str]:
        return set(re.findall(r"nic \d+", export_goal(SCHEDULES[name]())))

    assert used("limited ports") == set()
    assert used("several ports") == {"nic 0", "nic 1"}
    assert used("rounds") == {"nic 0", "nic 1"}  # two neighbours, a message each in a round
    assert used("wide channels") == {"nic 0", "nic 1", "nic 2", "nic 3"}


def test_rounds_of_a_csv_are_those_of_every_step():
    rows = "step,source,destination,rounds\n1,0,1,2\n1,0,2,{}\n2,1,0,{}\n"
    with refused("line 3: rounds is '3', and '2' in line 2; state one value for all rows of a"):
        read_csv(rows.format(3, 1), ImportRequest("back"))
    with refused("line 4: step 2 states no rounds, and other steps do; state the rounds"):
        read_csv(rows.format(2, ""), ImportRequest("back"))
    with refused("line 4: rounds is 'two'; use a whole number"):
        read_csv(rows.format(2, "two"), ImportRequest("back"))


def test_models_of_a_csv_are_one_for_all_rows():
    rows = "step,source,destination,{}\n1,0,1,{}\n1,0,2,{}\n"
    for column, first, second, words in (
        ("switching", "wormhole", "", "line 3: switching is '', and 'wormhole' in line 2; state"),
        ("switching", "flying", "flying", "line 2: model.switching: unknown switching 'flying'"),
        ("routing", "best", "best", "line 2: model.routing: unknown routing 'best'"),
        ("inject", "1", "1", "line 2: model.ports: only one of inject and accept is limited"),
        ("members", "1+2", "1+2", "line 2: members '1+2' of a message; state the same ones"),
    ):
        with refused(words):
            read_csv(rows.format(column, first, second), ImportRequest("back"))
