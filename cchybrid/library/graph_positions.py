"""Positions of the nodes of a graph, by the attributes of several formats."""

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from cchybrid.model.errors import InputError, with_context


def node_positions(
    labels: Sequence[Hashable], data: Sequence[Mapping[str, Any]]
) -> tuple[tuple[tuple[float, ...], ...] | None, list[str]]:
    """Return the positions if every node has one, otherwise a note if only some have one."""
    found = []
    for label, each in zip(labels, data, strict=True):
        with with_context(f"node {label}"):
            position = _position(each)
        if position is not None:
            found.append(position)
    if len(found) == len(labels):
        if len({len(position) for position in found}) > 1:
            raise InputError(
                "some positions have two coordinates, others three", hint="give all the same number"
            )
        return tuple(found), []
    if found:
        return None, [f"positions of {len(found)} of {len(labels)} nodes are not used"]
    return None, []


def _position(data: Mapping[str, Any]) -> tuple[float, ...] | None:
    graphics = data.get("graphics")
    places = [data, graphics if isinstance(graphics, Mapping) else {}]
    for place in places:
        if "x" in place and "y" in place:
            return _coordinates([place[key] for key in ("x", "y", "z") if key in place])
        if place is data and {"x", "y", "z"} & {*place}:
            raise InputError("a coordinate is missing", hint="give x and y")
    for key in ("pos", "position"):
        if key in data:
            value = data[key]
            if isinstance(value, str):
                value = re.split(r"[\s,;]+", value.strip(" \t()[]!"))
            try:
                return _coordinates(list(value))
            except TypeError:
                return _coordinates([])
    return None


def _coordinates(values: Sequence[Any]) -> tuple[float, ...]:
    try:
        position = tuple(map(float, values))
    except (TypeError, ValueError, OverflowError):
        position = ()
    if len(position) not in (2, 3) or not all(map(math.isfinite, position)):
        raise InputError("no valid position", hint="give two or three finite numbers")
    return position
