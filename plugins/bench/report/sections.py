"""The content of a report on schedules, section by section; the template defines the layout."""

from typing import Any

import numpy as np
from pandas import DataFrame, Series, concat, isna

from cchybrid.library.node_lists import format_nodes
from cchybrid.model.shown import counted
from cchybrid.plugin.benchmark_report import Report, Section, counts_of, exclusions

from ..contestant import Contestant, settings_of
from ..frame import as_text, run_frame
from . import scaling, statistics
from .cells import percent, ranges, shown
from .contestant_sections import contestants, steps, teams
from .reading import Reading
from .significance import TEST, pairs_of
from .standing import STUDY, VERDICTS, compare, contradictions, standings, without_shared
from .texts import text_of

BUSY = 1.5
"""Wall time over processor time of starts and searches above which times say little of engines."""
_WALL = ["start_wall_seconds", "search_wall_seconds"]
_PROCESSOR = ["start_seconds", "search_seconds"]
MAX_METHODS = 5
"""The number of methods that are named in the section on contributions."""
COLUMNS = (
    "row", "topology", "collective", "root", "transmitters", "receivers", "switching", "routing",
    "ports", "fail_links", "fail_nodes", "participants", "chunks", "rounds", "steps",
    "lower_bound", "claimed_bound", "gap", "state",
    "proof", "published_steps", "published_lower_bound", "comparable", "place", "source", "note",
    "verdict", "bound_verdict", "published_is_impossible", "seconds_to_best", "seconds", "engine",
    "contestant", "runs", "failures", "story",
)  # fmt: skip
"""The columns of ``report.csv``."""


def compose(reading: Reading, other: Reading | None) -> Report:
    """Return the report of a store, compared with another if there is one."""
    rows = standings(reading)
    rows["bounds"] = _beside(rows.lower_bound, rows.claimed_bound, "({} claimed)", "0")
    runs = statistics.judged(reading.counted.runs, rows)
    sections = [_summary(rows)]
    if rows.rates.map(bool).any() or rows.mean_times.map(bool).any():
        sections += _rates(statistics.rates(runs[~runs.row_infeasible]))
    studied = runs[runs.row_is_study & (runs.failure == "")]
    sections += _remainders(statistics.remainders(runs), int(studied.conflicts.isna().sum()))
    scheduled = rows[~rows.is_study]
    if len(scheduled):
        searched = runs[~runs.row_is_study & ~runs.row_infeasible]
        scores = statistics.scores(searched, scheduled.group.unique())
        sections += [*_new(scheduled), *_against_papers(scheduled), _unfinished(scheduled)]
        without = " Rows that were shown to have no schedule are left out."
        without = without if scheduled.infeasible.any() else ""
        sections += [*_credit(scheduled), *contestants(searched, scores, without)]
        sections += [*steps(searched, scheduled.index), *teams(searched, without)]
    sections += _scaling(reading)
    if other is not None:
        sections.append(_comparison(reading, other))
    sections += [*_troubles(rows, reading), _all_rows(rows, reading)]

    def drawn() -> list[tuple[str, str]]:
        from .plots import plots

        return plots(rows, runs) if len(runs) else []

    def paper() -> dict[str, bytes]:
        from .paper import paper_files

        return paper_files(reading, rows, runs, _versions(reading).get("cchybrid", "unknown"))

    return Report(_facts(reading), sections, rows, COLUMNS, drawn, paper)


def _beside(numbers: Series, others: Series, words: str, none: str = "") -> list[Any]:
    """Return the first numbers, with the others in words where there are any."""
    return [
        number if isna(other) else f"{shown(number) or none} {words.format(other)}".strip()
        for number, other in zip(numbers, others, strict=True)
    ]


def _summary(rows: DataFrame) -> Section:
    claimed = rows.proof == "claimed"
    rare = {"no result", "no schedule", STUDY} - set(rows.verdict)
    marks = {verdict: rows.verdict == verdict for verdict in VERDICTS if verdict not in rare}
    proofs = {"closed": rows.proof == "certified", **({"claimed": claimed} if any(claimed) else {})}
    counts = DataFrame({"rows": 1, **proofs, **marks}).groupby(rows.group, sort=False).sum()
    counts.loc["all"] = counts.sum()
    text = text_of("summary", claimed=claimed.any())
    return Section("Summary", text, table=counts.rename_axis("collective").reset_index())


