"""The application with all commands; errors are turned into lines and exit statuses here."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, NoReturn

import typer

from cchybrid.cli import (
    benching,
    designing,
    listing,
    networks,
    proving,
    schedules,
    solving,
    warming,
)
from cchybrid.model.errors import CchybridError

INTERRUPTED = 130
"""The exit status of a command that was interrupted before it had a result, as in shells."""

app = typer.Typer(
    name="cchybrid",
    help="Design collective-communication schedules with the fewest steps, and prove it.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(solving.solve)
app.command()(solving.bound)
app.command()(schedules.verify)
app.command()(proving.prove)
app.command()(proving.check)
app.command()(schedules.export)
app.add_typer(benching.bench)
app.command()(warming.warm_up)
app.command()(solving.instance)
app.command()(designing.design)
app.command()(designing.check_design)
app.command()(networks.network)
app.command()(listing.topologies)
app.command()(listing.collectives)
app.command()(listing.engines)
app.command()(designing.designers)
app.command()(listing.plugins)


def _show_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"cchybrid {version('cchybrid')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Design collective-communication schedules with the fewest steps, and prove it."""


def main() -> NoReturn:
    """Run the command line; bad input ends in one line and exit status 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file's name may be any bytes
        sys.stdout.reconfigure(errors="backslashreplace")
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # closed pipe, or full disk
        status = status or 1
    # Not sys.exit, which could crash while an abandoned solver still runs in a thread.
    os._exit(status)


def run(words: list[str]) -> int:
    """Run one command line and return its exit status."""
    try:
        status = app(words or ["--help"], standalone_mode=False)
        if status == INTERRUPTED:  # the command-line library returns it after Ctrl-C
            raise KeyboardInterrupt
    except CchybridError as error:
        return _print_error(str(error), 2)
    except BrokenPipeError:
        # The reader of the output has closed the pipe: end without a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _print_error("interrupted", INTERRUPTED)
    except Exception as error:
        # Errors of the command-line library have their text in format_message().
        if not hasattr(error, "format_message"):
            raise
        known = {
            command.callback.__name__ for command in app.registered_commands if command.callback
        }
        command = " ".join(["cchybrid", *(word for word in words[:1] if word in known), "--help"])
        return _print_error(f"{error.format_message().rstrip('.')}; see: {command}", 2)
    return status if isinstance(status, int) else 0


def _print_error(text: str, status: int) -> int:
    print(f"cchybrid: {' '.join(text.split())}", file=sys.stderr)
    return status
