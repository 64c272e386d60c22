"""Neighbours of a schedule: the same steps with one change, valid or not."""

import copy
import random
from collections.abc import Iterator
from typing import Any

Steps = list[list[dict[str, Any]]]


def neighbours(instance: dict[str, Any], steps: Steps, rng: random.Random) -> Iterator[Steps]:
    """Yield every schedule with one transfer dropped, repeated, moved or redirected, one step
    emptied, removed or exchanged, one sum changed; and some with a transfer added.
    """
    nodes = instance["network"]["nodes"]
    places = [(s, t) for s, step in enumerate(steps) for t in range(len(step))]
    for s, t in places:
        yield _edited(steps, s, t, [])
        for other in range(-1, len(steps) + 1):
            yield _moved(steps, s, t, other)
        for move in _variants(steps[s][t], nodes, rng):
            yield _edited(steps, s, t, [move])
    for s in range(len(steps)):
        yield [*steps[:s], [], *steps[s + 1 :]]
        yield [*steps[:s], [], *steps[s:]]
        yield [*steps[:s], *steps[s + 1 :]]
        for other in range(s):
            exchanged = list(steps)
            exchanged[s], exchanged[other] = exchanged[other], exchanged[s]
            yield exchanged
    yield [*steps, []]
    for s, step in enumerate(steps):
        for _ in range(3):
            move = _random_move(instance, rng)
            yield [*steps[:s], [*step, move], *steps[s + 1 :]]


def _edited(steps: Steps, s: int, t: int, moves: list[dict[str, Any]]) -> Steps:
    """Return the steps with other moves in the place of one."""
    return [*steps[:s], [*steps[s][:t], *moves, *steps[s][t + 1 :]], *steps[s + 1 :]]


def _moved(steps: Steps, s: int, t: int, other: int) -> Steps:
    """Return the steps with a move in another step, a new one if there is no such step.

    In its own step it is then twice.
    """
    move = steps[s][t]
    if other == s:
        return _edited(steps, s, t, [move, move])
    found = _edited(steps, s, t, [])
    if other < 0:
        return [[move], *found]
    return [*found, [move]] if other == len(steps) else [
        *found[:other], [*found[other], move], *found[other + 1 :]
    ]  # fmt: skip


def _variants(move: dict[str, Any], nodes: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield the move with another path, message or sum."""
    path = move["path"]
    paths = [path[::-1], path[:-1], path[1:], [path[0], path[-1]], [*path, path[-1]]]
    paths.append([*path, nodes])
    for node in range(nodes):
        paths += [[*path, node], [node, *path], [*path[:-1], node], [node, *path[1:]]]
        paths += [[*path[:i], node, *path[i:]] for i in range(1, len(path))]
        paths += [[*path[:i], node, *path[i + 1 :]] for i in range(1, len(path) - 1)]
    for other in paths:
        if other != path:
            yield {**move, "path": other}
    for message in {move["message"] + 1, 0, rng.randrange(8)} - {move["message"]}:
        yield {**move, "message": message}
    if "sum" in move:
        parts = move["sum"]
        sums = [parts[:i] + parts[i + 1 :] for i in range(len(parts))]
        sums += [sorted([*parts, node]) for node in range(nodes + 1)]
        sums += [rng.sample(range(nodes), rng.randrange(1, nodes + 1))]
        for other in sums:
            if other != parts:
                yield {**move, "sum": other}


def _random_move(instance: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    nodes, collective = instance["network"]["nodes"], instance["collective"]
    messages = len(collective["messages"]) * collective.get("chunks", 1)
    path = rng.sample(range(nodes), min(nodes, rng.choice((2, 2, 3))))
    channels = instance["network"]["channels"]
    if channels and rng.random() < 0.7:
        path = copy.copy(rng.choice(channels)[:2])
    move: dict[str, Any] = {"message": rng.randrange(messages), "path": path}
    if "members" in collective["messages"][0]:
        move["sum"] = sorted(rng.sample(range(nodes), rng.randrange(1, nodes + 1)))
    return move
