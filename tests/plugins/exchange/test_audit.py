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
from cchybrid.cli.app import run
from cchybrid.host.result import Result
from cchybrid.model import Instance, LowerBound, Schedule, Transfer
from cchybrid.plugin.imported import Imported
from cchybrid.plugin.records import BoundInfo
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.proof.provider_process import ask_apart as provided
from cchybrid.referee.verify import verify_schedule
from tests import deadly_bounds, lying_bounds
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
from tests.plugins.exchange.plain_epochs import greedy_allgather, result_of
from tests.plugins.exchange.schedules import schedule

Judge = Callable[..., Audit]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_registry()


@pytest.fixture
def judge(tmp_path: Path, registry: Registry) -> Judge:
    """Return the audit of a text, on a named network and collective."""

    def audit(
        text: str, topology: str | None = None, collective: str | None = None, **options: Any
    ) -> Audit:
        (tmp_path / "theirs").write_text(text)
        judged = judged_on(topology, collective, registry)
        return audit_file(tmp_path / "theirs", registry, *judged, **options)

    return audit


def test_a_valid_program_meets_a_certified_bound(judge: Judge) -> None:
    found = judge(ring_allgather(4))
    assert found.sentence == "valid, 3 steps, at most 0 % above a certified lower bound of 3"
    assert (found.verdict, found.lower, found.certified, found.percent) == ("valid", 3, True, 0)
    assert "judged on the 4 channels it uses, of capacity up to 1" in found.facts


def test_steps_on_a_given_network_are_those_within_its_capacities(
    judge: Judge, tmp_path: Path
) -> None:
    (tmp_path / "wire.edges").write_text("0 1\n")
    sends = step("s", ("i", 0), ("o", 0), count=4)
    gpus = [[block(0, 1, -1, sends)], [block(0, -1, 0, step("r", count=4))]]
    text = program("broadcast", (4, 4, 0), *gpus)
    found = judge(text, topology=str(tmp_path / "wire.edges"))
    assert found.sentence == ("valid, 4 steps, at most 0 % above a certified lower bound of 4")
    assert "1 step without limits of capacity" in found.facts


@pytest.mark.parametrize(("said", "steps"), [(0, 3), (1, 3), (3, 3), (4, 4)])
def test_an_importer_can_add_idle_steps_but_shortens_no_schedule(
    judge: Judge, said: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lying(*arguments: Any, **options: Any) -> tuple[str, Imported]:
        name, imported = import_file(*arguments, **options)
        return name, replace(imported, length=said)

    monkeypatch.setattr(audits, "import_file", lying)
    found = judge(ring_allgather(4), topology="ring-4")
    assert (found.length, found.spent) == (steps, steps)


def test_a_longer_schedule_is_above_the_bound_and_ours_is_shown(judge: Judge) -> None:
    # Everything round the ring in one direction, judged on a ring with both.
    found = judge(ring_allgather(4), topology="ring-bi-4", improve=60.0)
    assert found.sentence == "valid, 3 steps, at most 50 % above a certified lower bound of 2"
    assert (found.ours, found.ours_optimal) == (2, True)


def test_an_optimum_that_is_only_claimed_is_not_called_proven(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        ("step,source,destination,path\n1,0,1,0 1\n1,0,2,1 2\n", {}, "not-informed", "line 3"),
        (pair_allreduce().replace('type="re"', 'type="nop"'), {},
         "wrong-result", "gpu 0, output chunk 0"),
    ],
    ids=["channel", "json", "csv", "sum"],
)  # fmt: skip
def test_the_first_broken_rule_is_named_in_the_file_s_terms(
    judge: Judge, text: str, options: dict[str, str], rule: str, place: str
) -> None:
    found = judge(text, **options)
    assert found.verdict == "invalid"
    assert (found.broken.rule, found.broken.place) == (rule, place)
    assert found.sentence.startswith(f"invalid because {place}")
    assert found.percent is None


