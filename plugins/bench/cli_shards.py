"""``bench merge``, and the script of ``bench run --slurm``."""

import shlex
import sqlite3
import sys
from pathlib import Path

import typer

from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.single_options import given_words
from cchybrid.model.errors import InputError
from cchybrid.model.instance import is_file

MAX_SHOWN = 20
"""Runs that do not hold of which the reason is printed."""
OF_THE_SCRIPT = ("slurm", "jobs_of_script", "jobs", "threads")
"""Parameters of ``bench run`` that the script sets itself."""
START_SECONDS = 15
"""Seconds per run beyond its time limit, for its start and the checks of its result."""
COMPILE_SECONDS = 300
"""Seconds for the compilation of kernels, once per installation."""


def merge(
    stores: list[Path],
    output: Path = ...,  # type: ignore[assignment]
) -> None:
    """Verify the runs of several stores, and put them into one: each run once, by its key.

    Of two runs with the same key the first is kept, unless it failed and the other did not.

    Exit status: 0 all runs hold, 1 some do not and were left out, 2 bad input.

    Arguments
    ---------
    stores : STORE...
        Stores of bench run.

    Options
    -------
    output : -o, --output STORE
        The store that gets all runs.
    """
    from .merging import merge
    from .progress import checking
    from .store import Store

    if output.absolute() in [path.absolute() for path in stores]:
        raise InputError(
            f"{output} is one of the stores to merge", where="-o", hint="name another file"
        )
    for path in stores:
        Store(path).close()  # before a new file is written
    registry = load_plugins()
    fresh = not is_file(output)
    try:
        with Store(output, write=True) as merged, checking(output) as watch:
            found = merge(stores, merged, registry, watch)
            total = sum(merged.run_counts().values())
    except BaseException as error:
        if fresh and is_file(output):
            output.unlink()
        if not isinstance(error, sqlite3.Error | OSError):
            raise
        raise InputError(
            f"the store cannot be written: {error}", where=str(output), hint="name another file"
        ) from None
    for line in found.refused[:MAX_SHOWN]:
        print(f"cchybrid: left out: {line}", file=sys.stderr)
    words = f"{output}: {total} runs, {found.added} of them new"
    words += f"; {found.known} were there already" if found.known else ""
    words += f"; {len(found.refused)} do not hold and were left out" if found.refused else ""
    print(words)
    raise typer.Exit(1 if found.refused else 0)


def write_script(
    context: typer.Context,
    path: Path,
    shards: int | None,
    *,
    runs: int,
    jobs: int,
    threads: int,
    time_limit: float | None,
) -> None:
    """Write the script of a SLURM array that runs the command of this context in shards.

    Raises
    ------
    InputError
        An option makes no sense in a script, or the file cannot be written.
    """
    from cchybrid.model.instance import write_text

    from .shards import MAX_SHARDS

    for name in ("cluster", "executor", "shard", "store"):
        if context.params[name] is not None:
            raise InputError(
                "has no place in the script of shards", where=f"--{name}", hint="leave it out"
            )
    if shards is None or not 1 <= shards <= MAX_SHARDS:
        raise InputError(
            "the number of jobs is missing" if shards is None else f"{shards} makes no sense",
            where="--shards",
            hint="write --shards 20, for example",
        )
    suite = context.params["suite"]
    words = ["cchybrid", "bench", "run", suite, "--jobs", str(jobs), "--threads", str(threads)]
    words += given_words(context, without=OF_THE_SCRIPT)
    time = ""
    if time_limit is not None:
        rounds = -(-runs // (shards * jobs))
        seconds = int(rounds * (time_limit + START_SECONDS)) + COMPILE_SECONDS
        hours, rest = divmod(-(-seconds // 60), 60)
        time = f"#SBATCH --time={hours:02d}:{rest:02d}:00\n"
    stem = shlex.quote(Path(suite).stem)
    script = Path(__file__).with_name("shards.sh.in").read_text(encoding="utf-8")
    text = script.format(
        file=shlex.quote(path.name), name=stem, stem=stem, shards=shards, time=time,
        processors=jobs * threads, command=shlex.join(words),
    )  # fmt: skip
    write_text(text, path)
    print(f"written to {path}: {runs} runs in {shards} jobs; submit it with: sbatch {path}")
