"""A problem to compile kernels on before the time counts."""

from __future__ import annotations

from cchybrid.model import Collective, Instance, Message, Network
from cchybrid.problem import Problem, build_problem


def rehearsal() -> Problem:
    """Return a tiny problem without a schedule of one step, so that a search for one goes on."""
    pair = Network.from_arcs("pair", 2, [(0, 1)])
    # Two messages over one channel in one step are in conflict.
    return build_problem(Instance(pair, Collective("clash", (Message(0, (1,)), Message(0, (1,))))))
