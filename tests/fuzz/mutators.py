"""Mutations of files: of bytes, of the words of a text, of a JSON tree, and of an SQLite file.

Every mutation takes a ``random.Random`` and the seed file, and is decided by the two alone.
"""

import contextlib
import copy
import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from tests.exhaustive.mutation import change_place

Mutator = Callable[[random.Random, bytes, list[bytes]], bytes]
"""A function of the random numbers, the seed and all seeds of the reader."""

MAX_BYTES = 400_000
"""Mutants are cut off here, so that the time limit is about the reader and not about the file."""
WORDS = (
    "", " ", "0", "-1", "1", "00", "01", "+1", "1_000", "1e3", "1e400", "-1e400", "0.1", "1/3",
    "0x10", "9" * 9, "9" * 20, "9" * 400, "9" * 5000, "-" + "9" * 30, "2147483648",
    "18446744073709551616", "nan", "NaN", "inf", "Infinity", "-Infinity", "true", "false", "null",
    "None", "True", "[", "]", "{", "}", "[]", "{}", '"', "'", "\\", "<", ">", "&", "#", ",", ";",
    ":", "=", "*", "../../nowhere/file", "/dev/zero", "/", ".", "a" * 100_000, "\0", "\ufeff",
    "\u0664\u0662", "\u00b2", "\uff11", "\u2460", "\u0969", "\u202e", "\u2028", "\x85", "\x0b",
    "\U0001f600", "e\u0301", "\t", "\r", "\r\n", "\n\n", "%s%n", "{0.__class__}", "$(id)",
)  # fmt: skip
"""Words that have broken readers: signs, other digits, huge numbers, marks of syntax, controls."""
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 255, 65_536, 2**31, 2**53, 2**63, 2**64 + 1, -(2**70),
    10**30, 10**400, 10**4000, 0.0, -0.0, 0.5, 1.0, 1e308, 5e-324, float("nan"), float("inf"),
    float("-inf"), "", "0", "1", "all", "any", "minimal", "\u0664", "\ud800", "\0", "\n", "a" * 999,
    [], [[]], [0], [0, 0], [0, 1, 2, 3], [True], [None], ["0"], [10**30], [0.5], {}, {"": 0},
    {"kind": "linear"}, {"format": None}, [0] * 1000, list(range(300)),
)  # fmt: skip
"""Values of every type that JSON has, among them those that a comparison mistakes for others."""


def mutate_bytes(rng: random.Random, data: bytes, seeds: list[bytes]) -> bytes:
    """Flip, drop, repeat or insert bytes, cut or replace the file, or continue it with another."""
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((1, 1, 2, 8, 64, 1000)))
        other = rng.choice(seeds)
        change = rng.randrange(9)
        if change == 0 and start < len(data):
            data = data[:start] + bytes([data[start] ^ (1 << rng.randrange(8))]) + data[start + 1 :]
        elif change == 1:
            data = data[:start] + data[end:]
        elif change == 2:
            data = data[:end] + data[start:end] * rng.choice((1, 1, 10, 1000)) + data[end:]
        elif change == 3:
            data = data[:start] + rng.choice(_BYTES) + data[start:]
        elif change == 4:
            data = data[:start]
        elif change == 5:
            data = data[:start] + other[rng.randrange(len(other) + 1) :]
        elif change == 6:
            data = data[:start] + rng.randbytes(rng.choice((1, 3, 30))) + data[start:]
        elif change == 7:
            data = b"".join(rng.choices((data[start:end], rng.randbytes(9), *_BYTES), k=3))
        else:
            data = rng.choice(_BYTES) + data
        data = data[:MAX_BYTES]
    return data


_BYTES = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
    b"\x1b[31m", b"\x85", b"\r", b"\n", b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"(" * 3000,
    b"9" * 5000, b"\xd9\xa4", b'"', b"<a>" * 2000, b"- " * 1000,
)  # fmt: skip