def test_epochs_are_judged_in_epochs(judge: Judge) -> None:
    network = ndv2(2)
    gpus = sorted(network.gpus)
    sends, epochs = greedy_allgather(network.links, gpus, (), 0.005, 1 / 16)
    text = result_of(sends, epochs, gpus, 0.005, 1 / 16)
    found = judge(text, improve=1.0)
    assert (
        found.sentence
        == "valid by the rules of teccl, 10 epochs, at most 0 % above a lower bound of 10"
    )
    assert found.facts[-1] == "not improved: schedules are found in steps, not in epochs"
    steps = judge(teccl_result(*teccl_triangle(), 2))
    assert steps.sentence == "valid, 2 steps, at most 0 % above a certified lower bound of 2"


def test_networks_and_unknown_files_have_verdicts(
    judge: Judge, tmp_path: Path, registry: Registry
) -> None:
    (tmp_path / "a.edges").write_text("0 1\n1 2\n")
    network = audit_file(tmp_path / "a.edges", registry)
    assert network.sentence == "no schedule: a network of 3 nodes, 4 channels"
    unknown = judge("?")
    assert unknown.sentence.startswith("not judged: no importer knows this file")
    spec = '<platform width="2" height="2"><topology type="mesh"/></platform>'
    found = judge(f'{spec}<communication type="all2all"/>')
    assert found.sentence == (
        "no schedule: mesh-2x2 AAS, 1 port; the file holds no schedule; "
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
        "valid, 1 step / 2 rounds, at most 0 % above a certified lower bound of 1 step"
    )
    # Shorter ones than the greedy schedule of the host are found by an engine of another plugin.
    assert (found.spent, found.ours) == (1, 1 if "rounds" in registry.engines else 3)


def test_audit_rounds_of_hop_by_hop_schedules_are_bounded_as_steps(judge: Judge) -> None:
    wire = {"nodes": 2, "channels": [[0, 1]]}
    text = of_two_rounds(wire, [(0, 1)] * 2, [[0, 1]] * 2, switching="store-and-forward")
    found = judge(text)
    assert found.sentence == (
        "valid, 1 step / 2 rounds, at most 0 % above a certified lower bound of 2 rounds"
    )


@pytest.mark.parametrize("collective", ["alltoall", "allgather", "reduce-scatter"])
def test_steps_of_several_rounds_can_be_spread_where_rounds_are_compared(collective: str) -> None:
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


