"""Audits: verdicts, places in the file's terms, bounds, reports, and the two commands."""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from cchybrid_plugins.exchange import audit as audits
from cchybrid_plugins.exchange import foreign_bounds, teccl_import
from cchybrid_plugins.exchange.audit import Audit, audit_file
from cchybrid_plugins.exchange.commands import judged_on
from cchybrid_plugins.exchange.epoch_networks import ndv2
from cchybrid_plugins.exchange.foreign_bounds import FoundBound, best_bound
from cchybrid_plugins.exchange.foreign_files import import_file

import cchybrid
from cchybrid.host.result import Result
from cchybrid.model import Instance, LowerBound, Schedule, Transfer
from cchybrid.plugin.imported import Imported
from cchybrid.plugin.records import BoundInfo
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.proof.provider_process import ask_apart as provided
from cchybrid.referee.verify import verify_schedule
from tests import deadly_bounds, lying_bounds
from tests.cli.test_commands import Completed, call
from tests.plugins.exchange.foreign_texts import (
    block,
    pair_allreduce,
    program,
    ring_allgather,
    sccl_allgather,
    step,
    teccl_result,
    teccl_triangle,
)
from tests.plugins.exchange.plain_epochs import allgather_of
from tests.plugins.exchange.schedules import schedule

Judge = Callable[..., Audit]
UNINFORMED = "step,source,destination,path\n1,0,1,0 1\n1,0,2,1 2\n"
"""Node 1 sends in the step in which it receives, by line 3."""


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_registry()


@pytest.fixture
def judge(tmp_path: Path, registry: Registry) -> Judge:
    """Return the audit of a text, on a named network and collective."""

    def audit(text: str, topology: Any = None, collective: Any = None, **options: Any) -> Audit:
        (tmp_path / "theirs").write_text(text)
        judged = judged_on(topology, collective, registry)
        return audit_file(tmp_path / "theirs", registry, *judged, **options)

    return audit


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    (tmp_path / "theirs").mkdir()
    return tmp_path / "theirs"


@pytest.fixture
def audit_of(tmp_path: Path) -> Callable[..., Completed]:
    """Return a function that runs ``audit`` with some words."""
    return lambda *words: call("audit", *words, cwd=tmp_path)


