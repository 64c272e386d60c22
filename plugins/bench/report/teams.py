"""Teams beside their members: whether engines are better together, and which one seeded which."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np
from pandas import DataFrame

from cchybrid.plugin.registry import load_registry

from ..contestant import Contestant
from .significance import NOT_SHOWN, holm, penalised, signed_rank_p
from .statistics import mean_of

Options: TypeAlias = Mapping[str, Mapping[str, str]]
VERDICTS = ("better", "worse", NOT_SHOWN)


def members_of(key: str, code: Mapping[str, Set[tuple[str, str]]]) -> list[str]:
    """Return the contestants of one engine each that a team can be compared with.

    A team has several engines, or all but baselines; its members run under the same budget.
    ``code`` has, by contestant, the engines of its runs with the digests of their code, of which
    a member has one of the team's; where one is empty (older stores), names of engines decide.
    A member has the team's options of its engine, and no strategy.
    """
    team = Contestant.from_key(key)
    engines = team.team(load_registry())
    if len(engines) < 2:
        return []
    found = []
    for other, own in code.items():
        alone = Contestant.from_key(other)
        if len(alone.engines or ()) != 1 or _limits_of(alone) != _limits_of(team):
            continue
        if alone.strategy != "auto" or alone.options != _own(team.options, alone.engines):
            continue
        if own <= code[key] if own and code[key] else {*(alone.engines or ())} <= {*engines}:
            found.append(other)
    return found


def _own(options: Options, engines: Iterable[str] | None) -> Options:
    return {name: options[name] for name in engines or () if name in options}


def _limits_of(contestant: Contestant) -> tuple[object, ...]:
    """Return the budget of a contestant, and whether the host's greedy schedule takes part."""
    return (
        contestant.time_limit, contestant.evaluations, contestant.threads,
        contestant.first_schedule,
    )  # fmt: skip


def beside_members(runs: DataFrame) -> DataFrame:
    """Return, per row and team, the team's runs beside those of the better one of its members.

    The better member has a higher success rate, then fewer seconds. ``seconds`` are means to the
    best schedule, with ``PENALTY`` for a run without success; ``low`` and ``high`` are Student's
    interval at 95 %; ``verdict`` is one of ``VERDICTS`` (``_verdicts``).
    """
    runs = runs.assign(penalised=penalised(runs, runs.success))
    names = dict(zip(runs.key, runs.contestant, strict=True))
    code = {
        key: {item for each in versions for item in each.items() if item[0].startswith("engine ")}
        for key, versions in runs.groupby("key").versions
    }
    lines: list[dict[str, object]] = []
    verdicts: list[str] = []
    for key in code:
        rivals = members_of(key, code)
        pairs = []
        for row, ours in runs[runs.key == key].groupby("row", sort=False):
            theirs = [runs[(runs.key == rival) & (runs.row == row)] for rival in rivals]
            theirs = [group for group in theirs if len(group)]
            if not theirs:
                continue
            best = min(theirs, key=lambda group: (-group.success.mean(), group.penalised.mean()))
            line = {"row": row, "team": names[key], **_summary(ours)}
            line["members"] = "; ".join(group.contestant.iloc[0] for group in theirs)
            line["member"] = best.contestant.iloc[0]
            line |= {f"member_{name}": value for name, value in _summary(best).items()}
            theirs.sort(key=lambda group: group is not best)
            pairs.append((ours, theirs))
            lines.append(line)
        verdicts += _verdicts(pairs)
    return DataFrame(
        [{**line, "verdict": word} for line, word in zip(lines, verdicts, strict=True)]
    )


def _verdicts(rows: Sequence[tuple[DataFrame, list[DataFrame]]]) -> list[str]:
    """Return, for each row, how the runs of a team compare with those of its members.

    The better member is the first. ``better`` if Wilcoxon's test of the seconds of the same seeds
    shows fewer than those of every member, as each could be the better one; ``worse`` if it shows
    more than those of the better one, with Bonferroni's correction, as that was chosen. All rows
    have Holm's correction.
    """
    words, p_values = [], []
    for ours, theirs in rows:
        mine = ours.set_index("seed").penalised
        more = [(group.set_index("seed").penalised - mine).dropna() for group in theirs]
        chances = {
            "better": max(map(signed_rank_p, more)),
            "worse": len(more) * signed_rank_p(-more[0]),
        }
        word = min(chances, key=chances.__getitem__)
        words.append(word)
        p_values.append(2 * chances[word])
    return [word if sure else NOT_SHOWN for word, sure in zip(words, holm(p_values), strict=True)]


def _summary(runs: DataFrame) -> dict[str, float]:
    mean, low, high = mean_of(runs.penalised)
    return {
        "runs": len(runs), "successes": int(runs.success.sum()), "closed": int(runs.closed.sum()),
        "seconds": mean, "low": low, "high": high,
    }  # fmt: skip


def seeds_of_teams(runs: DataFrame) -> DataFrame:
    """Return in how many runs the best schedule of one engine was seeded by another.

    ``successes`` counts those of them that are a success.
    """
    lines = []
    for run in runs.itertuples():
        found = [entry for entry in run.contributions if entry.what == "schedule"]
        if found and found[-1].seeded_by:
            seeded = found[-1]
            lines.append((run.contestant, seeded.author, seeded.seeded_by, bool(run.success)))
    names = ["contestant", "found by", "seeded by"]
    table = DataFrame(lines, columns=[*names, "success"])
    counts = table.groupby(names).success.agg(runs="size", successes="sum").reset_index()
    return counts.astype({"successes": np.int64})
