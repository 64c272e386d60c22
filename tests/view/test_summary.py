"""Results as text and as HTML."""

import re
from html.parser import HTMLParser

import pytest

import cchybrid
from cchybrid.plugin.records import ExporterInfo
from cchybrid.plugin.registry import Registry
from cchybrid.view import notebook
from cchybrid.view.summary import facts

NAMES = ("<script>alert(1)</script>", 'R"2"', "R&3")
LINE = cchybrid.Network.from_links("<line>", 3, [(0, 1), (1, 2)], node_names=NAMES)


@pytest.fixture(scope="module")
def result() -> cchybrid.Result:
    return cchybrid.solve(LINE, "allgather", time_limit=30)


def test_the_facts_are_those_of_the_instance():
    rounds = cchybrid.instance("ring-bi-4", "AAS", rounds=[3, 1], chunks=2)
    assert facts(rounds)[1].startswith("12 messages, ")
    assert facts(rounds)[1].endswith("all ports, 2 chunks each, rounds 3+1")
    back = cchybrid.instance("ring-bi-4", "reduce-scatter", rounds=[3, 1])
    assert facts(back)[1].endswith("all ports, rounds 3+1, last first")
    lab = cchybrid.instance("ring-bi-4", "allgather", ports=1, name="lab, 1 port")
    result = cchybrid.solve(lab.with_model(inject=2, accept=2), time_limit=30)
    assert result.sentence.startswith("lab, 2 ports: 2 steps, optimal")
    assert result.to_json()["instance"] == "lab, 2 ports"


class Tags(HTMLParser):
    """The tags of a text, and whether every one is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(text: str) -> set[str]:
    parser = Tags()
    parser.feed(text)
    assert parser.open == []
    return parser.found


def test_a_result_reads_as_its_verdict(result):
    assert repr(result) == "<Result of <line> AAB: 2 steps, optimal (certified)>"
    first, second, *_ = str(result).splitlines()
    assert first == "<line> AAB: 2 steps, optimal (certified)"
    assert second.startswith("lower bound: 2 steps, certified by")


def test_the_summary_names_the_nodes_of_a_small_schedule(result):
    lines = result.summary().splitlines()
    assert lines[0] == str(result).splitlines()[0]
    assert lines[1] == "network <line>: 3 nodes, 4 channels"
    assert lines[2] == "3 messages, wormhole switching, shortest paths, all ports"
    steps = [line for line in lines if line.startswith("step ")]
    assert len(steps) == result.steps
    assert 'R"2"' in "".join(steps)


def test_the_summary_of_a_large_schedule_is_short():
    large = cchybrid.solve("mesh-4x4", "AAB", time_limit=30)
    assert len(large.summary().splitlines()) < 25
    assert "240 transfers: see schedule.to_frame()" in large.summary()


@pytest.mark.slow
def test_results_without_a_schedule_have_a_text_of_every_kind():
    one_direction = cchybrid.Network.from_arcs("arc", 2, [(0, 1)], node_names=("a", "b"))
    infeasible = cchybrid.solve(one_direction, "AAS")
    unknown = cchybrid.bound("ring-bi-4", "AAS", time_limit=20)
    for found, word in ((infeasible, "infeasible"), (unknown, "at least 2 steps (no engine has")):
        assert word in repr(found)
        assert word in found.summary()
        assert "table" not in tags(found._repr_html_())
    assert "node a cannot be reached from node b" in str(infeasible)


def test_html_is_escaped_and_well_formed(result):
    for text in (result._repr_html_(), result.schedule._repr_html_()):
        assert "table" in tags(text)
        assert "script" not in tags(text)
        assert "&lt;script&gt;" in text
        assert "?xml" not in text


def test_html_has_the_picture_of_a_plugin(result, monkeypatch):
    registry = Registry()
    monkeypatch.setattr(notebook, "load_registry", lambda: registry)
    assert "svg" not in tags(result._repr_html_())
    registry.exporters["svg"] = ExporterInfo("svg", lambda _: "<?xml?><svg></svg>", "a stand-in")
    assert "<svg></svg>" in result._repr_html_()
    assert "?xml" not in result._repr_html_()
    registry.exporters["svg"] = ExporterInfo("svg", refuse, "matplotlib is missing")
    assert "svg" not in tags(result._repr_html_())


def refuse(schedule: cchybrid.Schedule) -> str:
    raise cchybrid.InputError("a figure needs matplotlib")


def test_html_of_an_invalid_schedule_says_so():
    instance = cchybrid.instance("ring-bi-4", "AAS")
    text = cchybrid.Schedule(instance, ())._repr_html_()
    assert "not a valid schedule" in text
    assert re.search("Schedule of .*ring-bi-4 AAS.*: 0 steps", text)


def test_the_routing_is_part_of_the_facts():
    for routing, words in (
        ("minimal", "shortest paths"),
        ("any", "any simple path"),
        (2, "at most 2 extra hops"),
        ("xy", "routing table xy"),
    ):
        found = facts(cchybrid.instance("mesh-2x2", "AAS", routing=routing))
        assert f"wormhole switching, {words}, all ports" in found[1]
