"""The process in which CaDiCaL works; ``cadical.refute`` starts and ends it.

Run as ``python -m cchybrid.proof.cadical_process FORMULA PROOF MODEL``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cchybrid.system.processes import die_with_parent


def main(formula: str, proof: str, model: str) -> None:
    """Solve the formula in a file; write the proof, or the model's true literals."""
    die_with_parent()
    import pysolvers
    from pysat.solvers import Solver

    solver = Solver(name="cadical195")
    engine = solver.solver
    # Before tracing, and before the first clause. Python's wrapper knows only DRUP.
    solver.configure({"lrat": 1, "binary": 1})
    with open(proof, "wb+") as file:
        trace = pysolvers.cadical195_tracepr(engine.cadical, file)
        engine.prfile, engine.prfp = file, trace
        for line in Path(formula).read_text().splitlines():
            solver.add_clause([int(word) for word in line.split()[:-1]])
        if solver.solve():
            Path(model).write_text(" ".join(str(x) for x in solver.get_model() if x > 0))
        pysolvers.flushpr(trace)
        solver.delete()


if __name__ == "__main__":
    main(*sys.argv[1:])
