"""``warm-up``: compile kernels before they are needed."""

import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from cchybrid.cli import completion
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import DesignerInfo, EngineInfo


def warm_up(
    engine: Annotated[
        list[str] | None, {"autocompletion": completion.engines_and_designers}
    ] = None,
    every: bool = False,
) -> None:
    """Compile the kernels of engines and designers now, instead of in their first run.

    On a machine that is too busy, what is left is compiled in the first run that needs it.

    Exit status: 0 all are compiled or left for later, 1 an engine could not be prepared, 2 bad
    input.

    Arguments
    ---------
    engine : [NAME]...
        Engines and designers; default: all that take part without being named.

    Options
    -------
    every : --all
        All of them, baselines too.
    """
    from cchybrid.cli.plugin_loading import load_plugins
    from cchybrid.plugin.records import EngineInfo

    if engine and every:
        raise InputError("all, and some by name", where="--all", hint="leave one of them out")
    registry = load_plugins()
    chosen: list[EngineInfo | DesignerInfo] = [
        registry.designers.get(name.lower()) or registry.engine(name) for name in engine or ()
    ]
    if not chosen:
        chosen += [info for info in registry.engines.values() if every or not info.baseline]
        chosen += registry.designers.values()
        greedy = "cchybrid.host.first_schedule:GreedyKernels"
        chosen.append(EngineInfo("first schedules", greedy, "of large instances", prepares=True))
    compiled = compile_kernels(chosen)
    if compiled is None:
        print("nothing to do: all these kernels are compiled", file=sys.stderr)
    raise typer.Exit(1 if compiled is False else 0)


def compile_kernels(engines: Iterable[EngineInfo | DesignerInfo]) -> bool | None:
    """Compile kernels, with a progress line each; return whether all could be compiled.

    ``None`` if all were compiled already.
    """
    from cchybrid.plugin.warm_up import WarmUp, pending

    work = WarmUp(pending(engines), niceness=0)
    if not work.left:
        return None
    total, failed = len(work.left), False
    _print_progress(f"compiling the kernels of {', '.join(work.left)}, once per installation")
    try:
        work.start()
        while work.running:
            for found in work.wait():
                end = f"failed: {found.error}" if found.error else f"{found.seconds:.1f} s"
                if found.late:
                    end = "left for its first run, as this machine is busy"
                _print_progress(f"[{total - len(work.left)}/{total}] {found.engine}: {end}")
                failed = failed or bool(found.error)
    finally:
        work.stop()
    return not failed


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
