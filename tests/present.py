"""Command lines whose commands are there, as any feature of ``plugins/`` may be deleted."""

from cchybrid.plugin.registry import load_registry


def present(*lines: str) -> list[str]:
    """Return the lines whose first word is a command."""
    commands = load_registry().commands
    return [line for line in lines if line.split()[0] in commands]
