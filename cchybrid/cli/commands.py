"""The plugin that registers the commands of cchybrid."""

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import CommandInfo

SCHEDULES = "Schedules and proofs"
NETWORKS = "Networks"
LISTS = "What there is"


def _command(name: str, group: str, target: str, summary: str) -> CommandInfo:
    return CommandInfo(name, f"cchybrid.cli.{target}", summary, group=group)


@hookimpl
def cchybrid_commands() -> Iterable[CommandInfo]:
    """Return the commands; none of them is imported here."""
    return (
        _command("solve", SCHEDULES, "solving:solve",
            "Find a schedule with the fewest steps, and prove that there is no shorter one."),
        _command("bound", SCHEDULES, "solving:bound",
            "Find the best certified lower bound on the steps, without any schedule."),
        _command("verify", SCHEDULES, "schedules:verify",
            "Check a schedule against every rule, and its bound against its evidence."),
        _command("prove", SCHEDULES, "proving:prove",
            "Prove that no schedule has fewer steps, and write a certificate."),
        _command("check", SCHEDULES, "proving:check",
            "Check a certificate by itself, or another file that proves something."),
        _command("instance", SCHEDULES, "solving:instance",
            "Write an instance to a file: JSON, or the seeds' text format."),
        _command("network", NETWORKS, "networks:network",
            "Show what a network is: nodes, channels, roles, automorphisms."),
        _command("topologies", LISTS, "listing:topologies",
            "List the families of networks, or the facts of one network."),
        _command("collectives", LISTS, "listing:collectives", "List the collectives."),
        _command("engines", LISTS, "listing:engines",
            "List the engines, or the options of one."),
        _command("plugins", LISTS, "listing:plugins",
            "List the plugins, what each provides, and its errors."),
        _command("warm-up", LISTS, "warming:warm_up",
            "Compile the kernels of engines and designers now."),
    )  # fmt: skip
