"""The communication model: switching, ports, routing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from cchybrid.model.collective import Collective
from cchybrid.model.errors import InputError, Problem, refuse_first
from cchybrid.model.json_fields import expect, only_keys, read_integer, show, take, take_list
from cchybrid.model.network import Network
from cchybrid.model.routing_table import RoutingTable
from cchybrid.model.whole_numbers import MAX_CAPACITY, whole, whole_tuple

SWITCHINGS = "wormhole", "store-and-forward", "tdm"
Switching = Literal["wormhole", "store-and-forward", "tdm"]
Routing = Literal["minimal", "any"] | int | RoutingTable
Ports = int | tuple[int, ...] | None

MAX_ROUNDS = 1_000_000
"""Largest number of rounds of a step, so that capacities stay within 64 bits."""


@dataclass(frozen=True)
class CommunicationModel:
    """The rules by which messages move: switching, ports, routing.

    Parameters
    ----------
    switching
        ``wormhole`` (a message occupies a whole path during one step), ``store-and-forward`` (one
        hop per step, every node may keep and forward), or ``tdm`` (time-division multiplexing: the
        schedule is repeated again and again, its steps are the time slots of the period, and a
        message uses the channels of its path in consecutive slots).
    inject, accept
        Messages that a node may inject and accept in one step: one number for all nodes, one
        number per node, or ``None`` for all-port (only the channels limit).
    routing
        ``minimal``, ``any``, the number of hops that a path may exceed the shortest by, or in
        wormhole switching a table of next hops.
    rounds
        Per step how many rounds it has: channels and ports carry that many times what they carry
        in one round. The last number holds for all further steps, so it is kept once; an empty
        tuple means one round in every step. For ``combine`` collectives the steps are counted from
        the last one, as schedules are read backwards.
    """

    switching: Switching = "wormhole"
    inject: Ports = None
    accept: Ports = None
    routing: Routing = "minimal"
    rounds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._take_rounds()
        for key in ("inject", "accept"):
            ports = getattr(self, key)
            if ports is not None and type(ports) is not int:
                several = isinstance(ports, (tuple, list))
                read = whole_tuple if several else whole
                self.__dict__[key] = read(ports, f"model.{key}")
        if not isinstance(self.routing, str | RoutingTable):
            self.__dict__["routing"] = whole(self.routing, "model.routing")
        refuse_first(self._problems())

    def _problems(self) -> Iterator[Problem]:
        if self.table is not None and self.hop_by_hop:
            yield "a routing table is for wormhole switching", "model.routing", "leave it out"
        if self.switching not in SWITCHINGS:
            yield (
                f"unknown switching {self.switching!r}",
                "model.switching",
                "use wormhole, store-and-forward (hop by hop) or tdm",
            )
        if self.periodic and self.rounds:
            yield "rounds of time slots", "model.rounds", "use channels of larger capacity"
        if (self.inject is None) != (self.accept is None):
            yield "only one of inject and accept is limited", "model.ports", 'give both, or "all"'
        for ports in (self.inject, self.accept):
            smallest = 1 if isinstance(ports, int) else 0
            if any(not smallest <= k <= MAX_CAPACITY for k in _as_tuple(ports)):
                many = min(_as_tuple(ports)) >= smallest
                yield (
                    f"too {'many' if many else 'few'} ports",
                    "model.ports",
                    "use at most 2^128" if many else f"use at least {smallest}",
                )
        if isinstance(self.routing, str) and self.routing not in ("minimal", "any"):
            yield (
                f"unknown routing {self.routing!r}",
                "model.routing",
                "use minimal, any, or a number of extra hops; instances: also xy, FILE.csv",
            )
        if isinstance(self.routing, int) and not 0 <= self.routing <= MAX_CAPACITY:
            yield f"{str(self.routing)[:20]} extra hops", "model.routing", "use 0 to 2^128"

    def _take_rounds(self) -> None:
        """Check ``rounds`` and drop repetitions of the last number."""
        rounds = whole_tuple(self.rounds, "model.rounds")
        if any(not 0 < number <= MAX_ROUNDS for number in rounds):
            raise InputError(
                f"{next(n for n in rounds if not 0 < n <= MAX_ROUNDS)} rounds in a step",
                where="model.rounds",
                hint=f"use 1 to {MAX_ROUNDS}",
            )
        while len(rounds) > 1 and rounds[-1] == rounds[-2]:
            rounds = rounds[:-1]
        self.__dict__["rounds"] = () if rounds == (1,) else rounds

    @property
    def hop_by_hop(self) -> bool:
        """Whether every transfer is one hop, and nodes store what they forward."""
        return self.switching == "store-and-forward"

    @property
    def periodic(self) -> bool:
        """Whether the steps are the time slots of a period, which is repeated."""
        return self.switching == "tdm"

    def check_fits(self, network: Network, collective: Collective) -> None:
        """Raise an ``InputError`` for the table of another network, or messages not allowed."""
        if self.table is not None:
            self.table.check(network)
        if self.periodic and collective.kind != "deliver":
            raise InputError(
                "messages of several sources in time slots",
                where="collective",
                hint="use messages of one source each, such as AAS or AAB, with tdm",
            )
        if network.times and (self.periodic or self.rounds or collective.with_sums):
            what = "sums" if collective.with_sums else "rounds" if self.rounds else "time slots"
            raise InputError(
                f"{what} on channels with times of their own",
                where="network.times",
                hint="leave the times out, or use another collective and model",
            )

    def rounds_in(self, step: int) -> int:
        """Return the rounds of a step, counted from 0; for ``combine`` from the last step."""
        return self.rounds[min(step, len(self.rounds) - 1)] if self.rounds else 1

    def total_rounds(self, steps: int) -> int:
        """Return the rounds of a schedule of this number of steps."""
        return sum(map(self.rounds_in, range(steps)))

    def inject_limit(self, node: int) -> int | None:
        """Return how many messages the node may inject per step; ``None`` means no limit."""
        return self.inject[node] if isinstance(self.inject, tuple) else self.inject

    def accept_limit(self, node: int) -> int | None:
        """Return how many messages the node may accept per step; ``None`` means no limit."""
        return self.accept[node] if isinstance(self.accept, tuple) else self.accept

    @property
    def table(self) -> RoutingTable | None:
        """The table that gives every pair of nodes its path, or ``None``."""
        return self.routing if isinstance(self.routing, RoutingTable) else None

    @property
    def extra_hops(self) -> int | None:
        """Hops that a path may exceed the shortest by; ``None``: any number, or a table."""
        if isinstance(self.routing, int):
            return self.routing
        return 0 if self.routing == "minimal" else None

    @property
    def differences(self) -> tuple[str, ...]:
        """Words for what differs from the default model, as they stand in the name of an instance.

        Examples
        --------
        >>> CommunicationModel("store-and-forward", 1, 1).differences
        ('store-and-forward', '1 port')
        >>> CommunicationModel(inject=1, accept=2, routing="any", rounds=(1, 2)).differences
        ('ports 1,2', 'any routing', 'rounds 1+2')
        """
        found = [] if self.switching == "wormhole" else [str(self.switching)]
        if isinstance(self.inject, tuple) or isinstance(self.accept, tuple):
            found.append("ports by node")
        elif self.inject != self.accept:
            found.append(f"ports {self.inject},{self.accept}")
        elif self.inject is not None:
            found.append(f"{self.inject} {'port' if self.inject == 1 else 'ports'}")
        if self.table is not None:
            found.append(str(self.table))
        elif self.routing not in ("minimal", 0):
            hops = "extra hop" if self.routing == 1 else "extra hops"
            found.append("any routing" if self.routing == "any" else f"{self.routing} {hops}")
        if self.rounds:
            found.append(f"rounds {'+'.join(map(str, self.rounds))}")
        return tuple(found)

    def reversed(self) -> "CommunicationModel":
        """Return the model of the reversed network: injecting and accepting are exchanged."""
        routing = self.routing if self.table is None else self.table.reversed()
        return replace(self, inject=self.accept, accept=self.inject, routing=routing)

    def to_json(self) -> dict[str, Any]:
        """Return the ``model`` object of the instance format."""
        ports: Any = "all"
        if self.inject is not None:
            if self.inject == self.accept and isinstance(self.inject, int):
                ports = self.inject
            else:
                ports = {"inject": _listed(self.inject), "accept": _listed(self.accept)}
        routing = self.routing if self.table is None else self.table.to_json()
        record = {"switching": self.switching, "ports": ports, "routing": routing}
        return {**record, "rounds": list(self.rounds)} if self.rounds else record

    @classmethod
    def from_json(cls, record: Any, where: str = "model") -> "CommunicationModel":
        """Read the ``model`` object of the instance format."""
        record = expect(record, dict, where)
        only_keys(record, ("switching", "ports", "routing", "rounds"), where)
        inject, accept = _read_ports(record.get("ports", "all"), f"{where}.ports")
        routing = record.get("routing", "minimal")
        if isinstance(routing, dict):
            routing = RoutingTable.from_json(routing, f"{where}.routing")
        elif isinstance(routing, bool) or not isinstance(routing, int | str):
            raise InputError(
                f"{show(routing)} is no routing",
                where=f"{where}.routing",
                hint="use minimal, any, a number of extra hops, or an object with a table",
            )
        # The constructor refuses unknown words for switching and routing.
        return cls(
            switching=cast(Switching, take(record, "switching", str, where, "wormhole")),
            inject=inject,
            accept=accept,
            routing=cast(Routing, routing),
            rounds=take_list(record, "rounds", read_integer, where) if "rounds" in record else (),
        )


def multiplied(ports: Ports, times: int) -> Ports:
    """Return N times the ports, at most ``MAX_CAPACITY``, far above all that is ever sent."""
    if ports is None or isinstance(ports, int):
        return None if ports is None else min(times * ports, MAX_CAPACITY)
    return tuple(min(times * number, MAX_CAPACITY) for number in ports)


def _as_tuple(ports: Ports) -> tuple[int, ...]:
    if ports is None:
        return ()
    return (ports,) if isinstance(ports, int) else ports


def _listed(ports: Ports) -> Any:
    return list(ports) if isinstance(ports, tuple) else ports


def _read_ports(value: Any, where: str) -> tuple[Ports, Ports]:
    if value == "all":
        return None, None
    if isinstance(value, dict):
        only_keys(value, ("inject", "accept"), where)
        sides = []
        for key in ("inject", "accept"):
            if key not in value:
                raise InputError("the key is missing", where=f"{where}.{key}", hint="add it")
            sides.append(_read_side(value[key], f"{where}.{key}"))
        return sides[0], sides[1]
    number = _read_side(value, where)
    if isinstance(number, tuple):
        raise InputError(
            "a list alone", where=where, hint='write {"inject": [...], "accept": [...]}'
        )
    return number, number


def _read_side(value: Any, where: str) -> int | tuple[int, ...]:
    if isinstance(value, list):
        return tuple(expect(item, int, f"{where}[{index}]") for index, item in enumerate(value))
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(
            f"{show(value)} is no number of ports",
            where=where,
            hint='use "all", a number, or a list with a number per node',
        )
    return value
