"""Design of networks: tasks, cost terms, and the designers, each of which needs no other.

The folders are plugins of their own.
"""

from pkgutil import iter_modules

from cchybrid.plugin import CommandInfo, NameInfo, hookimpl


@hookimpl
def cchybrid_plugins() -> list[str]:
    """Return the folders."""
    return [f"{__name__}.{found.name}" for found in iter_modules(__path__) if found.ispkg]


@hookimpl
def cchybrid_commands() -> tuple[CommandInfo, ...]:
    """Return the commands about designed networks."""
    return (
        CommandInfo(
            "design", f"{__name__}.cli:design",
            "Search for a network of low cost, and check it.", group="Networks and instances",
        ),
        CommandInfo(
            "check-design", f"{__name__}.cli:check_design",
            "Check the claims in a file of design by the independent checker.",
            group="Networks and instances",
        ),
        CommandInfo(
            "designers", f"{__name__}.cli:designers",
            "List the designers of networks and the cost terms, or the options of one.",
            group="Networks and instances",
        ),
    )  # fmt: skip


@hookimpl
def cchybrid_names() -> tuple[NameInfo, ...]:
    """Return the functions that design networks, and the classes of what they return."""
    return (
        NameInfo("design", f"{__name__}.api:design", "search for a network of low cost"),
        NameInfo("DesignResult", f"{__name__}.result:DesignResult", "what design returns"),
        NameInfo("design_front", f"{__name__}.front:design_front", "trade one term for another"),
        NameInfo("DesignFront", f"{__name__}.front:DesignFront", "what design_front returns"),
    )
