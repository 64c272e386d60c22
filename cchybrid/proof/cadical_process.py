"""The process in which CaDiCaL runs; ``cadical.refute`` starts and ends it.

Standard input brings the clauses, one per line. Standard output takes the true literals of a model
after the word ``model``, or the bytes of a proof.
"""

import os
import shutil
import sys
import tempfile

from cchybrid.system.processes import die_with_parent

MODEL = b"model "
"""Prefix of an answer that is a model; other answers are proofs."""


def main() -> None:
    """Read the clauses; answer with a model or a proof."""
    die_with_parent()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # messages of the solver go to standard error
    import pysolvers
    from pysat.solvers import Solver

    solver = Solver(name="cadical195")
    engine = solver.solver
    # Before tracing, and before the first clause. The Python wrapper supports only DRUP.
    solver.configure({"lrat": 1, "binary": 1})
    # An unnamed file, which the system removes.
    with tempfile.TemporaryFile() as proof, out:
        trace = pysolvers.cadical195_tracepr(engine.cadical, proof)
        engine.prfile, engine.prfp = proof, trace
        for line in sys.stdin.buffer:
            solver.add_clause([int(word) for word in line.split()[:-1]])
        if solver.solve():
            literals = (str(literal) for literal in solver.get_model() if literal > 0)
            out.write(MODEL + " ".join(literals).encode())
        else:
            pysolvers.flushpr(trace)
            proof.seek(0)
            shutil.copyfileobj(proof, out)


if __name__ == "__main__":
    main()
