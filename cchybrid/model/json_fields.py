"""Typed access to parsed JSON; errors name the place of the wrong value."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cchybrid.model.errors import InputError

T = TypeVar("T")

_NAMES = {
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
    bool: "true or false",
}


def parse_json(text: str) -> Any:
    """Parse JSON text, or raise an ``InputError`` that names line and column."""

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InputError(
                    f"the key {show(key)} is listed twice in one object", hint="keep one of them"
                )
            found[key] = value
        return found

    try:
        return json.loads(
            text, object_pairs_hook=distinct, parse_constant=_read_float, parse_float=_read_float
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"not valid JSON: {error.msg}",
            where=f"line {error.lineno}, column {error.colno}",
            hint="correct the file there",
        ) from None
    except RecursionError:
        raise InputError("not valid JSON: nested too deeply", hint="flatten the file") from None
    except ValueError as error:
        raise InputError(f"not valid JSON: {error}", hint="correct the file") from None


def _read_float(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):  # NaN, Infinity, 1e999
        raise InputError(f"not valid JSON: {word} is no number", hint="use a finite number")
    return number


def is_kind(value: Any, kind: type) -> bool:
    """Return whether a JSON value is of a Python type; here a boolean is not an integer."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def expect(value: Any, kind: type[T], where: str) -> T:
    """Return ``value`` if it is of that type, else raise an ``InputError`` at ``where``."""
    if not is_kind(value, kind):
        raise InputError(
            f"{show(value)} is not {_NAMES[kind]}", where=where, hint=f"write {_NAMES[kind]}"
        )
    return value  # type: ignore[no-any-return]


def show(value: Any) -> str:
    """Return a JSON value short enough for an error line."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


def take(record: Mapping[str, Any], key: str, kind: type[T], where: str, default: Any = ...) -> T:
    """Return ``record[key]`` of that type; without a default the key must be there."""
    if key not in record:
        if default is not ...:
            return default  # type: ignore[no-any-return]
        raise InputError("the key is missing", where=join(where, key), hint=f"add {_NAMES[kind]}")
    return expect(record[key], kind, join(where, key))


def take_list(
    record: Mapping[str, Any],
    key: str,
    read: Callable[[Any, str], T],
    where: str,
    default: Any = ...,
) -> tuple[T, ...]:
    """Return ``record[key]`` as a tuple, every item passed through ``read(item, place)``."""
    items = take(record, key, list, where, default)
    place = join(where, key)
    return tuple(read(item, f"{place}[{index}]") for index, item in enumerate(items))


def read_integer(value: Any, where: str) -> int:
    """Return an item of a list that must be an integer."""
    return expect(value, int, where)


def only_keys(record: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    """Raise an ``InputError`` for unknown keys, so that a misspelt key is not ignored."""
    for key in record:
        if key not in allowed:
            raise InputError(
                "the format has no such key",
                where=join(where, key),
                hint="use " + ", ".join(allowed),
            )


def join(where: str, key: str) -> str:
    """Return the place of a key inside a place."""
    return f"{where}.{key}" if where else key
