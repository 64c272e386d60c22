"""The page of a schedule, driven in a real browser by pointer, touch and keyboard."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.drawing import page_data
from cchybrid_plugins.drawing.page import page, script_json

import cchybrid
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import (
    Channel,
    Collective,
    Instance,
    LowerBound,
    Message,
    Network,
    Schedule,
    Transfer,
)
from cchybrid.model.errors import InputError
from cchybrid.view import extras
from tests.plugins.drawing.chromium import PHONE, type_key
from tests.plugins.drawing.test_figures import BROADCAST, FORWARDED, REDUCTION, SCATTER

CUT = LowerBound(3, {
    "kind": "linear", "steps": 3, "channels": [[2, 1, 1], [4, 0, 1]],
    "inject": [[0, 1], [1, 1]],
})  # fmt: skip
"""Nodes 0 and 1 receive 6 messages over 2 channels, and send 8 by ports of 2 per step."""
NAMES = (
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>",
    "\"quotes' & \\ ${x} {{ y }}", "👩‍🚀 Zürich 猫",
    "switch\u2028with a very long name that has no room anywhere on a phone",
)  # fmt: skip
HOSTILE = Schedule(
    Instance(
        Network(
            "<b>net</b>", 5,
            (Channel(0, 1, 3), Channel(1, 0, 3), Channel(0, 4), Channel(4, 2), Channel(2, 3),
             Channel(3, 2)),
            half_duplex=((2, 3),), switches=(4,), node_names=NAMES,
        ),
        Collective("</title>", (Message(0, (1, 2, 3)), Message(3, (2,)), Message(0, (1,)))),
    ),
    [[(0, (0, 1)), (0, (0, 4, 2)), (2, (0, 1))], [(0, (2, 3))], [(1, (3, 2))]],
)  # fmt: skip


def bounded(bound: LowerBound = CUT) -> Schedule:
    return replace(SCATTER, lower_bound=bound)


def hop_by_hop() -> Schedule:
    """Return a broadcast on a line of 4 nodes in store-and-forward switching."""
    instance = cchybrid.instance("mesh-1x4", "OAB", switching="store-and-forward")
    steps = tuple((Transfer(0, (node, node + 1)),) for node in range(3))
    groups = [{"messages": [0], "worth": [[3, 1]]}]
    return Schedule(
        instance, steps, LowerBound(3, {"kind": "linear", "steps": 3, "groups": groups})
    )


def torus() -> Schedule:
    """Return a valid schedule of all 4,032 messages on a torus of 64 nodes, by shortest paths."""
    instance = cchybrid.instance("torus-8x8", "AAS")
    return Schedule(instance, first_schedule(instance))


@pytest.fixture
def tab(open_page: Any) -> Any:
    """Return the page of an all-to-all on a ring."""
    return open_page(page(SCATTER))


def arrows(tab: Any) -> Any:
    """Return the number of arrows that are not faded: the transfers that are shown."""
    return tab.locator("#network .arrows > g:not(.dim):not(.later):not(.journey)").count()


def step_of(tab: Any) -> Any:
    return tab.locator("#step-title").inner_text()


def overflow(tab: Any) -> Any:
    """Return by how many pixels the page is wider than the screen."""
    return tab.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="schedule">(.*?)</script>', text)
    return json.loads(found[1])


@pytest.mark.parametrize(
    "schedule", [BROADCAST, REDUCTION, SCATTER, HOSTILE], ids=["OAB", "AOR", "AAS", "names"]
)
def test_the_data_are_those_of_the_schedule(schedule):
    data, net = data_of(page(schedule)), schedule.instance.network
    steps = [[(message, tuple(path)) for message, *path in step] for step in data["steps"]]
    assert steps == [list(map(tuple, step)) for step in schedule.steps]
    assert data["network"]["channels"] == list(map(list, net.channels))
    names = [each["name"] for each in data["network"]["nodes"]]
    assert names == list(map(net.node_name, range(net.nodes)))
    assert data["allSteps"] == len(schedule.steps)


def test_limits_are_those_of_ports_and_channels():
    instance = cchybrid.instance("ring-bi-4", "OAB", ports=(1, 3))
    steps = [[(0, (0, 1))], [(0, (0, 3)), (0, (1, 2))]]
    data = page_data.page_data(replace(BROADCAST, instance=instance, steps=steps))
    assert data["limits"] == [[1, 1, 1, 1], [2, 2, 2, 2], [2, 2, 2, 2]]
    assert "1 injection, 3 acceptance ports" in data["model"]


def test_a_node_passes_on_what_its_channels_carry():
    """Half-duplex links are used one way at a time; no path passes an endpoint or turns back."""
    links = [(0, 1), (1, 2), (2, 0), (2, 3)]
    net = Network.from_links("net", 4, links, half_duplex=((0, 1), (1, 2)), endpoints=(0,))
    instance = Instance(net, Collective("x", (Message(0, (2,)),)))
    data = page_data.page_data(Schedule(instance, [[(0, (0, 2))]]))
    assert data["limits"][2] == [0, 1, 2.5, 0]
    # Three messages in two rounds over three links.
    links = [(0, 1), (0, 2), (0, 3)]
    star = Network.from_links("star", 4, links, half_duplex=tuple(links))
    instance = Instance(star, Collective("x", (Message(1, (2,)),)))
    data = page_data.page_data(Schedule(instance, [[(0, (1, 0, 2))]]))
    assert data["limits"][2] == [1.5, 0, 0, 0]


def test_what_has_no_page_is_said_in_one_line(monkeypatch):
    with pytest.raises(InputError, match="not a valid schedule"):
        page(replace(SCATTER, steps=SCATTER.steps[:-1]))
    for module, name, value, words in (
        (page_data, "MAX_NODES", 4, "5 nodes are too many for a page"),
        (page_data, "MAX_CHARACTERS", 220, "the first step is too large for a page"),
        (page_data, "MAX_CHARACTERS", 50, "20 messages with 40 ends are too many"),
        (extras, "find_spec", lambda name: None, "a page needs jinja2; pip install 'cchybr"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            with pytest.raises(InputError, match=words):
                page(SCATTER)


@pytest.mark.parametrize(
    ("schedule", "text", "heading"),
    [
        (SCATTER, "4 steps; no lower bound is known", ""),
        (bounded(), "4 steps; at least 3 are needed (certified)", "Why at least 3 steps?"),
        (bounded(LowerBound(4)), "4 steps, optimal (claimed)", "Why at least 4 steps?"),
        (bounded(LowerBound(9, CUT.evidence)), "4 steps; the lower bound is not proven",
         "The stated lower bound of 9 steps"),
        (bounded(LowerBound(5)), "4 steps; the stated lower bound 5 is false",
         "The stated lower bound of 5 steps"),
        (hop_by_hop(), "3 steps, optimal (certified)", "Why at least 3 steps?"),
    ],
)  # fmt: skip
def test_the_verdict_says_no_more_than_the_evidence(schedule, text, heading):
    shown = page(schedule)
    data = data_of(shown)
    assert data["status"] == {"text": text, "optimal": "optimal (certified)" in text}
    assert ('id="bound-title"' in shown) == bool(heading)
    if heading:
        assert f'<h2 id="bound-title">{heading}</h2>' in shown
        sentence = data["bound"]["sentence"]
        assert sentence[0] == sentence[0].upper()


def test_no_text_ends_the_script():
    text = script_json({"a": [*NAMES, "<!--", "]]>"]})
    assert not re.search(r"[<>&\u2028]", text)
    assert json.loads(text) == {"a": [*NAMES, "<!--", "]]>"]}


def test_steps_by_button_key_and_slider(tab):
    assert (step_of(tab), arrows(tab)) == ("Step 1 of 4", 10)
    tab.click("#next")
    assert (step_of(tab), arrows(tab)) == ("Step 2 of 4", 4)
    for keys, step in ((["ArrowRight"], 3), (3 * ["ArrowLeft"], 1), (["End"], 4)):
        for key in keys:
            type_key(tab, key)
        assert step_of(tab) == f"Step {step} of 4"
    assert arrows(tab) == 2
    assert tab.is_disabled("#next")
    tab.fill("#slider", "2")
    assert step_of(tab) == "Step 2 of 4"
    tab.focus("#slider")
    type_key(tab, "ArrowRight")
    assert step_of(tab) == "Step 3 of 4"


def test_play_and_pause(tab):
    tab.clock.install()
    tab.reload()
    type_key(tab, "Space")
    assert tab.inner_text("#play") == "Pause"
    tab.clock.run_for(2100)
    assert step_of(tab) == "Step 3 of 4"
    tab.clock.run_for(2000)
    assert step_of(tab) == "Step 1 of 4"
    tab.click("#play")
    tab.clock.run_for(5000)
    assert (step_of(tab), tab.inner_text("#play")) == ("Step 1 of 4", "Play")


def test_a_route_is_drawn_from_its_first_to_its_last_node(tab):
    type_key(tab, "End")
    nodes = data_of(page(SCATTER))["network"]["nodes"]
    places = np.array([complex(each["x"], each["y"]) for each in nodes])
    drawn = tab.query_selector_all("#network .arrows > g")
    for arrow, (_, path) in zip(drawn, SCATTER.steps[-1], strict=True):
        line = arrow.query_selector(".arrow").get_attribute("d")
        tip = arrow.query_selector("path:not(.arrow)").get_attribute("d")
        points = [complex(*map(float, each.split())) for each in re.split("[ML]", line)[1:]]
        ends = points[0], complex(*map(float, re.split("[MLZ]", tip)[1].split()))
        nearest = [abs(places - end).argmin() for end in ends]
        assert nearest == [path[0], path[-1]]
        assert min(abs(point - places[path[1]]) for point in points) < 19  # behind the node


def test_hover_and_click_show_a_node_and_a_channel(tab):
    tab.hover("[data-node='0']")
    assert tab.inner_text("#journey-text") == "Node 0: sends 4, receives 4, passes on 2."
    assert arrows(tab) == 4
    tab.hover("h1")
    assert (arrows(tab), tab.inner_text("#journey-text")) == (10, "10 transfers in step 1.")
    channel = list(SCATTER.instance.network.channels).index(Channel(0, 1))
    tab.hover(f"[data-channel='{channel}']", force=True)
    assert tab.inner_text("#journey-text") == "Channel 0 → 1: 3 messages; free in step 3."
    tab.click("[data-node='3']")
    tab.hover("h1")
    assert tab.inner_text("#journey-title") == "Journey"
    assert arrows(tab) == 4
    entries = tab.locator("#journey button")
    paths = [path for step in SCATTER.steps for _, path in step if 3 in path]
    assert entries.count() == len(paths)
    entries.nth(entries.count() - 1).click()
    assert step_of(tab) == "Step 4 of 4"
    type_key(tab, "Escape")
    assert tab.inner_text("#journey-title") == "Transfers of this step"


def test_a_message_shows_its_whole_journey_and_its_tree(open_page):
    tab = open_page(page(BROADCAST))
    assert tab.locator("#network .held").count() == 1
    tab.click("#next")
    assert tab.locator("#network .held").count() == 3
    dots = tab.query_selector_all("#tree g[data-step]")
    assert sorted(int(dot.get_attribute("data-step")) for dot in dots) == [0, 0, 1]
    assert tab.inner_text("#tree-title") == "Broadcast tree"
    tab.locator("#journey button").first.hover()
    assert tab.locator("#network .journey").count() == 2  # those of step 1
    assert "Message 0 → 3 nodes: 3 transfers in 2 steps." in tab.inner_text("#journey-text")


def test_sources_are_in_the_legend_and_the_pickers(tab):
    tab.click("#legend button >> nth=2")
    assert tab.input_value("#pick-key") == "2"
    assert arrows(tab) == 2
    assert tab.locator("#tree g[data-step]").count() == 4
    assert tab.inner_text("#tree-note").startswith("All 4 messages from 2")
    options = tab.locator("#pick-message option")
    assert options.count() == 5
    tab.select_option("#pick-message", label="2 → 0")
    (when,) = (
        n for n, step in enumerate(SCATTER.steps, 1) for _, path in step if path[::2] == (2, 0)
    )
    assert tab.inner_text("#journey-text") == f"Message 2 → 0: 1 transfer in step {when}."
    tab.select_option("#pick-node", label="1")
    assert tab.input_value("#pick-key") == ""
    tab.select_option("#pick-channel", label="1 → 2")
    assert tab.inner_text("#journey-text").startswith("Channel 1 → 2:")
    tab.click("#clear")
    assert arrows(tab) == 10


def test_everything_by_keyboard(tab):
    for _ in range(30):
        type_key(tab, "Tab")
        if tab.evaluate("document.activeElement.matches('.node')"):
            break
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == "node 0"
    assert tab.inner_text("#journey-text").startswith("Node 0:")
    type_key(tab, "ArrowDown")
    assert tab.inner_text("#journey-text").startswith("Node 1:")
    shape = "document.activeElement.querySelector('.shape')"
    edge = tab.evaluate(f"parseFloat(getComputedStyle({shape}).strokeWidth)")
    assert edge >= 3  # the focus is seen
    type_key(tab, "Enter")
    type_key(tab, "Tab")
    assert tab.inner_text("#journey-title") == "Journey"
    type_key(tab, "Escape")
    tab.focus("#channels canvas[tabindex]")
    type_key(tab, "ArrowDown")
    type_key(tab, "ArrowRight")
    text = tab.inner_text("#channels-cell")
    assert text == "Channel 0 → 4 in step 2: 0 → 3; 0 of 1 free."
    type_key(tab, "Enter")
    assert tab.input_value("#pick-channel") != ""
    type_key(tab, "Escape")
    tab.locator("#journey button").first.focus()
    type_key(tab, "ArrowDown")
    message = SCATTER.steps[1][1].message
    source, (target,) = SCATTER.instance.collective.messages[message]
    assert tab.inner_text("#journey-text").startswith(f"Message {source} → {target}:")


def test_every_control_has_a_name_and_a_visible_focus(open_page):
    tab = open_page(page(bounded()))
    nameless = tab.evaluate(
        """[...document.querySelectorAll("button, select, input, [tabindex]")].filter((e) =>
        !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length))
        .map((e) => e.outerHTML)"""
    )
    assert nameless == []
    for control in ("#play", "#slider", "#pick-node", "#channels canvas[tabindex]"):
        type_key(tab, "Tab")  # from now on the focus comes from the keyboard
        tab.focus(control)
        style = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style == "solid", control


def test_a_click_into_a_chart_jumps_to_step_and_channel(tab):
    place = tab.evaluate(
        "({x: channelChart.margin + 2.5 * channelChart.wide, y: BARS + 1.5 * channelChart.high})"
    )
    tab.hover("#channels canvas[tabindex]", position=place)
    assert "Channel 0 → 4 in step 3" in tab.inner_text("#channels-cell")
    tab.click("#channels canvas[tabindex]", position=place)
    assert step_of(tab) == "Step 3 of 4"
    channel = list(SCATTER.instance.network.channels).index(Channel(0, 4))
    assert tab.input_value("#pick-channel") == str(channel)
    type_key(tab, "Escape")
    tab.hover("#nodes canvas[tabindex]", position=place)
    sent, received = (sum(path[end] == 1 for _, path in SCATTER.steps[2]) for end in (0, -1))
    line = f"Node 1 in step 3: {sent} of 2 sent, {received} of 2 received, 0 of 2 passed on."
    assert tab.inner_text("#nodes-cell") == line
    tab.check("input[name=mode][value='2']")
    passed = tab.evaluate("nodeLoads[2].map((loads) => loads[1])")
    assert passed == [sum(node in path[1:-1] for _, path in SCATTER.steps[1]) for node in range(5)]


def test_the_bound_is_drawn_and_said(open_page):
    tab = open_page(page(bounded()))
    sentence = tab.inner_text("#bound-sentence")
    assert sentence.endswith("Together that is 14, more than 12: at least 3 steps are needed.")
    assert tab.locator("#bound .arrows > g").count() == 2
    assert tab.locator("#bound .inside").count() == 2
    assert tab.inner_text("#bound-step") == "In step 1, 2 of these 2 channels carry a message."
    grown = open_page(page(hop_by_hop()))
    fills = grown.evaluate(
        "[...document.querySelectorAll('#bound .shape')].map((e) => getComputedStyle(e).fill)"
    )
    assert len(set(fills)) == 4
    assert open_page(page(SCATTER)).locator("#bound-section").count() == 0


def test_store_and_forward_moves_hop_by_hop(open_page):
    tab = open_page(page(hop_by_hop()))
    assert not tab.is_visible("#passes")
    for step in range(3):
        assert tab.locator("#network .held").count() == step + 1
        type_key(tab, "ArrowRight")


def test_a_reduction_runs_towards_its_destination(open_page):
    tab = open_page(page(REDUCTION))
    assert tab.inner_text("#tree-title") == "How the parts come together"
    held = "[...document.querySelectorAll('#network .held')].map((e) => e.dataset.node).join()"
    assert tab.evaluate(held) == "0,1,2,3"
    type_key(tab, "End")
    assert tab.evaluate(held) == "0,1,3"
    tab = open_page(page(FORWARDED))
    assert tab.evaluate(held) == "0,2"
    type_key(tab, "End")
    assert tab.evaluate(held) == "0,1"


def test_names_of_any_kind_are_only_text(open_page):
    title = "</title><script>alert(0)</script> {{ 7 * 7 }}"
    tab = open_page(page(HOSTILE, title=title))
    assert tab.title() == title
    assert tab.inner_text("h1") == title
    assert tab.locator("script").count() == 2
    assert tab.locator("img").count() == 0
    titles = tab.locator("#network .node title")
    assert titles.evaluate_all("(list) => list.map((e) => e.textContent)") == list(NAMES)
    for node in range(5):
        tab.select_option("#pick-node", str(node))
        assert tab.inner_text("#journey-text").startswith("Node ")
    tab.select_option("#pick-node", "")
    assert tab.locator("#network .link[stroke-dasharray]").count() == 1  # half duplex
    assert "half duplex" in tab.inner_text("#network-note")
    cell = tab.evaluate("channelCell(channels.findIndex(([a, b]) => a === 3 && b === 2), 1)")
    assert "1 used by the opposite direction; 0 of 1 free" in cell
    tab.select_option("#pick-channel", label=tab.evaluate("channelName(4)"))
    assert tab.inner_text("#journey-text").endswith(": 1 message; free in step 1.")  # as 5 uses 3
    assert overflow(tab) == 0


@pytest.mark.parametrize("schedule", [bounded(), HOSTILE], ids=["AAS", "names"])
def test_a_phone(open_page, schedule):
    tab = open_page(page(schedule), **PHONE)
    assert overflow(tab) == 0
    tab.tap("[data-node='2']")
    assert tab.inner_text("#journey-title") == "Journey"
    assert tab.locator("#network .selected").count() == 1
    tab.tap("#next")
    assert step_of(tab).startswith("Step 2")
    small = tab.evaluate(
        """[...document.querySelectorAll(".controls button, .transfers button, select")]
        .filter((e) => e.getBoundingClientRect().height < 36).length"""
    )
    assert small == 0
    tab.tap("[data-node='2']")
    tab.tap("#channels canvas[tabindex]", position={"x": 200, "y": 60})
    assert tab.inner_text("#journey-text").startswith("Channel ")
    assert overflow(tab) == 0


def long_names() -> Schedule:
    """Return an allgather on a ring of nodes with long names, a switch close to one of them."""
    names = ("core switch", *(f"a long name {node}" for node in range(1, 8)))
    places = ((0.5, 1), (0, 1), (1, 0), (2, 0), (3, 1), (3, 2), (2, 3), (1, 3))
    ring = [*((n, n + 1) for n in range(1, 7)), (7, 1)]
    links = [(0, 1), (0, 2), (0, 7), *ring]
    net = Network.from_links("ring", 8, links, node_names=names, switches=(0,), positions=places)
    ends = [(a, b) for pair in ring for a, b in (pair, pair[::-1])]
    instance = Instance(net, Collective("neighbours", tuple(Message(a, (b,)) for a, b in ends)))
    return Schedule(instance, (tuple(Transfer(number, path) for number, path in enumerate(ends)),))


def boxes(tab: Any, selector: str) -> Any:
    """Return left, top, right and bottom of elements in pixels."""
    return tab.locator(selector).evaluate_all(
        "(list) => list.map((e) => e.getBoundingClientRect())"
        ".map((box) => [box.left, box.top, box.right, box.bottom])"
    )


def test_long_names_cover_neither_each_other_nor_nodes(open_page):
    tab = open_page(page(long_names()))
    names = boxes(tab, "#network .node text")
    assert len(names) == 8
    nodes = boxes(tab, "#network .node .shape")
    on_lines = boxes(tab, "#network .arrows text")
    assert len(on_lines) >= 7
    for index, (left, top, right, bottom) in enumerate([*names, *on_lines]):
        others = [*names, *on_lines][:index] + (nodes if index < len(names) else [])
        for other in others:
            across = min(right, other[2]) - max(left, other[0])
            upwards = min(bottom, other[3]) - max(top, other[1])
            assert min(across, upwards) < 4, (index, other)  # boxes of texts have some margin


def test_long_names_leave_room_for_routes_on_a_phone(open_page):
    names = tuple(f"a name of many letters {node}" for node in range(5))
    instance = HOSTILE.instance
    named = replace(instance, network=replace(instance.network, node_names=names))
    tab = open_page(page(replace(HOSTILE, instance=named)), **PHONE)
    routes = boxes(tab, ".transfers .route")
    assert routes
    assert all(right - left >= 140 for left, _, right, _ in routes)
    assert overflow(tab) == 0


LUMINANCE = """(() => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const found = [];
  for (const e of document.querySelectorAll("h1, h2, p, label, button, select, .node text")) {
    const style = getComputedStyle(e);
    const colour = e.tagName === "text" ? style.fill : style.color;
    let back = e;
    const behind = () => getComputedStyle(back).backgroundColor;
    while (behind() === "rgba(0, 0, 0, 0)") back = back.parentElement;
    const [a, b] = [light(colour), light(behind())].sort((x, y) => y - x);
    if (e.textContent.trim() && !e.disabled) found.push((a + 0.05) / (b + 0.05));
  }
  return Math.min(...found);
})()"""
"""The lowest contrast of text, as WCAG defines it."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(open_page, scheme):
    tab = open_page(page(bounded()), color_scheme=scheme)
    assert tab.evaluate(LUMINANCE) >= 4.5
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    numbers = [int(number) for number in re.findall(r"\d+", background)]
    assert (max(numbers) < 60) == (scheme == "dark")


