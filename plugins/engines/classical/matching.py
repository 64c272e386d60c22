"""Bipartite matching of items and places with capacities, by augmenting paths."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Item = TypeVar("Item")
Place = TypeVar("Place", bound=Hashable)


def assign(
    item: Item,
    allowed: Mapping[Item, Iterable[Place]],
    users: dict[Place, list[Item]],
    capacity: Mapping[Place, int],
    seen: set[Place],
) -> bool:
    """Assign an item to a place along an augmenting path; return whether there is one.

    Parameters
    ----------
    allowed
        The allowed places of every item.
    users
        The items at every place: changed along the path.
    capacity
        The capacities of places, where they are not 1.
    seen
        Places that have been visited.
    """
    for place in allowed[item]:
        if place in seen:
            continue
        seen.add(place)
        held = users.setdefault(place, [])
        if len(held) < capacity.get(place, 1):
            held.append(item)
            return True
        for index, other in enumerate(held):
            if assign(other, allowed, users, capacity, seen):
                held[index] = item
                return True
    return False
