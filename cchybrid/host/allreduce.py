"""The task of a run on an allreduce or a scan: schedules of partial sums.

1. The host composes a greedy schedule, and computes the bounds that take milliseconds.
2. The other bound providers, in workers beside the engines.
3. The engines, one after another: compositions (``compositions``), and on small networks a model of
   partial sums (``toolkit.cpsat.allreduce``), from the lower bound on; for a scan the latter first.
"""

from collections.abc import Iterator
from typing import cast

from cchybrid.host import events as ev
from cchybrid.host.compositions import Halves
from cchybrid.host.first_bounds import first_bounds
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_history import RunHistory
from cchybrid.host.schedule_task import ScheduleTask
from cchybrid.host.task import Host
from cchybrid.host.wire import Line
from cchybrid.model import Instance, Schedule, SummedMessage
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import EngineInfo
from cchybrid.plugin.strategy import Arm, Phase

ENGINES = (
    EngineInfo("all-parts", "cchybrid.host.compositions:AllParts", "Allgather of all parts"),
    EngineInfo("composition", "cchybrid.host.compositions:Composition", "Reduction, broadcast"),
    EngineInfo("partial-sums", "cchybrid.toolkit.cpsat.allreduce:PartialSums", "Partial sums"),
)
"""The engines that search for schedules of sums, in the order of their phases."""


class AllReduceTask(ScheduleTask):
    """The state of a run on an allreduce or a scan; parameters as in ``ScheduleTask``."""

    shared = None

    @classmethod
    def of(
        cls, instance: Instance, config: RunConfig, initial: Schedule | None = None
    ) -> "AllReduceTask":
        """Return the task of a run with this configuration."""
        name = instance.collective.kind
        for where, wrong, hint in (
            ("model.rounds", bool(instance.model.rounds), "solve it without rounds"),
            ("evaluations", config.budget.evaluations is not None, "set a time limit"),
            ("blind", config.blind, "leave it out"),
        ):
            if wrong:
                raise InputError(f"not available for {name}", where=where, hint=hint)
        return cls(instance, config.target, False, config.strategy, initial)

    def _history_of(self, instance: Instance, provable: bool) -> RunHistory:
        messages = cast(tuple[SummedMessage, ...], instance.collective.messages)
        return RunHistory(True, sum(len(message.members) for message in messages), provable)

    def _first_events(
        self, config: RunConfig, host: Host
    ) -> Iterator[tuple[ev.Opened | None, ev.Event]]:
        """Yield the initial schedule or a greedy one, and the bounds that take milliseconds."""
        yield from self._initial_events(config)
        if self.best is None and config.first_schedule:
            with host.part("first schedule"):
                yield None, self._greedy(host)
        yield from first_bounds(self.instance, config.bounds, host, lambda: self.done)

    def _greedy(self, host: Host) -> ev.Event:
        found = Halves(self.instance).greedy(host.should_stop)
        if found is not None:
            return ev.Offer(found.steps, 0, "", sums=found.sums)
        return ev.Remarked("too large for a greedy schedule in the time limit")

    def job(self, config: RunConfig, arm: Arm | None = None) -> Line:
        """Return the job of ``ScheduleTask``, and the settings of the runs of the halves."""
        found = super().job(config, arm)
        if arm is not None and arm.engine in ENGINES:
            found |= {"on_instance": True, "settings": {"config": config.to_json()}}
        return found

    def phases(self, config: RunConfig) -> Iterator[Phase]:
        """Yield a phase for each engine; a scan is no reduction and broadcast."""
        # A scan is no reduction and broadcast; its model first, as all parts take many steps.
        order = ENGINES if self.instance.collective.kind == "allreduce" else ENGINES[::-2]
        for info in order if config.engines else ():
            yield Phase((Arm(info, config.budget.threads),))
