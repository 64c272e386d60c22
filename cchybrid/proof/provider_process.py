"""A bound provider in a process of its own, so that its crash ends nothing else.

Started as a module, this file is that process. Standard input brings a ``BoundInfo`` and an
instance as one JSON object; standard output takes a JSON object per line: a bound, or at last an
error.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict

from cchybrid.model import Instance, LowerBound
from cchybrid.proof.asking import ProviderError, ask, bounds_of
from cchybrid.proof.records import BoundInfo
from cchybrid.system.background import iterate_in_thread
from cchybrid.system.processes import die_with_parent, start_module


def ask_apart(
    info: BoundInfo,
    instance: Instance,
    should_stop: Callable[[], bool],
    report: Callable[[str], None],
) -> Iterator[LowerBound]:
    """Yield as ``ask`` does; a provider that has its own worker is asked in its own process."""
    if not info.own_worker:
        yield from ask(info, instance, should_stop, report)
        return
    if should_stop():
        return
    try:
        with start_module(__name__) as child:
            try:
                yield from iterate_in_thread(_answers(child, info, instance), should_stop)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
    except (OSError, ProviderError) as error:
        report(str(error) if isinstance(error, ProviderError) else f"bound {info.name}: {error}")


def _answers(
    child: subprocess.Popen[bytes], info: BoundInfo, instance: Instance
) -> Iterator[LowerBound]:
    """Yield the bounds that a process sends."""
    assert child.stdin is not None
    assert child.stdout is not None
    job = {"info": asdict(info), "instance": instance.to_json()}
    with suppress(BrokenPipeError):  # its exit status says why
        child.stdin.write(json.dumps(job).encode())
        child.stdin.close()
    for line in child.stdout:
        answer = json.loads(line)
        if "error" in answer:
            raise ProviderError(answer["error"])
        yield LowerBound(**answer)
    if child.wait():
        raise ProviderError(f"bound {info.name}: its process ended with status {child.returncode}")


def main() -> None:
    """Ask the provider that standard input names."""
    die_with_parent()
    out = os.fdopen(os.dup(1), "w")
    with open(os.devnull, "w") as nowhere:  # for what the provider prints
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    job = json.load(sys.stdin)
    try:
        for bound in bounds_of(BoundInfo(**job["info"]), Instance.from_json(job["instance"])):
            answer = {"steps": bound.steps, "evidence": bound.evidence}
            print(json.dumps(answer), file=out, flush=True)
    except ProviderError as error:
        print(json.dumps({"error": str(error)}), file=out, flush=True)


if __name__ == "__main__":
    main()
