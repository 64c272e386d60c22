"""The plugin that registers the commands of cchybrid."""

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import CommandInfo

SOLVE, TRUST, NETWORKS = "Solve", "Trust", "Networks and instances"
PLUG_IN = "Benchmark and plug in"


def _command(name: str, group: str, target: str, summary: str) -> CommandInfo:
    return CommandInfo(name, f"cchybrid.cli.{target}", summary, group=group)


@hookimpl
def cchybrid_commands() -> Iterable[CommandInfo]:
    """Return the commands; none of them is imported here."""
    return (
        _command("solve", SOLVE, "solving:solve",
            "Find a schedule with the fewest steps, and prove that there is no shorter one."),
        _command("bound", SOLVE, "solving:bound",
            "Find the best certified lower bound on the steps, without any schedule."),
        _command("verify", TRUST, "schedules:verify",
            "Check a schedule against every rule, and its bound against its evidence."),
        _command("prove", TRUST, "proving:prove",
            "Prove that no schedule has fewer steps, and write a certificate."),
        _command("check", TRUST, "proving:check",
            "Check a certificate by itself, or another file that proves something."),
        _command("topologies", NETWORKS, "listing:topologies",
            "List the families of networks, or the facts of one network."),
        _command("collectives", NETWORKS, "listing:collectives", "List the collectives."),
        _command("network", NETWORKS, "networks:network",
            "Show what a network is: nodes, channels, roles, automorphisms."),
        _command("instance", NETWORKS, "solving:instance",
            "Write an instance to a file: JSON, or the seeds' text format."),
        _command("engines", PLUG_IN, "listing:engines",
            "List the engines, or the options of one."),
        _command("plugins", PLUG_IN, "listing:plugins",
            "List the plugins, what each provides, and its errors."),
        _command("warm-up", PLUG_IN, "warming:warm_up",
            "Compile the kernels of engines and designers now."),
        _command("new-plugin", PLUG_IN, "new_plugin:new_plugin",
            "Write a project with a plugin and its tests."),
    )  # fmt: skip
