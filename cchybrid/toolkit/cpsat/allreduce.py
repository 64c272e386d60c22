"""Schedules of an allreduce or a scan of a given number of steps, by CP-SAT.

Every node may forward partial sums. The model is restricted, so that it stays small: a node
receives sums that are disjoint from all it holds, and once, as its last receipt, the whole sum; of
a scan only the former. So a solution is a schedule, but an infeasible model proves nothing.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial
from itertools import islice, pairwise
from time import monotonic
from typing import Protocol, cast

from ortools.sat.python import cp_model

from cchybrid.model import Instance, Schedule, SummedMessage, Transfer
from cchybrid.plugin.engine import EngineBase, NoOptions, Run, Stop
from cchybrid.problem.build import routes_of
from cchybrid.problem.routes import Path
from cchybrid.toolkit.solver import StoppedError, new_solver, solve

MAX_PATHS = 8
"""Paths per pair of nodes; an instance may allow more."""
MAX_VARIABLES = 400_000
"""Variables that a model may have; each takes about a kilobyte in the solver."""

Move = tuple[int, Path]
"""A message and a path for it."""


def allreduce_moves(instance: Instance) -> list[Move]:
    """Return the paths that the transfers of each message may take.

    In wormhole switching those of a scan lead to later members only.
    """
    messages = _messages(instance)
    if instance.model.hop_by_hop:
        hops = [(a, b) for a, b, _ in instance.network.channels]
        return [(message, hop) for message in range(len(messages)) for hop in hops]
    routes = routes_of(instance)
    paths = cache(lambda *pair: list(islice(routes.paths(*pair), MAX_PATHS)))
    return [
        (message, path)
        for message, each in enumerate(messages)
        for a in each.members
        for b in each.needing(a)
        for path in paths(a, b)
    ]


def model_size(instance: Instance, steps: int) -> int:
    """Return about how many variables the model of this number of steps has."""
    moves = allreduce_moves(instance)
    into: dict[tuple[int, int], int] = defaultdict(int)
    out: dict[tuple[int, int], int] = defaultdict(int)
    for message, path in moves:
        out[message, path[0]] += 1
        into[message, path[-1]] += 1
    parts = max(len(message.members) for message in _messages(instance))
    pairs = sum(number * into[key] for key, number in out.items())
    return len(moves) * steps * (parts + 2) + pairs * steps * steps // 2


def find_allreduce(
    instance: Instance, steps: int, seed: int, threads: int, should_stop: Callable[[], bool]
) -> Schedule | None:
    """Return a schedule of at most this many steps, or ``None`` if the model has no solution.

    Parameters
    ----------
    instance
        One whose collective is an ``allreduce`` or a scan, with one round per step.

    Raises
    ------
    StoppedError
        If ``should_stop`` becomes true.
    """
    model = _Model(instance, steps)
    solution = solve(model.cp, new_solver(seed, threads=threads), should_stop)
    values = solution.values
    return None if values is None else model.schedule(lambda x: bool(values[x.index]))


class SumsRun(Run, Protocol):
    """The run of an engine for an allreduce or a scan."""

    def offer_schedule(self, schedule: Schedule) -> None:
        """Submit a schedule with its sums."""

    def left(self) -> float:
        """Return the seconds of the budget that are left."""

    def remark(self, text: str) -> None:
        """Report a line for the user."""


class PartialSums(EngineBase[NoOptions]):
    """The engine for an allreduce or a scan: the model of partial sums, while it is small."""

    Options = NoOptions

    def solve(self, instance: Instance, run: SumsRun) -> Stop:
        """Search for schedules of more and more steps, from the lower bound on.

        Models of few steps are small. Each is left after half of the time that is left.
        """
        steps = run.lower()
        while run.wants(steps):
            if model_size(instance, steps) > MAX_VARIABLES:
                run.remark(f"too large for the model of {steps} steps")
                break
            stop = partial(_is_over, run, monotonic() + run.left() / 2)
            try:
                found = find_allreduce(instance, steps, run.seed, run.budget.threads, stop)
            except StoppedError:
                run.remark(f"no schedule of {steps} steps in half of the time that was left")
            else:
                if found is not None:
                    run.offer_schedule(found)
                    break
                run.remark(f"the model has no schedule of {steps} steps")
            steps = max(steps + 1, run.lower())
        return Stop.LIMIT if run.should_stop() else Stop.STALLED


def _is_over(run: Run, until: float) -> bool:
    return run.should_stop() or monotonic() > until


class _Model:
    """The decision model; ``partial`` and ``whole`` say which move carries what in which step."""

    def __init__(self, instance: Instance, steps: int) -> None:
        self.cp = cp_model.CpModel()
        self.instance, self.steps = instance, steps
        self.members = [message.members for message in _messages(instance)]
        self.moves = allreduce_moves(instance)
        self.into: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index, (message, path) in enumerate(self.moves):
            self.into[message, path[-1]].append(index)
        boolean = self.cp.new_bool_var
        times = range(steps)
        self.partial = [[boolean("") for _ in times] for _ in self.moves]
        whole_sums = int(instance.collective.kind == "allreduce")
        self.whole = [[self.cp.new_int_var(0, whole_sums, "") for _ in times] for _ in self.moves]
        self.content = [
            [{part: boolean("") for part in self._carried(message, path)} for _ in times]
            for message, path in self.moves
        ]
        for index in range(len(self.moves)):
            for time in times:
                content, partial = self.content[index][time], self.partial[index][time]
                self.cp.add_bool_or(content.values()).only_enforce_if(partial)
                for carried in content.values():
                    self.cp.add_implication(carried, partial)
                self.cp.add_at_most_one(partial, self.whole[index][time])
        for index in range(len(self.moves)):
            self._forward_whole_values(index)
        for key in sorted(self.into):
            self._receive_disjoint_sums(key)
        (self._have_everything if whole_sums else self._have_prefixes)()
        self._keep_limits()

    def _carried(self, message: int, path: Path) -> tuple[int, ...]:
        """Return the parts that a transfer may carry: in wormhole switching those of its sender."""
        if self.instance.model.hop_by_hop:
            return self.members[message]
        needed = _messages(self.instance)[message].needed(path[0])
        return tuple(dict.fromkeys((*needed, path[0])))

    def _forward_whole_values(self, index: int) -> None:
        """A partial sum consists of values that its sender received in earlier steps."""
        message, path = self.moves[index]
        sender = path[0]
        for time in range(self.steps):
            content = self.content[index][time]
            earlier = [
                self.content[other][before]
                for other in self.into[message, sender]
                for before in range(time)
            ]
            for part, carried in content.items():
                if part != sender:
                    with_part = (value[part] for value in earlier if part in value)
                    self.cp.add_bool_or(*with_part, ~carried)
            for value in earlier:
                chosen = self.cp.new_bool_var("")
                for part in value:
                    self.cp.add_implication(chosen, content[part]).only_enforce_if(value[part])
                    self.cp.add_implication(content[part], chosen).only_enforce_if(value[part])

    def _receive_disjoint_sums(self, key: tuple[int, int]) -> None:
        message, node = key
        times = range(self.steps)
        for part in self.members[message]:
            contents = [self.content[index][t] for index in self.into[key] for t in times]
            received = [content[part] for content in contents if part in content]
            if part == node:
                self.cp.add(sum(received) == 0)
            else:
                self.cp.add_at_most_one(received)
        wholes = [[self.whole[index][t] for index in self.into[key]] for t in times]
        self.cp.add_at_most_one(variable for at_time in wholes for variable in at_time)
        for t in times:
            until = sum(variable for at_time in wholes[: t + 1] for variable in at_time)
            for index in self.into[key]:
                self.cp.add(until == 0).only_enforce_if(self.partial[index][t])

    def _have_everything(self) -> None:
        """The whole sum is sent only by who has it, and every member has it in the end."""
        for message, members in enumerate(self.members):
            has: dict[tuple[int, int], cp_model.IntVar] = {}
            for node in range(self.instance.network.nodes):
                into = self.into[message, node]
                own = int(node in members)
                for time in range(self.steps + 1):
                    full, summed = self.cp.new_bool_var(""), self.cp.new_bool_var("")
                    has[node, time] = full
                    parts = sum(
                        carried
                        for index in into
                        for t in range(time)
                        for carried in self.content[index][t].values()
                    )
                    self.cp.add(parts + own == len(members)).only_enforce_if(summed)
                    wholes = [self.whole[index][t] for index in into for t in range(time)]
                    self.cp.add_bool_or(*wholes, summed, ~full)
                if own:
                    self.cp.add(has[node, self.steps] == 1)
            for index, (which, path) in enumerate(self.moves):
                if which == message:
                    for time in range(self.steps):
                        self.cp.add_implication(self.whole[index][time], has[path[0], time])

    def _have_prefixes(self) -> None:
        """Every member of a scan receives the parts that it needs, in sums of no other parts."""
        for message, each in enumerate(_messages(self.instance)):
            for node in each.members:
                needed = {*each.needed(node)}
                received = [c for index in self.into[message, node] for c in self.content[index]]
                for content in received:
                    fits = self.cp.new_bool_var("")
                    for part, carried in content.items():
                        self.cp.add_implication(carried, fits if part in needed else ~fits)
                for part in needed - {node}:
                    self.cp.add_bool_or(c[part] for c in received if part in c)

    def _keep_limits(self) -> None:
        """No channel, half-duplex link or port carries more than it can."""
        network, model = self.instance.network, self.instance.model
        link = {(b, a): (a, b) for a, b in network.half_duplex}
        users: dict[tuple[str, object], list[int]] = defaultdict(list)
        for index, (_, path) in enumerate(self.moves):
            users["inject", path[0]].append(index)
            users["accept", path[-1]].append(index)
            for hop in pairwise(path):
                users["link", link.get(hop, hop)].append(index)
        capacity = {(a, b): size for a, b, size in network.channels}
        limit_of = {
            "link": capacity.get,
            "inject": model.inject_limit,
            "accept": model.accept_limit,
        }
        for (kind, place), indices in users.items():
            limit = cast(Callable[[object], int | None], limit_of[kind])(place)
            if limit is not None:
                for t in range(self.steps):
                    self.cp.add(
                        sum(self.partial[i][t] + self.whole[i][t] for i in indices) <= limit
                    )

    def schedule(self, value: Callable[[cp_model.IntVar], bool]) -> Schedule:
        """Return the schedule of a solution, without receipts of nothing new."""
        held: dict[tuple[int, int], set[int]] = defaultdict(set)
        for message, members in enumerate(self.members):
            for node in members:
                held[message, node].add(node)
        steps, sums = [], []
        for time in range(self.steps):
            step, carried = [], []
            for index, (message, path) in enumerate(self.moves):
                if value(self.whole[index][time]):
                    parts = self.members[message]
                elif value(self.partial[index][time]):
                    content = self.content[index][time]
                    parts = tuple(part for part, used in content.items() if value(used))
                else:
                    continue
                if not held[message, path[-1]].issuperset(parts):
                    step.append(Transfer(message, path))
                    carried.append(tuple(sorted(parts)))
            for (message, path), parts in zip(step, carried, strict=True):
                held[message, path[-1]].update(parts)
            if step:
                steps.append(tuple(step))
                sums.append(tuple(carried))
        return Schedule(self.instance, tuple(steps), sums=tuple(sums))


def _messages(instance: Instance) -> tuple[SummedMessage, ...]:
    return cast(tuple[SummedMessage, ...], instance.collective.messages)
