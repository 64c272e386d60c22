"""The jobs of workers on an instance: an engine, its options, the bound providers, the prover.

They run in a worker process (``worker``). An engine gets a ``WorkerRun``.
"""

import operator
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import IO, Any
from weakref import WeakKeyDictionary

from cchybrid.host.quotient_search import QuotientOptions, QuotientSearch
from cchybrid.host.shared_instance import ReceivedInstance
from cchybrid.host.wire import Line, decode_steps, steps_to_line
from cchybrid.host.worker_link import MIN_NOTE_SECONDS, WorkerLink, read_engine
from cchybrid.model import Schedule, Steps
from cchybrid.model.errors import CchybridError
from cchybrid.plugin.engine import RunBase, Stop, cut_to, is_complete
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.symmetry import automorphisms
from cchybrid.proof.asking import ask
from cchybrid.proof.records import BoundInfo
from cchybrid.system.background import avoid_full_collections
from cchybrid.system.kernel_cache import compiling

SUGGEST_SHARE = 0.025
"""Share of the time in which near-solutions are sent: reading one takes other processes longer."""
MAX_READ_CHARACTERS = 1 << 20
"""Length of the text of a schedule from which on it is read only when it is used: few are used, and
a quarter of a million transfers need more than 100 MiB."""


class WorkerRun(WorkerLink, RunBase):
    """The ``Run`` of an engine in a worker: sends events to the host and receives news."""

    def __init__(self, job: Line, out: IO[bytes]) -> None:
        super().__init__(job, out)
        self.target: int | None = job["target"]
        self._blind: bool = job["blind"]
        self._best: int | None = None
        self._schedule: Steps | str = ()
        self._schedule_by = ""
        self._lower: int = job["lower"]
        self._drafts: dict[int, dict[tuple[str, int], tuple[int, Steps | str]]] = {}
        """The violated rules and the steps of near-solutions, per number of steps, and by author
        and number."""
        self._hints: dict[int, tuple[str, str]] = {}
        """Author and description of the last hint per number of steps, "" without one; the last
        one that was requested is the last entry."""
        self._given: WeakKeyDictionary[Assignment, tuple[int, str, str]] = WeakKeyDictionary()
        """The steps, author and description of the hints and migrants that engines still hold."""
        self._unread: dict[int, set[tuple[str, int]]] = {}
        """The near-solutions that have not been returned, per number of steps."""
        self._conflicts: int | None = None
        self._last_progress = 0.0
        self._next_suggestion: dict[int, float] = {}
        self.problem: Problem | None = None
        self.quotient_search: QuotientSearch | None = None
        for line in job["news"]:
            self.receive(line)

    def work(self, job: Line, received: ReceivedInstance) -> None:
        """Do the job."""
        JOBS[job["kind"]](self, job, received)

    def receive(self, line: Line) -> None:
        """Apply a line of news from the host."""
        super().receive(line)
        if "lower" in line:
            self._lower = line["lower"]
        if "best" in line:
            self._schedule = _read_short(line["steps"])
            self._best, self._schedule_by = line["best"], line["by"]
        if "draft" in line:
            count, draft = line["draft"], (line["violations"], _read_short(line["steps"]))
            key = line["by"], line["number"]
            self._drafts.setdefault(count, {})[key] = draft
            self._unread.setdefault(count, set()).add(key)

    def offer(self, assignment: Assignment, problem: Problem | None = None) -> None:
        """See ``Run.offer``; ``best`` counts the offer before the host has verified it."""
        steps = self._lift(assignment, problem=problem)
        action = self.quotient_search and self.quotient_search.action
        # The last hint that this schedule can have come from.
        hints = [hint for count, hint in list(self._hints.items()) if count >= len(steps)]
        author, hint = hints[-1] if hints else ("", "")
        how = f"quotient by a {action}" if action else hint
        self._offer(steps, len(steps), how, seeded_by=author)

    def offer_schedule(self, schedule: Schedule, how: str = "", rounds: Sequence[int] = ()) -> None:
        """Offer a schedule with the sums of its transfers, or with the rounds of its steps."""
        size = sum(rounds) if rounds else len(schedule.steps)
        self._offer(schedule.steps, size, how, sums=schedule.sums, rounds=rounds)

    def _offer(self, steps: Steps, size: int, how: str, **more: Any) -> None:
        self.send("offer", steps=steps_to_line(steps), spent=self._spent, how=how, **more)
        if self._best is None or size < self._best:
            self._schedule, self._best, self._schedule_by = steps, size, ""

    def suggest(self, assignment: Assignment) -> None:
        """See ``Run.suggest``; throttled per number of steps, and a schedule is offered."""
        if self.problem is not None and not self.problem.violations(assignment):
            self.offer(assignment)
            return
        count, now = assignment.steps, time.monotonic()
        timed = self.budget.evaluations is None
        if timed and now < self._next_suggestion.get(count, 0.0):
            return
        self.send("suggest", draft=count, steps=steps_to_line(self._lift(assignment, count)))
        self._next_suggestion[count] = now + (time.monotonic() - now) / SUGGEST_SHARE

    def bound(
        self, steps: int, evidence: Mapping[str, Any] | None = None, *, instance: bool = False
    ) -> None:
        """See ``Run.bound``."""
        if self._blind:
            return
        complete = instance or (self.problem is not None and self.problem.complete)
        record = None if evidence is None else dict(evidence)
        self.send("bound", steps=int(steps), evidence=record, complete=complete)
        if complete:
            self._lower = max(self._lower, int(steps))

    def best(self) -> int | None:
        """See ``Run.best``."""
        return self._best

    def lower(self) -> int:
        """See ``Run.lower``."""
        return self._lower

    def hint(self, steps: int, *, complete: bool = False) -> Assignment | None:
        """See ``Run.hint``."""
        drafts = list(self._drafts.get(steps, {}).items())
        problem, found = self.problem, None
        if problem is not None and drafts:
            key, _ = min(drafts, key=lambda each: each[1][0])
            found = self._near_solution(problem, steps, key)
        elif problem is not None and self._schedule:
            schedule, author = _read(self._schedule), self._schedule_by
            found = cut_to(problem.match(schedule), steps)
            self._note_hint(
                steps, author, f"from {author}'s schedule of {len(schedule)} steps", found
            )
        if problem is not None and complete and not is_complete(problem, found):
            found = None
        if found is None:
            self._note_hint(steps, "", "")
        return found

    def migrant(self, steps: int) -> Assignment | None:
        """See ``Run.migrant``."""
        unread = list(self._unread.get(steps, ()))
        if self.problem is None or not unread:
            return None
        drafts = self._drafts[steps]
        best = min(unread, key=lambda key: drafts[key][0])
        return self._near_solution(self.problem, steps, best)

    def _near_solution(self, problem: Problem, steps: int, key: tuple[str, int]) -> Assignment:
        """Return a near-solution of another engine, which is then no longer new."""
        _, draft = self._drafts[steps][key]
        self._unread[steps].discard(key)
        found = problem.match(_read(draft))
        self._note_hint(steps, key[0], f"from {key[0]}'s near-solution of {steps} steps", found)
        return found

    def started_from(self, given: Assignment) -> None:
        """See ``Run.started_from``."""
        self._note_hint(*self._given.get(given, (given.steps, "", "")))

    def _note_hint(
        self, steps: int, author: str, how: str, given: Assignment | None = None
    ) -> None:
        self._hints.pop(steps, None)
        self._hints[steps] = (author, how) if author else ("", "")
        if given is not None:
            self._given[given] = steps, author, how

    def progress(self, steps: int, conflicts: int) -> None:
        """See ``Run.progress``; throttled, but the fewest conflicts at the target are kept."""
        steps, conflicts = operator.index(steps), operator.index(conflicts)
        if steps == self.target:
            known = self._conflicts
            self._conflicts = conflicts if known is None else min(known, conflicts)
        now = time.monotonic()
        if now - self._last_progress >= MIN_NOTE_SECONDS:
            self._last_progress = now
            self.send("progress", steps=steps, conflicts=conflicts)

    def end_figures(self) -> dict[str, Any]:
        """See ``WorkerLink.end_figures``."""
        return {"conflicts": self._conflicts}

    def _lift(
        self, assignment: Assignment, steps: int | None = None, problem: Problem | None = None
    ) -> Steps:
        problem = self.problem if problem is None else problem
        if problem is None:
            raise CchybridError("there is no problem to lift from")
        found = problem.lift(assignment, steps).steps
        self.calls += 1  # so that lifting and writing a large schedule are not one silence
        return found


