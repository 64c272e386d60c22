"""Plain-Python twins of the tabu search's counts and prices, from the definitions alone."""

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.kernels.indexed_list import IndexedList
from cchybrid.toolkit.tabu_search.memory import LATE, Memory, conflicts
from cchybrid.toolkit.tabu_search.moves import NEVER
from cchybrid.toolkit.tabu_search.path_graphs import PathGraphs
from tests.toolkit.kernels.plain_kernels import loads, overload


def words(problem: Problem, option: int) -> tuple[int, ...]:
    """Return the resources of an option that can be in conflict, in order."""
    return tuple(int(r) for r in problem.resources_of(option) if not problem.implied[r])


def walks(graphs: PathGraphs, graph: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return every walk from the start of a graph to its end: the sum of ``before``, the word."""
    first, stop = graphs.state_start[graph], graphs.state_start[graph + 1]

    def on(state: int) -> list[tuple[int, tuple[int, ...]]]:
        if state == first:
            return [(0, ())]
        return [
            (int(graphs.before[edge]) + number, (int(graphs.resource[edge]), *word))
            for edge in range(graphs.edge_start[state], graphs.edge_start[state + 1])
            for number, word in on(int(graphs.target[edge]))
        ]

    return on(int(stop) - 1)


def options_of(graphs: PathGraphs, choice: int) -> list[int]:
    """Return the options that a choice keeps."""
    graph = graphs.graph[choice]
    first, end = graphs.path_start[graph], graphs.path_start[graph + 1]
    return [int(graphs.first[choice] + place) for place in graphs.place[first:end]]


def choice_of(graphs: PathGraphs, option: int) -> int:
    """Return the choice that keeps an option."""
    return next(c for c in range(len(graphs.graph)) if option in options_of(graphs, c))


def choices(graphs: PathGraphs, delivery: int) -> range:
    """Return the choices of a delivery."""
    return range(int(graphs.choice_start[delivery]), int(graphs.choice_start[delivery + 1]))


def followers(problem: Problem, memory: Memory, delivery: int) -> list[int]:
    """Return the deliveries with a place that require this one."""
    return [
        other
        for other in range(problem.deliveries)
        if memory.option[other] >= 0 and problem.option_requires[memory.option[other]] == delivery
    ]


def is_needed(problem: Problem, memory: Memory, delivery: int) -> bool:
    """Return whether a delivery is required, or required by a scheduled one."""
    return bool(problem.required[delivery]) or bool(followers(problem, memory, delivery))


def is_broken(problem: Problem, memory: Memory, delivery: int) -> bool:
    """Return whether a delivery is needed and missing, or not later than what it requires."""
    option = int(memory.option[delivery])
    if option < 0:
        return is_needed(problem, memory, delivery)
    before = int(problem.option_requires[option])
    return before >= 0 and (
        memory.option[before] < 0 or memory.step[before] >= memory.step[delivery]
    )


def check_memory(problem: Problem, memory: Memory) -> None:
    """Compare everything that is kept up to date with a recount from options and steps."""
    users: dict[tuple[int, int], list[int]] = {}
    for delivery in range(problem.deliveries):
        option = int(memory.option[delivery])
        if option < 0:
            assert memory.step[delivery] == LATE
            continue
        for resource in words(problem, option):
            users.setdefault((resource, int(memory.step[delivery])), []).append(delivery)
    over, weighted_cells, excess = set(), set(), 0
    wide = memory.load.shape[1]
    for resource in range(problem.resources):
        for step in range(wide):
            here = users.get((resource, step), [])
            capacity, weight = int(problem.capacity[resource]), int(memory.weight[resource, step])
            assert memory.load[resource, step] == len(here)
            assert sorted(_listed(memory, resource, step)) == here
            assert weight >= 1
            full = not problem.implied[resource] and len(here) >= capacity
            assert memory.penalty[resource, step] == (weight if full else 0)
            if full and len(here) > capacity:
                over.add(resource * wide + step)
                excess += len(here) - capacity
            if weight > 1:
                weighted_cells.add(resource * wide + step)
    every = range(problem.deliveries)
    broken = {d for d in every if is_broken(problem, memory, d)}
    _check_list(memory.over, over)
    _check_list(memory.broken, broken)
    _check_list(memory.weighted_cells, weighted_cells)
    _check_list(memory.weighted_deliveries, {d for d in every if memory.break_weight[d] > 1})
    assert memory.break_weight.min() >= 1
    assert memory.overload[0] == excess
    assert conflicts(memory) == excess + len(broken)
    assert memory.followers.tolist() == [len(followers(problem, memory, d)) for d in every]


def _listed(memory: Memory, resource: int, step: int) -> list[int]:
    """Return the deliveries that a cell lists; the list has to lead back the same way."""
    found, former, node = [], -1, int(memory.first_use[resource, step])
    while node >= 0:
        assert memory.previous_use[node] == former
        found.append(node // memory.longest)
        former, node = node, int(memory.next_use[node])
    return found


def _check_list(found: IndexedList, expected: set[int]) -> None:
    listed = found.items[: found.length[0]].tolist()
    assert sorted(listed) == sorted(expected)
    assert found.place[listed].tolist() == list(range(len(listed)))
    assert set(np.flatnonzero(found.place >= 0).tolist()) == expected


def path_cost(problem: Problem, memory: Memory, option: int, step: int) -> int:
    """Return the cost of an option in a step."""
    return sum(int(memory.penalty[resource, step]) for resource in words(problem, option))


def cheapest(problem: Problem, memory: Memory, graphs: PathGraphs, choice: int, step: int) -> int:
    """Return the least cost of the paths of a choice in a step."""
    return min(path_cost(problem, memory, o, step) for o in options_of(graphs, choice))


def hold_cost(
    problem: Problem, memory: Memory, graphs: PathGraphs, mover: int, goal: int, before: int
) -> int:
    """Return what it costs to have ``goal`` before a step, while ``mover`` is taken out.

    Tries every chain of unneeded deliveries, at decreasing steps, back to one that is scheduled
    already or requires none.
    """
    if goal == mover:
        return int(NEVER)
    if is_needed(problem, memory, goal):
        return 0 if memory.step[goal] < before else int(NEVER)
    best = int(NEVER)
    for step in range(before):
        for choice in choices(graphs, goal):
            requires = int(graphs.requires[choice])
            cost = cheapest(problem, memory, graphs, choice, step)
            if requires >= 0:
                cost += hold_cost(problem, memory, graphs, mover, requires, step)
            best = min(best, cost)
    return best


def choice_cost(
    problem: Problem, memory: Memory, graphs: PathGraphs, mover: int, choice: int, step: int
) -> int:
    """Return the cost of a choice of the removed delivery in a step, followers included."""
    cost = cheapest(problem, memory, graphs, choice, step)
    requires = int(graphs.requires[choice])
    if requires >= 0:
        if is_needed(problem, memory, requires):
            late = memory.option[requires] < 0 or memory.step[requires] >= step
            cost += int(memory.break_weight[mover]) if late else 0
        else:
            cost += hold_cost(problem, memory, graphs, mover, requires, step)
    return cost + sum(
        int(memory.break_weight[other])
        for other in followers(problem, memory, mover)
        if memory.step[other] <= step
    )


def excess(problem: Problem, memory: Memory) -> int:
    """Return the uses beyond a capacity, from options and steps alone."""
    found = Assignment(memory.option, memory.step)
    placed = set(np.flatnonzero(memory.option >= 0).tolist())
    return overload(problem, loads(problem, found, placed), excess=True)


def all_broken(problem: Problem, memory: Memory) -> int:
    """Return how many deliveries are broken, from options and steps alone."""
    return sum(is_broken(problem, memory, delivery) for delivery in range(problem.deliveries))


def total_cost(problem: Problem, memory: Memory) -> int:
    """Return the total weight of all overloads and broken deliveries."""
    beyond = np.maximum(memory.load - problem.capacity[:, None], 0) * memory.weight
    total = int(beyond[~problem.implied, : memory.steps].sum())
    broken = (d for d in range(problem.deliveries) if is_broken(problem, memory, d))
    return total + sum(int(memory.break_weight[d]) for d in broken)
