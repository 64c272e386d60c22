from dataclasses import replace

from rich.console import Console
from rich.table import Table

from cchybrid.host.api import instance
from cchybrid.model import Schedule, Transfer
from cchybrid.model.times import ChannelTime
from cchybrid.view.step_table import step_table
from cchybrid.view.table import _line, _summary, steps_table


def render(schedule: Schedule, width: int) -> str:
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(steps_table(schedule, width))
    return console.export_text()


def render_summary(schedule: Schedule) -> str:
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(_summary(schedule))
    return console.export_text()


BROADCAST = Schedule(
    instance("ring-bi-4", "OAB"),
    ((Transfer(0, (0, 1)), Transfer(0, (0, 3))), (Transfer(0, (1, 2)),)),
)
SCATTER = Schedule(
    instance("complete-8", "AAS"),
    (
        tuple(
            Transfer(number, (message.source, message.destinations[0]))
            for number, message in enumerate(instance("complete-8", "AAS").collective.messages)
        ),
    ),
)
NAMES = ("R&D 100%", "a_b|c", "[red]x[/red]", "\\end{tabular} $x^2$ ~#{}")
NAMED = Schedule(
    replace(
        BROADCAST.instance, network=replace(BROADCAST.instance.network, node_names=NAMES)
    ),
    BROADCAST.steps,
)  # fmt: skip


def test_an_empty_step_of_a_summary():
    several = instance("ring-bi-4", "AAS", rounds=[1, 2])
    assert "0 of 8" in render_summary(Schedule(several, ((), SCATTER.steps[0][:1])))


def test_cells_hold_every_transfer_once():
    table = step_table(SCATTER)
    assert table.sources == tuple("01234567")
    assert table.cells[7] == (tuple(f"7->{node} (7,{node})" for node in range(7)),)


def test_names_are_shown_on_the_terminal_as_they_are():
    text = render(NAMED, 120)
    assert "a_b|c (R&D 100%)->[red]x[/red]" in text
    assert "[red]x[/red]" in render(Schedule(NAMED.instance, NAMED.steps), 200)
    assert steps_table(NAMED, 120) is not None


def test_a_short_schedule_is_shown_transfer_by_transfer():
    text = render(BROADCAST, 80)
    assert "0->1" in text
    assert "1 (0)->2" in text
    assert "1,2" in text


def test_a_schedule_of_many_senders_has_a_row_per_sender():
    text = render(SCATTER, 80)
    assert "source" in text
    assert "7->6 (7,6)" in text


def test_what_does_not_fit_is_summed_up():
    table = steps_table(SCATTER, 20)
    assert isinstance(table, Table)
    assert [column.header for column in table.columns][1] == "transfers"
    assert table.row_count == 1
    line = steps_table(SCATTER, 20, height=5)
    assert isinstance(line, str)
    assert line.startswith("56 to 56 transfers per step, 100 % of all channels used")


def test_in_ticks_and_slots_the_line_counts_transfers_and_the_ticks_in_which_they_start():
    ring, empty = instance("ring-bi-4", "OAB"), ((),) * 7
    times = (ChannelTime(1, 3),) * len(ring.network.channels)
    timed = Schedule(replace(ring, network=replace(ring.network, times=times)), BROADCAST.steps)
    line = _line(replace(timed, steps=timed.steps + empty))
    assert line.startswith("3 transfers that start in 2 of 9 ticks, 12 % of all channels used")
    table = steps_table(timed, 80)
    assert isinstance(table, Table)
    assert table.columns[0].header == "tick"
    slots = Schedule(instance("complete-8", "AAS", switching="tdm"), SCATTER.steps + empty)
    assert _line(slots).startswith("56 transfers that start in 1 of 8 slots")


def test_a_half_duplex_link_has_its_capacity_once():
    whole = SCATTER.instance.network
    pairs = tuple((a, b) for a, b, _ in whole.channels if a < b)
    half = instance(replace(whole, half_duplex=pairs), "AAS")
    steps = tuple(
        tuple(
            transfer for transfer in SCATTER.steps[0] if (transfer.path < transfer.path[::-1]) == up
        )
        for up in (True, False)
    )
    table = steps_table(Schedule(half, steps), 20)
    assert isinstance(table, Table)
    assert list(table.columns[2].cells) == ["28 of 28 (100 %)"] * 2
    line = steps_table(Schedule(half, steps), 20, height=5)
    assert isinstance(line, str)
    assert ", 100 % of all channels used" in line


def test_reductions_name_what_they_become():
    reduction = instance("ring-bi-4", "AOR")
    steps = ((Transfer(0, (2, 1)),), (Transfer(0, (1, 0)), Transfer(0, (3, 0))))
    text = render(Schedule(reduction, steps), 80)
    assert "2->1 (0)" in text
    assert "3->0" in text


def test_a_single_hop_in_the_line_below_the_table():
    assert "longest path 1 hop (the transfers" in _line(BROADCAST)
