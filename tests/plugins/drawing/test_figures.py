"""Figures: every transfer is drawn, charts show the loads, files are equal and well-formed."""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from cchybrid_plugins.drawing import figure_styles
from cchybrid_plugins.drawing.charts import channel_chart, node_chart, node_loads
from cchybrid_plugins.drawing.figures import (
    MAX_PANELS,
    draw_bound,
    draw_network,
    draw_step,
    draw_steps,
    save_figure,
)
from cchybrid_plugins.drawing.link_curves import link_curves
from cchybrid_plugins.drawing.scene import make_scene
from matplotlib.testing.compare import compare_images

import cchybrid
from cchybrid.library.topologies import network
from cchybrid.model import (
    Channel,
    Instance,
    LowerBound,
    Message,
    Network,
    Reduction,
    Schedule,
    Transfer,
)
from cchybrid.model.errors import InputError

IMAGES = Path(__file__).parent / "images"
TOLERANCE = 4.0
"""Root mean square of the differences of pixels; fonts are rendered a little differently."""

NAMES = ("core & co", "R<1>", "$x_1$", "a\x07b", "switch", "Zürich", "猫")


def made(name: str, collective: str, steps: list[list[tuple[int, ...]]]) -> Schedule:
    """Return a schedule of paths; the message of a path is that with its ends."""
    instance = cchybrid.instance(name, collective)
    messages = instance.collective.deliver_messages

    def number(path: tuple[int, ...]) -> int:
        return 0 if len(messages) == 1 else messages.index(Message(path[0], (path[-1],)))

    return Schedule(instance, [[(number(path), path) for path in step] for step in steps])


BROADCAST = made("ring-bi-4", "OAB", [[(0, 1), (0, 3)], [(1, 2)]])
REDUCTION = made("ring-bi-4", "AOR", [[(2, 1)], [(1, 0), (3, 0)]])
FORWARDED = Schedule(
    cchybrid.instance("mesh-1x3", [Reduction((2,), 0)], switching="store-and-forward"),
    ((Transfer(0, (2, 1)),), (Transfer(0, (1, 0)),)),
)
SCATTER = made("ring-bi-5", "AAS", [
    [(v, (v + by) % 5) for by in (1, -1) for v in range(5)],
    *([(v, (v + by) % 5, (v + 2 * by) % 5) for by in (1, -1) for v in some]
      for some in ((0, 2), (1, 3))),
    [(4, 0, 1), (4, 3, 2)],
])  # fmt: skip
CAMPUS = Network.from_links(
    "campus", 7, [(0, 1), (0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 6), (6, 0)],
    half_duplex=((2, 3),), switches=(4,), node_names=NAMES,
)  # fmt: skip


def parts(axes: Any, gid: str) -> list[Any]:
    return [artist for artist in axes.collections if artist.get_gid() == gid]


def arrows(figure: Any, step: int) -> list[np.ndarray]:
    """Return the lines of the transfers of a step."""
    found = [c for axes in figure.axes for c in parts(axes, f"step-{step}")]
    assert len(found) <= 1
    return [path.vertices for collection in found for path in collection.get_paths()]


def texts_of(figure: Any) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize("schedule", [BROADCAST, REDUCTION, SCATTER], ids=["OAB", "AOR", "AAS"])
def test_every_transfer_is_an_arrow_from_its_sender_to_its_receiver(schedule):
    figure = draw_steps(schedule)
    points = make_scene(schedule.instance.network, 245, 498).points
    for number, step in enumerate(schedule.steps, 1):
        alone = draw_step(schedule, number)
        lines = arrows(alone, number)
        assert len(lines) == len(step) == len(arrows(figure, number))
        heads = parts(alone.axes[0], f"step-{number}-heads")[0].get_paths()
        for (_, path), line, head in zip(step, lines, heads, strict=True):
            ends = line[0], head.vertices[0]
            nearest = [int(np.hypot(*(points - place).T).argmin()) for place in ends]
            assert nearest == [path[0], path[-1]]
            for node in path[1:-1]:  # the line passes behind the node
                pieces = np.linspace(line[:-1], line[1:], 50).reshape(-1, 2)
                assert np.hypot(*(pieces - points[node]).T).min() < 9