def _rates(found: DataFrame) -> list[Section]:
    """Return the section on success rates, if there are any."""
    verdicts = [*found.reaches_published]
    compared = len(verdicts) - verdicts.count("") - verdicts.count("impossible")
    text = text_of("rates", reached=verdicts.count("yes"), compared=compared)
    names = ["row", "contestant", "goal", "runs", "successes", "cut_off"]
    whole = "{:.0f}".format
    table = found[names].rename(columns={"cut_off": "cut off"}).assign(**{
        "success rate": found.rate.map(percent),
        "95 % interval": ranges(found.rate_low, found.rate_high, percent),
        "published": found.published_rate.map(percent), "at least theirs": verdicts,
        "mean evaluations": found.evaluations_mean.round().astype("Int64"),
        "interval of evaluations": ranges(found.evaluations_low, found.evaluations_high, whole),
        "mean s": found.seconds_mean,
    })  # fmt: skip
    shown_only = {"their_evaluations": "published evaluations", "their_time": "published time"}
    for column, title in shown_only.items():
        if found[column].notna().any():
            table[title] = found[column].fillna("")
            names.append(column)
    names += ["rate", "rate_low", "rate_high", "published_rate", "reaches_published"]
    names += ["evaluations_mean", "evaluations_low", "evaluations_high", "seconds_mean"]
    record = found[names].rename(columns={"reaches_published": "at_least_published"})
    section = Section("Success rates", text, (), table, "success-rates.csv", record)
    return [section] if len(found) else []


def _remainders(found: DataFrame, uncounted: int) -> list[Section]:
    """Return the section on conflicts that are left, with the number of runs without a count."""
    test = TEST.format(pairs_of(found["row"]))
    text = text_of("remainders", test=test, uncounted=uncounted)
    table = found[["row", "contestant", "runs"]].assign(**{
        "mean conflicts": found.conflicts_mean,
        "95 % interval": ranges(found.conflicts_low, found.conflicts_high, "{:.1f}".format),
        "beside the lowest": found.verdict,
        "evaluations/s": found.speed.round().astype("Int64"),
        "highest of the row / own": found.slower,
    })  # fmt: skip
    compared = [Contestant.from_key(key) for key in found.key]
    record = found[["row"]].assign(
        contestant=[each.name for each in compared],
        settings=[" ".join(settings_of(each)) for each in compared],
        runs=found.runs, **found.filter(like="conflicts_"), verdict=found.verdict,
        evaluations_per_second=found.speed, highest_of_the_row_over_own=found.slower,
    )  # fmt: skip
    if found.empty:
        return [Section("Conflicts left", text)] if uncounted else []
    return [Section("Conflicts left", text, (), table, "conflicts.csv", record)]


def _new(rows: DataFrame) -> list[Section]:
    """Return the section on results that are not in the rows' sources, if these have any steps."""
    lines = DataFrame({
        "row": rows["row"], "what is new": "", "published": rows.published_steps,
        "ours": rows.steps.astype(object).mask(rows.infeasible, "no schedule exists"),
        "lower bound": rows.bounds, "engine": rows.engine,
    })  # fmt: skip
    found = {
        "better": lines[rows.verdict == "better"],
        "nothing published": lines[rows.verdict == "new"],
        "impossible": lines[rows.published_is_impossible],
    }
    better, new, impossible = map(len, found.values())
    text = text_of("new", better=better, new=new, impossible=impossible)
    table = concat([some.assign(**{"what is new": word}) for word, some in found.items()])
    section = Section("New beside the papers", text, table=table if len(table) else None)
    return [section] if rows.published_steps.notna().any() else []


def _against_papers(rows: DataFrame) -> list[Section]:
    worse: dict[str, list[str]] = {"worse": [], "no schedule": []}
    for row in rows[rows.verdict.isin([*worse])].itertuples():
        ours = "no schedule" if isna(row.steps) else f"{row.steps} steps"
        line = f"{row.row}: {ours}, published {row.published_steps}"
        if row.published_is_impossible:
            proof = "no schedule at all" if row.infeasible else f"at least {row.lower_bound} steps"
            line += f" (which a certified bound rules out: {proof})"
        worse[row.verdict].append(f"{line}; {row.note}" if row.note else line)
    refuted = [
        f"{row.row}: published bound {row.published_lower_bound}, our schedule has {row.steps}"
        for row in rows[rows.bound_verdict == "refuted"].itertuples()
    ]
    compared = int(rows.verdict.isin(("better", "equal", "worse")).sum())
    summary = f"{len(worse['worse'])} of the {compared} rows that are compared."
    if not compared:
        summary = "Nothing was published that the results of these rows could be compared with."
    counts = rows.bound_verdict.value_counts()
    words = [f"{w}: {counts[w]}" for w in ("tighter", "equal", "weaker", "refuted") if w in counts]
    text = f"Rows: {', '.join(words)}." if words else ""
    sections = [
        Section("Worse than published", summary, worse["worse"]),
        Section("Published steps, but no schedule of ours", lines=worse["no schedule"]),
        Section("Lower bounds against the published", text),
        Section("Published lower bounds that schedules refute", lines=refuted),
    ]
    return [each for each in sections if each.text or each.lines]


