"""The propositional model that CP-SAT solves: does a Problem have a schedule of S steps?

One boolean per usable option and step, and one per step of each delivery that others require
(*informed*: the delivery happened in an earlier step). Booleans are numbered from 0 as in CP-SAT's
protocol buffer. All index arithmetic is done on whole arrays; constraints are added one by one.

1. Assignment: every required delivery happens exactly once, every other at most once.
2. Capacity: no step uses a resource beyond its capacity.
3. Precedence: a delivery happens in a later step than the delivery that its option requires; in
   slots of a period in any, but deliveries that require each other form no cycle.
4. Optional deliveries happen only if another delivery requires them.
5. Symmetry breaking: interchangeable steps are ordered by the windows of the options, deliveries of
   one orbit by comparisons.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cchybrid.problem import INJECT, Assignment, Problem
from cchybrid.problem.ragged import grouped, offsets, within
from cchybrid.toolkit.cpsat.automorphisms import Link
from cchybrid.toolkit.cpsat.rows import Rows
from cchybrid.toolkit.cpsat.windows import Windows
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix, families


@dataclass(frozen=True, eq=False)
class StepModel:
    """A CP-SAT model of one Problem and one number of steps.

    Parameters
    ----------
    model
        The model, ready to be solved.
    problem, steps
        The Problem and the number of steps that it models.
    windows
        The steps that each option may take, and the order that numbers interchangeable steps.
    first
        Shape (options,): the boolean of the option in its earliest step.
    option, step
        Shape (option booleans,): the option and the step of each of the first booleans.
    informed
        Shape (deliveries,): the boolean "happened before step ``low + 1``" of a delivery that
        others require, -1 for the rest; the booleans of later steps follow.
    """

    model: cp_model.CpModel
    problem: Problem
    steps: int
    windows: Windows
    first: IntVector
    option: IntVector
    step: IntVector
    informed: IntVector

    def literal_before(self, delivery: int, step: int) -> int:
        """Return the boolean "the delivery happened before the step", a step after its ``low``."""
        last = min(step, int(self.windows.high[delivery]) + 1)
        return int(self.informed[delivery]) + last - int(self.windows.low[delivery]) - 1

    def rounds(self, values: IntVector) -> tuple[int, ...]:
        """Return the rounds of the steps in a solution of a model with ``total_rounds``."""
        return tuple(values[-self.steps :].tolist())

    def read(self, values: IntVector) -> Assignment:
        """Return the assignment that a solution of the model encodes."""
        found = self.problem.empty()
        chosen = np.flatnonzero(values[: len(self.option)])
        option = self.option[chosen]
        delivery = self.problem.option_delivery[option]
        found.option[delivery] = option
        found.step[delivery] = self.step[chosen]
        return found

    def solution(self, values: IntVector) -> tuple[Problem, Assignment]:
        """Return the Problem and the assignment that a solution encodes."""
        return self.problem, self.read(values)

    def hint(self, assignment: Assignment, seed: int) -> None:
        """Hint all booleans; required deliveries without a possible place get a random one.

        CP-SAT's searches for a first solution start from complete hints only.
        """
        windows = self.windows
        option, step = assignment.option.astype(np.int64), windows.renumbered(assignment.step)
        taken = np.maximum(option, 0)
        lost = (
            (option < 0) | (step < windows.option_low[taken]) | (step > windows.option_high[taken])
        )
        option[lost], step[lost] = -1, -1
        random = np.random.default_rng(seed)
        for delivery in np.flatnonzero(lost & self.problem.required).tolist():
            first, last = np.searchsorted(
                self.option, self.problem.option_start[delivery : delivery + 2]
            )
            if first < last:
                chosen = int(random.integers(first, last))
                option[delivery], step[delivery] = self.option[chosen], self.step[chosen]
        values = np.zeros(len(self.model.proto.variables), dtype=np.int64)
        placed = np.flatnonzero(option >= 0)
        values[self.first[option[placed]] + step[placed] - windows.option_low[option[placed]]] = 1
        for delivery in placed[self.informed[placed] >= 0].tolist():
            low, high = int(windows.low[delivery]), int(windows.high[delivery])
            last = self.informed[delivery] + min(high + 1, self.steps - 1) - low
            values[self.informed[delivery] + int(step[delivery]) - low : last] = 1
        proto = self.model.proto.solution_hint
        proto.vars.extend(range(len(values)))
        proto.values.extend(values.tolist())


def build(
    problem: Problem,
    uses: UsageMatrix,
    windows: Windows,
    should_stop: Callable[[], bool] = lambda: False,
    full: NDArray[np.bool_] | None = None,
    chain: Sequence[Link] = (),
    total_rounds: int | None = None,
) -> StepModel:
    """Return the model whose solutions are the schedules of ``windows.steps`` steps.

    Parameters
    ----------
    full
        Shape (resources,): True where a resource is known to be full in every step.
    chain
        Symmetry-breaking comparisons of deliveries.
    total_rounds
        If given, the rounds of the steps are variables of this sum, each at least 1 and at most
        the Problem's; see ``StepModel.rounds``.

    Raises
    ------
    StoppedError
        If ``should_stop`` becomes true.
    """
    steps = windows.steps
    count = np.maximum(windows.option_high - windows.option_low + 1, 0)
    first = offsets(count)[:-1]
    option = np.repeat(np.arange(problem.options), count)
    step = within(count) + windows.option_low[option]
    informed = np.full(problem.deliveries, -1, dtype=np.int64)
    needed = np.unique(problem.option_requires[option])
    needed = needed[(needed >= 0) & (not problem.periodic)]
    # From the step after its last possible one on, a delivery stays informed.
    last = np.minimum(windows.high[needed] + 1, steps - 1)
    levels = np.maximum(last - windows.low[needed], 0)
    informed[needed] = len(option) + offsets(levels)[:-1]

    rows = Rows(len(option) + int(levels.sum()), should_stop)
    found = StepModel(rows.model, problem, steps, windows, first, option, step, informed)
    _assignment_constraints(found, rows)
    if total_rounds is None:
        _capacity_constraints(
            found, uses, rows, np.zeros(problem.resources, bool) if full is None else full
        )
    else:
        _round_constraints(found, uses, rows, total_rounds)
    _precedence_constraints(found, uses, rows)
    _optional_deliveries(found, rows)
    _symmetry_constraints(found, rows, chain)
    return found


def _assignment_constraints(model: StepModel, rows: Rows) -> None:
    """Make every required delivery happen exactly once, every other at most once."""
    problem, steps = model.problem, model.steps
    delivery = problem.option_delivery[model.option].astype(np.int64)
    alone = model.informed[delivery] < 0
    if problem.required[~_present(delivery, problem.deliveries)].any():
        rows.at_least_one([])
    for found, (literals,) in grouped(delivery[alone], np.flatnonzero(alone)):
        if problem.required[found]:
            rows.exactly_one(literals)
        else:
            rows.at_most_one(literals)
    # Informed before step t + 1: either informed before step t, or happening in step t.
    ladder = np.flatnonzero(~alone)
    for key, (literals,) in grouped((delivery * steps + model.step)[ladder], ladder):
        found, step = divmod(key, steps)
        if step > model.windows.low[found]:
            literals.append(model.literal_before(found, step))
        if step + 1 < steps:
            rows.exactly_one([*literals, ~model.literal_before(found, step + 1)])
        elif problem.required[found]:
            rows.exactly_one(literals)


def _capacity_constraints(
    model: StepModel, uses: UsageMatrix, rows: Rows, full: NDArray[np.bool_]
) -> None:
    """Limit the uses of every resource per step to its capacity; ``full`` ones reach it."""
    problem = model.problem
    boolean, resource, times = uses.entries(model.option)
    step = model.step[boolean]
    if problem.periodic:
        step = (step + uses.offsets(model.option)) % model.steps
    kept = ~problem.implied[resource]
    boolean, times = boolean[kept], times[kept]
    key = resource[kept] * model.steps + step[kept]
    for found, (literals, weights) in grouped(key, boolean, times):
        used = found // model.steps
        capacity = int(problem.capacity[used]) * problem.rounds_in(found % model.steps)
        if len(problem.rounds) > 1:  # then an option may fit into some steps only
            for literal, weight in zip(literals, weights, strict=True):
                if weight > capacity:
                    rows.at_least_one([~literal])
            fits = [weight <= capacity for weight in weights]
            literals, weights = list(compress(literals, fits)), list(compress(weights, fits))
        rows.capacity(literals, weights, capacity, full=bool(full[used]))
    busy = _present(key, problem.resources * model.steps).reshape(-1, model.steps)
    if not busy[full].all():
        rows.at_least_one([])


def _round_constraints(model: StepModel, uses: UsageMatrix, rows: Rows, total: int) -> None:
    """Limit the uses of every resource per step to its capacity times the rounds of the step."""
    problem, steps = model.problem, model.steps
    rounds = [rows.integer(1, problem.rounds_in(step)) for step in range(steps)]
    rows.weighted(rounds, [1] * steps, total, total)
    boolean, resource, times = uses.entries(model.option)
    kept = ~problem.implied[resource]
    boolean, times = boolean[kept], times[kept]
    key = resource[kept] * steps + model.step[boolean]
    for found, (literals, weights) in grouped(key, boolean, times):
        capacity = int(problem.capacity[found // steps])
        variable = rounds[found % steps]
        rows.weighted([*literals, variable], [*weights, -capacity], -capacity * total, 0)


def _precedence_constraints(model: StepModel, uses: UsageMatrix, rows: Rows) -> None:
    """Make deliveries happen in later steps than the deliveries that they require.

    Where injection ports limit, one row per sender, port and step: the uses of the port for one
    message are at most its capacity, and 0 before the sender is informed. Elsewhere one row per
    sender, receiver and step. These rows have a far stronger linear relaxation than one implication
    per boolean.
    """
    problem, steps = model.problem, model.steps
    requires = problem.option_requires[model.option].astype(np.int64)
    forwards = np.flatnonzero(requires >= 0)
    if problem.periodic:
        _exclude_cycles(model, rows, forwards)
        return
    position, port, times = uses.entries(model.option[forwards])
    kept = (problem.kind[port] == INJECT) & ~problem.implied[port]
    boolean, port = forwards[position[kept]], port[kept]
    key = (port * problem.deliveries + requires[boolean]) * steps + model.step[boolean]
    for found, (literals, weights) in grouped(key, boolean, times[kept]):
        resource, rest = divmod(found, problem.deliveries * steps)
        delivery, step = divmod(rest, steps)
        capacity = int(problem.capacity[resource]) * problem.rounds_in(step)
        capacity = min(capacity, sum(weights))
        informed = model.literal_before(delivery, step)
        rows.capacity([*literals, ~informed], [*weights, capacity], capacity)

    others = np.setdiff1d(forwards, boolean)
    key = requires[others] * problem.deliveries + problem.option_delivery[model.option[others]]
    for found, (literals,) in grouped(key * steps + model.step[others], others):
        pair, step = divmod(found, steps)
        rows.at_most_one([*literals, ~model.literal_before(pair // problem.deliveries, step)])


def _exclude_cycles(model: StepModel, rows: Rows, forwards: IntVector) -> None:
    """Give deliveries depths, such that each is deeper than the one that it requires.

    In slots of a period these may be made in any order.
    """
    problem = model.problem
    family = families(problem)
    size = np.bincount(family)[family].tolist() if len(forwards) else []
    depth = [rows.integer(0, many - 1) for many in size]
    option = model.option[forwards]
    key = problem.option_requires[option].astype(np.int64) * problem.deliveries
    for pair, (literals,) in grouped(key + problem.option_delivery[option], forwards):
        before, after = divmod(pair, problem.deliveries)
        many = size[after]
        row = [depth[after], depth[before], *literals]
        rows.weighted(row, [1, -1, *[-many] * len(literals)], 1 - many, many)


def _optional_deliveries(model: StepModel, rows: Rows) -> None:
    """Make optional deliveries happen only if another delivery requires them.

    If the message has a single goal, exactly one does. This loses no schedule, because a delivery
    that none requires can be left out. Without these rows the linear relaxation creates messages
    on intermediate nodes, and the search spreads useless copies.
    """
    problem, windows = model.problem, model.windows
    requires = problem.option_requires[model.option].astype(np.int64)
    optional = np.flatnonzero((requires >= 0) & ~problem.required[requires])
    single = windows.goals[requires[optional]] == 1
    for delivery, (literals, alone) in grouped(requires[optional], optional, single):
        literals.append(~model.literal_before(delivery, model.steps - 1))
        if alone[0]:
            rows.exactly_one(literals)
        else:
            rows.at_least_one(literals)


def _symmetry_constraints(model: StepModel, rows: Rows, chain: Sequence[Link]) -> None:
    """Make the first delivery of every link happen no later than its images."""
    low, high = model.windows.low, model.windows.high
    for first, others in chain:
        for other in others.tolist():
            if model.informed[first] < 0 or model.informed[other] < 0:
                continue
            for step in range(int(low[other]) + 1, min(int(high[first]) + 1, model.steps - 1) + 1):
                literals = [~model.literal_before(other, step)]
                if step > low[first]:
                    literals.append(model.literal_before(first, step))
                rows.at_least_one(literals)


def _present(values: IntVector, size: int) -> NDArray[np.bool_]:
    present = np.zeros(size, dtype=np.bool_)
    present[values] = True
    return present
