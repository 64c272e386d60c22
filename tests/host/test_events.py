"""The wire: every line of a worker is read as a typed event or gives one error."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.host import events, wire
from cchybrid.host.wire import LineReader as Reader
from cchybrid.host.wire import WireError, encode, from_log, parse, to_log
from cchybrid.model import FlatSteps, Transfer
from cchybrid.plugin.engine import Stop

KINDS = (
    "started", "offer", "suggest", "bound", "progress", "note", "end", "unsupported", "refused",
    "failed", "trouble", "silent", "overdue", "spent",
)  # fmt: skip
NAMES = (
    "event", "steps", "spent", "how", "draft", "evidence", "complete", "provider", "conflicts",
    "metrics", "stop", "evaluations", "text", "seconds", "options",
    "start_processor", "start_wall", "search_processor", "search_wall",
)  # fmt: skip
SPENT = {
    "event": "spent", "start_processor": 0.5, "start_wall": 1.0, "search_processor": 2,
    "search_wall": 3,
}  # fmt: skip
NUMBERS = st.integers(-(10**401), 10**401) | st.floats() | st.booleans()
TEXTS = st.text(st.characters(codec=None), max_size=8)  # lone surrogates too
VALUES = st.recursive(
    st.none() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def read(**content: Any) -> Any:
    return parse(json.dumps(content).encode())


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6))
def test_any_object_is_an_event_or_one_error(kind, content):
    text = ""
    try:
        event = parse(json.dumps({**content, "event": kind}).encode())
    except WireError as error:
        text = str(error)
    else:
        text = json.dumps(to_log(1.0, 3, event), allow_nan=False)
        assert from_log(json.loads(text)) == (1.0, 3, event)
    # It can be shown, encoded, and has one line.
    assert len(text.encode().splitlines()) == 1


@given(st.binary(max_size=60))
def test_any_bytes_are_an_event_or_one_error(raw):
    text = "an event"
    try:
        parse(raw)
    except WireError as error:
        text = str(error)
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"event": "note", "metrics": {"x": float("inf")}}, "not JSON"),
        ({"event": "note", "metrics": [1]}, "whose metrics [1] is no object"),
        ({"event": "note", "metrics": {"x": "1"}}, "finite numbers: x is no finite number"),
        ({"event": "note", "metrics": {"x": 10**400}}, "finite numbers: x is no finite number"),
        ({**SPENT, "search_wall": 10**400}, "whose search_wall"),
        ({**SPENT, "start_wall": None}, "without start_wall"),
        ({"event": "end", "stop": "limit", "evaluations": -1}, "whose evaluations"),
        ({"event": "end", "stop": "limit", "conflicts": "2"}, "whose conflicts"),
        ({"event": "end", "stop": "tired"}, "whose stop 'tired' is no reason to stop"),
        ({"event": "bound", "steps": 2.5, "evidence": None}, "whose steps 2.5 is no count"),
        ({"event": "bound", "steps": True, "evidence": None}, "whose steps True is no count"),
        ({"event": "bound", "steps": 2, "evidence": [1]}, "whose evidence [1] is no object"),
        ({"event": "progress", "steps": 3}, "without conflicts"),
        (
            {"event": "offer", "steps": [[3]], "spent": 0, "how": ""},
            "no list of steps: steps[0][0]",
        ),
        ({"event": "started", "options": {"a": [1]}}, "numbers, texts and truth values: a"),
        ({"event": "sliced", "worked": 1.0}, "unknown event 'sliced'"),  # for the host alone
        ({"event": "dance"}, "unknown event 'dance'"),
        ({"event": 3}, "names no event"),
        ([1], "names no event"),
    ],
)
def test_errors_name_the_field(content, words):
    with pytest.raises(WireError) as caught:
        parse(json.dumps(content).encode())
    assert words in str(caught.value)


@pytest.mark.parametrize("raw", [b"hello", b"\xff", b"", b"[" * 200_000])
def test_lines_that_hold_nothing_readable(raw):
    with pytest.raises(WireError):
        parse(raw)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (b"1e999", "a number is too large"),
        (b"[[-1e999]]", "a number is too large"),
        (b"[1,2,1%s]" % (b"0" * 41), "a number is too large"),
        (b'{"\\ud800":1}', "a text cannot be printed"),
        (b'["\\ud800"]', "a text cannot be printed"),
        (b'"two\\nlines"', "a text cannot be printed"),
        (b"[" * 800 + b"]" * 800, "nested too deeply"),
        (b'{"a":' * 20 + b"1" + b"}" * 20, "nested too deeply"),
    ],
)
def test_evidence_that_could_not_be_saved_and_read_again_is_refused(part, words):
    line = b'{"event":"bound","steps":3,"evidence":{"kind":"linear","steps":3,"x":%s}}' % part
    with pytest.raises(WireError, match=r"evidence .* is no object of evidence") as caught:
        parse(line)
    assert words in str(caught.value)


@pytest.mark.slow
def test_large_evidence_is_read_in_a_moment():
    rows = [[step, step + 1, 10**39] for step in range(100_000)]
    evidence = {"kind": "linear", "channels": rows, "proof": "ab" * 4_000_000}
    line = json.dumps({"event": "bound", "steps": 3, "evidence": evidence}).encode()
    started = time.process_time()
    json.loads(line)
    parsed = time.process_time()
    assert parse(line).evidence == evidence
    assert time.process_time() - parsed < 0.5 + 4 * (parsed - started)


def test_texts_can_be_printed():
    event = read(event="failed", text="a\ud800b\nc\x1b[31m" + "x" * 9999)
    assert isinstance(event, events.Failed)
    assert event.text.startswith("a b c [31m")
    assert len(event.text.encode()) == 500


@pytest.mark.parametrize(
    "event",
    [
        events.Started(True, {"rounds": 3, "word": "yes"}),
        events.Offer(((Transfer(0, (0, 1)),), (Transfer(0, (1, 2)),)), 7, "by hand"),
        events.Bound(3, {"kind": "linear", "steps": 3}, True, ""),
        events.Progress(5, 2),
        events.Note({"x": 1.5}),
        events.End(Stop.LIMIT, 5),
        events.Opened("tabu", "engine", "quotients", False),
        events.Exited("signal", 11, "gone"),
        events.Sliced(2.5),
        events.Phased(("a", "b")),
    ],
)
def test_the_log_brings_events_back(event):
    assert from_log(json.loads(json.dumps(to_log(0.5, 2, event)))) == (0.5, 2, event)


METRICS = st.lists(
    st.dictionaries(st.text("abc", min_size=1, max_size=5), st.integers(0, 99), max_size=3),
    max_size=6,
)


@given(METRICS, st.integers(1, 40))
def test_lines_survive_any_cutting_of_the_stream(notes, size):
    stream = b"".join(encode({"event": "note", "metrics": metrics}) for metrics in notes)
    reader = Reader()
    parts = (stream[start : start + size] for start in range(0, len(stream), size))
    found = [event for part in parts for event in reader.feed(part)]
    assert found == [
        events.Note({name: float(v) for name, v in metrics.items()}) for metrics in notes
    ]


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("cchybrid.host.wire.MAX_LINE_BYTES", 100)
    with pytest.raises(WireError, match="without end"):
        list(Reader().feed(b"x" * 101))


STEPS = ((Transfer(300, (1, 0)), Transfer(0, (70_000, -256, 3))), (), (Transfer(1, (5, 4)),))


def test_large_schedules_travel_as_arrays():
    line = wire.encode({"event": "offer", "steps": wire.steps_to_line(FlatSteps.of(STEPS)),
                        "spent": 1, "how": ""})  # fmt: skip
    offer = wire.parse(line)
    assert isinstance(offer.steps, FlatSteps)
    assert offer.steps == STEPS
    assert wire.from_log(json.loads(json.dumps(wire.to_log(0.5, 1, offer)))) == (0.5, 1, offer)
    assert wire.decode_steps(wire.encode_steps(offer.steps)) == STEPS
    assert wire.decode_steps(wire.encode_steps(STEPS)) == STEPS


@pytest.mark.parametrize(
    "change",
    [
        {"message": "4AAA"},
        {"message": "4AAAAAA=="},  # one message too few
        {"message": [1, 2]},
        {"node": "3AAAA"},
        {"first": "1/w=="},  # a negative number of transfers
        {"first": ""},
        {"start": None},
        {"more": "1AA=="},
    ],
)
def test_arrays_that_are_no_steps_are_no_event(change):
    steps = {**wire.steps_to_line(FlatSteps.of(STEPS)), **change}
    line = wire.encode({"event": "offer", "steps": steps, "spent": 1, "how": ""})
    with pytest.raises(wire.WireError):
        wire.parse(line)