def _unfinished(rows: DataFrame) -> Section:
    """Return the section on rows with runs that are not closed."""
    table = DataFrame({
        "row": rows["row"], "steps": rows.steps, "lower bound": rows.bounds, "gap": rows.gap,
        "published": rows.published_steps, "state": rows.state,
    })[(rows.runs > 0) & (rows.proof != "certified")]  # fmt: skip
    text = f"{len(table)} of the {(rows.runs > 0).sum()} rows with runs."
    return Section("Not closed", text, table=table if len(table) else None)


def _credit(rows: DataFrame) -> list[Section]:
    """Return the section on what each engine contributed; none if no run has contributions."""
    recorded = rows[rows.contributions.str.len() > 0]
    if recorded.empty:
        return []
    gains = statistics.gains_of(recorded)
    methods = gains[(gains.what == "schedule") & (gains.how != "")].groupby("how")["row"].nunique()
    methods = methods.sort_values(ascending=False, kind="stable")
    named = [
        f"{method} ({count} row{'s' if count > 1 else ''})" for method, count in methods.items()
    ]
    named[MAX_METHODS:] = [f"{len(named) - MAX_METHODS} others"] if len(named) > MAX_METHODS else []
    text = text_of("credit", recorded=len(recorded), rows=len(rows), methods=", ".join(named))
    table = statistics.credit_of(gains) if len(gains) else None
    return [Section("What each engine contributed", text, table=table)]


def _comparison(reading: Reading, other: Reading) -> Section:
    """Return the section on the rows of two stores that have the same instance in both."""
    here, there = reading.checked.digests, other.checked.digests
    others = [name for name in here if there.get(name, here[name]) != here[name]]
    one, two, alike = without_shared(reading, other)
    left_out = [len(reading.counted.runs) - len(one.runs), len(other.counted.runs) - len(two.runs)]
    sides = [standings(each).drop(index=others) for each in (one, two)]
    table = compare(*(rows[~rows.is_study] for rows in sides))
    both = table[table["where"] == "both"]
    differs = both[both.here != ""]
    counts = ", ".join(
        f"{method} {count}" for method, count in both.loc[:, "fewer steps":].sum().items()
    )
    runs = (both[f"runs {side}"].agg(["min", "max"]).unique() for side in ("here", "there"))
    sizes = [" to ".join(map(str, each)) for each in runs]
    settings = [{"budget": _budgets(each), **_versions(each)} for each in (one, two)]
    for each, its in zip((one, two), settings, strict=True):
        its["machine"] = " and ".join(sorted(set(each.runs.machine[each.runs.failure == ""])))
    named = [
        {" ".join([its.name, *settings_of(its)]) for its in each.contestants} for each in (one, two)
    ]
    for its, own, others_named in zip(settings, named, reversed(named), strict=True):
        if own != others_named:
            its["contestant"] = " and ".join(sorted(own - others_named)) or "no other"
    differing = [
        f"{name} {' or '.join(each.get(name) or 'unknown' for each in settings)}"
        for name in {**settings[0], **settings[1]}
        if settings[0].get(name) != settings[1].get(name)
    ]
    text = text_of(
        "comparison", both=len(both), alike=len(both) - len(differs), counts=counts, sizes=sizes,
        alone={side: (table["where"] == side).sum() for side in ("here", "there")},
        studies=int(sides[0].is_study.sum()), left_out=left_out,
        same=len(alike.intersection(both.index)),
        test=TEST.format(table.comparisons.sum()), differing=differing, others=others,
    )  # fmt: skip
    lines = differs.loc[:, "here":"runs there"].reset_index(names="row")
    if (differs["runs here"] == differs["runs there"]).all():
        lines = lines.drop(columns=["runs here", "runs there"])
    title = f"Compared with {other.checked.path.name}"
    return Section(title, text, others, lines if len(lines) else None)


