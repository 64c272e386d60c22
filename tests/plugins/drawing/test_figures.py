"""Figures: every transfer is drawn, charts show the loads, files are equal and well-formed."""

import re
from collections import Counter
from dataclasses import replace
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
    reduction = instance.collective.kind == "combine"

    def number(path: tuple[int, ...]) -> int:
        if len(messages) == 1:
            return 0
        first, last = path[:: -1 if reduction else 1][0], path[:: -1 if reduction else 1][-1]
        return messages.index(Message(first, (last,)))

    return Schedule(
        instance, tuple(tuple(Transfer(number(path), path) for path in step) for step in steps)
    )


BROADCAST = made("ring-bi-4", "OAB", [[(0, 1), (0, 3)], [(1, 2)]])
REDUCTION = made("ring-bi-4", "AOR", [[(2, 1)], [(1, 0), (3, 0)]])
FORWARDED = Schedule(
    cchybrid.instance("mesh-1x3", [Reduction((2,), 0)], switching="store-and-forward"),
    ((Transfer(0, (2, 1)),), (Transfer(0, (1, 0)),)),
)
SCATTER = made(
    "ring-bi-5",
    "AAS",
    [
        [(v, (v + 1) % 5) for v in range(5)] + [(v, (v - 1) % 5) for v in range(5)],
        [(v, (v + 1) % 5, (v + 2) % 5) for v in (0, 2)]
        + [(v, (v - 1) % 5, (v - 2) % 5) for v in (0, 2)],
        [(v, (v + 1) % 5, (v + 2) % 5) for v in (1, 3)]
        + [(v, (v - 1) % 5, (v - 2) % 5) for v in (1, 3)],
        [(4, 0, 1), (4, 3, 2)],
    ],
)
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


@pytest.mark.parametrize("schedule", [BROADCAST, REDUCTION, SCATTER], ids=["OAB", "AOR", "AAS"])
def test_every_transfer_is_an_arrow_from_its_sender_to_its_receiver(schedule):
    figure = draw_steps(schedule)
    for number, step in enumerate(schedule.steps, 1):
        alone = draw_step(schedule, number)
        points = make_scene(schedule.instance.network, 245, 498).points
        lines = arrows(alone, number)
        assert len(lines) == len(step) == len(arrows(figure, number))
        axes = alone.axes[0]
        heads = parts(axes, f"step-{number}-heads")[0].get_paths()
        for (_, path), line, head in zip(step, lines, heads, strict=True):
            nearest = [
                int(np.hypot(*(points - place).T).argmin())
                for place in (line[0], head.vertices[0])
            ]  # fmt: skip
            assert nearest == [path[0], path[-1]]
            for node in path[1:-1]:  # the line passes behind the node
                pieces = np.linspace(line[:-1], line[1:], 50).reshape(-1, 2)
                assert np.hypot(*(pieces - points[node]).T).min() < 9


def test_traffic_in_both_directions_of_a_link_runs_beside_each_other():
    lines = arrows(draw_step(SCATTER, 1), 1)
    ahead, back = lines[0], lines[6]  # 0 to 1 and 1 to 0
    middle = [line.mean(axis=0) for line in (ahead, back)]
    assert np.hypot(*(middle[0] - middle[1])) > 2


def test_colours_and_line_styles_tell_messages_apart():
    figure = draw_step(SCATTER, 1)
    colours = parts(figure.axes[0], "step-1")[0].get_colors()
    by_source: dict[int, set[tuple[float, ...]]] = {}
    for (_, path), colour in zip(SCATTER.steps[0], colours, strict=True):
        by_source.setdefault(path[0], set()).add(tuple(colour))
    assert all(len(found) == 1 for found in by_source.values())
    assert len(set.union(*by_source.values())) == 5
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "messages from" in texts


def test_nodes_that_hold_the_message_are_filled():
    for schedule, counts in (
        (BROADCAST, [1, 3]), (REDUCTION, [4, 3]), (FORWARDED, [2, 2]),
    ):  # fmt: skip
        figure = draw_steps(schedule)
        for axes, count in zip(figure.axes, counts, strict=False):
            fill = parts(axes, "nodes-circle")[0].get_facecolors()
            assert sum(tuple(colour) != (1, 1, 1, 1) for colour in fill) == count