def _read_short(text: str) -> Steps | str:
    """Return the steps in a text, or the text itself if it is long."""
    return decode_steps(text) if len(text) < MAX_READ_CHARACTERS else text


def _read(steps: Steps | str) -> Steps:
    return decode_steps(steps) if isinstance(steps, str) else steps


def run_engine(run: WorkerRun, job: Line, received: ReceivedInstance) -> None:
    """Build the Problem and the engine, and run it on the Problem or on quotients."""
    engine_class, options = read_engine(job, "engines")
    if not job.get("on_instance") and received.refusal is not None:
        run.send("unsupported", text=received.refusal)
        return
    symmetries = automorphisms(received.instance) if job["view"] == "quotients" else None
    if symmetries is not None and not len(symmetries.generators):
        run.send("unsupported", text="there is no symmetry to divide by", asymmetric=True)
        return
    subject: Any = received.instance
    if not job.get("on_instance"):
        run.problem = subject = received.problem
    engine = engine_class(options)
    reason = engine.unsupported(subject) if symmetries is None else None
    problem = run.problem
    if problem is not None and problem.rounds != (1,) and not job["several_rounds"]:
        reason = "steps of several rounds; the engine rounds works on them"
    if problem is not None and problem.horizon not in job["horizons"]:
        reason = {"slots": "time slots", "ticks": "ticks"}.get(problem.horizon, "no ticks")
    if reason is not None:
        run.send("unsupported", text=str(reason))
        return
    prepare = getattr(engine, "prepare", None)
    if prepare is not None:
        with compiling(job["target_name"]):
            prepare()
    complete = None if problem is None else problem.complete
    run.send("started", complete=complete, options=asdict(options))
    run.working = True
    if symmetries is None or problem is None:
        stop = Stop(engine.solve(subject, run))
    else:
        settings = QuotientOptions(**job["quotients"])
        search = QuotientSearch(engine, problem, symmetries, run, settings)
        run.quotient_search = search
        stop = search.search()
        if search.refusals and stop is Stop.STALLED:
            run.send("unsupported", text=search.refusals[-1])
            return
    run.send_end(stop)


