"""Instances: a network, a collective and a communication model."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, AnyStr, Literal, NoReturn, cast

from cchybrid.model.collective import Collective, Message, Reduction, SummedMessage
from cchybrid.model.communication import CommunicationModel, multiplied
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.json_fields import expect, only_keys, parse_json, show, take
from cchybrid.model.network import Channel, Network
from cchybrid.model.shown import ShownInstance
from cchybrid.model.text import described
from cchybrid.model.whole_numbers import MAX_CAPACITY

FORMAT, FORMAT_2 = "cchybrid-instance/1", "cchybrid-instance/2"
"""The formats of instance files; the second one is written where the first one lacks something."""
_NEWER: tuple[tuple[str, str, str, Callable[[Any], bool]], ...] = (
    ("collective", "chunks", "chunks", lambda value: True),
    ("model", "rounds", "rounds", lambda value: True),
    ("model", "routing", "routing table", lambda value: isinstance(value, dict)),
    ("model", "switching", "switching {}", lambda value: value == "tdm"),
    ("network", "times", "times of channels", lambda value: True),
    ("network", "groups", "groups of channels", lambda value: True),
    ("collective", "kind", "kind {}", lambda kind: kind in ("allreduce", "scan", "exscan")),
)
"""The parts that the first format lacks: object, key, words, and for which values."""
Horizon = Literal["steps", "slots", "ticks"]
MAX_FILE_CHARACTERS = 1 << 28
"""Longer files are refused: the wrong file must not exhaust the memory."""
_PIECE = 1 << 20
"""Characters or bytes that are read at once."""
DEFAULT_MODEL = CommunicationModel()


@dataclass(frozen=True, repr=False)
class Instance(ShownInstance):
    """The input of every search: the shortest schedule of a collective on a network."""

    network: Network
    collective: Collective
    model: CommunicationModel = DEFAULT_MODEL
    name: str = ""

    def __post_init__(self) -> None:
        for key, kind in (
            ("network", Network), ("collective", Collective), ("model", CommunicationModel),
        ):  # fmt: skip
            value = getattr(self, key)
            if not isinstance(value, kind):
                raise InputError(
                    f"{described(value)} is no {kind.__name__}",
                    where=key,
                    hint="names, graphs and lists: use cchybrid.instance",
                )
        if not isinstance(self.name, str):
            raise InputError(f"{described(self.name)} is no name", where="name", hint="give a text")
        if not self.name:
            object.__setattr__(self, "name", self._default_name())
        nodes = self.network.nodes
        messages = self.collective.deliver_messages
        named = set(chain.from_iterable(message.destinations for message in messages))
        named.update([source for source, _ in messages])
        if min(named) < 0 or max(named) >= nodes:
            self._refuse_node()
        self.model.check_fits(self.network, self.collective)
        for key in ("inject", "accept"):
            ports = getattr(self.model, key)
            if isinstance(ports, tuple) and len(ports) != nodes:
                raise InputError(
                    f"{len(ports)} numbers for {nodes} nodes",
                    where=f"model.ports.{key}",
                    hint="give one per node",
                )

    def _default_name(self) -> str:
        differences = _differences(self.collective, self.model)
        return ", ".join((f"{self.network.name} {self.collective.name}", *differences))

    @property
    def horizon(self) -> Horizon:
        """The meaning of steps: the ``slots`` of a period, ``ticks``, or plain ``steps``."""
        return "slots" if self.model.periodic else "ticks" if self.network.times else "steps"

    @property
    def full_name(self) -> str:
        """The name, with the words for chunks, model and half-duplex links that it lacks."""
        half = ("half duplex",) if self.network.half_duplex else ()
        stated = self.name.split(", ")
        words = (*_differences(self.collective, self.model), *half)
        return ", ".join((self.name, *(word for word in words if word not in stated)))

    def _refuse_node(self) -> NoReturn:
        """Raise an error for the first node that the network does not have."""
        nodes = self.network.nodes
        index, node = next(
            (index, node)
            for index, message in enumerate(self.collective.deliver_messages)
            for node in (message.source, *message.destinations)
            if not 0 <= node < nodes
        )
        raise InputError(
            f"no node {node} in {self.network.name}",
            where=f"collective.messages[{index}]",
            hint=f"use 0 to {nodes - 1}",
        )

    @cached_property
    def forward(self) -> Instance:
        """The instance itself; for ``combine`` its reversal, a set of broadcasts.

        Reversal happens only here and in ``reverse_steps``. An ``allreduce`` or a scan is no set
        of broadcasts, so this raises an ``InputError``: all that works on deliveries refuses it.
        """
        if self.collective.kind == "deliver":
            return self
        if self.collective.with_sums:
            raise InputError(
                f"{self.collective.kind} is not a set of broadcasts",
                where=self.name,
                hint="solve, bound, prove, verify and export work on it; or use the halves of an "
                "allreduce, reduce-scatter and allgather",
            )
        return Instance(
            network=self.network.reversed(),
            collective=Collective(
                f"{self.collective.name} backwards",
                self.collective.deliver_messages,
                self.collective.chunks,
            ),
            model=self.model.reversed(),
            name=f"{self.name} backwards",
        )

    def part_from(self, node: int) -> Instance:
        """Return the broadcasts that every schedule of this ``allreduce`` or scan contains.

        Those of the node's own parts, to the other members that need them: a lower bound for it is
        one for the whole.
        """
        others = self.other_members(node, back=False)
        return self._part(f"broadcast from {node}", (Message(node, each) for _, each in others))

    def part_to(self, node: int) -> Instance:
        """Return the reductions to a node that every schedule of an ``allreduce`` or scan contains.

        Every step is as wide as that of most rounds: rounds of reductions count from the last step,
        whose number is not known.
        """
        others = self.other_members(node, back=True)
        part = self._part(f"reduction to {node}", (Reduction(each, node) for _, each in others))
        rounds = (max(self.model.rounds),) if self.model.rounds else ()
        return replace(part, model=replace(self.model, rounds=rounds))

    def other_members(self, node: int, back: bool) -> list[tuple[int, tuple[int, ...]]]:
        """Return, per message with such a part, its number and the other members of the part.

        They need the part of the node; with ``back`` the node needs theirs. A later member of a
        scan may forward what the node needs, which no reduction in wormhole switching allows: there
        the others are then all members, or there is no such part.
        """
        found = []
        for number, message in enumerate(cast(tuple[SummedMessage, ...], self.collective.messages)):
            if node in message.members:
                ends = message.needed(node) if back else message.needing(node)
                others = tuple(member for member in ends if member != node)
                whole = not back or self.model.hop_by_hop
                if others and (whole or len(others) == len(message.members) - 1):
                    found.append((number, others))
        if not found:
            raise InputError(
                f"node {node} has no such part", where=self.name, hint="name another member"
            )
        return found

    def _part(self, name: str, messages: Iterable[Message] | Iterable[Reduction]) -> Instance:
        chunks = self.collective.chunks
        collective = Collective(name, cast(Any, tuple(messages)), chunks)
        return Instance(self.network, collective, self.model)

    @cached_property
    def widest(self) -> Instance:
        """The instance with every step as wide as that of most rounds; itself without rounds.

        A lower bound for it is one for the instance.
        """
        model = self.model
        if not model.rounds:
            return self
        times = max(model.rounds)
        channels = tuple(
            Channel(a, b, min(times * size, MAX_CAPACITY)) for a, b, size in self.network.channels
        )
        inject, accept = multiplied(model.inject, times), multiplied(model.accept, times)
        return replace(
            self,
            network=replace(self.network, channels=channels),
            model=replace(model, rounds=(), inject=inject, accept=accept),
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what is to be scheduled: the instance without names, positions, switches."""
        record = self.to_json()
        for part in (record, record["network"], record["collective"]):
            del part["name"]
        for key in ("positions", "node_names", "switches", "tick"):
            record["network"].pop(key, None)
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def with_model(self, **changes: Any) -> Instance:
        """Return the same instance under a communication model changed in the given fields."""
        return self.with_model_of(replace(self.model, **changes))

    def in_chunks(self, chunks: int) -> Instance:
        """Return the instance with every message cut into this number of equal chunks."""
        return self._changed(self.collective.in_chunks(chunks), self.model)

    def with_model_of(self, model: CommunicationModel) -> Instance:
        """Return the same instance under another communication model."""
        return self._changed(self.collective, model)

    def _changed(self, collective: Collective, model: CommunicationModel) -> Instance:
        """Return the instance with others of these; its name loses the words that become wrong."""
        gone = {*_differences(self.collective, self.model)} - {*_differences(collective, model)}
        words = [word for word in self.name.split(", ") if word not in gone]
        name = "" if self.name == self._default_name() else ", ".join(words)
        return replace(self, collective=collective, model=model, name=name)

    def to_json(self) -> dict[str, Any]:
        """Return the instance as an object of the instance format."""
        network, collective, model = self.network, self.collective, self.model
        newer = network.times or network.groups or model.rounds or model.table or model.periodic
        newer = newer or collective.chunks > 1 or collective.with_sums
        return {
            "format": FORMAT_2 if newer else FORMAT,
            "name": self.name,
            "network": network.to_json(),
            "collective": collective.to_json(),
            "model": model.to_json(),
        }

    @classmethod
    def from_json(cls, record: Any) -> Instance:
        """Read an object of the instance format; raise an ``InputError`` that names the place."""
        record = expect(record, dict, "the file")
        if record.get("format") != FORMAT_2:
            check_format(record, FORMAT)
            for part, key, what, is_newer in _NEWER:
                found = record.get(part)
                if isinstance(found, dict) and key in found and is_newer(found[key]):
                    raise InputError(
                        f"{FORMAT} has no {what.format(found[key])}",
                        where=f"{part}.{key}",
                        hint=f'write "format": "{FORMAT_2}"',
                    )
        only_keys(record, ("format", "name", "network", "collective", "model"), "")
        for key in ("network", "collective"):
            take(record, key, dict, "")
        return cls(
            network=Network.from_json(record["network"]),
            collective=Collective.from_json(record["collective"]),
            model=CommunicationModel.from_json(record.get("model", {})),
            name=take(record, "name", str, "", ""),
        )

    def save(self, path: str | Path) -> None:
        """Write the instance as a file of the instance format."""
        write_json(self.to_json(), path)

    @classmethod
    def load(cls, path: str | Path) -> Instance:
        """Read a file of the instance format; an ``InputError`` names file and place."""
        with with_context(path):
            return cls.from_json(parse_json(read_text(path)))