def test_forwarded_messages_are_labelled_with_their_source():
    exchange = Schedule(
        cchybrid.instance("ring-bi-4", "AAB"),
        (
            tuple(Transfer(v, (v, w)) for v in range(4) for w in ((v + 1) % 4, (v - 1) % 4)),
            tuple(Transfer(v, ((v + 1) % 4, (v + 2) % 4)) for v in range(4)),
        ),
    )
    for step, count in ((1, 0), (2, 4)):
        axes = draw_step(exchange, step).axes[0]
        boxed = [text.get_text() for text in axes.texts if text.get_bbox_patch() is not None]
        assert sorted(boxed) == (["0", "1", "2", "3"] if count else [])


def test_of_many_steps_the_first_are_shown_and_the_title_says_so():
    count = MAX_PANELS + 6
    instance = cchybrid.instance("complete-6", "AAS")
    steps = tuple(
        (Transfer(number, (message.source, message.destinations[0])),)
        for number, message in enumerate(instance.collective.deliver_messages)
    )
    figure = draw_steps(Schedule(instance, steps))
    assert len(steps) == count
    titles = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert f"steps 1 to {MAX_PANELS} of {count}: step 1" in titles
    assert f"step {MAX_PANELS}" in titles
    assert f"step {MAX_PANELS + 1}" not in titles


def plain_loads(schedule: Schedule) -> dict[tuple[int, int, int], float]:
    """Return the share of capacity by channel and step, by plain loops."""
    loads: Counter[tuple[int, int, int]] = Counter()
    for number, step in enumerate(schedule.steps):
        for transfer in step:
            for place in range(1, len(transfer.path)):
                loads[transfer.path[place - 1], transfer.path[place], number] += 1
    size = {channel[:2]: channel.capacity for channel in schedule.instance.network.channels}
    return {key: load / size[key[:2]] for key, load in loads.items()}


def wide_schedule() -> Schedule:
    """Return a schedule with channels of capacity 2, half used."""
    net = Network("wide", 3, (Channel(0, 2, 2), Channel(0, 1), Channel(1, 2, 3)))
    messages = (Message(0, (2,)), Message(0, (1,)), Message(1, (2,)))
    instance = Instance(net, cchybrid.Collective("some", messages))
    return Schedule(instance, ((Transfer(0, (0, 2)), Transfer(1, (0, 1))), (Transfer(2, (1, 2)),)))


@pytest.mark.parametrize("schedule", [SCATTER, wide_schedule()], ids=["ring", "wide"])
def test_the_channel_chart_shows_the_loads(schedule):
    expected = plain_loads(schedule)
    channels = schedule.instance.network.channels
    main = channel_chart(schedule).axes[0]
    labels = [text.get_text() for text in main.get_yticklabels()]
    shown = np.asarray(main.collections[0].get_array()).reshape(len(channels), -1)
    for label, row in zip(labels, shown, strict=True):
        source, target = map(int, label.split("→"))
        assert list(row) == [expected.get((source, target, step), 0) for step in range(len(row))]


def test_a_half_duplex_link_has_its_capacity_once():
    net = Network("pair", 2, (Channel(0, 1), Channel(1, 0)), half_duplex=((0, 1),))
    messages = (Message(0, (1,)), Message(1, (0,)))
    instance = Instance(net, cchybrid.Collective("both", messages))
    steps = ((Transfer(0, (0, 1)),), (Transfer(1, (1, 0)),))
    figure = channel_chart(Schedule(instance, steps))
    main, top, _, key = figure.axes
    assert [bar.get_height() for bar in top.patches] == [1.0, 1.0]
    blocked = np.ma.getmaskarray(main.collections[1].get_array()).reshape(2, 2)
    assert blocked.tolist() == [[True, False], [False, True]]
    assert key.texts[-1].get_text() == "used in the opposite direction"


def test_a_step_of_several_rounds_has_as_many_times_the_capacity():
    instance = cchybrid.instance("ring-bi-4", "OAB", rounds=[4])
    _, top, _, _ = channel_chart(
        Schedule(instance, [[(0, (0, 1)), (0, (0, 3)), (0, (0, 1, 2))]])
    ).axes
    assert [bar.get_height() for bar in top.patches] == [4 / 32]


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