def test_traffic_in_both_directions_of_a_link_runs_beside_each_other():
    lines = arrows(draw_step(SCATTER, 1), 1)
    assert np.hypot(*(lines[0].mean(axis=0) - lines[6].mean(axis=0))) > 2  # 0 to 1 and 1 to 0


def test_colours_and_line_styles_tell_messages_apart():
    figure = draw_step(SCATTER, 1)
    colours = parts(figure.axes[0], "step-1")[0].get_colors()
    sources = [path[0] for _, path in SCATTER.steps[0]]
    pairs = set(zip(sources, map(tuple, colours), strict=True))
    assert len(pairs) == len({colour for _, colour in pairs}) == 5
    assert "messages from" in texts_of(figure)


def test_nodes_that_hold_the_message_are_filled():
    for schedule, counts in ((BROADCAST, [1, 3]), (REDUCTION, [4, 3]), (FORWARDED, [2, 2])):
        for axes, count in zip(draw_steps(schedule).axes, counts, strict=False):
            fill = parts(axes, "nodes-circle")[0].get_facecolors()
            assert sum(tuple(colour) != (1, 1, 1, 1) for colour in fill) == count


ON, BACK = (0, (0, 1)), (0, (1, 0))


@pytest.mark.parametrize(
    ("collective", "step", "words"),
    [
        ("OAB", [ON], "informed before the step"),
        ("AOR", [BACK], "holds a part before the step"),
        ("allreduce", [ON, BACK], "holds the whole sum before the step"),
        ("scan", [ON], "before the step, holds the sum that it needs"),
        ("exscan", [ON], "before the step, holds the sum that it needs"),
    ],
)
def test_the_legend_says_what_filled_nodes_hold(collective, step, words):
    instance = cchybrid.instance("mesh-1x2", collective)
    sums = [[[path[0]] for _, path in step]] if instance.collective.with_sums else ()
    axes = draw_step(Schedule(instance, [step], sums=sums), 1).axes
    assert words in [text.get_text() for each in axes for text in each.texts]


def test_forwarded_messages_are_labelled_with_their_source():
    first = [(v, (v, (v + by) % 4)) for v in range(4) for by in (1, -1)]
    second = [(v, ((v + 1) % 4, (v + 2) % 4)) for v in range(4)]
    exchange = Schedule(cchybrid.instance("ring-bi-4", "AAB"), [first, second])
    for step, labels in ((1, []), (2, ["0", "1", "2", "3"])):
        texts = draw_step(exchange, step).axes[0].texts
        boxed = [text.get_text() for text in texts if text.get_bbox_patch() is not None]
        assert sorted(boxed) == labels


def test_of_many_steps_the_first_are_shown_and_the_title_says_so():
    instance = cchybrid.instance("complete-6", "AAS")
    pairs = [(each.source, each.destinations[0]) for each in instance.collective.deliver_messages]
    count = MAX_PANELS + 6
    assert len(pairs) == count
    titles = texts_of(draw_steps(Schedule(instance, [[each] for each in enumerate(pairs)])))
    assert f"steps 1 to {MAX_PANELS} of {count}: step 1" in titles
    assert f"step {MAX_PANELS}" in titles
    assert f"step {MAX_PANELS + 1}" not in titles


def wide_schedule() -> Schedule:
    """Return a schedule with channels of capacity 2, half used."""
    net = Network("wide", 3, (Channel(0, 2, 2), Channel(0, 1), Channel(1, 2, 3)))
    messages = (Message(0, (2,)), Message(0, (1,)), Message(1, (2,)))
    instance = Instance(net, cchybrid.Collective("some", messages))
    return Schedule(instance, ((Transfer(0, (0, 2)), Transfer(1, (0, 1))), (Transfer(2, (1, 2)),)))


@pytest.mark.parametrize("schedule", [SCATTER, wide_schedule()], ids=["ring", "wide"])
def test_the_channel_chart_shows_the_loads(schedule):
    channels = schedule.instance.network.channels
    main = channel_chart(schedule).axes[0]
    shown = np.asarray(main.collections[0].get_array()).reshape(len(channels), -1)
    size = {(a, b): capacity for a, b, capacity in channels}
    used = [[hop for _, path in step for hop in pairwise(path)] for step in schedule.steps]
    for label, row in zip(main.get_yticklabels(), shown, strict=True):
        hop = tuple(map(int, label.get_text().split("→")))
        assert list(row) == [hops.count(hop) / size[hop] for hops in used]


