"""Foreign files: read with limits, compressed or not, and their importer found by their text."""

import gzip
import io
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from cchybrid.model import Collective, Instance, Network, Schedule
from cchybrid.model.errors import InputError, PluginError, with_context
from cchybrid.model.instance import expect_file, read_up_to
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest, OwnBound, importer_of
from cchybrid.plugin.registry import Registry

MAX_MIB = 64
"""Mebibytes of a foreign file's text; compressed files are decompressed up to this size only."""
_GZIP_MAGIC = b"\x1f\x8b"
_OWN_UNIT = re.compile("(?!(steps|rounds)$)[a-z]{1,40}s")


def read_foreign_text(path: str | Path) -> str:
    """Return the text of a file, which may be compressed by gzip, whatever its name.

    Raises
    ------
    InputError
        It cannot be read, is no text, or is larger than ``MAX_MIB``.
    """
    limit = MAX_MIB << 20
    expect_file(path)
    try:
        with open(path, "rb") as file:
            data = read_up_to(file.read, limit + 1)
        if data.startswith(_GZIP_MAGIC):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = read_up_to(packed.read, limit + 1)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise InputError("the compressed file is damaged", hint="compress it again") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", hint="check the file") from None
    if len(data) > limit:
        raise InputError(f"larger than {MAX_MIB} MiB", hint="audit a smaller file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not a text file", hint="give a UTF-8 text file") from None


def import_file(
    path: str | Path,
    registry: Registry,
    *,
    format_name: str | None = None,
    network: Network | None = None,
    collective: Collective | None = None,
) -> tuple[str, Imported]:
    """Return the name of the importer of a file, and what the file says.

    Parameters
    ----------
    path
        The file.
    registry
        The plugins.
    format_name
        The name of the importer; by default it is recognised by the text.
    network, collective
        As in ``ImportRequest``.

    Raises
    ------
    InputError
        The file cannot be read, no importer knows it, or it says what cannot be meant.
    """
    info = None if format_name is None else registry.importer(format_name)
    with with_context(path):
        text = read_foreign_text(path)
        if info is None:
            info = importer_of(registry.importers, text)
        request = ImportRequest(Path(path).name.split(".")[0] or "file", network, collective)
        found = info.read(text, request)
        _check(found, request, info.name)
        return info.name, found


def _check(found: Imported, request: ImportRequest, name: str) -> None:
    """Raise a ``PluginError`` unless an importer has read what was asked and can be judged."""
    instance, schedule, own = found.instance, found.schedule, found.own
    given = {"--topology": request.network, "--collective": request.collective}
    options, reason = [option for option, value in given.items() if value is not None], ""
    if not (schedule is None or type(schedule) is Schedule):
        reason = "its schedule is none"
    elif not (instance is None or type(instance) is Instance):
        reason = "its instance is none"
    elif schedule is not None and schedule.instance != instance:
        reason = "its schedule is of another instance than its own"
    elif instance is not None and request.network not in (None, instance.network):
        reason = "it reads no file on another network (--topology)"
    elif (
        instance is not None
        and request.collective is not None
        and instance.collective != request.collective.in_chunks(instance.collective.chunks)
    ):
        reason = "it reads no file for another collective (--collective)"
    elif not (own is None or (type(own) is OwnBound and _are_lines((own.unit, own.reason)))):
        reason = "its own bound is none"
    elif not (
        isinstance(found.broken, (tuple, list))
        and all(type(each) is BrokenRule for each in found.broken)
        and all(_are_lines((each.rule, each.place, each.text)) for each in found.broken)
    ):
        reason = "its broken rules are none"
    elif not isinstance(found.places, Mapping):
        reason = "its places are none"
    elif own is not None and instance is None and not found.broken and options:
        reason = f"it does not say what its own bound is about, so drop {' and '.join(options)}"
    else:
        counts = (found.length, *(() if own is None else (own.value, own.lower)))
        if not all(count is None or (type(count) is int and count >= 0) for count in counts):
            reason = "its counts are no whole numbers"
        elif own is not None and not _OWN_UNIT.fullmatch(own.unit):
            reason = f"its own unit is {own.unit!r}, no plural such as epochs, or one of the host's"
        elif not all(map(_are_lines, (found.facts, found.limits))):
            reason = "its facts or limits are no lines of text"
    if reason:
        raise PluginError(f"importer {name}: {reason}")


def _are_lines(value: object) -> bool:
    return isinstance(value, (tuple, list)) and all(
        isinstance(line, str) and line.isprintable() for line in value
    )