def check_options(run: WorkerRun, job: Line, received: ReceivedInstance) -> None:
    """Check the engine's options; an error is reported as ``refused``."""
    read_engine(job, "engines")
    run.send("end", stop=Stop.EXHAUSTED.value)


def run_bounds(run: WorkerRun, job: Line, received: ReceivedInstance) -> None:
    """Run the bound providers one after another; one that fails does not stop the others.

    Providers run in another thread, which is abandoned when the run is over. Only this thread
    writes events, so none is cut off.
    """

    def report(text: str) -> None:
        run.send("trouble", text=text)

    avoid_full_collections()
    run.send("started")
    for info in (BoundInfo(**content) for content in job["providers"]):
        for bound in ask(info, received.instance, run.should_stop, report):
            run.send("bound", steps=bound.steps, evidence=bound.evidence, provider=info.name)
    run.send("end", stop=Stop.EXHAUSTED.value)


def run_proof(run: WorkerRun, job: Line, received: ReceivedInstance) -> None:
    """Search for a proof that fewer steps than the job's are impossible."""
    from cchybrid.proof.search import find_proof

    instance = received.instance
    avoid_full_collections()
    run.send("started")
    seconds = run.budget.seconds or 0.0
    found = find_proof(instance, instance.to_json(), job["steps"], seconds, run.should_stop)
    proof = found.proof
    if found.shorter is not None:  # refutes the claim
        run.send("offer", steps=steps_to_line(found.shorter), spent=0, how="")
    if proof is not None and proof.steps >= job["steps"]:
        run.send(
            "bound", steps=proof.steps, evidence=proof.evidence, provider=proof.evidence["kind"]
        )
    run.send("end", stop=Stop.EXHAUSTED.value)


JOBS: dict[str, Callable[[WorkerRun, Line, ReceivedInstance], None]] = {
    "engine": run_engine,
    "options": check_options,
    "bounds": run_bounds,
    "proof": run_proof,
}
