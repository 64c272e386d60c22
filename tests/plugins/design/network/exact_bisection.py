"""The exact bisection of small networks by CP-SAT."""

from collections import Counter

from cchybrid_plugins.design.network.bisection import part_sizes
from cchybrid_plugins.design.network.ports import Ports, links_of
from ortools.sat.python import cp_model


def exact_bisection(ports: Ports, seconds: float = 60.0) -> int:
    """Return the fewest links that two parts of allowed sizes have between them, by CP-SAT.

    Raises
    ------
    TimeoutError
        If the minimum is not proven in time.
    """
    nodes = len(ports)
    low, high = part_sizes(nodes)
    model = cp_model.CpModel()
    side = [model.new_bool_var(f"side {node}") for node in range(nodes)]
    model.add(side[0] == 0)
    model.add_linear_constraint(sum(side), low, high)
    cut = []
    for (a, b), count in sorted(Counter(links_of(ports)).items()):
        crosses = model.new_bool_var(f"link {a} {b}")
        model.add(crosses >= side[a] - side[b])
        model.add(crosses >= side[b] - side[a])
        cut.append(count * crosses)
    model.minimize(sum(cut))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    if solver.solve(model) != cp_model.OPTIMAL:
        raise TimeoutError(f"the bisection of {nodes} nodes was not proven in {seconds:g} s")
    return round(solver.objective_value)
