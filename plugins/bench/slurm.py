"""The script of a SLURM job array that runs a suite in shards."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

START_SECONDS = 15
"""Seconds per run beyond its time limit, for its start and the checks of its result."""
COMPILE_SECONDS = 300
"""Seconds for the compilation of kernels, once per installation."""

_SCRIPT = """\
#!/bin/sh
# Submit with: sbatch {file}
# A job that is stopped, requeued or submitted again continues where it was.
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={processors}
{time}#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={stem}-%a-of-{shards}.log
set -eu
shard="${{SLURM_ARRAY_TASK_ID:?is set by sbatch}}"
exec {command} --shard "$shard/{shards}" --store {stem}-"$shard"-of-{shards}.sqlite
"""


def array_script(
    file: str,
    suite: str,
    words: Sequence[str],
    *,
    runs: int,
    shards: int,
    jobs: int,
    threads: int,
    time_limit: float | None,
) -> str:
    """Return the text of the script.

    Parameters
    ----------
    file
        The name of the script, for its first lines.
    suite
        The name of the suite without the folder; stores are named after it.
    words
        The command that runs the whole suite.
    runs
        The runs of the suite.
    shards
        The jobs of the array.
    jobs, threads
        Runs at the same time in each job, and the processors of each run.
    time_limit
        Seconds of a run; ``None``: unknown, so the script sets no limit to a job.
    """
    stem = shlex.quote(suite)
    time = ""
    if time_limit is not None:
        rounds = -(-runs // (shards * jobs))
        seconds = int(rounds * (time_limit + START_SECONDS)) + COMPILE_SECONDS
        hours, rest = divmod(-(-seconds // 60), 60)
        time = f"#SBATCH --time={hours:02d}:{rest:02d}:00\n"
    return _SCRIPT.format(
        file=shlex.quote(file),
        name=stem,
        stem=stem,
        shards=shards,
        processors=jobs * threads,
        time=time,
        command=shlex.join(words),
    )