def figures() -> dict[str, Any]:
    return {
        "steps": lambda: draw_steps(SCATTER),
        "broadcast": lambda: draw_step(BROADCAST, 1),
        "campus": lambda: draw_network(CAMPUS),
        "multistage": lambda: draw_network(network("omega-4")),
        "channels": lambda: channel_chart(SCATTER),
        "nodes": lambda: node_chart(SCATTER),
    }


@pytest.mark.parametrize("name", figures())
def test_figures_look_as_before(name, tmp_path):
    file = tmp_path / f"{name}.png"
    save_figure(figures()[name](), file, dpi=72)
    assert compare_images(str(IMAGES / f"{name}.png"), str(file), tol=TOLERANCE) is None


@pytest.mark.parametrize("suffix", [".pdf", ".png", ".SVG"])
def test_equal_figures_are_equal_files(suffix, tmp_path):
    files = [tmp_path / f"{number}{suffix}" for number in range(2)]
    for file in files:
        save_figure(draw_steps(SCATTER), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert not re.search(rb"CreationDate|dc:date", files[0].read_bytes())


def test_names_are_text_in_svg_whatever_they_contain(tmp_path):
    save_figure(draw_network(CAMPUS), tmp_path / "campus.svg")
    tree = ElementTree.parse(tmp_path / "campus.svg")
    texts = {text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")}
    assert {"core & co", "R<1>", "$x_1$", "a\ufffdb", "Zürich", "猫"} <= texts
    assert {"half-duplex link", "switch", "capacity 2"} <= texts


def test_symbols_say_what_a_node_is():
    kinds = {c.get_gid() for c in draw_network(network("omega-4")).axes[0].collections}
    assert {"nodes-square", "nodes-diamond"} <= kinds
    assert "nodes-circle" not in kinds
    lines = parts(draw_network(CAMPUS).axes[0], "links")[0]
    dashed = [style[1] is not None for style in lines.get_linestyles()]
    assert sum(dashed) == 1
    widths = lines.get_linewidths()
    assert max(widths) > 1.5 * min(widths)


def test_labels_of_nodes_do_not_cover_each_other():
    scene = make_scene(CAMPUS, 245, 600)
    boxes = [
        (label.x, label.y, label.x + figure_styles.text_width(label.text, scene.font), label.y + 5)
        for label in scene.labels
    ]
    assert len(boxes) == 7
    for index, (left, bottom, right, top) in enumerate(boxes):
        assert left > 0
        assert right < scene.width
        for other in boxes[:index]:
            apart = left > other[2] or other[0] > right or bottom > other[3] or other[1] > top
            assert apart


def test_a_link_over_other_nodes_is_bent_around_them():
    scene = make_scene(network("ring-bi-8"), 245, 600)
    assert all(len(curve) == 2 for curve in scene.curves.values())
    points = np.array([(30.0 * node, 0.0) for node in range(4)])
    curves = link_curves([(0, 1), (0, 3), (1, 3)], points, 8.0)
    assert len(curves[0, 1]) == 2
    for pair in ((0, 3), (1, 3)):
        others = range(pair[0] + 1, pair[1])
        for node in others:
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
    axes = figure.axes[0]
    counted = parts(axes, "bound")[0]
    assert len(counted.get_paths()) == 2
    assert max(counted.get_linewidths()) > min(counted.get_linewidths())
    assert len(parts(axes, "region")[0].get_offsets()) == 2
    words = " ".join(text.get_text() for text in figure.axes[1].texts)
    assert "These 2 nodes receive 6 messages over 2 channels: 3 steps at least." in words
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


def test_too_large_networks_are_refused():
    with pytest.raises(InputError, match="too many for a drawing"):
        draw_network(network("torus-100x100"))


@pytest.mark.parametrize("name", ["a.gif", "missing/folder/a.svg"])
def test_files_that_cannot_be_written_are_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"is not known|cannot be written"):
        save_figure(draw_step(BROADCAST, 1), tmp_path / name)


@pytest.mark.parametrize("nodes", [1, 2])
def test_tiny_networks_are_drawn(nodes, tmp_path):
    links = [(0, 1)] if nodes == 2 else []
    save_figure(draw_network(Network.from_links("tiny", nodes, links)), tmp_path / "tiny.svg")
    assert ElementTree.parse(tmp_path / "tiny.svg")