def test_a_half_duplex_link_has_its_capacity_once():
    net = Network("pair", 2, (Channel(0, 1), Channel(1, 0)), half_duplex=((0, 1),))
    both = cchybrid.Collective("both", (Message(0, (1,)), Message(1, (0,))))
    figure = channel_chart(Schedule(Instance(net, both), [[(0, (0, 1))], [(1, (1, 0))]]))
    main, top, _, key = figure.axes
    assert [bar.get_height() for bar in top.patches] == [1.0, 1.0]
    blocked = np.ma.getmaskarray(main.collections[1].get_array()).reshape(2, 2)
    assert blocked.tolist() == [[True, False], [False, True]]
    assert key.texts[-1].get_text() == "used in the opposite direction"


def test_a_step_of_several_rounds_has_as_many_times_the_capacity():
    instance = cchybrid.instance("ring-bi-4", "OAB", rounds=[4])
    chart = channel_chart(Schedule(instance, [[(0, (0, 1)), (0, (0, 3)), (0, (0, 1, 2))]]))
    assert [bar.get_height() for bar in chart.axes[1].patches] == [4 / 32]


def test_the_node_chart_counts_injected_accepted_and_passed_messages():
    loads = node_loads(SCATTER)
    for number, step in enumerate(SCATTER.steps):
        for node in range(5):
            assert loads[0, node, number] == sum(path[0] == node for _, path in step)
            assert loads[1, node, number] == sum(path[-1] == node for _, path in step)
            assert loads[2, node, number] == sum(node in path[1:-1] for _, path in step)
    axes = node_chart(SCATTER).axes[:3]
    assert [part.get_title() for part in axes] == ["injected", "accepted", "passed on"]
    for part, values in zip(axes, loads, strict=True):
        assert list(part.collections[0].get_array().ravel()) == list(values.ravel())


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("steps", lambda: draw_steps(SCATTER)),
        ("broadcast", lambda: draw_step(BROADCAST, 1)),
        ("campus", lambda: draw_network(CAMPUS)),
        ("multistage", lambda: draw_network(network("omega-4"))),
        ("channels", lambda: channel_chart(SCATTER)),
        ("nodes", lambda: node_chart(SCATTER)),
    ],
)
def test_figures_look_as_before(name, draw, tmp_path):
    save_figure(draw(), tmp_path / f"{name}.png", dpi=72)
    pictures = [str(folder / f"{name}.png") for folder in (IMAGES, tmp_path)]
    assert compare_images(*pictures, tol=TOLERANCE) is None


@pytest.mark.parametrize("suffix", [".pdf", ".png", ".SVG"])
def test_equal_figures_are_equal_files(suffix, tmp_path):
    for name in "ab":
        save_figure(draw_steps(SCATTER), tmp_path / f"{name}{suffix}")
    one, other = (file.read_bytes() for file in tmp_path.iterdir())
    assert one == other
    assert not re.search(rb"CreationDate|dc:date", one)