def rows_of(report: Path) -> list[dict[str, str]]:
    with open(report / "report.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_a_valid_program_meets_a_certified_bound(judge):
    found = judge(ring_allgather(4))
    assert found.sentence == "valid, 3 steps, at most 0 % above a certified lower bound of 3"
    assert (found.verdict, found.lower, found.certified, found.percent) == ("valid", 3, True, 0)
    assert "judged on the 4 channels it uses, of capacity up to 1" in found.facts


def test_steps_on_a_given_network_are_those_within_its_capacities(judge, tmp_path):
    (tmp_path / "wire.edges").write_text("0 1\n")
    sends = step("s", ("i", 0), ("o", 0), count=4)
    gpus = [[block(0, 1, -1, sends)], [block(0, -1, 0, step("r", count=4))]]
    text = program("broadcast", (4, 4, 0), *gpus)
    found = judge(text, topology=str(tmp_path / "wire.edges"))
    assert found.sentence == ("valid, 4 steps, at most 0 % above a certified lower bound of 4")
    assert "1 step without limits of capacity" in found.facts


def test_a_schedule_that_is_not_searched_for_keeps_its_verdict(judge):
    instance = cchybrid.instance("ring-bi-3", "allreduce", switching="store-and-forward")
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    step = tuple(Transfer(0, pair) for pair in pairs)
    made = Schedule(
        instance.with_model(rounds=(2,)), (step,), sums=(tuple((a,) for a, _ in pairs),)
    )
    found = judge(json.dumps(made.to_json()), improve=5.0)
    assert found.sentence.startswith("valid, 1 step")
    assert found.facts[-1] == (
        "not improved: model.rounds: not available for allreduce; solve it without rounds"
    )


@pytest.mark.parametrize(("said", "steps"), [(0, 3), (1, 3), (3, 3), (4, 4)])
def test_an_importer_can_add_idle_steps_but_shortens_no_schedule(judge, said, steps, monkeypatch):
    def lying(*arguments: Any, **options: Any) -> tuple[str, Imported]:
        name, imported = import_file(*arguments, **options)
        return name, replace(imported, length=said)

    monkeypatch.setattr(audits, "import_file", lying)
    found = judge(ring_allgather(4), topology="ring-4")
    assert (found.length, found.spent) == (steps, steps)


def test_a_longer_schedule_is_above_the_bound_and_ours_is_shown(judge):
    # Everything round the ring in one direction, judged on a ring with both.
    found = judge(ring_allgather(4), topology="ring-bi-4", improve=60.0)
    assert found.sentence == "valid, 3 steps, at most 50 % above a certified lower bound of 2"
    assert (found.ours, found.ours_optimal) == (2, True)


def test_an_optimum_that_is_only_claimed_is_not_called_proven(judge, monkeypatch):
    real = audits.solve

    def claiming(instance: Instance, **options: Any) -> Result:
        one = LowerBound(1)
        return replace(real(instance, **options), certified=False, certified_bound=one)

    monkeypatch.setattr(audits, "solve", claiming)
    found = judge(ring_allgather(4), topology="ring-bi-4", improve=60.0)
    assert (found.ours, found.ours_optimal) == (2, False)


@pytest.mark.parametrize(
    ("text", "options", "rule", "place"),
    [
        (ring_allgather(4), {"topology": "mesh-1x4"}, "no-such-channel", "gpu 3, tb 0, step 0"),
        (sccl_allgather(steps=[{"msccl_type": "step", "rounds": 1, "sends": [[0, 0, 1]]}]), {},
         "missing-destination", ""),
        (UNINFORMED, {}, "not-informed", "line 3"),
        (pair_allreduce().replace('type="re"', 'type="nop"'), {},
         "wrong-result", "gpu 0, output chunk 0"),
    ],
    ids=["channel", "json", "csv", "sum"],
)  # fmt: skip
def test_the_first_broken_rule_is_named_in_the_file_s_terms(judge, text, options, rule, place):
    found = judge(text, **options)
    assert found.verdict == "invalid"
    assert (found.broken.rule, found.broken.place) == (rule, place)
    assert found.sentence.startswith(f"invalid because {place}")
    assert found.percent is None


def test_epochs_are_judged_in_epochs(judge):
    found = judge(allgather_of(ndv2(2)), improve=1.0)
    text = "valid by the rules of teccl, 10 epochs, at most 0 % above a lower bound of 10"
    assert found.sentence == text
    assert found.facts[-1] == "not improved: schedules are found in steps, not in epochs"
    steps = judge(teccl_result(*teccl_triangle(), 2))
    assert steps.sentence == "valid, 2 steps, at most 0 % above a certified lower bound of 2"


def test_networks_and_unknown_files_have_verdicts(judge, tmp_path, registry):
    (tmp_path / "a.edges").write_text("0 1\n1 2\n")
    network = audit_file(tmp_path / "a.edges", registry)
    assert network.sentence == "no schedule: a network of 3 nodes, 4 channels"
    assert judge("?").sentence.startswith("not judged: no importer knows this file")
    mesh = '<platform width="2" height="2"><topology type="mesh"/></platform>'
    assert judge(f'{mesh}<communication type="all2all"/>').sentence == (
        "no schedule: mesh-2x2 AAS, tdm, 1 port; the file holds no schedule; "
        "certified lower bound 3 steps"
    )


def of_two_rounds(
    network: dict[str, Any], messages: list[tuple[int, int]], paths: list[list[int]], **model: Any
) -> str:
    """Return a schedule file of one step of two rounds."""
    listed = [{"source": a, "destinations": [b]} for a, b in messages]
    instance = {
        "format": "cchybrid-instance/2", "name": "x", "network": {"name": "n", **network},
        "collective": {"name": "c", "kind": "deliver", "messages": listed},
        "model": {**model, "rounds": [2]},
    }  # fmt: skip
    step = [{"message": number, "path": path} for number, path in enumerate(paths)]
    return json.dumps({"format": "cchybrid-schedule/1", "instance": instance, "steps": [step]})


ODD = [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 0, 1]]
HALF_DUPLEX = [[0, 1], [1, 0], [1, 2], [3, 2], [3, 1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        of_two_rounds(
            {"nodes": 6, "channels": [[a, (a + 1) % 6] for a in range(6)]},
            [(0, 3), (2, 5), (4, 1)], ODD, switching="wormhole", ports="all", routing="any",
        ),
        of_two_rounds(
            {"nodes": 4, "channels": HALF_DUPLEX, "half_duplex": [[0, 1]]},
            [(a, b) for a, b in HALF_DUPLEX], HALF_DUPLEX, switching="store-and-forward", ports=1,
        ),
    ],
    ids=["wormhole", "half-duplex"],
)  # fmt: skip
def test_audit_rounds_that_are_no_steps_of_one_round_are_bounded_as_they_are(
    judge: Judge, text: str, registry: Registry
) -> None:
    # Every two of three transfers exclude each other in one round, and all three fit in two.
    found = judge(text, improve=60.0)
    assert found.sentence == (
        "valid, 1 step / 2 rounds, at most 0 % above a certified lower bound of 1 step; "
        "rounds are not compared"
    )
    # Shorter ones than the greedy schedule of the host are found by an engine of another plugin.
    assert (found.spent, found.ours) == (1, 1 if "rounds" in registry.engines else 3)