def test_the_charts_follow_a_change_of_the_scheme(tab):
    picture = "document.querySelector('#channels canvas').toDataURL()"
    tab.evaluate(f"window.before = {picture}")
    tab.emulate_media(color_scheme="dark")
    changed = f"""async () => {{
      for (let frame = 0; frame < 300; frame++) {{
        if ({picture} !== window.before) return true;
        await new Promise(requestAnimationFrame);
      }}
      return false;
    }}"""
    assert tab.evaluate(changed)


def test_colours_differ_with_dashes_where_they_repeat(open_page):
    tab = open_page(page(torus()))
    styles = tab.evaluate("keyList.slice(0, 24).map((key) => colourOf(key) + lineOf(key))")
    assert len(set(styles)) == 24
    assert "repeat after 24" in tab.inner_text("#network-note")
    assert tab.locator("#legend button").count() == 64
    # What a step adds is in proportion to its transfers, not to the 4,032 messages.
    type_key(tab, "ArrowRight")
    assert tab.locator("#network .arrows > g").count() == tab.evaluate("steps[1].length")
    assert tab.evaluate("document.querySelectorAll('*').length") < 6000
    tab.select_option("#pick-key", "17")
    assert tab.locator("#pick-message option").count() == 64


def test_what_is_left_out_is_said(open_page, monkeypatch):
    text = page(SCATTER)
    assert "left-out" not in text.split("</style>")[1]
    monkeypatch.setattr(page_data, "MAX_CHARACTERS", 330)
    tab = open_page(page(SCATTER))
    assert tab.inner_text("#left-out").startswith("This page has only the first 2 of 4 steps")
    # Messages of the last steps are known, but have no transfers.
    tab.select_option("#pick-key", "4")
    assert tab.locator("#tree g[data-step]").count() == 2
    tab.select_option("#pick-message", label="4 → 1")
    assert tab.inner_text("#journey-text").startswith("Message 4 → 1: 0 transfers")
    type_key(tab, "Escape")
    type_key(tab, "End")
    assert step_of(tab) == "Step 2 of 4"


