"""Messages in chunks, steps of several rounds: throughput, fewest rounds, the front of the two."""

from cchybrid.plugin import BenchmarkKind, CheckInfo, CommandInfo, EngineInfo, NameInfo, hookimpl

GROUP = "Solve"


@hookimpl
def cchybrid_engines() -> tuple[EngineInfo, ...]:
    """Return the engine of steps of several rounds."""
    return (
        EngineInfo("rounds", f"{__name__}.engine:Rounds", kind="exact", priority=44,
            rounds="several",
            summary="exact, for steps of several rounds: a CP-SAT decision per number of steps"),
    )  # fmt: skip


@hookimpl
def cchybrid_commands() -> tuple[CommandInfo, ...]:
    """Return the commands."""
    return (
        CommandInfo("throughput", f"{__name__}.throughput_command:throughput", group=GROUP,
            summary="Find the fewest rounds per chunk with ever more chunks, and prove it."),
        CommandInfo("rounds", f"{__name__}.rounds_commands:rounds", group=GROUP,
            summary="Find the fewest rounds for a number of steps, and prove it."),
        CommandInfo("pareto", f"{__name__}.rounds_commands:pareto", group=GROUP,
            summary="Find the front of steps and rounds per chunk, with certificates."),
        CommandInfo("best", f"{__name__}.best_command:best", group=GROUP,
            summary="Find the fastest schedule for a size, and bound the time of every other."),
    )  # fmt: skip


@hookimpl
def cchybrid_checks() -> tuple[CheckInfo, ...]:
    """Return the checks of a throughput and of a front."""
    return (
        CheckInfo("cchybrid-throughput/1", f"{__name__}.throughput_command:check_file",
            "trees, and the bound of their rounds per chunk"),
        CheckInfo("cchybrid-front/1", f"{__name__}.rounds_commands:check_folder",
            "the folder of pareto, by the content of its files", folder=True),
    )  # fmt: skip


@hookimpl
def cchybrid_names() -> list[NameInfo]:
    """Return the names of ``import cchybrid``."""
    modules = {
        "front_files": ("check_front",),
        "pareto": ("pareto",),
        "rounds": ("RoundsResult", "fewest_rounds"),
        "rounds_front": ("Front", "FrontPoint"),
        "throughput": ("ThroughputResult", "throughput"),
    }
    return [
        NameInfo(name, f"{__name__}.{module}:{name}")
        for module, names in modules.items()
        for name in names
    ]


@hookimpl
def cchybrid_benchmarks() -> tuple[BenchmarkKind, ...]:
    """Return the kind of published rounds per chunk."""
    return (
        BenchmarkKind("throughputs", f"{__name__}.throughput_benchmark:Throughputs",
            "rounds per chunk of endless schedules", key="throughput"),
    )  # fmt: skip
