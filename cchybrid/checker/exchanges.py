"""The bound of an allreduce by the number of its transfers."""

from __future__ import annotations

from cchybrid.checker.instance import Network


def exchange_steps(network: Network) -> int:
    """Return the steps that the transfers of every allreduce need.

    A message with n members takes at least 2(n - 1) transfers, also with relays: until the first
    member has the whole sum, each of the n - 1 others must have sent; after that, each of them must
    still receive. (Gossiping by one-way calls: F. Harary and A. J. Schwenk, The communication
    problem on graphs and digraphs, 1974, doi:10.1016/0016-0032(74)90146-4.) A step has no more
    transfers than its channels, and the ports of all nodes, carry.
    """
    transfers = sum(2 * (len(members) - 1) for members in network.members)
    links: dict[tuple[int, int], int] = {}
    for (a, b), capacity in network.channels.items():
        links[network.link(a, b)] = capacity
    limits = sum(links.values()), sum(network.inject), sum(network.accept)
    step = carried = 0
    while carried < transfers and step < len(network.rounds):
        step += 1
        carried += min(network.in_step(step, limit) for limit in limits)
    per_step = min(network.in_step(step + 1, limit) for limit in limits)
    if carried >= transfers or per_step == 0:
        return max(step, 1)
    return step - (-(transfers - carried) // per_step)