def test_a_network_of_one_channel(open_page):
    instance = Instance(Network("pair", 2, (Channel(1, 0),)), Collective("x", (Message(1, (0,)),)))
    tab = open_page(page(Schedule(instance, [[(0, (1, 0))]])), **PHONE)
    assert (step_of(tab), arrows(tab), overflow(tab)) == ("Step 1 of 1", 1, 0)
    assert tab.is_disabled("#previous")
    assert tab.is_disabled("#next")


def wide() -> Schedule:
    """Return a broadcast of three chunks over a line of three nodes, in steps of 3 and 2 rounds."""
    instance = cchybrid.instance(
        "mesh-1x3", "OAB", root=0, chunks=3, rounds=[3, 2], switching="store-and-forward"
    )
    hops = (((0, 1), range(3)), ((1, 2), range(2)), ((1, 2), [2]))
    steps = tuple(tuple(Transfer(chunk, hop) for chunk in chunks) for hop, chunks in hops)
    return Schedule(instance, steps)


def test_charts_count_with_the_rounds_of_a_step(open_page):
    tab = open_page(page(wide()))
    # Four channels; the first step uses one of them in all three rounds.
    for title, share in (("1 of 3, 3 rounds", 25), ("2 of 3, 2 rounds", 25), ("3 of 3", 13)):
        assert step_of(tab).startswith(f"Step {title}")
        shown = tab.locator("#channels-sum").inner_text()
        assert f"uses {share} %" in shown
        type_key(tab, "ArrowRight")
    assert "all steps together 21 %" in shown
    cell = tab.evaluate("channelCell(channels.findIndex(([a, b]) => a === 1 && b === 2), 1)")
    assert cell == "Channel 1 → 2 in step 2: 0 → 2 nodes, 0 → 2 nodes; 0 of 2 free."
    tab.select_option("#pick-channel", label="1 → 2")  # one of three rounds is used in step 3
    assert tab.inner_text("#journey-text") == "Channel 1 → 2: 3 messages; free in steps 1, 3."
    assert tab.evaluate("nodeCell(1, 1)") == "Node 1 in step 2: 2 of 4 sent, 0 of 4 received."


