"""Every exporter with every feature of a schedule: written and read back, or refused."""

import re
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from cchybrid_plugins.exchange.audit import audit_file
from cchybrid_plugins.exchange.csv_import import read_csv
from cchybrid_plugins.exchange.export_goal import export_goal
from cchybrid_plugins.exchange.export_text import export_csv
from hypothesis import given, settings

import cchybrid
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import Message, Network, Reduction, Schedule
from cchybrid.model.collective import one_and_many
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.expressed import FEATURES, features, refuse_unexpressed
from cchybrid.plugin.imported import ImportRequest
from cchybrid.plugin.records import ExporterInfo
from cchybrid.plugin.registry import load_registry
from tests.examples import examples
from tests.plugins.exchange.expected import sound
from tests.plugins.exchange.schedules import made, schedule
from tests.random_instances import SEVERAL, valid_schedules
from tests.refusals import refused

WORMHOLE = {"switching": "wormhole"}


def relayed(message: Any) -> Schedule:
    """Return a message over a node that is none of its ends."""
    instance = cchybrid.instance("mesh-1x3", [message], switching="store-and-forward")
    return Schedule(instance, [[(0, (0, 1))], [(0, (1, 2))]])


def with_an_empty_step() -> Schedule:
    instance = cchybrid.instance("mesh-1x2", "broadcast", root=0, rounds=[1, 2])
    return Schedule(instance, [[], [(0, (0, 1))]])


def on(network: Any, collective: str, **more: Any) -> Schedule:
    model = {key: more.pop(key) for key in ("inject", "accept") if key in more}
    return made(cchybrid.instance(network, collective, **more).with_model(**model), 0)


def in_ticks() -> Schedule:
    ring = cchybrid.network("ring-bi-4")
    slow = replace(ring, times=((1, 2),) * len(ring.channels))
    instance = cchybrid.instance(slow, "allgather")
    return Schedule(instance, first_schedule(instance))


def with_groups() -> Schedule:
    ring = cchybrid.network("ring-bi-4")
    return on(replace(ring, groups=(((0, 1), (0, 3)),)), "allgather")


def half_duplex() -> Schedule:
    ring = cchybrid.network("ring-bi-4")
    pairs = tuple((a, b) for a, b, _ in ring.channels if a < b)
    return on(replace(ring, half_duplex=pairs), "allgather", switching="store-and-forward")


def by_a_table() -> Schedule:
    instance = cchybrid.instance("mesh-2x3", "alltoall", routing="xy")
    return Schedule(instance, first_schedule(instance))


