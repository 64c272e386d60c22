"""Whether ``auto`` is the best choice: seconds and steps of every strategy, row by row.

Run as ``python -m tests.benchmarks.bench_strategies [SUITE]``; by default on the smoke suite. Every
row is solved with every strategy, one run at a time, the strategies in turn; the median of the
seeds counts. The script prints the rows on which ``auto`` was slower than the fastest strategy
that reached as few steps, the ratio of all its seconds to those of the best single strategy, and
fails if that is above ``--max-ratio``, or if a row ends with more steps than under another
strategy.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from cchybrid.bench.store import Store

OTHERS = ("race", "relay")


class Standing:
    """The results: per row and strategy, the steps and seconds of all seeds."""

    def __init__(self) -> None:
        self._steps: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def add(self, row: str, strategy: str, steps: int | None, seconds: float) -> None:
        """Add a run; without a schedule its steps count as infinite."""
        self._steps[row, strategy].append(1 << 40 if steps is None else steps)
        self._seconds[row, strategy].append(seconds)

    @property
    def rows(self) -> list[str]:
        """The rows in the order in which they came."""
        return list(dict.fromkeys(row for row, _ in self._steps))

    def steps(self, row: str, strategy: str) -> float:
        """Return the median of the steps."""
        return median(self._steps[row, strategy])

    def seconds(self, row: str, strategy: str) -> float:
        """Return the median of the seconds."""
        return median(self._seconds[row, strategy])

    def worse(self) -> list[str]:
        """Return the rows on which some other strategy has fewer steps than ``auto``."""
        return [
            row
            for row in self.rows
            if any(self.steps(row, other) < self.steps(row, "auto") for other in OTHERS)
        ]

    def ratios(self) -> dict[str, float]:
        """Return, per row, the ratio of ``auto`` to the fastest strategy that is as good."""
        found = {}
        for row in self.rows:
            best = min(self.steps(row, other) for other in OTHERS)
            fastest = min(
                self.seconds(row, other) for other in OTHERS if self.steps(row, other) == best
            )
            if self.steps(row, "auto") <= best:
                found[row] = self.seconds(row, "auto") / fastest
        return found

    def whole(self) -> float:
        """Return the ratio of the total seconds of ``auto`` to the best single strategy's."""
        total = {
            strategy: sum(self.seconds(row, strategy) for row in self.rows)
            for strategy in ("auto", *OTHERS)
        }
        return total["auto"] / min(total[other] for other in OTHERS)


def measure(suite: str, seeds: int, limit: float) -> Standing:
    """Run the suite with every strategy; return the results."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "strategies.sqlite")
        words = [word for name in ("auto", *OTHERS) for word in ("--strategy", name)]
        subprocess.run(
            [sys.executable, "-m", "cchybrid", "bench", "run", suite, *words, "--jobs", "1",
             "--seeds", str(seeds), "--time-limit", str(limit), "--threads", "2",
             "--store", str(path)],
            check=True,
        )  # fmt: skip
        standing = Standing()
        with Store(path) as store:
            for run in store.runs():
                seconds = float(run.result.get("seconds", limit))
                standing.add(run.row, run.contestant.strategy, run.steps, seconds)
    return standing


def main() -> None:
    """Measure and print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", nargs="?", default="smoke")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--max-ratio", type=float, default=1.5)
    options = parser.parse_args()
    standing = measure(options.suite, options.seeds, options.time_limit)
    ratios = standing.ratios()
    for row, ratio in sorted(ratios.items(), key=lambda item: -item[1]):
        if ratio > 1:
            words = "  ".join(
                f"{name} {standing.seconds(row, name):.2f} s" for name in ("auto", *OTHERS)
            )
            print(f"{ratio:5.2f}  {row}: {words}")
    slow = [row for row, ratio in ratios.items() if ratio > options.max_ratio]
    limit = f"{options.max_ratio:g} times"
    print(f"{len(standing.rows)} rows; auto is slower than {limit} on {len(slow)}")
    print(f"all rows together: {standing.whole():.2f} times the best single strategy")
    worse = standing.worse()
    print(f"more steps than another strategy: {', '.join(worse) or 'nowhere'}")
    sys.exit(1 if worse or standing.whole() > options.max_ratio else 0)


if __name__ == "__main__":
    main()
