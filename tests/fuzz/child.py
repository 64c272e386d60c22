"""The process in which mutants are read: ``python -m tests.fuzz.child SECONDS MIB``.

It gets lines ``reader first count`` on standard input, writes ``"> reader number"`` before and
``"< {...}"`` after every mutant, and ends with its input. The parent (``run.py``) ends it where a
reader hangs or takes the memory.
"""

import contextlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import typer.main

from cchybrid.plugin import registry
from tests.fuzz.reader import ANSWERS, Reader
from tests.fuzz.readers import reader

MAX_MESSAGE = 1_500
"""Characters of an answer."""


class TooLong(BaseException):
    """The time limit; no reader can take it for an error of its input."""


def mutant(chosen: Reader, number: int) -> bytes:
    """Return a mutant, which the name of the reader and the number decide."""
    rng = random.Random(f"{chosen.name} {number}")
    seeds = _seeds(chosen.name)
    return chosen.mutate(rng, rng.choice(seeds), seeds)


@cache
def _seeds(name: str) -> list[bytes]:
    return reader(name).seeds()


def answer(chosen: Reader, path: Path, seconds: float) -> dict[str, Any]:
    """Return how a reader answers to a file: ``accepted``, ``refused``, or what went wrong."""
    started = time.process_time()
    try:
        with _time_limit(seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = chosen.read(path)
    except ANSWERS as error:
        text = str(error)
        wrong = "" if text.isprintable() else "an answer of several lines"
        if len(text) > MAX_MESSAGE:
            wrong = f"an answer of {len(text)} characters"
        record = {"outcome": wrong or "refused", "text": text[:300]}
    except TooLong:
        record = {"outcome": "time limit", "text": f"more than {seconds:g} s of processor time"}
    except MemoryError:
        record = {"outcome": "memory limit", "text": _place()}
    except Exception as error:
        record = {
            "outcome": "traceback",
            "text": f"{type(error).__name__}: {error}"[:300] + _place(),
        }
    else:
        record = {"outcome": "accepted", "text": ""}
        try:
            with _time_limit(20 * seconds):
                chosen.judge(path, found)
        except TooLong:
            record = {"outcome": "time limit", "text": "of the judge"}
        except Exception as error:
            text = f"{type(error).__name__}: {error}"[:300] + _place()
            record = {"outcome": "wrongly accepted", "text": text}
    return {**record, "seconds": round(time.process_time() - started, 3)}


def _place() -> str:
    """Return the last lines of the code that an error passed."""
    frames = traceback.extract_tb(sys.exc_info()[2])[-3:]
    return "".join(f" | {Path(f.filename).name}:{f.lineno} {f.name}" for f in frames)


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TooLong`` in the block after this much processor time of the process."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_memory(mib: int) -> None:
    """Let the process take this much more memory than it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (mib << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _set_up_once() -> None:
    """Have plugins and commands loaded once: they are no input, and take longer than a mutant."""
    load, once = registry.load_registry, cache(registry.load_registry)
    for module in list(sys.modules.values()):
        if getattr(module, "load_registry", None) is load:
            vars(module)["load_registry"] = once
    vars(typer.main)["get_command"] = cache(typer.main.get_command)


def main(seconds: float, mib: int) -> None:
    """Read the mutants that the lines of standard input name."""
    _set_up_once()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a reader prints is no answer
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        limited: set[str] = set()
        for line in sys.stdin:
            name, first, count = json.loads(line)
            chosen = reader(name)
            path = Path(folder) / "input" / f"input{chosen.suffix}"
            path.parent.mkdir(exist_ok=True)
            if name not in limited:  # with the unchanged seeds, so that modules are imported first
                limited.add(name)
                for number, data in enumerate(chosen.seeds()):
                    path.write_bytes(data)
                    print(">", json.dumps([name, -1 - number]), file=out, flush=True)
                    record = answer(chosen, path, 60.0)
                    print("<", json.dumps(record), file=out, flush=True)
                resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
                _limit_memory(mib)
            for number in range(first, first + count):
                print(">", json.dumps([name, number]), file=out, flush=True)
                started = time.process_time()
                path.write_bytes(mutant(chosen, number))
                record = answer(chosen, path, seconds)
                record["all_seconds"] = round(time.process_time() - started, 4)
                print("<", json.dumps(record), file=out, flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