def _troubles(rows: DataFrame, reading: Reading) -> list[Section]:
    runs = reading.runs
    failures = runs.title + ": " + runs.failure
    bad = [*failures[~runs.held], *contradictions(rows, runs)]
    failed = [*failures[runs.held & (runs.failure != "")]]
    troubles = [f"{run.title}: {text}" for run in runs.itertuples() for text in run.troubles]
    section = Section("Troubles during runs", "", troubles)
    return [*exclusions(reading.checked, bad, failed), *([section] if troubles else [])]


def _all_rows(rows: DataFrame, reading: Reading) -> Section:
    """Return the section of the table; it names a contestant if there are several.

    Its record is the table of all runs.
    """
    several = len(reading.contestants) > 1
    alone = rows.engine + " " + rows.steps.astype(str)  # the same as other columns
    states = [rows.state + ", " + rows.proof, "open, gap " + rows.gap.astype(str)]
    table = DataFrame({
        "row": rows["row"], "routing": rows.routing, "steps": rows.steps,
        "lower bound": rows.bounds,
        "state": np.select([rows.proof == "certified", rows.state == "open"], states, rows.state),
        "published": _beside(rows.published_steps, rows.published_lower_bound, "(at least {})"),
        "verdict": rows.verdict, "bound": rows.bound_verdict, "s to best": rows.seconds_to_best,
        "s in all": rows.seconds, "engine": rows.engine,
        "story": rows.story.mask((rows.story == "") | (rows.story == alone)),
        "contestant": rows.contestant if several else None,
    })  # fmt: skip
    absent = [name for name in ("story", "contestant") if table[name].isna().all()]
    table, record = table.drop(columns=absent), as_text(run_frame(reading))
    return Section("All rows", text_of("all_rows"), table=table, file="runs.csv", record=record)


def _scaling(reading: Reading) -> list[Section]:
    """Return what the runs of measured rows cost, and how that grows with the nodes.

    The page names contestants and seeds if there are several.
    """
    costs = scaling.costs(reading)
    if costs.empty:
        return []
    alike = [name for name in ("contestant", "seed") if costs[name].nunique() == 1]
    table = costs.drop(columns=["family", *alike]).rename(columns=scaling.MEASURES)
    text = text_of("scaling", min_nodes=scaling.MIN_NODES, min_points=scaling.MIN_POINTS)
    return [
        Section("Scaling", text, table=table, file="scaling.csv", record=costs),
        Section("Growth", "Exponents of the number of nodes.", table=scaling.growth(costs)),
    ]


def _facts(reading: Reading) -> list[str]:
    """Return the general facts: contestants with their rows and seeds, versions, counts."""
    runs = reading.counted.runs
    seeds = runs.groupby(["key", "row"]).seed.agg(format_nodes)
    facts = []
    for contestant in reading.contestants:
        words = ", ".join([contestant.name, contestant.budget, *settings_of(contestant)])
        rows = seeds[contestant.key].value_counts(sort=False).items()
        each = [f"seeds {text} in {counted(count, 'row')}" for text, count in rows]
        facts.append(f"contestant {words}; {', '.join(each)}")
    total = len(reading.contestants) * len(runs.drop_duplicates(["row", "seed"]))
    if total > len(runs):
        facts.append(
            f"contestants have runs of different rows or seeds: {total - len(runs)} of the {total}"
            " runs are missing that all contestants would have of the rows and seeds of any;"
            " rates, times and counts of runs of different rows or seeds cannot be compared"
        )
    spent = runs.groupby("row")[[*_WALL, *_PROCESSOR]].sum()
    busy = int((spent[_WALL].sum(axis=1) > BUSY * spent[_PROCESSOR].sum(axis=1)).sum())
    if busy:
        facts.append(
            f"in {busy} of {counted(len(spent), 'row')} engines took more than {BUSY} times as much"
            " wall time as processor time: the machine was busy, or engines waited; times say"
            " little of the engines"
        )
    versions = [f"{name} {texts}" for name, texts in _versions(reading).items()]
    facts += [f"versions: {', '.join(versions)}"] if versions else []
    return [*facts, counts_of(reading.checked)]


def _budgets(reading: Reading) -> str:
    return " and ".join(sorted({contestant.budget for contestant in reading.contestants}))


def _versions(reading: Reading) -> dict[str, str]:
    found = DataFrame([*reading.runs.versions]).items()
    return {str(name): " and ".join(sorted(set(each.dropna()))) for name, each in found}
