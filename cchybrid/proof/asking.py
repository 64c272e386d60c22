"""Asking bound providers about an instance."""

import json
from collections.abc import Callable, Iterator

from cchybrid.model import Instance, LowerBound
from cchybrid.model.text import error_line
from cchybrid.proof import parts
from cchybrid.proof.records import BoundInfo, load_target
from cchybrid.system.background import iterate_in_thread


class ProviderError(Exception):
    """A bound provider has failed; the text says how."""


def bounds_of(info: BoundInfo, instance: Instance) -> Iterator[LowerBound]:
    """Import a provider and yield its bounds for an instance; the import may take long.

    A provider of low effort is asked about every part of an allreduce or a scan, any other about
    the best parts. Evidence is what it is in a file.

    Raises
    ------
    ProviderError
        The provider fails, or yields what is no bound with evidence in JSON.
    """
    if instance.horizon not in info.horizons:
        return
    try:
        yield from _bounds_of(info, instance)
    except (Exception, SystemExit) as error:
        raise ProviderError(f"bound {info.name} failed: {error_line(error)}") from error


def _bounds_of(info: BoundInfo, instance: Instance) -> Iterator[LowerBound]:
    bounds = load_target(info.target)
    if not instance.collective.with_sums or info.allreduce:
        shown = instance if info.allreduce else instance.forward
        for bound in bounds(shown if info.rounds else shown.widest):
            evidence = json.loads(json.dumps(bound.evidence))
            if not isinstance(evidence, dict):
                raise TypeError("the evidence of a bound is no JSON object")
            yield LowerBound(bound.steps, evidence)
        return
    best = 0
    choose = parts.chosen_parts if info.effort == "low" else parts.best_parts
    for part, own in choose(instance).items():
        for bound in _bounds_of(info, own):
            if bound.steps > best:
                best = bound.steps
                yield LowerBound(best, parts.evidence_of(part, bound.evidence))


def ask(
    info: BoundInfo,
    instance: Instance,
    should_stop: Callable[[], bool],
    report: Callable[[str], None],
) -> Iterator[LowerBound]:
    """Yield the bounds of a provider, in another thread, until ``should_stop`` returns true.

    Parameters
    ----------
    should_stop
        Called some twenty times a second by the calling thread.
    report
        Called with a line if the provider fails; what it yielded before counts.
    """
    try:
        yield from iterate_in_thread(bounds_of(info, instance), should_stop)
    except ProviderError as error:
        report(str(error))