@pytest.mark.parametrize("name", ["cchybrid", "teccl", "csv"])
def test_audit_is_never_valid_below_its_own_bound(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    # A bound that is too high, whatever the format and its unit.
    network = ndv2(2)
    gpus = sorted(network.gpus)
    sends, epochs = greedy_allgather(network.links, gpus, (), 0.005, 1 / 16)
    text, unit, size = {
        "cchybrid": (json.dumps(schedule("ring-bi-3", "allgather").to_json()), "step", 1),
        "teccl": (result_of(sends, epochs, gpus, 0.005, 1 / 16), "epochs", 10),
        "csv": ("step,source,destination\n1,0,1\n", "step", 1),
    }[name]
    monkeypatch.setattr(audits, "best_bound", lambda *_: FoundBound(99, "wrong"))
    monkeypatch.setattr(teccl_import, "epoch_bound", lambda *_, **__: (99, "wrong"))
    (tmp_path / "theirs").write_text(text)
    assert run(["audit", str(tmp_path / "theirs")]) == 2
    shown = " ".join(capsys.readouterr().out.split())
    assert f"not judged: its {size} {unit} are below the lower bound of 99 " in shown
    assert "wrong): an error of cchybrid, please report it" in shown


def test_what_the_model_cannot_express_is_not_called_invalid(judge: Judge) -> None:
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


def test_too_many_messages_are_not_bounded(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "MAX_BOUNDED_MESSAGES", 2)
    found = judge(ring_allgather(4))
    assert found.sentence == "valid, 3 steps, no lower bound"
    assert found.limits[-1] == "more than 2 messages: no lower bound was searched for"


@pytest.mark.parametrize(("limit", "efforts"), [(1, {"low", "medium"}), (10**4, {"high"})])
def test_effort_and_failures_of_bound_providers(
    limit: int, efforts: set[str], registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert (
        efforts <= called.keys() <= {"low", "medium", "high"} - ({"high"} if limit == 1 else set())
    )
    assert [text.split(":")[0] for text in found.troubles] == [
        "bound deadly", "bound broken failed", "bound text failed",
    ]  # fmt: skip


def test_bounds_stop_where_they_are_met(registry: Registry) -> None:
    for name, steps in (("AAB", 4), ("allreduce", 2)):
        instance = cchybrid.instance("mesh-3x3", name)
        assert best_bound(instance, registry.bound_providers, 10, steps).steps >= min(steps, 2)


def test_import_writes_a_schedule_that_verify_accepts(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "p.xml.gz").write_bytes(gzip.compress(ring_allgather(4).encode()))
    words = ["import", str(tmp_path / "p.xml.gz"), "-o", str(tmp_path / "s.json")]
    assert run(words) == 0
    assert (
        "p AAB, store-and-forward: valid, 3 steps, 12 channel uses, read" in capsys.readouterr().out
    )
    schedule = Schedule.load(tmp_path / "s.json")
    assert verify_schedule(schedule) == ()
    assert run(["audit", str(tmp_path / "s.json")]) == 0
    assert "read as cchybrid" in capsys.readouterr().out


def test_import_refuses_what_is_invalid_or_no_schedule(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "a.csv").write_text("step,source,destination,path\n1,0,1,0 1\n1,0,2,1 2\n")
    target = str(tmp_path / "s.json")
    assert run(["import", str(tmp_path / "a.csv"), "-o", target]) == 2
    error = capsys.readouterr().err
    assert "a.csv: invalid because line 3: node 1 sends message 0 but" in error
    assert error.count("\n") == 1
    spec = '<platform width="2" height="1"><topology type="mesh"/></platform>'
    (tmp_path / "p.xml").write_text(f'{spec}<communication type="all2all"/>')
    assert run(["import", str(tmp_path / "p.xml"), "-o", target]) == 2
    assert "the file holds no schedule" in capsys.readouterr().err
    assert not (tmp_path / "s.json").exists()


def test_the_status_of_an_audit_is_its_verdict(tmp_path: Path, capsys: Any) -> None:
    wrong = ring_allgather(3).replace('type="r"', 'type="nop"')
    for status, text in enumerate((ring_allgather(3), wrong, "?")):
        (tmp_path / "file").write_text(text)
        assert run(["audit", str(tmp_path / "file"), "--json"]) == status
        record = json.loads(capsys.readouterr().out)
        assert record["verdict"] == ["valid", "invalid", "not judged"][status]
        assert run(["audit", str(tmp_path / "file")]) == status
        assert record["sentence"] in capsys.readouterr().out.replace("\n    ", " ")


def test_a_folder_becomes_a_report(tmp_path: Path, capsys: Any) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "inner").mkdir(parents=True)
    (theirs / "inner" / "good.xml").write_text(ring_allgather(4))
    (theirs / "bad.csv").write_text("step,source,destination,path\n1,0,1,0 1\n1,0,2,1 2\n")
    (theirs / "odd").write_text("?")
    (theirs / "README.md").write_text("about them")
    out = tmp_path / "report"
    assert run(["audit", str(theirs), "-o", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = ["README.md", "bad.csv", "inner/good.xml", "odd"]
    assert [line.split(": ")[0] for line in lines[:4]] == names
    with open(out / "report.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == ["not judged", "invalid", "valid", "not judged"]
    assert (rows[1]["rule"], rows[1]["place"]) == ("not-informed", "line 3")
    assert (rows[2]["length"], rows[2]["lower_bound"], rows[2]["percent_above"]) == ("3", "3", "0")
    page = (out / "report.md").read_text()
    assert "4 files: 1 invalid, 2 not judged, 1 valid. 1 of the valid meet a lower bound." in page
    assert "| `inner/good.xml` | valid | 3 steps | 3 certified | 0 % |" in page


def test_a_folder_has_the_sentences_of_its_files_and_one_unit(tmp_path: Path, capsys: Any) -> None:
    """A result in epochs, judged by the rules of its tool, and one step of two rounds."""
    theirs, out = tmp_path / "theirs", tmp_path / "report"
    theirs.mkdir()
    network = ndv2(2)
    gpus = sorted(network.gpus)
    sends, epochs = greedy_allgather(network.links, gpus, (), 0.005, 1 / 16)
    (theirs / "a").write_text(result_of(sends, epochs, gpus, 0.005, 1 / 16))
    wire = {"nodes": 2, "channels": [[0, 1]]}
    text = of_two_rounds(wire, [(0, 1)] * 2, [[0, 1]] * 2, switching="store-and-forward")
    (theirs / "b.txt").write_text(text)
    words = ["--improve", "--time-limit", "30"]
    assert run(["audit", str(theirs), "-o", str(out), *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("a: valid by the rules of teccl, ")
    assert lines[1].startswith("b.txt: valid, 1 step / 2 rounds, ")
    for line, name in zip(lines, ("a", "b.txt"), strict=False):
        assert run(["audit", str(theirs / name)]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert "".join(shown).replace("    ", "").startswith(line.strip()), shown
    with open(out / "report.csv", newline="") as file:
        row = list(csv.DictReader(file))[1]
    keys = ("length", "unit", "theirs", "lower_bound", "ours", "lower_bound_unit")
    assert [row[key] for key in keys] == ["1", "steps", "2", "2", "2", "rounds"]
    assert "| 2 rounds certified | 0 % | 2 rounds |" in (out / "report.md").read_text()
    assert run(["audit", str(theirs / "b.txt"), *words]) == 0
    shown_text = capsys.readouterr().out
    assert "theirs 2 rounds, ours 2 rounds, optimal" in shown_text
    assert "lower bound 2 rounds: " in shown_text


def test_names_of_files_cannot_forge_a_line(tmp_path: Path, capsys: Any) -> None:
    theirs, out = tmp_path / "theirs", tmp_path / "report"
    theirs.mkdir()
    (theirs / "b\nbest.xml: valid, 3 steps\x1b[1A.csv").write_text("step,source\n")
    assert run(["audit", str(theirs), "-o", str(out)]) == 0
    assert run(["audit", str(next(theirs.iterdir()))]) == 2
    for text in (capsys.readouterr().out, (out / "report.md").read_text()):
        assert "\nbest.xml" not in text
        assert "\x1b" not in text
        assert r"b\nbest.xml: valid, 3 steps\x1b[1A.csv" in text


def test_an_interrupted_report_holds_the_files_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name in ("a.xml", "b.xml", "c.xml"):
        (theirs / name).write_text(ring_allgather(3))
    real = audits.audit_file

    def interrupted(path: Path, *words: Any, **options: Any) -> Audit:
        if path.name == "b.xml":
            raise KeyboardInterrupt
        return real(path, *words, **options)

    monkeypatch.setattr(audits, "audit_file", interrupted)
    assert run(["audit", str(theirs), "-o", str(tmp_path / "out")]) == 130
    assert (tmp_path / "out" / "report.csv").read_text().count("\na.xml") == 1


def test_reasons_have_the_names_of_nodes(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "ring.edges").write_text("1 2\n2 3\n3 4\n4 1\n")
    ring = str(tmp_path / "ring.edges")
    rows = "step,source,destination,path\n"
    found = judge(f"{rows}1,1,2,1 2\n1,1,3,2 3\n", ring)
    assert found.sentence == (
        "invalid because line 3: node 2 sends message 0 but receives it only in step 1 "
        "(not-informed)"
    )
    found = judge("step,message,path\n1,0,1 2\n", ring, "broadcast")
    assert found.sentence.startswith("invalid because message 0 never reaches its destination 3")
    found = judge(f"{rows}1,4,3,4 3\n", ring, "broadcast")
    assert "the message from 4 to 3 is none of OAB" in found.sentence


def test_a_program_that_lacks_messages_of_the_collective_is_invalid(judge: Judge) -> None:
    text = cast(str, load_registry().exporter("msccl").export(schedule("ring-bi-4", "broadcast")))
    assert judge(text, "ring-bi-4", "broadcast").verdict == "valid"
    found = judge(text, "ring-bi-4", "allgather")
    assert found.sentence == "invalid because message 1 never reaches its destination 0"


def test_a_node_that_cannot_be_reached_is_named(judge: Judge) -> None:
    text = (
        "<platform width='2' height='1'><topology type='custom'><link source='(0,0)' sink='(1,0)'/>"
        "</topology></platform><communication><channel from='(1,0)' to='(0,0)'/></communication>"
    )
    assert judge(text).reason.endswith(
        "; node 0 cannot be reached from node 1 (message 0): no path leads there"
    )
