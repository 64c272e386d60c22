"""The engine ``classical``: make every construction that applies, and offer its schedule."""

from dataclasses import dataclass

from cchybrid.plugin.engine import EngineBase, Run, Stop
from cchybrid.problem import Problem, list_transfers
from cchybrid.toolkit.solver import check, until_stopped

from .constructions import CONSTRUCTIONS
from .context import Context, DoesNotApplyError


class Classical(EngineBase["Classical.Options"]):
    """Constructions from the literature, within about a second in total.

    Some search at random for a tree or a ring; the seed determines their result. The modules of the
    constructions cite the papers.

    References
    ----------
    P. K. McKinley, Y.-J. Tsai, D. F. Robinson, "Collective communication in wormhole-routed
    massively parallel computers", Computer 28, 1995. doi:10.1109/2.476198
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        only
            The only construction to make; "" makes all.
        effort
            Factor on the attempts of constructions that search.
        """

        only: str = ""
        effort: int = 1

        def __post_init__(self) -> None:
            if self.only and self.only not in CONSTRUCTIONS:
                raise ValueError(f"no construction {self.only!r}; use {', '.join(CONSTRUCTIONS)}")
            if self.effort < 1:
                raise ValueError(f"effort {self.effort}; use at least 1")

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse quotients only, as one construction applies to all but large instances."""
        return "quotients and routing tables fix the paths" if problem.structure is None else None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Make the constructions in order, as long as a schedule could be shorter."""
        return until_stopped(run, lambda: self._make_all(problem, run))

    def _make_all(self, problem: Problem, run: Run) -> Stop:
        best: int | None = None

        def check_stop() -> None:
            check(run.should_stop)

        def wants(steps: int) -> bool:
            # ``steps`` is only a lower bound of a construction; compare the larger of both bounds.
            return run.wants(max(steps, run.lower())) and (best is None or steps < best)

        context = Context(problem, run.seed, check_stop, wants, self.options.effort)
        for name, make in CONSTRUCTIONS.items():
            if self.options.only not in ("", name):
                continue
            if next(run.targets(), None) is None:
                check_stop()
                return Stop.EXHAUSTED
            if not wants(context.min_steps):
                break
            try:
                draft = make(context.restarted())
            except DoesNotApplyError:
                continue
            finally:
                run.spend(1)
            drafted, found = list_transfers(problem, draft)
            del draft
            # Some constructions do not check all capacities.
            if (best is None or found.steps < best) and not drafted.violations(found):
                best = found.steps
                run.offer(found, drafted)
                run.note(steps=best)
        check_stop()
        return Stop.STALLED if next(run.targets(), None) is not None else Stop.EXHAUSTED
