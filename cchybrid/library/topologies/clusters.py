"""Clusters of GPUs: equal boxes, joined by switches of their network adapters (NICs)."""

from collections.abc import Sequence

from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies.sizes import check_size, whole
from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError

BOX_CAPACITY = 9
"""Capacity of a GPU's link to the switch of its box, where that of its NIC is 1: as in a DGX H100,
whose GPUs have 450 GB/s of NVLink, and 50 GB/s by their NICs."""


def cluster(
    name: str,
    box: Network,
    boxes: int,
    nics: Sequence[tuple[int, int]],
    *,
    capacity: int = 1,
    switches: int = 1,
    adapters: bool = False,
) -> Network:
    """Return M = ``boxes`` copies of a box whose G GPUs are its first nodes.

    GPU g of box m is node G m + g. After the GPUs come the adapters if they are nodes, then the
    switches within the boxes, box by box, then those between the boxes. Messages may pass a GPU:
    without this, no message would reach another rail, or a GPU without a NIC. NCCL does it by PXN,
    in chunks that pass through the memory of the GPU.

    Parameters
    ----------
    box
        A network; its terminals are the GPUs.
    nics
        Per NIC of a box the GPU that sends over it, and the one that receives.
    capacity
        That of the links of a NIC.
    switches
        The switches between the boxes; NIC k is on switch k modulo this number.
    adapters
        Whether NICs are nodes, each between its GPU and its switch.

    Raises
    ------
    InputError
        Fewer than two boxes, or too many nodes or channels.
    """
    if boxes < 2:
        raise InputError(f"a cluster has at least two boxes, not {boxes}", hint="use two")
    gpus = len(box.terminals)
    inner = box.nodes - gpus
    count = boxes * gpus
    inside = count + boxes * len(nics) * adapters
    outside = inside + boxes * inner
    hops = len(nics) * (2 + 2 * adapters)
    check_size(outside + switches, boxes * (len(box.channels) + hops))

    def node(number: int, own: int) -> int:
        return number * gpus + own if own < gpus else inside + number * inner + own - gpus

    channels = []
    for number in range(boxes):
        channels += [(node(number, a), node(number, b), size) for a, b, size in box.channels]
        for nic, (sender, receiver) in enumerate(nics):
            a, b = node(number, sender), node(number, receiver)
            switch = outside + nic % switches
            if adapters:
                adapter = count + number * len(nics) + nic
                channels += [(a, adapter, capacity), (adapter, b, capacity)]
                a = b = adapter
            channels += [(a, switch, capacity), (switch, b, capacity)]
    kinds = [
        [f"gpu{number}.{gpu}" for number in range(boxes) for gpu in range(gpus)],
        [f"nic{number}.{nic}" for number in range(boxes) for nic in range(len(nics))] * adapters,
        [
            f"nvswitch{number}{f'.{own}' * (inner > 1)}"
            for number in range(boxes)
            for own in range(inner)
        ],
        [f"ib{switch}" for switch in range(switches)] if switches > 1 else ["ib"],
    ]
    return Network(
        name,
        outside + switches,
        tuple(Channel(*channel) for channel in sorted(channels)),
        switches=tuple(range(count, outside + switches)),
        positions=_positions(box, boxes, len(nics) * adapters, switches),
        node_names=tuple(each for kind in kinds for each in kind),
    )


def _positions(
    box: Network, boxes: int, adapters: int, switches: int
) -> tuple[tuple[float, ...], ...]:
    """Return the boxes beside each other, adapters above their boxes, and switches above all."""
    places = [(x, y) for x, y in box.positions or ()]
    gpus = len(box.terminals)
    left, right = min(x for x, _ in places), max(x for x, _ in places)
    top, apart = max(y for _, y in places) + 1.5, right - left + 2

    def shifted(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(x + number * apart, y) for number in range(boxes) for x, y in points]

    step = boxes * apart / switches
    return tuple(
        shifted(places[:gpus])
        + shifted([(left + nic * (right - left) / adapters, top) for nic in range(adapters)])
        + shifted(places[gpus:])
        + [(left - 1 + step * (each + 0.5), top + 1.5) for each in range(switches)]
    )


def star(gpus: int, capacity: int) -> Network:
    """Return a box of GPUs on one switch."""
    links = [(gpu, gpus) for gpu in range(gpus) for _ in range(capacity)]
    places = (*((float(gpu), 0.0) for gpu in range(gpus)), ((gpus - 1) / 2, -2.0))
    return Network.from_links("star", gpus + 1, links, switches=(gpus,), positions=places)


def _family(name: str, summary: str) -> TopologyInfo:
    def build(boxes: str, gpus: str, capacity: str | None) -> Network:
        size = BOX_CAPACITY if capacity is None else whole(capacity)
        count = whole(gpus)
        if count < 1 or size < 1 or size > 1000:
            hint = f"use {name}-{boxes}x8x{BOX_CAPACITY}"
            raise InputError("a box has a GPU, and a capacity from 1 to 1000", hint=hint)
        check_size(count)
        nics = [(gpu, gpu) for gpu in range(count)]
        rails = count if name == "rails" else 1
        return cluster(name, star(count, size), whole(boxes), nics, switches=rails)

    pattern = rf"{name}-(\d+)x(\d+)(?:x(\d+))?"
    return TopologyInfo(name, f"{name}-MxG[xC]", pattern, build, summary, f"{name}-4x8")


FAMILIES = (
    _family("rails", "M boxes of G GPUs, each on a switch (links of capacity C, or 9), and a NIC "
        "each on the switch of its rail"),
    _family("cluster", "M boxes of G GPUs, each on a switch (links of capacity C, or 9), and a NIC "
        "each on one switch for all"),
)  # fmt: skip