def _differences(collective: Collective, model: CommunicationModel) -> tuple[str, ...]:
    """Return the words for chunks and model in the name of an instance."""
    chunks = (f"{collective.chunks} chunks",) if collective.chunks > 1 else ()
    last_first = ("last first",) if counts_rounds_back(collective, model) else ()
    return (*chunks, *model.differences, *last_first)


def counts_rounds_back(collective: Collective, model: CommunicationModel) -> bool:
    """Return whether different rounds of steps are counted from the last step."""
    return collective.kind == "combine" and len(model.rounds) > 1


def read_json(path: str | Path) -> Any:
    """Return the JSON value in a file, or raise an ``InputError`` that names the file."""
    with with_context(path):
        return parse_json(read_text(path))


def check_format(record: dict[str, Any], expected: str) -> None:
    """Raise an ``InputError`` unless a JSON object declares the expected format."""
    found = record.get("format")
    if found != expected:
        raise InputError(
            f"the format is {show(found)}" if found is not None else "the key is missing",
            where="format",
            hint=f'give a file with "format": "{expected}"',
        )


def read_text(path: str | Path) -> str:
    """Return a file's text, or raise an ``InputError`` that says why it cannot be read.

    A byte order mark, which some editors put first, is dropped.
    """
    try:
        with open(Path(path), encoding="utf-8-sig", opener=_open_without_waiting) as file:
            _expect_regular(os.fstat(file.fileno()).st_mode)
            text = read_up_to(file.read, MAX_FILE_CHARACTERS + 1)
        if len(text) > MAX_FILE_CHARACTERS:
            raise InputError(
                f"more than {MAX_FILE_CHARACTERS} characters are too many", hint="split the file"
            )
        return text
    except UnicodeDecodeError:
        raise InputError("not a text file", where="", hint="give a UTF-8 text file") from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", where="", hint="check the name and its permissions"
        ) from None
    except TypeError:
        raise InputError(f"{described(path)} is no name of a file", hint="give a text") from None
    except ValueError:
        raise InputError("cannot be read: no file has such a name", hint="check it") from None