def wire_of_two_rounds() -> str:
    wire = {"nodes": 2, "channels": [[0, 1]]}
    return of_two_rounds(wire, [(0, 1)] * 2, [[0, 1]] * 2, switching="store-and-forward")


def test_audit_rounds_of_hop_by_hop_schedules_are_bounded_as_steps(judge):
    sentence = "valid, 1 step / 2 rounds, at most 0 % above a certified lower bound of 2 rounds"
    assert judge(wire_of_two_rounds()).sentence == sentence


@pytest.mark.parametrize("collective", ["alltoall", "allgather", "reduce-scatter"])
def test_steps_of_several_rounds_can_be_spread_where_rounds_are_compared(collective):
    found = schedule("dgx-1", collective, chunks=3, rounds=(3, 2))
    room = {(a, b): size for a, b, size in found.instance.network.channels}
    steps: list[list[Transfer]] = []
    for each, rounds in zip(found.steps, found.rounds, strict=True):
        load: Counter[tuple[int, int]] = Counter()
        spread: list[list[Transfer]] = [[] for _ in range(rounds)]
        for transfer in each:
            hop = (transfer.path[0], transfer.path[1])
            spread[load[hop] // room[hop]].append(transfer)
            load[hop] += 1
        steps += filter(None, spread)
    single = audits._bounded_instance(found.instance)
    assert not single.model.rounds
    assert verify_schedule(Schedule(single, tuple(map(tuple, steps)))) == ()
    assert len(steps) <= sum(found.rounds)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (json.dumps(schedule("ring-bi-3", "allgather").to_json()), "1 step"),
        (allgather_of(ndv2(2)), "10 epochs"),
        ("step,source,destination\n1,0,1\n", "1 step"),
    ],
    ids=["cchybrid", "teccl", "csv"],
)
def test_audit_is_never_valid_below_its_own_bound(text, size, judge, monkeypatch):
    # A bound that is too high, whatever the format and its unit.
    monkeypatch.setattr(audits, "best_bound", lambda *_: FoundBound(99, "wrong"))
    monkeypatch.setattr(teccl_import, "epoch_bound", lambda *_, **__: (99, "wrong"))
    shown = judge(text).sentence
    assert shown.startswith(f"not judged: its {size} are below the lower bound of 99 ")
    assert "wrong): an error of cchybrid, please report it" in shown


