"""Dragonflies: groups of routers, with one link between every two groups."""

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_size, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError


def dragonfly(routers: int, global_links: int) -> Network:
    """Return the dragonfly of maximum size; its routers are the nodes.

    A group of a = ``routers`` routers is a complete graph, every router has h =
    ``global_links`` links to other groups, and of the a*h + 1 groups every two have one link.
    Node a * g + r is router r of group g. The global links are in the absolute (consecutive)
    arrangement: the ports of a group, h at each router in order, lead to the other groups in
    ascending order. Degree a - 1 + h; diameter at most 3, and 1 if a is 1. Sources: Kim et al.,
    "Technology-driven, highly-scalable dragonfly topology", ISCA 2008; for the arrangement
    Hastings et al., "Comparing global link arrangements for dragonfly networks", CLUSTER 2015.

    Parameters
    ----------
    routers
        The routers of a group, at least 1.
    global_links
        The links of a router to other groups, at least 1.

    Raises
    ------
    InputError
        One of the parameters is 0, or there are too many nodes or channels.
    """
    if routers < 1 or global_links < 1:
        corrected = f"dragonfly-{max(1, routers)}x{max(1, global_links)}"
        raise InputError(
            "without routers or global links there is no network", hint=f"use {corrected}"
        )
    groups = routers * global_links + 1
    nodes = groups * routers
    check_size(nodes, nodes * (routers - 1 + global_links))
    links = [
        (routers * group + a, routers * group + b)
        for group in range(groups)
        for a in range(routers)
        for b in range(a + 1, routers)
    ]
    # Port j of group g leads to group j if j < g, otherwise to group j + 1.
    links += [
        (routers * a + (b - 1) // global_links, routers * b + a // global_links)
        for a in range(groups)
        for b in range(a + 1, groups)
    ]
    positions = layouts.circles(groups, routers)
    return Network.from_links(
        f"dragonfly-{routers}x{global_links}", nodes, links, positions=positions
    )


FAMILIES = (
    numbered("dragonfly-AxH", dragonfly,
        "dragonfly: A*H + 1 groups of A routers, H links of each to other groups", "dragonfly-4x2"),
)  # fmt: skip