def read_up_to(read: Callable[[int], AnyStr], size: int) -> AnyStr:
    """Return up to ``size`` characters or bytes of a file, by its method ``read``.

    They are read piece by piece, as ``read(size)`` reserves the memory for all of them first.
    """
    found = read(min(size, _PIECE))
    parts = [found]
    while found and (size := size - len(found)):
        found = read(min(size, _PIECE))
        parts.append(found)
    return found[:0].join(parts)


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file; of a pipe, which has no end or no writer, at once, too."""
    return os.open(path, flags | os.O_NONBLOCK)


def expect_file(path: str | Path) -> None:
    """Raise an ``InputError`` that says what is at a path if it is no file."""
    try:
        _expect_regular(os.stat(path).st_mode)
    except FileNotFoundError:
        raise InputError("no such file", hint="check the name") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", hint="check the name") from None
    except ValueError:
        raise InputError("cannot be read: no file has such a name", hint="check it") from None


def _expect_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
        shown = what.get(stat.S_IFMT(mode), "device")
        raise InputError(f"is a {shown}, not a file", where="", hint="give a file")


def is_file(path: str | Path) -> bool:
    """Return whether the path is that of a file; an impossible name gives ``False``."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def expect_suffix(path: Path, known: Sequence[str], where: str) -> None:
    """Raise an ``InputError`` unless the name of a file ends in one of the known suffixes."""
    if path.suffix not in known:
        names = " or ".join(", ".join(known).rsplit(", ", 1))
        raise InputError(
            f"the file type {path.suffix or 'of ' + path.name!r} is not known",
            where=where,
            hint=f"use a name that ends in {names}",
        )


