"""``bench run`` and ``bench report``."""

from __future__ import annotations

import contextlib
import shlex
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cchybrid.cli import arguments, completion
from cchybrid.cli.documented import add_command
from cchybrid.cli.help_text import Group
from cchybrid.cli.option_texts import engine_options
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.single_options import refuse_given
from cchybrid.cli.warming import compile_kernels
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import is_file
from cchybrid.model.shown import counted
from cchybrid.view.extras import require_packages
from cchybrid.view.screen import print_note, print_table

from .cli_shards import merge, write_script

if TYPE_CHECKING:
    from cchybrid.plugin.benchmark_report import Report

    from .runner import Progress


def _suites(incomplete: str) -> list[completion.Completion]:
    """Return the names of the suites that ship with cchybrid, and files, for completion."""
    from .suite import suite_names

    names = [(name, "") for name in suite_names()]
    return completion.matching(incomplete, names) + completion.paths(incomplete)


bench = typer.Typer(
    name="bench",
    cls=Group,
    help="Run suites of instances, keep every result, and report.",
    no_args_is_help=True,
)


def run(
    context: typer.Context,
    suite: Annotated[str, {"autocompletion": _suites}],
    engine: Annotated[list[str] | None, {"autocompletion": completion.teams}] = None,
    without: Annotated[list[str] | None, {"autocompletion": completion.teams}] = None,
    strategy: Annotated[list[str] | None, {"autocompletion": completion.strategies}] = None,
    time_limit: float | None = None,
    evaluations: arguments.Evaluations = None,
    seeds: str | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    option: arguments.EngineOption = None,
    first_schedule: Annotated[bool | None, {"show_default": False}] = None,
    store: Path | None = None,
    cluster: arguments.Cluster = None,
    executor: arguments.ExecutorName = None,
    shard: str | None = None,
    slurm: Path | None = None,
    jobs_of_script: int | None = None,
) -> None:
    """Run a suite; runs that the store holds already are skipped.

    A suite may be a study, which names its contestants (--engine, --without, --strategy or --option
    replace them), its budget (--time-limit or --evaluations replace it), seeds and threads.

    Exit status: 0 everything is done, 1 it was interrupted or some runs failed, 2 bad input.

    Arguments
    ---------
    suite : SUITE|FILE
        smoke, thesis, faults, many-to-many, multistage, hgsa, today, sccl, tacos, czech-summary,
        groups, general, general-training, general-test, scale, scale-models, broadcast-time, tdm,
        heterogeneous;
        designs: gappin, order-degree, fewest-steps; throughputs: forestcoll; studies:
        success-hypercubes, success-multistage, run-times, success-hgsa, sweep-sga, sweep-mboa,
        sweep-umda, compare-engines, tabu, covering, cooperation, teams; or a .toml file.

    Options
    -------
    engine : NAME[+NAME...]
        A contestant: one engine, a team, or "host greedy"; repeat.
    without : NAME[+NAME...]
        A contestant: all engines without one, or several; repeat.
    strategy : NAME
        auto, race, relay or quotients; repeat to compare.
    time_limit : SEC
        Seconds per run; 60 by default.
    seeds : N|LIST
        The number of seeds (from 0), or a list: 0-9,42; default: 1.
    jobs : N
        Runs at the same time; default: half the processors.
    threads : N
        Threads, and processors, of a run; default: 1.
    first_schedule
        Let the host's greedy schedule take part for all contestants; default: unless one names
        engines.
    store : FILE
        Where results go; default: SUITE.sqlite.
    shard : I/N
        Only part I of N, into SUITE-I-of-N.sqlite; see merge.
    slurm : FILE
        Only write a SLURM script with a job per shard.
    jobs_of_script : --shards N
        The jobs of the SLURM script.
    """
    from cchybrid.host.api import DEFAULT_SECONDS
    from cchybrid.host.arguments import read_count, read_seconds
    from cchybrid.host.executors import LOCAL, executor_name, opened
    from cchybrid.host.worker_control import usable_seconds
    from cchybrid.system.processes import processor_count

    from .contestant import (
        check_options,
        contestants,
        labels,
        software_of,
        with_budget,
        with_first_schedule,
    )
    from .progress import watcher
    from .runner import digests, run_suite, tasks_of
    from .shards import read_shard
    from .store import Store
    from .study import read_seeds
    from .suite import read_suite

    registry = load_plugins()
    runner = executor_name(registry, executor, cluster)
    remote = cluster not in (None, LOCAL)
    if remote and jobs is not None:
        why = "the cluster has as many jobs as its workers have room for"
        refuse_given(context, why, names=("jobs",))
    if jobs_of_script is not None and slurm is None:
        raise InputError("there is no script", where="--shards", hint="add --slurm FILE")
    part = None if shard is None else read_shard(shard)
    chosen_suite = read_suite(suite, registry)
    kind = registry.benchmark(chosen_suite.kind)
    if not kind.budget:
        why = f"the rows of {chosen_suite.name} have no budget and no seeds"
        refuse_given(context, why, names=("time_limit", "evaluations", "threads", "seeds"))
    granted = chosen_suite.budget
    jobs = read_count(jobs, "--jobs") or max(1, processor_count() // 2)
    threads = read_count(threads, "--threads") or granted.threads or 1
    if time_limit is None and evaluations is None:
        time_limit, evaluations = granted.time_limit, granted.evaluations
    if time_limit is None and evaluations is None:
        time_limit = DEFAULT_SECONDS
    time_limit = read_seconds(time_limit)
    read_count(evaluations, "--evaluations")
    budget = {"time_limit": time_limit, "evaluations": evaluations, "threads": threads}
    named = engine or without or strategy or option
    if chosen_suite.contestants and not named:
        with with_context(suite):
            entries = with_budget(registry, chosen_suite.contestants, **budget)
            check_options(entries, registry)
    elif not kind.engines and named:
        why = f"the rows of {chosen_suite.name} need no engines"
        raise InputError(why, where="--engine", hint="drop the options")
    else:
        entries = contestants(
            registry,
            engine or [],
            [name.lower() for name in strategy or []],
            engine_options(option or []),
            without or [],
            **budget,
        )
        check_options(entries, registry)
    if first_schedule is None:
        first_schedule = granted.first_schedule
    elif not kind.engines:
        why = f"the rows of {chosen_suite.name} need no greedy schedule"
        refuse_given(context, why, names=("first_schedule",))
    entries = [
        replace(each, software=software_of(kind, each.team(registry), registry))
        for each in with_first_schedule(entries, first_schedule)
    ]
    words = "" if part is None else f"-{part.words}"
    path = store or Path(f"{Path(suite).stem}{words}.sqlite")
    made: list[Progress] = []
    chosen_seeds: Sequence[int] = granted.seeds or (0,)
    if seeds is not None:
        with with_context("--seeds"):
            chosen_seeds = read_seeds(seeds)
    names = labels(entries)
    instances = digests(chosen_suite, registry, print_note, entries)
    tasks = tasks_of(chosen_suite, entries, chosen_seeds)
    if part is not None:
        tasks = part.of(tasks)
    if slurm is not None:
        write_script(
            context, slurm, jobs_of_script,
            runs=len(tasks), jobs=jobs, threads=threads, time_limit=time_limit,
        )  # fmt: skip
        return
    fresh = not is_file(path)
    if not fresh:
        print_note(f"the runs in {path} are verified first")
    try:
        with Store(path, write=True) as results:
            if not remote:
                # Done once per installation, before any row is timed.
                compile_kernels(
                    info
                    for info in registry.engines.values()
                    if kind.engines and any(info.name in entry.team(registry) for entry in entries)
                )
            with (
                watcher(chosen_suite.name, names, kind, made.append) as watch,
                opened(registry, runner, cluster, jobs, threads, print_note) as machines,
            ):
                whole = run_suite(
                    chosen_suite, tasks, instances, results, machines, watch, registry,
                    verify=runner != LOCAL,
                )  # fmt: skip
    except (InputError, KeyboardInterrupt):
        if fresh and is_file(path):
            _drop_if_empty(path)
        raise
    except sqlite3.Error as error:
        why = f"the store cannot be used: {error}"
        raise InputError(why, where=str(path), hint="make room, or name another file") from None
    if not whole:
        print_note(f"interrupted; the same command continues ({path})")
        raise typer.Exit(1)
    print(f"{chosen_suite.name}: {len(chosen_suite.rows)} rows in {path}")
    if stored := len(tasks) - len(made):
        print(f"stored before, and verified again: {counted(stored, 'run')}")
    if failures := sum(bool(progress.run.failure) for progress in made):
        print(f"{counted(failures, 'run')} failed and will be run again by the same command")
    runs = [progress.run for progress in made if progress.run.result.get("search_seconds") == {}]
    spent = [(each.result["seconds"], each.contestant.time_limit or 1e9) for each in runs]
    if early := sum(seconds >= usable_seconds(limit) for seconds, limit in spent):
        why = f"{early} of {counted(len(made), 'run')} ended before any search began"
        print(f"{why}: raise --time-limit or lower --jobs")
    raise typer.Exit(1 if failures else 0)


def report(
    store: Path,
    other: Path | None = None,
    output: Path | None = None,
    suite: str | None = None,
    pages: bool = False,
    latex: bool = False,
) -> None:
    """Verify every run of a store again, and report as Markdown, CSV and one HTML page.

    With --pages, a page shows the best schedule of every row; report.html links to it. With
    --latex, report.tex has a table of all rows, and convergence.pdf the plot of convergence.

    Exit status: 0 the report was written, 2 bad input.

    Arguments
    ---------
    store : STORE
        The store that bench run wrote.
    other : OTHER-STORE
        One to compare with.

    Options
    -------
    output : -o, --output FOLDER
        Default: STORE-report, here.
    suite : NAME
        If the store holds several suites.
    pages
        Draw the best schedule of every row, and link it.
    latex
        Write a table for a paper, and convergence as PDF.
    """
    # What is imported next needs them.
    require_packages("a report", "jinja2", "matplotlib", "pandas", "scipy")
    from cchybrid.plugin.benchmark_report import machines_of

    from .checking import check_suite, stored_suite
    from .progress import checking
    from .report.commands import commands_of
    from .report.pages import check_folder, write_report
    from .report.schedule_pages import write_pages

    folder = output or Path(f"{store.stem}-report")
    check_folder(folder)
    words = ["cchybrid", "bench", "report", store.name, *([] if other is None else [other.name])]
    words += [] if output is None else ["-o", output.name]
    words += [] if suite is None else ["--suite", suite]
    words += [*(["--pages"] if pages else []), *(["--latex"] if latex else [])]
    registry = load_plugins()
    chosen = stored_suite(store, suite, registry)
    kind = registry.benchmark(chosen.kind)
    if other is not None and not kind.engines:
        why = f"reports of {chosen.kind} compare no stores"
        raise InputError(why, where="OTHER-STORE", hint="drop it")
    if pages and not kind.engines:
        why = f"{chosen.kind} have no pages of schedules"
        raise InputError(why, where="--pages", hint="drop the option")
    with checking(store) as watch:
        checked = check_suite(store, chosen, registry, watch)
    compared = None
    if other is not None:
        there = stored_suite(other, chosen.name, registry)
        if there.kind != chosen.kind:
            raise InputError(
                f"its suite {there.name} is of {there.kind}, the other of {chosen.kind}",
                where=str(other), hint="compare stores of one suite",
            )  # fmt: skip
        with checking(other) as watch:
            compared = check_suite(other, there, registry, watch)
    composed = kind.report(checked, compared, registry)
    composed = replace(
        composed, facts=[*composed.facts, *machines_of(checked), *checked.kind.notes]
    )
    paper = composed.paper() if latex else {}
    if latex and not paper:
        why = f"{chosen.kind} have no table in LaTeX"
        raise InputError(why, where="--latex", hint="drop the option")
    links = write_pages(checked, registry, folder) if pages else {}
    title = f"Benchmark {chosen.name}"
    commands = [*commands_of(checked, kind, registry), shlex.join(words)]
    _print_report(composed, write_report(composed, folder, title, commands, links, paper))
    if latex and "convergence.pdf" not in paper:
        print("no convergence.pdf: no run had two better schedules or bounds in a row")
    if links:
        print(f"written to {folder / 'pages'}: {counted(len(links), 'page')}")


for command in (run, report, merge):
    add_command(bench, command)


def _print_report(composed: Report, files: Sequence[Path]) -> None:
    """Print the summary of a report, and its files."""
    from pandas import DataFrame

    summary = composed.sections[0].table
    if summary is not None:
        table = DataFrame(summary)
        print_table([*table], ([*map(str, row)] for row in table.itertuples(index=False)))
    for section in composed.sections:
        if section.lines:
            print(f"{section.title}: {len(section.lines)}")
    for path in files:
        print(f"written to {path}")


def _drop_if_empty(path: Path) -> None:
    """Delete a store without runs."""
    from .store import Store

    with contextlib.suppress(InputError, OSError, sqlite3.Error):
        if path.stat().st_size:
            with Store(path) as store:
                if store.run_counts():
                    return
        path.unlink()
