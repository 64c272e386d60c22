"""Runs of engines in the process of the test."""

from dataclasses import replace
from typing import Any

from cchybrid.model import Collective, Instance, Message
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Engine, Stop
from cchybrid.problem import Problem, build_problem


def solved(
    engine: Engine, given: Instance | Problem, lower: int = 1, **rest: Any
) -> tuple[LocalRun, Stop]:
    """Return a run of an engine, all of whose schedules are valid, and how it ended."""
    problem = given if isinstance(given, Problem) else build_problem(given)
    run = LocalRun(problem, first_lower=lower, **{"budget": Budget(seconds=60.0), **rest})
    stop = engine.solve(problem, run)
    assert run.violations == []
    return run, stop


def scattered(instance: Instance, times: int = 1) -> Instance:
    """Return an instance with the first destination of every message only, some times."""
    messages = instance.collective.deliver_messages
    first = tuple(Message(message.source, message.destinations[:1]) for message in messages)
    return replace(instance, collective=Collective("one", first * times))
