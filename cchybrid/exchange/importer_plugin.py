"""The plugin that registers importers; their modules are imported when a file is read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.plugin.records import ImporterInfo


def _is_msccl_xml(text: str) -> bool:
    from cchybrid.exchange.msccl_import import recognises_msccl_xml

    return recognises_msccl_xml(text)


def _read_msccl_xml(text: str, request: ImportRequest) -> Imported:
    from cchybrid.exchange.msccl_import import read_msccl_xml

    return read_msccl_xml(text, request)


def _is_sccl_json(text: str) -> bool:
    from cchybrid.exchange.sccl_json_import import recognises_sccl_json

    return recognises_sccl_json(text)


def _read_sccl_json(text: str, request: ImportRequest) -> Imported:
    from cchybrid.exchange.sccl_json_import import read_sccl_json

    return read_sccl_json(text, request)


def _is_teccl(text: str) -> bool:
    from cchybrid.exchange.teccl_import import recognises_teccl

    return recognises_teccl(text)


def _read_teccl(text: str, request: ImportRequest) -> Imported:
    from cchybrid.exchange.teccl_import import read_teccl

    return read_teccl(text, request)


def _is_csv(text: str) -> bool:
    from cchybrid.exchange.csv_import import recognises_csv

    return recognises_csv(text)


def _read_csv(text: str, request: ImportRequest) -> Imported:
    from cchybrid.exchange.csv_import import read_csv

    return read_csv(text, request)


def _is_poseidon(text: str) -> bool:
    from cchybrid.exchange.poseidon_import import recognises_poseidon

    return recognises_poseidon(text)


def _read_poseidon(text: str, request: ImportRequest) -> Imported:
    from cchybrid.exchange.poseidon_import import read_poseidon

    return read_poseidon(text, request)


def _is_native(text: str) -> bool:
    return re.search(r'"format"\s*:\s*"cchybrid-schedule/', text) is not None


def _read_native(text: str, request: ImportRequest) -> Imported:
    from cchybrid.exchange.native_import import read_native

    return read_native(text, request)


@hookimpl
def cchybrid_importers() -> Iterable[ImporterInfo]:
    """Return the formats that ship with cchybrid."""
    return (
        ImporterInfo("csv", _is_csv, _read_csv, "rows of step, source, destination, path"),
        ImporterInfo("cchybrid", _is_native, _read_native, "schedule files of cchybrid"),
        ImporterInfo("msccl-xml", _is_msccl_xml, _read_msccl_xml, "MSCCL XML programs"),
        ImporterInfo("poseidon", _is_poseidon, _read_poseidon, "Poseidon platforms, no schedule"),
        ImporterInfo("sccl-json", _is_sccl_json, _read_sccl_json, "algorithms of msccl-tools"),
        ImporterInfo("teccl", _is_teccl, _read_teccl, "results of TE-CCL"),
    )