LINKS = [(0, 4), (1, 4), (2, 4), (3, 4)]
SCHEDULES = {
    "plain": lambda: schedule("complete-4", "alltoall", **WORMHOLE),
    "several hops": lambda: schedule("mesh-2x3", "alltoall", **WORMHOLE),
    "store-and-forward": lambda: schedule("mesh-2x2", "allgather"),
    "relays": lambda: relayed(Message(0, (2,))),
    "relays of a reduction": lambda: relayed(Reduction((0,), 2)),
    "root": lambda: schedule("mesh-2x2", "broadcast", root=2),
    "gather": lambda: schedule("mesh-2x2", "gather", root=3),
    "extra hops": lambda: schedule("ring-bi-4", "alltoall", routing=2, **WORMHOLE),
    "any routing": lambda: schedule("ring-bi-4", "alltoall", routing="any", **WORMHOLE),
    "routing table": by_a_table,
    "time slots": lambda: on("mesh-2x2", "alltoall", switching="tdm"),
    "ticks": in_ticks,
    "groups": with_groups,
    "limited ports": lambda: schedule("mesh-2x2", "allgather", ports=1),
    "several ports": lambda: on("complete-4", "alltoall", ports=2),
    "ports by node": lambda: on(
        "complete-4", "alltoall", inject=(1, 2, 1, 2), accept=(2, 1, 2, 1)
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
            assert to in (*GPUS, "anynet", "poseidon")
            continue
        if found.instance.model.rounds and to in ROUNDS:
            assert ROUNDS[to] in text, to


def test_texts_and_drawings_express_a_scan() -> None:
    found, exporters = SCHEDULES["scan"](), load_registry().exporters
    # Drawings are formats of another plugin.
    for to in {"text", "table", "markdown", "latex", "html", "svg"} & exporters.keys():
        assert exporters[to].export(found)
    assert "1 (0+1)->3: 1,3" in exporters["text"].export(found)


def test_an_exporter_that_names_no_feature_gets_plain_schedules_only():
    plain = {name for name, build in SCHEDULES.items() if not features(build())}
    assert plain == {"plain", "several hops", "names"}
    for name, build in SCHEDULES.items():
        with nullcontext() if name in plain else refused("the format new does not express"):
            refuse_unexpressed(build(), "new", ())


ROUNDS = {
    "csv": ",rounds", "text": " round", "table": " round", "markdown": " round",
    "latex": " round", "graphml": "rounds", "dot": "rounds: ", "routes": ",rounds",
    "jsonl": '"rounds": ', "msccl": "rounds ", "mscclpp": "rounds ", "mpi": "rounds ",
    "html": '"rounds":',
}  # fmt: skip


def same(again: Schedule, found: Schedule) -> None:
    """Check that steps, messages and rounds are those of the exported schedule."""

    def shown(schedule: Schedule) -> tuple[Any, ...]:
        messages = schedule.instance.collective.messages
        ends = [(one, sorted(many)) for one, many in map(one_and_many, messages)]
        steps = [[(ends[m], path) for m, path in step] for step in schedule.steps]
        model = schedule.instance.model
        return steps, schedule.rounds, schedule.sums, model.switching, model.inject, model.accept

    assert shown(again) == shown(found)


UNREAD = {
    "ticks",
    "groups",
    "empty steps",
    "ports by node",
    "routing table",
    "scan",
    "exscan",
    "time slots",
}
READ = sorted(set(SCHEDULES) - UNREAD)


@pytest.mark.parametrize("name", READ)
def test_csv_is_read_back_with_and_without_the_network(name):
    found = SCHEDULES[name]()
    text = export_csv(found)
    assert sound(read_csv(text, ImportRequest("back"))).rounds == found.rounds
    network, model = found.instance.network, found.instance.model
    for collective in (None, found.instance.collective):
        again = sound(read_csv(text, ImportRequest("back", network, collective)))
        same(again, found)
        if model.switching == "wormhole":
            assert again.instance.model.extra_hops == model.extra_hops


@settings(max_examples=examples(60), deadline=None)
@given(valid_schedules(ports=("all", "one"), **SEVERAL))
def test_csv_of_random_schedules_is_read_back(found):
    if not all(found.steps):
        return
    text = export_csv(found)
    again = sound(read_csv(text, ImportRequest("back", found.instance.network)))
    same(again, found)
    sound(read_csv(text, ImportRequest("back")))


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
    assert audit.length == len(found.steps)
    assert audit.rounds == (None if rounds == len(found.steps) else rounds)


def test_a_feature_that_is_unknown_is_refused():
    with pytest.raises(PluginError, match="exporter new: no feature is called 'wings'"):
        ExporterInfo("new", str, "-", expresses=("wings",))


@pytest.mark.parametrize(
    ("name", "count"),
    # In a round, a node has two neighbours, and a message for each.
    [("limited ports", 0), ("several ports", 2), ("rounds", 2), ("wide channels", 4)],
)
def test_interfaces_of_goal_are_as_many_as_a_round_uses(name, count):
    used = set(re.findall(r"nic \d+", export_goal(SCHEDULES[name]())))
    assert used == {f"nic {number}" for number in range(count)}


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("rounds", ("2", "3", "1"),
         "line 3: rounds is '3', and '2' in line 2; state one value for all rows of a"),
        ("rounds", ("2", "2", ""),
         "line 4: step 2 states no rounds, and other steps do; state the rounds"),
        ("rounds", ("2", "2", "two"), "line 4: rounds is 'two'; use a whole number"),
        ("switching", ("wormhole", "", ""),
         "line 3: switching is '', and 'wormhole' in line 2; state"),
        ("switching", 3 * ("flying",), "line 2: model.switching: unknown switching 'flying'"),
        ("routing", 3 * ("best",), "line 2: model.routing: unknown routing 'best'"),
        ("inject", 3 * ("1",), "line 2: model.ports: only one of inject and accept is limited"),
        ("members", 3 * ("1+2",), "line 2: members '1+2' of a message; state the same ones"),
    ],
)  # fmt: skip
def test_columns_of_a_csv_agree_in_all_rows(column, values, words):
    rows = "step,source,destination,{}\n1,0,1,{}\n1,0,2,{}\n2,1,0,{}\n"
    with refused(words):
        read_csv(rows.format(column, *values), ImportRequest("back"))
