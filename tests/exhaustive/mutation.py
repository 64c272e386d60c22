"""Mutants of JSON objects of any form: what evidence may look like is not known here."""

import copy
import random
from collections.abc import Iterator
from typing import Any

SCALES = (0, 2, 3, 10)


def mutants(
    value: dict[str, Any], others: list[dict[str, Any]], count: int, rng: random.Random
) -> Iterator[dict[str, Any]]:
    """Yield objects with one to three changes each.

    Parameters
    ----------
    others
        Other objects of the kind, from which keys and values are taken.
    """
    for _ in range(count):
        mutant = copy.deepcopy(value)
        for _ in range(rng.choice((1, 1, 2, 3))):
            change_place(mutant, others, rng)
        yield mutant


def change_place(value: Any, others: list[dict[str, Any]], rng: random.Random) -> None:
    """Change one place of an object or a list; with ``others`` of an object."""
    if not value:
        return
    container, key = rng.choice(list(_places(value)))
    inner = container[key]
    if others and rng.random() < 0.2:
        _graft(value, rng.choice(others), rng)
    elif rng.random() < 0.15:
        del container[key]
    elif isinstance(inner, bool):
        container[key] = not inner
    elif isinstance(inner, int):
        container[key] = _number(inner, rng)
    elif isinstance(inner, list) and inner:
        _change_list(inner, rng)
    elif isinstance(inner, dict) and inner and rng.random() < 0.5:
        _scale(inner, rng.choice(SCALES))


def _graft(value: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    """Copy a key with its value from one object, or from one inside it, into another one."""
    sources, targets = _objects(other), _objects(value)
    depth = rng.randrange(min(len(sources), len(targets)))  # at the same depth, if possible
    source, target = rng.choice(((sources[depth], targets[depth]), (sources[0], targets[0])))
    if source:
        name = rng.choice(list(source))
        target[name] = copy.deepcopy(source[name])


def _objects(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an object and those inside it, from outside to inside."""
    return [value, *(c[key] for c, key in _places(value) if isinstance(c[key], dict))]


def _number(number: int, rng: random.Random) -> int:
    changes = (number + 1, number - 1, number * 2, number * 10, 0, -number, rng.randrange(5))
    return rng.choice(changes)


def _change_list(items: list[Any], rng: random.Random) -> None:
    place = rng.randrange(len(items))
    action = rng.randrange(7)
    if action == 0:
        del items[place]
    elif action == 1:
        items.append(copy.deepcopy(items[place]))
    elif action == 2:
        other = rng.randrange(len(items))
        items[place], items[other] = items[other], items[place]
    elif action == 3:
        _scale(items, rng.choice(SCALES))
    elif action == 4 and isinstance(items[place], list):
        # A row of another place or step: a copy with one number changed.
        row = copy.deepcopy(items[place])
        numbers = [i for i, number in enumerate(row) if type(number) is int]
        if numbers:
            spot = rng.choice(numbers)
            row[spot] = _number(row[spot], rng)
        items.append(row)
    elif action == 5 and all(isinstance(item, list) and item for item in items):
        # The same step or place in all rows, shifted.
        spot, shift = rng.randrange(-len(items[0]), 0), rng.choice((-1, 1))
        for item in items:
            if len(item) >= -spot and type(item[spot]) is int:
                item[spot] += shift
    else:
        items.insert(place, rng.randrange(5) if type(items[place]) is int else [])


def _scale(value: Any, times: int) -> None:
    """Multiply the last number of every list, which is the multiplier of a row."""
    inner = value.values() if isinstance(value, dict) else value
    for item in inner:
        if isinstance(item, list) and item and type(item[-1]) is int:
            item[-1] *= times
        elif isinstance(item, dict | list):
            _scale(item, times)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
