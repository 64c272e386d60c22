"""The group of all commands: each is imported only where it is called."""

from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from cchybrid.cli.documented import add_command
from cchybrid.cli.help_text import Group
from cchybrid.model.errors import CchybridError, PluginError
from cchybrid.model.text import error_line
from cchybrid.plugin.records import CommandInfo, load_target
from cchybrid.plugin.registry import BUILT_IN, load_registry


class UnloadedCommand(TyperCommand):
    """A command as ``--help`` shows it; ``load`` imports it."""

    def __init__(self, info: CommandInfo, plugin: str) -> None:
        super().__init__(
            info.name, help=info.summary, short_help=info.summary, rich_help_panel=info.group
        )
        self.info = info
        self.plugin = plugin

    def load(self) -> Any:
        """Return the command with its options.

        Raises
        ------
        PluginError
            The code cannot be imported, or is no command.
        """
        try:
            target = load_target(self.info.target)
            if isinstance(target, typer.Typer):
                command: Any = get_group(target)
            elif callable(target):
                app = typer.Typer(add_completion=False)
                add_command(app, target, self.info.name)
                command = get_command(app)
            else:
                raise PluginError(f"{self.info.target} is no function and no typer.Typer")
        except CchybridError as error:
            raise self.error(str(error)) from error
        except Exception as error:
            raise self.error(error_line(error)) from error
        command.name = self.info.name
        return command

    def error(self, text: str) -> PluginError:
        """Return the error of a command that cannot be used, or that failed."""
        return PluginError(f"plugin {self.plugin}: command {self.info.name} failed: {text}")


class CommandGroup(Group):
    """All commands of all plugins."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        registry = load_registry()
        for key, info in registry.commands.items():
            command = UnloadedCommand(info, registry.provider["command", key])
            self.add_command(command, info.name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first word, imported, and the words after it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, UnloadedCommand) else command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run a command.

        Raises
        ------
        PluginError
            The command of a plugin that is not cchybrid's own ended with an exception.
        """
        try:
            return super().invoke(ctx)
        except (CchybridError, OSError, typer.Exit, typer.Abort):
            raise
        except Exception as error:
            command = self.commands.get(ctx.invoked_subcommand or "")
            # Errors of the command-line library have their text in format_message().
            if not isinstance(command, UnloadedCommand) or hasattr(error, "format_message"):
                raise
            if command.plugin in dict(BUILT_IN):
                raise
            raise command.error(error_line(error)) from error