def test_what_the_model_cannot_express_is_not_called_invalid(judge):
    # GPU 1 sends its own part and that of GPU 0 on one after the other, as two messages.
    gpus = [
        [block(0, 1, -1, step("s", ("i", 0)))],
        [block(0, 2, 0, step("r", target=("s", 0)), step("s", ("s", 0)), step("s", ("i", 0)))],
        [block(0, -1, 1, step("rrc", ("i", 0), ("i", 0)), step("rrc", ("i", 0), ("i", 0)))],
    ]
    found = judge(program("reduce", (1, 1, 1), *gpus, extra='root="2"'))
    assert found.verdict == "not judged"
    assert "in a way that this model cannot express" in found.reason
    assert found.broken.place == "gpu 1, tb 0, step 1" or found.broken.rule == "received-twice"


def test_too_many_messages_are_not_bounded(judge, monkeypatch):
    monkeypatch.setattr(audits, "MAX_BOUNDED_MESSAGES", 2)
    found = judge(ring_allgather(4))
    assert found.sentence == "valid, 3 steps, no lower bound"
    assert found.limits[-1] == "more than 2 messages: no lower bound was searched for"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "some", "all_of"),
    [(1, {"low", "medium"}, {"low", "medium"}), (10**4, {"high"}, {"low", "medium", "high"})],
)
def test_effort_and_failures_of_bound_providers(limit, some, all_of, registry, monkeypatch):
    monkeypatch.setattr(foreign_bounds, "MAX_PROGRAM_DELIVERIES", limit)
    called: dict[str, str] = {}

    def ask(info: BoundInfo, *rest: Any) -> Any:
        called[info.effort] = info.name
        return provided(info, *rest)

    monkeypatch.setattr(foreign_bounds, "ask_apart", ask)
    own = *deadly_bounds.cchybrid_bounds(), *lying_bounds.cchybrid_bounds()
    providers = [*own, *registry.bound_providers]
    found = best_bound(cchybrid.instance("mesh-3x3", "AAB"), providers, 20)
    assert found.steps == 4
    assert some <= called.keys() <= all_of
    troubles = [text.split(":")[0] for text in found.troubles]
    assert troubles == ["bound deadly", "bound broken failed", "bound text failed"]


def test_bounds_stop_where_they_are_met(registry):
    for name, steps in (("AAB", 4), ("allreduce", 2)):
        instance = cchybrid.instance("mesh-3x3", name)
        assert best_bound(instance, registry.bound_providers, 10, steps).steps >= min(steps, 2)


def test_import_writes_a_schedule_that_verify_accepts(tmp_path):
    (tmp_path / "p.xml.gz").write_bytes(gzip.compress(ring_allgather(4).encode()))
    done = call("import", "p.xml.gz", "-o", "s.json", cwd=tmp_path)
    assert "p AAB, store-and-forward: valid, 3 steps, 12 channel uses, read" in done.stdout
    assert verify_schedule(Schedule.load(tmp_path / "s.json")) == ()
    assert "read as cchybrid" in call("audit", "s.json", cwd=tmp_path).stdout


