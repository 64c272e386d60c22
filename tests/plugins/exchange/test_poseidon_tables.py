"""Schedules of Poseidon: tables that are performed, read back, or refused; platforms as instances.

``as_poseidon`` writes a file by the times of Poseidon's program, of which it prints the slots until
the last packet of the first period has arrived; so it lacks what arrives in the next period.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from cchybrid_plugins.exchange.poseidon_import import read_poseidon
from cchybrid_plugins.exchange.poseidon_tables import export_poseidon

import cchybrid
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import Instance, Schedule
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.plugin.registry import load_registry
from cchybrid.referee.verify import verify_schedule
from tests.plugins.exchange.test_poseidon_import import LINKS, PAIRS, SPEC, instance_of
from tests.refusals import refused

MOVES = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}
OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E"}


def read(text: str, instance: Instance | None = None) -> Imported:
    if instance is None:
        return read_poseidon(text, ImportRequest("hand-made"))
    return read_poseidon(text, ImportRequest("x", instance.network, instance.collective))


def greedy(instance: Instance) -> Schedule:
    found = Schedule(instance, first_schedule(instance))
    assert verify_schedule(found) == ()
    return found


def slots(network: str, collective: str = "AAS", **more: object) -> Instance:
    return cchybrid.instance(network, collective, switching="tdm", ports=1, **more)


INSTANCES = {
    "mesh-3x3": slots("mesh-3x3"),
    "mesh-2x3": slots("mesh-2x3"),
    "mesh-2x2": slots("mesh-2x2", chunks=2),
    "mesh-1x5": slots("mesh-1x5"),
    "torus-3x4": slots("torus-3x4"),
    "bitorus-2x3": instance_of(SPEC.format(3, 2, "bitorus")),
    "pairs": instance_of(PAIRS),
    "links": instance_of(LINKS),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_an_exported_schedule_is_read_back(name):
    instance = INSTANCES[name]
    schedule = greedy(instance)
    found = read(load_registry().exporter("poseidon").export(schedule), instance)
    assert found.schedule is not None
    assert found.broken == () == verify_schedule(found.schedule)
    sent = [
        [Counter(path for _, path in step) for step in s.steps] for s in (schedule, found.schedule)
    ]
    assert sent[0] == sent[1]
    alone = read(export_poseidon(schedule)).schedule
    assert alone is not None
    assert verify_schedule(alone) == ()


@pytest.mark.parametrize("name", INSTANCES)
def test_routers_that_follow_their_tables_bring_every_packet_to_its_destination(name):
    schedule = greedy(INSTANCES[name])
    root = ElementTree.fromstring(export_poseidon(schedule))
    length, width, height = (int(root.attrib[key]) for key in ("length", "width", "height"))
    rows = {(tile.attrib["id"], int(row.attrib["value"])): row for tile in root for row in tile}
    at: dict[tuple[str, str], str] = {}
    arrived: Counter[tuple[str, str]] = Counter()
    for now in range(4 * length):
        accepted: dict[str, str] = {}
        moved: dict[tuple[str, str], str] = {}
        for tile, slot in rows:
            if slot != now % length:
                continue
            row = rows[tile, slot]
            adapter = row.find("na")
            assert adapter is not None
            if adapter.attrib["tx"] != tile and now < 2 * length:
                at[tile, "L"] = f"{tile} {adapter.attrib['tx']}"
            for output in row.iter("output"):
                packet = at.pop((tile, output.attrib["input"]), None)
                if packet is None:
                    continue
                port = output.attrib["id"]
                if port == "L":
                    accepted[tile] = packet
                    continue
                x, y = (int(part) for part in tile.strip("()").split(","))
                x, y = (x + MOVES[port][0]) % width, (y + MOVES[port][1]) % height
                assert (f"({x},{y})", OPPOSITE[port]) not in moved
                moved[f"({x},{y})", OPPOSITE[port]] = packet
        assert not at, "a packet that no router moves on"
        at = moved
        for tile, packet in accepted.items():
            source, goal = packet.split()
            assert tile == goal
            receiver = rows[tile, (now + 1) % length].find("na")
            assert receiver is not None
            assert receiver.attrib["rx"] == source
            arrived[source, goal] += 1
    name_of = {n: f"({n % width},{n // width})" for n in range(width * height)}
    messages = schedule.instance.collective.deliver_messages
    expected = Counter((name_of[m.source], name_of[m.destinations[0]]) for m in messages)
    assert arrived == Counter({pair: 2 * count for pair, count in expected.items()})


def as_poseidon(width: int, height: int, packets: list[tuple[int, int, str, int]]) -> str:
    """Return what Poseidon prints, given (column, row, route, slot) of each packet; depths 1, 0."""
    into, out, links = {}, {}, defaultdict(dict)
    for number, (x, y, route, slot) in enumerate(packets):
        into[x, y, slot] = number
        for now, port in enumerate(route[:-1], slot + 1):
            links[x, y, port][now] = number
            x, y = (x + MOVES[port][0]) % width, (y + MOVES[port][1]) % height
            links[x, y, f"in {OPPOSITE[port]}"][now] = number
        out[x, y, slot + len(route)] = number
    length = max(now for *_, now in out) + 1 - 2
    lines = [f'<schedule length="{length}" width="{width}" height="{height}">']
    for x, y in ((x, y) for x in range(width) for y in range(height)):
        lines.append(f'<tile id="({x},{y})">')
        for now in range(length):

            def entered(number, now=now, x=x, y=y):
                for port in "NSEW":
                    if number is not None and links[x, y, f"in {port}"].get(now) == number:
                        return port
                return "D" if number is None else "L"

            source = packets[out[x, y, now]][:2] if (x, y, now) in out else (x, y)
            sent = f'tx="({x},{y})"'
            if (x, y, now) in into:
                number = into[x, y, now]
                goal = next((a, b) for (a, b, _), n in out.items() if n == number)
                route = packets[number][2]
                sent = f'tx="({goal[0]},{goal[1]})" route="{route}" chan-id="{number}" pkt-id="0"'
            lines += [f'<timeslot value="{now}">', f'<na rx="({source[0]},{source[1]})" {sent} />']
            inputs = [(p, entered(links[x, y, p].get(now + 1))) for p in "NSEW"]
            inputs.append(("L", entered(out.get((x, y, now + 1)))))
            lines += ["<router>", *(f'<output id="{p}" input="{e}" />' for p, e in inputs)]
            lines.append("</router></timeslot>")
        lines += ['<latency><destination id="(0,0)" pkt-len="1" rate="0.1" /></latency>', "</tile>"]
    return "\n".join([*lines, "</schedule>"])


HAND_MADE = [(0, 0, "EEL", 0), (1, 0, "WL", 0), (2, 0, "SWWL", 0), (0, 1, "NL", 1), (0, 0, "EL", 1)]


def test_a_file_of_poseidon_lacks_what_arrives_in_the_next_period():
    text = as_poseidon(3, 2, HAND_MADE)
    mesh = slots("mesh-2x3").network
    found = read_poseidon(text, ImportRequest("x", mesh))
    assert found.broken == ()
    assert found.schedule is not None
    assert verify_schedule(found.schedule) == ()
    assert found.facts == ("5 packets, 3 slots a period",)
    assert [len(step) for step in found.schedule.steps] == [3, 2, 0]
    assert {path for step in found.schedule.steps for _, path in step} >= {(0, 1, 2), (2, 5, 4, 3)}
    complete = export_poseidon(found.schedule)
    idle = '<output id="L" input="D" />'
    assert complete.count(idle) == text.count(idle) - 1
    alone = read(text)
    assert alone.facts[-1] == "judged on the 7 channels it uses, of capacity up to 1"


def test_a_port_that_two_packets_use_at_once_is_a_broken_rule():
    text = as_poseidon(3, 2, [(0, 0, "EEL", 0), (1, 0, "ESL", 1)])
    [first, *_] = read(text).broken
    assert str(first) == "tile (1,0), timeslot 1: E is W and L (port-overload)"
    torus = instance_of(SPEC.format(2, 2, "bitorus"))
    # Two links lead to the neighbour, by E and by W, so its channel has room for both packets.
    both = as_poseidon(2, 2, [(0, 1, "NEL", 0), (0, 0, "ESL", 1)])
    found = read_poseidon(both, ImportRequest("x", torus.network))
    assert found.schedule is not None
    assert verify_schedule(found.schedule) == ()
    assert [str(rule) for rule in found.broken] == [
        "tile (0,0), timeslot 1: E is L and S (port-overload)"
    ]


def test_the_referee_judges_in_slots():
    mesh = slots("mesh-1x3").network
    text = as_poseidon(3, 1, [(0, 0, "EEL", 0), (1, 0, "EL", 0)])
    wrong = text.replace('tx="(2,0)" route="EEL"', 'tx="(1,0)" route="EEL"')
    found = read_poseidon(wrong, ImportRequest("x", mesh))
    assert found.schedule is not None
    [violation, *_] = verify_schedule(found.schedule)
    assert violation.rule == "not-a-destination"
    assert found.place(violation.step, violation.transfer) == "tile (0,0), timeslot 0"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('length="3"', 'length="0"', "line 1: a period of 0 slots"),
        ('width="3"', "", "line 1: <schedule> has no width"),
        ('value="2"', 'value="3"', "timeslot 3; use 0 to 2"),
        ('id="(0,0)"', 'id="(3,0)"', "id='(3,0)' is no tile"),
        ('route="EEL"', 'route="EE"', "route='EE'; write ports NESW, at the end L"),
        ('route="EEL"', "", "route=''; write ports"),
        ('tx="(2,0)"', 'tx="(0,0)"', "route='EEL'"),
        ('pkt-len="1"', 'pkt-len="3"', "packets of 3 phits, a slot each; use 1 phit"),
    ],
)
def test_bad_schedules_are_refused_in_one_line(old, new, words):
    text = as_poseidon(3, 2, HAND_MADE)
    assert old in text
    with refused(words):
        read(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            LINKS.replace('"custom">', '"custom" routerDepth="3">', 1),
            "line 1: a hop of 3 + 0 slots",
        ),
        (LINKS.replace('"custom">', '"custom" linkDepth="1">', 1), "a hop of 1 + 1 slots"),
        (LINKS.replace('sink="(1,0)"', 'sink="(1,0)" depth="2"'), "line 2: a hop of 1 + 2 slots"),
        (LINKS.replace("bandwidth", 'phits="3" bandwidth'), "line 3: packets of 3 phits"),
        (SPEC.format(2, 2, "mesh").replace("all2all", 'all2all" phits="2'), "packets of 2 phits"),
        (
            LINKS.replace("<communication", '<communication reconfig="(0,0)"'),
            "configuration master",
        ),
    ],
)
def test_what_takes_several_slots_is_refused(text, words):
    with refused(words):
        instance_of(text)


def test_depths_of_one_slot_and_a_common_bandwidth_are_used():
    assert instance_of(LINKS.replace('"custom">', '"custom" routerDepth="0" linkDepth="1">', 1))
    twice = SPEC.format(2, 2, "mesh").replace("all2all", 'all2all" bandwidth="2')
    assert instance_of(twice).collective.chunks == 2


@pytest.mark.parametrize(
    ("instance", "words"),
    [
        (cchybrid.instance("mesh-2x2", "AAS"), "no time slots, or not one port a tile"),
        (slots("mesh-2x2").with_model(inject=2, accept=2), "no time slots, or not one port a tile"),
        (slots("hypercube-8"), "no tiles of a grid"),
        (slots("spidergon-8"), "no tiles of a grid"),
        (slots("mesh-2x2").with_model(routing=1), "does not express extra hops"),
    ],
)
def test_what_tables_cannot_say_is_refused(instance, words):
    with refused(words):
        load_registry().exporter("poseidon").export(greedy(instance))


def test_paths_over_a_border_only_where_no_other_leads():
    schedule = greedy(slots("mesh-2x2"))
    ends = {
        (step.attrib["tx"], step.attrib["route"])
        for step in ElementTree.fromstring(export_poseidon(schedule)).iter("na")
        if "route" in step.attrib
    }
    assert {route for _, route in ends} <= {
        "EL",
        "WL",
        "NL",
        "SL",
        "ESL",
        "SEL",
        "WSL",
        "SWL",
        "ENL",
        "NEL",
        "WNL",
        "NWL",
    }
    assert all(len(list(pairwise(route))) <= 2 for _, route in ends)
    custom = replace(schedule.instance.network, name="mine")
    renamed = Schedule(replace(schedule.instance, network=custom), schedule.steps)
    assert export_poseidon(renamed) == export_poseidon(schedule)


def test_a_platform_is_an_instance_wherever_instances_are_read(tmp_path):
    file = tmp_path / "platform.xml"
    file.write_text(SPEC.format(2, 2, "mesh"))
    instance = cchybrid.instance(file)
    assert instance == instance_of(SPEC.format(2, 2, "mesh"))
    assert cchybrid.instance(file, ports=2).model.inject == 2
    with refused("names the messages already"):
        cchybrid.instance(file, root=0)
    (tmp_path / "schedule.xml").write_text(export_poseidon(greedy(instance)))
    with refused("schedule.xml: no instance alone; for schedules: cchybrid audit, import"):
        cchybrid.instance(tmp_path / "schedule.xml")
    (tmp_path / "other.xml").write_text("<svg/>")
    with refused("other.xml: no importer knows this file"):
        cchybrid.instance(tmp_path / "other.xml")
