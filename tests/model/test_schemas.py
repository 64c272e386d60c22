"""The JSON Schemas and the reader agree, wherever a schema can say what the reader demands."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cchybrid.library.formats.network_json import network_record, read_network_json
from cchybrid.library.instance_spec import find_network
from cchybrid.library.schemas import NAMES, schema
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.examples import examples
from tests.model.model_strategies import instances, schedules

VALIDATORS = {name: Draft202012Validator(schema(name)) for name in NAMES}

# What only the reader can see: it takes the number of nodes, an order, or two keys together.
READER_ALONE = (
    "no node", "linked to itself", "send to itself", "is listed twice; write it once",
    "is listed twice; drop it", "not linked in both directions", "differ in capacity",
    "not sorted", "positions for", "names for", "name 'R0' is given twice", "is an endpoint, too",
    "coordinates; give every node", "numbers for",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["properties"]["format"]["const"] == "cchybrid-" + name.replace("-", "/")


def objects(record: Any) -> Iterator[dict[str, Any]]:
    if isinstance(record, dict):
        if record.get("type") == "object":
            yield record
        for value in record.values():
            yield from objects(value)
    elif isinstance(record, list):
        for value in record:
            yield from objects(value)


@pytest.mark.parametrize("name", NAMES)
def test_every_object_is_closed_and_every_field_described(name: str) -> None:
    definitions = schema(name)["$defs"]
    for record in objects(schema(name)):
        if "properties" not in record:
            continue  # evidence and made_by are free
        assert record["additionalProperties"] is False
        for field in record["properties"].values():
            place = field.get("$ref", "").rpartition("/")[2]
            inner = definitions.get("instance", {}).get("$defs", {})
            target = definitions.get(place) or inner.get(place) or {}
            assert field.get("description") or target.get("description")


@settings(max_examples=examples(60))
@given(schedules())
def test_every_schedule_that_is_written_fits(schedule: Schedule) -> None:
    """With its instance, which is of the schema of instances."""
    record = json.loads(json.dumps(schedule.to_json()))
    VALIDATORS["schedule-1"].validate(record)
    VALIDATORS["instance-1"].validate(record["instance"])


def allreduce(steps: list[Any], members: Any = (0, 1), more: Any = None) -> dict[str, Any]:
    """Return the record of a schedule on two linked nodes."""
    messages = [{"members": list(members)}]
    return {
        "format": "cchybrid-schedule/2",
        "instance": {
            "format": "cchybrid-instance/2",
            "network": {"name": "pair", "nodes": 2, "channels": [[0, 1], [1, 0]]},
            "collective": {
                "name": "sum",
                "kind": "allreduce",
                "messages": messages,
                **(more or {}),
            },
        },
        "steps": steps,
    }


MOVE = {"message": 0, "path": [0, 1], "sum": [0]}


@pytest.mark.parametrize(
    ("record", "sound"),
    [
        (allreduce([[MOVE]]), True),
        (allreduce([[MOVE], []], more={"chunks": 2}), True),
        (allreduce([[{"message": 0, "path": [0, 1]}]]), False),
        (allreduce([[{**MOVE, "sum": 1}]]), False),
        (allreduce([[{**MOVE, "sum": ["0"]}]]), False),
        (allreduce([[{**MOVE, "part": 1}]]), False),
        (allreduce([], [0]), False),
        (allreduce([], [0, 0]), False),
        (allreduce([], more={"kind": "combine"}), False),
        ({**allreduce([[MOVE]]), "format": "cchybrid-schedule/1"}, False),
    ],
)
def test_allreduces_of_reader_and_schema(record: dict[str, Any], sound: bool) -> None:
    name = record["format"].removeprefix("cchybrid-").replace("/", "-")
    assert VALIDATORS[name].is_valid(record) == sound
    assert (refusal(Schedule, record) == "") == sound


NETWORKS = ("torus-4x4", "dgx-1", "octagon", "random-regular-16-3-2")


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_file_that_is_written_fits(name: str) -> None:
    network = find_network(name, load_registry(), pytest.fail)
    record = json.loads(json.dumps(network_record(network)))
    VALIDATORS["network-1"].validate(record)
    assert read_network_json(json.dumps(record)).network == network
    assert not VALIDATORS["network-1"].is_valid({**record, "network": {}})
    assert not VALIDATORS["network-1"].is_valid({**record, "nodes": 4})


def places(record: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    keys = list(record) if isinstance(record, dict) else []
    keys = list(range(len(record))) if isinstance(record, list) else keys
    for key in keys:
        yield from places(record[key], (*path, key))


VALUES = st.sampled_from(
    [None, True, -1, 0, 1, 2, 7, 1.5, "", "x", "all", "any", "combine", [], [0], [0, 1], {}]
) | st.just({"x": 1})


@st.composite
def corrupted(draw: st.DrawFn, records: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """Put a wrong value, a missing key or a key too many somewhere into a sound record."""
    record = copy.deepcopy(draw(records))
    *outer, last = draw(st.sampled_from([path for path in places(record) if path]))
    place: Any = record
    for key in outer:
        place = place[key]
    action = draw(st.sampled_from(["replace", "remove", "add", "repeat"]))
    if action == "remove":
        del place[last]
    elif action == "add" and isinstance(place[last], dict):
        place[last]["surplus"] = draw(VALUES)
    elif action == "repeat" and isinstance(place[last], list):
        place[last] += place[last][-1:]
    else:
        place[last] = draw(VALUES)
    return record


def refusal(reader: Any, record: dict[str, Any]) -> str:
    try:
        reader.from_json(record)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("reader", "name", "records"),
    [(Instance, "instance-1", instances()), (Schedule, "schedule-1", schedules())],
)
@settings(max_examples=examples(120))
@given(data=st.data())
def test_reader_and_schema_refuse_the_same(reader: Any, name: str, records: Any, data: Any) -> None:
    record = data.draw(corrupted(records.map(reader.to_json)))
    message = refusal(reader, record)
    fits = VALIDATORS[name].is_valid(record)
    if not message:
        assert fits
    elif not any(part in message for part in READER_ALONE):
        assert not fits, message