def test_a_scan_is_said_to_end_with_the_sums_that_nodes_need(open_page):
    instance = cchybrid.instance("mesh-1x2", "exscan")
    tab = open_page(page(Schedule(instance, [[(0, (0, 1))]], sums=[[[0]]])))
    assert "filled nodes hold the sum that they need" in tab.inner_text("#network-note")
    assert tab.evaluate("messageName(0)") == "0, the sum of 2 nodes"  # counted as in files


def test_passing_on_is_measured_by_channels_not_by_ports(open_page):
    instance = cchybrid.instance("mesh-1x3", "AAS", ports=1)
    steps = [[(1, (0, 1, 2))], [(0, (0, 1))], [(2, (1, 0))], [(3, (1, 2))], [(4, (2, 1, 0))],
             [(5, (2, 1))]]  # fmt: skip
    tab = open_page(page(Schedule(instance, steps)))
    tab.check("input[name=mode][value='2']")
    assert tab.evaluate("[nodeChart.limit(1, 0), nodeChart.share(0)]") == [2, 0.5]


def test_a_first_step_without_transfers(open_page):
    instance = cchybrid.instance("mesh-1x3", "OAS", rounds=(1, 2))
    tab = open_page(page(Schedule(instance, [[], [(0, (0, 1)), (1, (0, 1, 2))]])))
    type_key(tab, "ArrowRight")
    assert step_of(tab).startswith("Step 2 of 2")
    assert arrows(tab) == 2