def test_names_are_text_in_svg_whatever_they_contain(tmp_path):
    save_figure(draw_network(CAMPUS), tmp_path / "campus.svg")
    tree = ElementTree.parse(tmp_path / "campus.svg")
    texts = {text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")}
    assert {"core & co", "R<1>", "$x_1$", "a\ufffdb", "Zürich", "猫"} <= texts
    assert {"half-duplex link", "switch", "capacity 2"} <= texts


def test_symbols_say_what_a_node_is():
    gids = {c.get_gid() or "" for c in draw_network(network("omega-4")).axes[0].collections}
    kinds = {gid for gid in gids if gid.startswith("nodes-")}
    assert kinds == {"nodes-square", "nodes-diamond"}
    lines = parts(draw_network(CAMPUS).axes[0], "links")[0]
    assert sum(style[1] is not None for style in lines.get_linestyles()) == 1
    widths = lines.get_linewidths()
    assert max(widths) > 1.5 * min(widths)


def test_labels_of_nodes_do_not_cover_each_other():
    scene = make_scene(CAMPUS, 245, 600)
    boxes = [
        (label.x, label.y, label.x + figure_styles.text_width(label.text, scene.font), label.y + 5)
        for label in scene.labels
    ]
    assert len(boxes) == 7
    assert all(left > 0 and right < scene.width for left, _, right, _ in boxes)
    for one, other in combinations(boxes, 2):
        across = one[0] <= other[2] and other[0] <= one[2]
        assert not (across and one[1] <= other[3] and other[1] <= one[3])


def test_a_link_over_other_nodes_is_bent_around_them():
    curves = make_scene(network("ring-bi-8"), 245, 600).curves
    assert all(len(curve) == 2 for curve in curves.values())
    points = np.array([(30.0 * node, 0.0) for node in range(4)])
    curves = link_curves([(0, 1), (0, 3), (1, 3)], points, 8.0)
    assert len(curves[0, 1]) == 2
    for pair, node in (((0, 3), 1), ((0, 3), 2), ((1, 3), 2)):
        assert np.hypot(*(curves[pair] - points[node]).T).min() > 5


@pytest.mark.parametrize("name", ["torus-4x4", "hypercube-16", "2-fat-hypercube-8", "dgx-1"])
def test_drawings_stay_within_their_panels(name):
    scene = make_scene(network(name), 245, 600)
    points = np.concatenate([scene.points, *scene.curves.values()])
    assert points.min() >= 0
    assert (points <= (scene.width, scene.height)).all()


def bound(**changes: Any) -> Any:
    record = {
        "kind": "linear", "steps": 3,
        "sentence": "These 2 nodes receive 6 messages over 2 channels: 3 steps at least.",
        "inside": frozenset({0, 1}), "channels": {(2, 1): 1.0, (4, 0): 0.5},
        "layers": (),
    }  # fmt: skip
    return SimpleNamespace(**{**record, **changes})


def test_the_bound_is_drawn_on_the_network():
    figure = draw_network(SCATTER.instance.network, bound())
    counted = parts(figure.axes[0], "bound")[0]
    assert len(counted.get_paths()) == 2
    assert max(counted.get_linewidths()) > min(counted.get_linewidths())
    region = parts(figure.axes[0], "region")[0]
    assert len(region.get_offsets()) == 2
    reach = max(region.get_sizes()) ** 0.5 / 2  # it ends inside the figure
    assert region.get_offsets().min() >= reach > 0
    assert bound().sentence in " ".join(text.get_text() for text in figure.axes[1].texts)
    grown = draw_network(SCATTER.instance.network, bound(layers=((0,), (1, 4), (2, 3))))
    fill = parts(grown.axes[0], "nodes-circle")[0].get_facecolors()
    assert len({tuple(colour) for colour in fill}) == 3


def test_a_schedule_without_a_bound_that_has_a_picture_is_refused():
    with pytest.raises(InputError, match="the schedule has no lower bound"):
        draw_bound(SCATTER)
    with pytest.raises(InputError, match="a lower bound of the kind without evidence has no pict"):
        draw_bound(replace(SCATTER, lower_bound=LowerBound(3)))


def test_a_real_bound_is_drawn():
    prices = {"kind": "linear", "steps": 3, "channels": [[2, 1, 1], [4, 0, 1]]}
    prices |= {"inject": [[0, 1], [1, 1]]}
    figure = draw_bound(replace(SCATTER, lower_bound=LowerBound(3, prices)))
    assert len(figure.axes) == 2
    assert parts(figure.axes[0], "bound")


def test_an_invalid_schedule_is_refused():
    wrong = replace(BROADCAST, steps=((Transfer(0, (0, 2)),),))
    for draw in (draw_steps, channel_chart, node_chart, lambda s: draw_step(s, 1)):
        with pytest.raises(InputError, match="not a valid schedule"):
            draw(wrong)


@pytest.mark.slow
def test_too_large_networks_are_refused():
    with pytest.raises(InputError, match="too many for a drawing"):
        draw_network(network("torus-100x100"))


@pytest.mark.parametrize("name", ["a.gif", "missing/folder/a.svg"])
def test_files_that_cannot_be_written_are_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"is not known|cannot be written"):
        save_figure(draw_step(BROADCAST, 1), tmp_path / name)


@pytest.mark.parametrize("links", [[], [(0, 1)]])
def test_tiny_networks_are_drawn(links, tmp_path):
    tiny = Network.from_links("tiny", len(links) + 1, links)
    save_figure(draw_network(tiny), tmp_path / "tiny.svg")
    assert ElementTree.parse(tmp_path / "tiny.svg")