def mutate_words(rng: random.Random, data: bytes, seeds: list[bytes]) -> bytes:
    """Replace, drop, repeat or exchange words, numbers, marks and lines of a text."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, data, seeds)
    text = data.decode(errors="surrogateescape")
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if rng.random() < 0.3:
            text = _with_other_lines(rng, text)
            continue
        pieces = re.findall(r"\w+|\s+|[^\w\s]", text) or [""]
        place = rng.randrange(len(pieces))
        change = rng.randrange(6)
        if change == 0:
            pieces[place] = rng.choice(WORDS)
        elif change == 1:
            pieces[place] = ""
        elif change == 2:
            pieces[place] = _times(pieces[place], rng.choice((2, 2, 3, 500)))
        elif change == 3:
            pieces[place] = rng.choice(pieces)
        elif change == 4:
            pieces.insert(place, rng.choice(WORDS))
        elif re.fullmatch(r"[0-9]{1,300}", pieces[place]):
            pieces[place] = str(abs(int(pieces[place]) + rng.choice((-2, -1, 1, 2, 10, 1000))))
        else:
            pieces[place] = pieces[place].swapcase()
        text = "".join(pieces)[:MAX_BYTES]
    return text.encode(errors="surrogateescape")[:MAX_BYTES]


def _with_other_lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(4)
    if change == 0:
        del lines[a]
    elif change == 1:
        lines.insert(b, lines[a])
    elif change == 2:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        lines[a] = _times(lines[a], rng.choice((2, 200)))
    return "\n".join(lines)


def _times(text: str, count: int) -> str:
    """Return a text as many times, of ``MAX_BYTES`` characters at most."""
    return text[: MAX_BYTES // count] * count


def mutate_json(rng: random.Random, data: bytes, seeds: list[bytes]) -> bytes:
    """Change values, keys and lists of a JSON tree; sometimes the words of its text instead."""
    kind = rng.random()
    if kind < 0.15:
        return mutate_bytes(rng, data, seeds)
    if kind < 0.25:
        return mutate_words(rng, data, seeds)
    tree = json.loads(data)
    if kind < 0.5:
        for _ in range(rng.choice((1, 1, 2))):
            change_place(tree, [], rng)
        return json.dumps(tree).encode()
    if kind < 0.53:
        return _with_a_key_twice(rng, tree)
    text = json.dumps(tree)
    # What is nested too deeply to be written is left as it was before.
    with contextlib.suppress(RecursionError):
        for _ in range(rng.choice((1, 1, 1, 1, 2, 3, 6))):
            tree = _with_change(rng, tree, seeds)
            text = json.dumps(tree)
    return text.encode()[:MAX_BYTES]


def _with_a_key_twice(rng: random.Random, tree: Any) -> bytes:
    """Return the text of a tree in which some object begins with the same key twice."""
    text = json.dumps(tree)
    starts = [found.end() for found in re.finditer(r"\{(?=\")", text)] or [0]
    start = rng.choice(starts)
    key = re.match(r'"[^"]*": ', text[start:])
    return f"{text[:start]}{key.group() + '0, ' if key else ''}{text[start:]}".encode()


def _with_change(rng: random.Random, tree: Any, seeds: list[bytes]) -> Any:
    path = _some_place(rng, tree)
    if rng.random() < 0.7:  # leaves are many: lists and objects shall be changed as often
        path = path[: rng.randrange(len(path) + 1)]
    value: Any = tree
    for key in path:
        outer, value = value, value[key]
    new = _changed(rng, value, tree, seeds)
    if not path:
        return new
    if rng.random() < 0.15:
        del outer[path[-1]]
    elif isinstance(outer, dict) and rng.random() < 0.1:
        outer[rng.choice((*WORDS[:40], *outer))] = new
    else:
        outer[path[-1]] = new
    return tree


def _changed(rng: random.Random, value: Any, tree: Any, seeds: list[bytes]) -> Any:
    """Return a value in the place of this one."""
    change = rng.randrange(10)
    if change < 3 and type(value) is int:
        return value + rng.choice((-1, 1, 1, 2, -2, 1000, 2**32))
    if change < 3 and isinstance(value, list) and value:
        return (
            [*value, *value] if rng.random() < 0.5 else rng.sample(value, rng.randrange(len(value)))
        )
    if change == 4:
        for _ in range(rng.choice((1, 3, 500))):
            value = [value] if rng.random() < 0.5 else {"a": value}
        return value
    if change == 5:  # what stands elsewhere, in this file or in another
        source = tree if rng.random() < 0.5 else json.loads(rng.choice(seeds))
        path = _some_place(rng, source)
        for key in path[: rng.randrange(len(path) + 1)]:
            source = source[key]
        text = json.dumps(source)
        return json.loads(text) if len(text) < 20_000 else 0
    if change == 6 and isinstance(value, int | float):
        return str(value) if rng.random() < 0.5 or type(value) is float else float(value % 2**60)
    return copy.deepcopy(rng.choice(VALUES))  # later changes must not reach the constant


def _some_place(rng: random.Random, tree: Any) -> tuple[Any, ...]:
    """Return the path to a leaf: of all leaves, or by equal choices from the root on.

    The latter chooses values that stand beside long lists as often as these.
    """
    if rng.random() < 0.5:
        return rng.choice(list(_places(tree)))
    path: list[Any] = []
    while isinstance(tree, dict | list) and tree and len(path) < 40:
        path.append(rng.choice(list(tree)) if isinstance(tree, dict) else rng.randrange(len(tree)))
        tree = tree[path[-1]]
    return tuple(path)


def _places(value: Any, path: tuple[Any, ...] = (), depth: int = 40) -> Iterator[tuple[Any, ...]]:
    items: Any = ()
    if depth and isinstance(value, dict):
        items = list(value.items())
    elif depth and isinstance(value, list):
        items = list(enumerate(value))[:200]
    if not items:
        yield path
    for key, inner in items:
        yield from _places(inner, (*path, key), depth - 1)


def mutate_xml(rng: random.Random, data: bytes, seeds: list[bytes]) -> bytes:
    """Change words of XML, or declare entities, other encodings and the like in it."""
    if rng.random() < 0.8:
        return mutate_words(rng, data, seeds)
    body = re.sub(rb"<\?xml[^>]*\?>", b"", data)
    tags = list(re.finditer(rb"<(\w+)[^>]*>", body)) or list(re.finditer(b"", body))
    root = tags[0].group(1) if tags[0].lastindex else b"a"
    change = rng.randrange(5)
    if change == 0:  # entities that grow exponentially
        levels = b"".join(
            b'<!ENTITY e%d "%s">' % (n, (b"&e%d;" % (n - 1)) * 10) for n in range(1, 12)
        )
        body = b'<!DOCTYPE %s [<!ENTITY e0 "x">%s]>%s' % (root, levels, body)
        return body.replace(b"</", b"&e11;</", 1)
    if change == 1:
        outer = b'<!DOCTYPE %s [<!ENTITY e SYSTEM "file:///etc/hostname">]>' % root
        return outer + body.replace(b">", b">&e;", rng.randrange(1, 5))
    if change == 2:
        word = rng.choice((b"utf-16", b"latin-1", b"ascii", b"utf-7", b"none", b"x" * 99))
        return b'<?xml version="1.0" encoding="%s"?>' % word + body
    if change == 3:
        return b"<a>" * rng.choice((10, 5000)) + body
    tag = rng.choice(tags)  # it is opened twice, in itself or in another element
    place = rng.choice(tags).end()
    return body[:place] + tag.group() * rng.choice((1, 3, 100)) + body[place:]


def mutate_sqlite(rng: random.Random, data: bytes, seeds: list[bytes]) -> bytes:
    """Change cells, rows and tables of an SQLite file, or its bytes."""
    if rng.random() < 0.25:
        return mutate_bytes(rng, data, seeds)
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.deserialize(data)
        for _ in range(rng.choice((1, 1, 2, 4))):
            # A cell that an earlier change has damaged may be no JSON, or nested too deeply.
            with contextlib.suppress(sqlite3.Error, ValueError, RecursionError):
                _change_database(rng, database, seeds)
        return database.serialize()


_COLUMNS = {
    "meta": ("key", "value"), "suites": ("suite", "position", "row", "content"),
    "runs": ("row", "contestant", "seed", "failure", "result", "schedule"),
}  # fmt: skip
_CELLS = (
    None, "", 0, 1, -1, 2**63 - 1, 0.5, float("inf"), b"", b"\0\xff", "\ud800", "[]", "{}", "x",
)  # fmt: skip


def _change_database(rng: random.Random, database: sqlite3.Connection, seeds: list[bytes]) -> None:
    table = rng.choice(("meta", "suites", "runs", "runs", "runs"))
    column = rng.choice(_COLUMNS[table])
    change = rng.randrange(12)
    if change == 0:
        database.execute(f"DROP TABLE {table}")
    elif change == 1:
        database.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
    elif change == 2:
        database.execute(f"DELETE FROM {table}")
    elif change == 3:
        database.execute(f"INSERT INTO {table} SELECT * FROM {table}")
    elif change < 6:
        database.execute(f"UPDATE {table} SET {column} = ?", (rng.choice(_CELLS),))
    elif change == 6:
        database.execute("ALTER TABLE runs RENAME TO runs_before")
        database.execute("CREATE TABLE runs AS SELECT * FROM runs_before")
        database.execute(
            f"UPDATE runs SET {rng.choice(_COLUMNS['runs'])} = ?", (rng.choice(_CELLS),)
        )
    else:
        rows = database.execute(f"SELECT {column} FROM {table}").fetchall()
        (value,) = rng.choice(rows or [(None,)])
        if isinstance(value, str):
            raw = value.encode()
            change_text = mutate_json if value.startswith("{") else mutate_words
            new: Any = change_text(rng, raw, [raw]).decode(errors="replace")
        elif isinstance(value, bytes):
            new = mutate_bytes(rng, value, [value])
        else:
            new = rng.choice(_CELLS)
        database.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (new, value))
