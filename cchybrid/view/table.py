"""The table of a schedule's steps, laid out as the thesis' tables (8.2, 8.3, 8.4)."""

from itertools import accumulate, pairwise

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

from cchybrid.model import Schedule
from cchybrid.model.shown import counted
from cchybrid.model.steps import count_transfers
from cchybrid.view.step_table import ends, path_text, step_table

MAX_ROWS = 80
"""Rows of the longest table that is printed in full."""


def steps_table(schedule: Schedule, width: int, height: int = MAX_ROWS) -> Table | str:
    """Return the table of all transfers if it is small enough, else a summary, else a line.

    Parameters
    ----------
    width, height
        Size of the terminal; a summary that does not fit is replaced by one line.

    Transfers read ``from->to (path)``; where a node forwards a message of another, the message's
    origin follows the sender: ``4 (0)->7``.
    """
    transfers, steps = count_transfers(schedule.steps), len(schedule.steps)
    if transfers <= MAX_ROWS * max(1, steps):  # with more, no table has so few rows
        senders = {transfer.path[0] for step in schedule.steps for transfer in step}
        if len(senders) == 1 or transfers <= MAX_ROWS // 2:
            table = _by_step(schedule)
            if table.row_count <= MAX_ROWS:
                return table
        table_of_senders = _by_source(schedule, width)
        if table_of_senders is not None:
            return table_of_senders
    return _summary(schedule) if steps + 8 <= height else _line(schedule)


def _by_step(schedule: Schedule) -> Table:
    heads = (schedule.instance.horizon[:-1], "from (origin)->to", "path")
    table = Table(*heads, box=box.SIMPLE_HEAD)
    for number, step in enumerate(schedule.steps, 1):
        order = sorted(range(len(step)), key=lambda i: (step[i].path[0], step[i].path[-1]))
        for place, index in enumerate(order):
            last, transfer = place == len(step) - 1, step[index]
            table.add_row(
                "" if place else str(number),
                escape(ends(schedule, transfer, parts=schedule.parts(number - 1, index))),
                escape(path_text(schedule, transfer)),
                end_section=last,
            )
    return table


def _by_source(schedule: Schedule, width: int) -> Table | None:
    """Return a table of one row per sending node, one column per step; ``None`` if too large."""
    cells = step_table(schedule)
    rows = sum(max(map(len, row)) for row in cells.cells)
    widths = [
        max(cell_len(text) for row in cells.cells for text in ["", *row[number]])
        for number in range(len(schedule.steps))
    ]
    first = max(6, *map(cell_len, cells.sources))
    if rows > MAX_ROWS or sum(widths) + 3 * len(widths) + first + 6 > width:
        return None
    table = Table("source", box=box.SIMPLE_HEAD)
    for number in range(len(schedule.steps)):
        table.add_column(f"step {number + 1}", no_wrap=True)
    for source, row in zip(cells.sources, cells.cells, strict=True):
        texts = (escape("\n".join(cell)) for cell in row)
        table.add_row(escape(source), *texts, end_section=True)
    return table


def _summary(schedule: Schedule) -> Table:
    heads = (schedule.instance.horizon[:-1], "transfers", "channels used", "longest path")
    table = Table(*heads, box=box.SIMPLE_HEAD)
    total = schedule.instance.network.step_capacity
    uses = _uses(schedule)
    for number, (step, rounds) in enumerate(zip(schedule.steps, schedule.rounds, strict=True), 1):
        used = uses[number - 1]
        longest = max((len(transfer.path) - 1 for transfer in step), default=0)
        share = f"{used} of {rounds * total} ({100 * used / (rounds * total):.0f} %)"
        table.add_row(str(number), str(len(step)), share, str(longest))
    return table


def _uses(schedule: Schedule) -> list[int]:
    """Return the channel uses of every step; in time slots and ticks some are of earlier ones."""
    network, steps = schedule.instance.network, len(schedule.steps)
    change = [0] * (steps + 1)
    slots, ends = schedule.instance.model.periodic, schedule.instance.collective.kind == "combine"
    for number, step in enumerate(schedule.steps):
        for _, path in step:
            latency, length = network.time_of(path)
            start = number - (latency + length - 1) * ends
            for hop in pairwise(path):
                change[start % steps] += 1
                change[start % steps + length] -= 1
                start += network.time_of(hop).latency + slots
    return list(accumulate(change[:-1]))


def _line(schedule: Schedule) -> str:
    total = schedule.instance.network.step_capacity
    sizes = [len(step) for step in schedule.steps]
    share = 100 * sum(_uses(schedule)) / (total * sum(schedule.rounds))
    hops = max(len(transfer.path) - 1 for step in schedule.steps for transfer in step)
    ticks = schedule.instance.horizon
    where = "-o FILE" if ticks == "ticks" else "cchybrid export"
    how_many = f"{min(sizes)} to {max(sizes)} transfers per step"
    if ticks != "steps":
        starts = f"{sum(map(bool, sizes)):,} of {len(sizes):,} {ticks}"
        how_many = f"{sum(sizes):,} transfers that start in {starts}"
    return (
        f"{how_many}, {share:.0f} % of all channels used, "
        f"longest path {counted(hops, 'hop')} (the transfers themselves: {where})"
    )