def test_import_refuses_what_is_invalid_or_no_schedule(tmp_path):
    spec = '<platform width="2" height="1"><topology type="mesh"/></platform>'
    for text, words in (
        (UNINFORMED, "theirs: invalid because line 3: node 1 sends message 0 but"),
        (f'{spec}<communication type="all2all"/>', "the file holds no schedule"),
    ):
        (tmp_path / "theirs").write_text(text)
        done = call("import", "theirs", "-o", "s.json", cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert words in done.stderr
    assert not (tmp_path / "s.json").exists()


def test_the_status_of_an_audit_is_its_verdict(tmp_path, audit_of):
    wrong = ring_allgather(3).replace('type="r"', 'type="nop"')
    verdicts = ("valid", "invalid", "not judged")
    for status, text in enumerate((ring_allgather(3), wrong, "?")):
        (tmp_path / "file").write_text(text)
        listed, shown = audit_of("file", "--json"), audit_of("file")
        record = json.loads(listed.stdout)
        assert (listed.returncode, shown.returncode) == (status, status)
        assert record["verdict"] == verdicts[status]
        assert record["sentence"] in shown.stdout.replace("\n    ", " ")


def test_a_folder_becomes_a_report(theirs, tmp_path, audit_of):
    (theirs / "inner").mkdir()
    names = ["README.md", "bad.csv", "inner/good.xml", "odd"]
    texts = ("about them", UNINFORMED, ring_allgather(4), "?")
    for name, text in zip(names, texts, strict=True):
        (theirs / name).write_text(text)
    done = audit_of("theirs", "-o", "report")
    lines = [line.split(": ")[0] for line in done.stdout.splitlines()[:4]]
    assert (done.returncode, lines) == (0, names)
    rows = rows_of(tmp_path / "report")
    assert [row["verdict"] for row in rows] == ["not judged", "invalid", "valid", "not judged"]
    assert (rows[1]["rule"], rows[1]["place"]) == ("not-informed", "line 3")
    assert (rows[2]["length"], rows[2]["lower_bound"], rows[2]["percent_above"]) == ("3", "3", "0")
    page = (tmp_path / "report" / "report.md").read_text()
    assert "4 files: 1 invalid, 2 not judged, 1 valid. 1 of the valid meet a lower bound." in page
    assert "| `inner/good.xml` | valid | 3 steps | 3 certified | 0 % |" in page


def test_a_folder_has_the_sentences_of_its_files_and_one_unit(theirs, tmp_path, audit_of):
    """A result in epochs, judged by the rules of its tool, and one step of two rounds."""
    (theirs / "a").write_text(allgather_of(ndv2(2)))
    (theirs / "b.txt").write_text(wire_of_two_rounds())
    words = ["--improve", "--time-limit", "30"]
    done = audit_of("theirs", "-o", "report", *words)
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines)) == (0, 3)
    for line, name, start in (
        (lines[0], "a", "a: valid by the rules of teccl, "),
        (lines[1], "b.txt", "b.txt: valid, 1 step / 2 rounds, "),
    ):
        assert line.startswith(start)
        shown = audit_of(f"theirs/{name}").stdout
        assert shown.replace("\n", "").replace("    ", "").startswith(line.strip()), shown
    row = rows_of(tmp_path / "report")[1]
    keys = ("length", "unit", "theirs", "lower_bound", "ours", "lower_bound_unit")
    assert [row[key] for key in keys] == ["1", "steps", "2", "2", "2", "rounds"]
    page = (tmp_path / "report" / "report.md").read_text()
    assert "| 2 rounds certified | 0 % | 2 rounds |" in page
    assert "\n    cchybrid audit theirs --improve --time-limit 30.0 -o DIR\n" in page
    shown = audit_of("theirs/b.txt", *words).stdout
    assert "theirs 2 rounds, ours 2 rounds, optimal" in shown
    assert "lower bound 2 rounds: " in shown


def test_a_report_names_the_network_and_the_collective(theirs, tmp_path, audit_of):
    (theirs / "a.csv").write_text("step,source,destination,path\n1,0,1,0 1\n1,0,2,0 2\n")
    audit_of("theirs", "-o", "report")
    facts = [rows_of(tmp_path / "report")[0]["facts"]]
    audit_of("theirs", "-o", "report", "--topology", "complete-3", "--collective", "OAS")
    facts.append(rows_of(tmp_path / "report")[0]["facts"])
    assert facts == [
        "2 rows; judged on the 2 channels it uses, of capacity up to 1",
        "2 rows; judged on complete-3, as OAS",
    ]
    page = (tmp_path / "report" / "report.md").read_text()
    assert "audit theirs --topology complete-3 --collective OAS -o DIR" in page


