"""The commands put together, and the one place where errors become lines and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Annotated, NoReturn

import typer

from cchybrid.cli import listing, schedules, solving
from cchybrid.errors import CchybridError

app = typer.Typer(
    name="cchybrid",
    help="Design collective-communication schedules with the fewest steps, and prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(solving.solve)
app.command()(solving.bound)
app.command()(schedules.verify)
app.command()(schedules.export)
app.command()(solving.instance)
app.command()(listing.topologies)
app.command()(listing.collectives)
app.command()(listing.engines)
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
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        app()
    except CchybridError as error:
        print(f"cchybrid: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output has left; so do we, without a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        print("cchybrid: interrupted", file=sys.stderr)
        sys.exit(1)
    sys.exit(0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Treat SIGTERM as Ctrl-C: the best schedule is kept, no worker stays behind."""
    raise KeyboardInterrupt