def make_folder(path: Path) -> None:
    """Make a folder if there is none, or raise an ``InputError`` that says why it failed."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be made: {error.strerror}", where=str(path), hint="name another folder"
        ) from None


def write_text(text: str, path: str | Path) -> None:
    """Write a text file as ``write_bytes`` does, in UTF-8."""
    write_bytes(text.encode("utf-8"), path)


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write a file as ``write_parts`` does."""
    write_parts((content,), path)


def write_parts(parts: Iterable[bytes], path: str | Path) -> None:
    """Write a file atomically, or raise an ``InputError`` that says why it failed."""
    try:
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
        if Path(path).exists() and not target.is_file():
            # A device or a pipe, such as /dev/stdout, must not be replaced by a file.
            with Path(path).open("wb") as file:
                file.writelines(parts)
            return
        try:
            with draft.open("wb") as file:
                file.writelines(parts)
            draft.replace(target)
        except BaseException:  # Ctrl-C, too
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise InputError(
            f"cannot be written: {reason}",
            where=str(path),
            hint="check the folder and its permissions",
        ) from None


def write_json(record: dict[str, Any], path: str | Path) -> None:
    """Write a JSON object to a file, one top-level key per line."""
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in record.items())
    write_text("{" + ",\n ".join(lines) + "}\n", path)