def test_names_of_files_cannot_forge_a_line(theirs, tmp_path, audit_of):
    name = "b\nbest.xml: valid, 3 steps\x1b[1A.csv"
    (theirs / name).write_text("step,source\n")
    report, alone = audit_of("theirs", "-o", "report"), audit_of(f"theirs/{name}")
    assert (report.returncode, alone.returncode) == (0, 2)
    page = (tmp_path / "report" / "report.md").read_text()
    for text in (report.stdout, alone.stdout, page):
        assert "\nbest.xml" not in text
        assert "\x1b" not in text
        assert r"b\nbest.xml: valid, 3 steps\x1b[1A.csv" in text


def test_an_interrupted_report_holds_the_files_so_far(theirs, tmp_path, audit_of, monkeypatch):
    for name in ("a.xml", "b.xml", "c.xml"):
        (theirs / name).write_text(ring_allgather(3))
    real = audits.audit_file

    def interrupted(path: Path, *words: Any, **options: Any) -> Audit:
        if path.name == "b.xml":
            raise KeyboardInterrupt
        return real(path, *words, **options)

    monkeypatch.setattr(audits, "audit_file", interrupted)
    assert audit_of("theirs", "-o", "out").returncode == 130
    assert (tmp_path / "out" / "report.csv").read_text().count("\na.xml") == 1


def test_reasons_have_the_names_of_nodes(judge, tmp_path):
    (tmp_path / "ring.edges").write_text("1 2\n2 3\n3 4\n4 1\n")
    rows, why = "step,source,destination,path\n", "invalid because "
    for text, collective, start in (
        (f"{rows}1,1,2,1 2\n1,1,3,2 3\n", None, f"{why}line 3: node 2 sends message 0 but receives"
         " it only in step 1 (not-informed)"),
        ("step,message,path\n1,0,1 2\n", "broadcast",
         f"{why}message 0 never reaches its destination 3"),
        (f"{rows}1,4,3,4 3\n", "broadcast",
         "not judged: --collective: the message from 4 to 3 is none of OAB"),
    ):  # fmt: skip
        found = judge(text, str(tmp_path / "ring.edges"), collective)
        assert found.sentence.startswith(start)


def test_a_program_that_lacks_messages_of_the_collective_is_invalid(judge):
    text = cast(str, load_registry().exporter("msccl").export(schedule("ring-bi-4", "broadcast")))
    assert judge(text, "ring-bi-4", "broadcast").verdict == "valid"
    found = judge(text, "ring-bi-4", "allgather")
    assert found.sentence == "invalid because message 1 never reaches its destination 0"


def test_a_node_that_cannot_be_reached_is_named(judge):
    text = (
        "<platform width='2' height='1'><topology type='custom'><link source='(0,0)' sink='(1,0)'/>"
        "</topology></platform><communication><channel from='(1,0)' to='(0,0)'/></communication>"
    )
    assert judge(text).reason.endswith(
        "; node 0 cannot be reached from node 1 (message 0): no path leads there"
    )


def test_a_file_without_a_schedule_says_on_what_it_is_judged(judge):
    pair = '<channel from="(0,0)" to="(3,0)"/><channel from="(1,0)" to="(4,0)"/>'
    row = f"""<platform width="5" height="2"><topology topoType="mesh"/></platform>
        <communication comType="custom">{pair}</communication>"""
    found = judge(row), judge(row, "mesh-2x5"), judge(row, "mesh-5x2")
    size = "5 x 2 tiles, 2 packets a period"
    assert [each.facts for each in found] == [
        (size,), (size, "judged on mesh-2x5"), (size, "judged on mesh-5x2")
    ]  # fmt: skip
    assert [(each.reason.split()[0], each.lower) for each in found] == [
        ("mesh-2x5", 2), ("mesh-2x5", 2), ("mesh-5x2", 1)
    ]  # fmt: skip
