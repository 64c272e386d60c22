"""The application with all commands; errors are turned into lines and exit statuses here."""

import codecs
import errno
import io
import os
import re
import sys
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer

from cchybrid.cli.command_group import CommandGroup
from cchybrid.library.nearest import did_you_mean
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import load_registry
from cchybrid.view.activity import activity_line

INTERRUPTED = 130
"""The exit status of a command that was interrupted before it had a result, as in shells."""

CLOSED_PIPE = 141
"""The exit status of a command whose output nothing reads any more, as in shells."""
_SHORTAGES = {
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "close other programs",
    errno.EAGAIN: "allow more processes (ulimit -u), or close other programs",
    errno.ENOMEM: "allow more memory, or close other programs",
}
"""By the number of an error of the operating system, how to correct it."""
COERCED_LOCALE = "C.UTF-8"
"""The value that Python gives LC_CTYPE in the locale C."""

COMPLETION = "_CCHYBRID_COMPLETE"
"""The environment variable by which a shell has a word completed."""
FIRST_DAY = (
    ("solve mesh-4x4 allgather -o s.json", "find a schedule, and prove it"),
    ("draw s.json -o s.html", "look at it"),
    ("prove s.json", "write the certificate"),
    ("check s.json s.certificate.json", "check both"),
    ("topologies", "the networks that have a name"),
)
"""The commands of the first day, and what each is for."""

app = typer.Typer(
    name="cchybrid",
    cls=CommandGroup,
    help="Design collective-communication schedules with the fewest steps, and prove it.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    try:
        _set_encoding()
        status = run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _print_error("interrupted", INTERRUPTED)
    except BrokenPipeError:
        status = CLOSED_PIPE
    except OSError as error:
        status = _print_error(_system_error(error), 2)
    # Not sys.exit, which could crash while an abandoned solver still runs in a thread.
    os._exit(status)


def _set_encoding() -> None:
    """Let text that the output cannot show be escaped, and lines of tables be ASCII in locale C.

    Python writes UTF-8 in the locale C, too, whose terminals show no lines of tables. Names that
    are not ASCII stay as they are there, since a pipe may be read as UTF-8.
    """
    given = [os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if given[1] == COERCED_LOCALE:  # set by Python itself where LANG is C (PEP 538)
        given[1] = None
    locale = next(filter(None, given), "")
    plain = locale in ("C", "POSIX") and "PYTHONIOENCODING" not in os.environ
    codecs.register_error("utf-8", lambda error: (_in_utf8(error), _end(error)))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if plain:
                stream.reconfigure(encoding="ascii", errors="utf-8")
            else:
                stream.reconfigure(errors="backslashreplace")  # a file's name may be any bytes


def _in_utf8(error: UnicodeError) -> bytes:
    """Return the characters that could not be encoded, as UTF-8."""
    assert isinstance(error, UnicodeEncodeError)
    return error.object[error.start : error.end].encode("utf-8", "backslashreplace")


def _end(error: UnicodeError) -> int:
    assert isinstance(error, UnicodeEncodeError)
    return error.end


def run(words: list[str]) -> int:
    """Run one command line and return its exit status."""
    try:
        if not words and COMPLETION not in os.environ:
            print(_first_day())
            return 0
        with activity_line(f"cchybrid {' '.join(words[:1])}"):
            status = app(_with_addresses(words), prog_name="cchybrid", standalone_mode=False)
        if status == INTERRUPTED:  # the command-line library returns it after Ctrl-C
            raise KeyboardInterrupt
    except CchybridError as error:
        return _print_error(str(error), 2)
    except SystemExit as error:  # with 1 the library ends where nothing reads the output
        if error.code != 1:
            raise
        return CLOSED_PIPE
    except KeyboardInterrupt:
        return _print_error("interrupted", INTERRUPTED)
    except Exception as error:
        # Errors of the command-line library have their text in format_message().
        if not hasattr(error, "format_message"):
            raise
        return _print_error(_usage_error(error, error.format_message()), 2)
    return status if isinstance(status, int) else 0


def _first_day() -> str:
    """Return the commands of the first day, those of deleted plugins left out."""
    commands = load_registry().commands
    lines = [
        (f"cchybrid {words}", text) for words, text in FIRST_DAY if words.split()[0] in commands
    ]
    width = max(len(command) for command, _ in lines)
    return "\n".join(
        [
            "Schedules of collective communications with the fewest steps, and the proof.",
            "",
            *(f"  {command:{width}}  {text}" for command, text in lines),
            "",
            "All commands: cchybrid --help; one of them: cchybrid solve --help",
        ]
    )


def _with_addresses(words: list[str]) -> list[str]:
    """Return the words with ``local`` after a ``--cluster`` that has no address.

    The command-line library has no options whose value may be left out.
    """
    found = []
    for word, following in zip(words, [*words, "-"][1:], strict=True):
        found.append(word)
        if word == "--cluster" and following.startswith("-"):
            found.append("local")
    return found


def _usage_error(error: Any, text: str) -> str:
    """Return an error of the command-line library with the nearest name and the help to see."""
    # The library itself suggests names in its newer versions, in other words.
    what = re.sub(r"\. Did you mean .*| \(Possible options: .*", "", text).rstrip(".")
    context = getattr(error, "ctx", None)
    command = getattr(context, "command", None)
    option = getattr(error, "option_name", "")
    unknown = re.match(r"No such command '(.*)'", what)
    hint = ""
    if unknown is not None:
        hint = did_you_mean(unknown[1], getattr(command, "commands", ()))
    elif what.startswith("No such option"):
        params = getattr(command, "params", ())
        hint = did_you_mean(option, [name for each in params for name in each.opts])
    path = getattr(context, "command_path", "cchybrid")
    return f"{what}; {hint} see: {path} --help" if hint else f"{what}; see: {path} --help"


def _system_error(error: OSError) -> str:
    """Return an error of the operating system that nothing else has handled, as a line."""
    if error.errno in _SHORTAGES:
        return f"the system refuses: {error.strerror}; {_SHORTAGES[error.errno]}"
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    # Of a stream, as on a full disk.
    return f"the output cannot be written: {error.strerror}"


def _print_error(text: str, status: int) -> int:
    line = str(InputError(text))
    with suppress(OSError):
        print(f"cchybrid: {line}", file=sys.stderr, flush=True)
    return status
