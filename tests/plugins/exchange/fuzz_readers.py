"""Readers of the formats of other tools, and of the audit.

Their seeds are written by hand in this folder or by the exporters of cchybrid.
"""

import gzip
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from cchybrid_plugins.exchange.audit import Audit, audit_file, valid_schedule
from cchybrid_plugins.exchange.commands import judged_on
from cchybrid_plugins.exchange.epoch_networks import ndv2
from cchybrid_plugins.exchange.export_msccl import export_msccl
from cchybrid_plugins.exchange.export_text import export_csv
from cchybrid_plugins.exchange.foreign_files import import_file

from cchybrid.model.errors import InputError
from cchybrid.plugin.imported import Imported
from cchybrid.plugin.registry import Registry, load_registry
from tests.fuzz import judges, mutators
from tests.fuzz.reader import CORPUS, Reader
from tests.plugins.exchange import foreign_texts, fuzz_judges, plain_epochs, test_poseidon_import
from tests.plugins.exchange.schedules import schedule

BOUNDS = ("growth", "cut")
"""Providers of lower bounds that end at once; the others would go on beside the next mutant."""
_NAMED = ("ring-bi-4", "allgather")


def _encoded(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


@cache
def _csv() -> list[bytes]:
    cases = (("mesh-2x3", "alltoall"), ("ring-bi-3", "allreduce"), ("mesh-2x3", "reduce"))
    return _encoded(
        *(export_csv(schedule(*case)) for case in cases),
        "step,source,destination,path\n1,core 1,ann,core 1 -> ann\n2,ann,bob,ann->bob\n",
        "path,destination,source,step\n0 1 2,2,0,1\n1;0,0,1,2\n",
    )


@cache
def _msccl() -> list[bytes]:
    cases = (("ring-bi-4", "alltoall"), ("ring-bi-3", "allreduce"), ("mesh-2x2", "reduce-scatter"),
             ("ring-bi-4", "broadcast"))  # fmt: skip
    return _encoded(
        *(export_msccl(schedule(*case)) for case in cases),
        foreign_texts.ring_allgather(3), foreign_texts.pair_allreduce(),
        foreign_texts.chain_reduce_scatter(), foreign_texts.pair_alltoall(),
    )  # fmt: skip


@cache
def _poseidon() -> list[bytes]:
    spec = test_poseidon_import.SPEC
    return _encoded(
        spec.format(2, 2, "mesh"), spec.format(3, 2, "bitorus"),
        test_poseidon_import.PAIRS, test_poseidon_import.LINKS,
    )  # fmt: skip


@cache
def _sccl() -> list[bytes]:
    """Return algorithms of broadcasts, of a reduction, and of steps with several rounds."""
    plain = json.loads(foreign_texts.sccl_allgather())
    chunk = {"msccl_type": "chunk"}
    reduction = {
        **plain["collective"], "name": "Reduce", "runtime_name": "reduce",
        "chunks": [{**chunk, "pre": [a], "post": [0], "addr": 0} for a in range(3)],
    }  # fmt: skip
    chain = [{"msccl_type": "step", "rounds": 1, "sends": [[0, a, a - 1]]} for a in (2, 1)]
    scatter = {
        **plain["collective"], "name": "Scatter", "runtime_name": "scatter",
        "chunks": [{**chunk, "pre": [0], "post": [a], "addr": n} for n, a in enumerate((1, 1, 2))],
    }  # fmt: skip
    shared = {**plain["topology"], "switches": [[[0], [1, 2], 2, "port of 0"]]}
    sends = [[0, 0, 1], [1, 0, 1], [2, 0, 2]]
    rounds = [{"msccl_type": "step", "rounds": 2, "sends": sends}]
    return _encoded(
        foreign_texts.sccl_allgather(),
        foreign_texts.sccl_allgather(collective=reduction, steps=chain),
        foreign_texts.sccl_allgather(collective=scatter, steps=rounds, topology=shared),
    )


@cache
def _teccl() -> list[bytes]:
    """Return results of unknown rates, and of a cluster: of whole chunks, and of parts of them."""
    network = ndv2(2)
    return _encoded(
        foreign_texts.teccl_result(*foreign_texts.teccl_triangle(), 2),
        plain_epochs.halved_alltoall(network.links, sorted(network.gpus), 0.005, 1 / 16),
        plain_epochs.allgather_of(network),
    )


def _import(format_name: str) -> Callable[[Path], Imported]:
    """Return a function that reads a file as ``cchybrid import --from`` does."""

    def read(path: Path) -> Imported:
        _, found = import_file(path, load_registry(), format_name=format_name)
        if found.broken or found.schedule is not None:
            valid_schedule(path, found)
        return found

    return read


@cache
def _registry() -> Registry:
    found = load_registry()
    return replace(found, bounds={name: found.bounds[name] for name in BOUNDS})


def _audit(topology: str | None = None, collective: str | None = None) -> Callable[[Path], Audit]:
    """Return a function that audits a file; one that is not valid is refused."""

    def read(path: Path) -> Audit:
        found = audit_file(path, _registry(), *judged_on(topology, collective, _registry()))
        if found.verdict in ("invalid", "not judged"):
            raise InputError(found.sentence)
        return found

    return read


@cache
def _all() -> list[bytes]:
    """Return the seeds of all formats, one of them compressed."""
    seeds = [seed for each in IMPORTERS.values() for seed in each.seeds()]
    return [*seeds, gzip.compress(_msccl()[0], mtime=0)]


@cache
def _of_the_named_network() -> list[bytes]:
    found = schedule(*_NAMED)
    return _encoded(export_csv(found), export_msccl(found), json.dumps(found.to_json()))


def _mutate(rng: random.Random, data: bytes, seeds: list[bytes]) -> bytes:
    """Change a file of any of the formats by its own mutations."""
    mutate = _mutator(data)
    return mutate(rng, data, [seed for seed in seeds if _mutator(seed) == mutate])


def _mutator(data: bytes) -> mutators.Mutator:
    if data.startswith(b"\x1f\x8b"):
        return mutators.mutate_bytes
    if re.match(rb"\s*<", data):
        return mutators.mutate_xml
    return mutators.mutate_json if data.startswith(b"{") else mutators.mutate_words


IMPORTERS = {
    name: Reader(title, seeds, _import(name), mutate, suffix, judge)
    for name, title, seeds, mutate, suffix, judge in (
        ("cchybrid", "schedule to import", lambda: judges.schedules(CORPUS), mutators.mutate_json,
         ".json", fuzz_judges.imported),
        ("csv", "CSV of transfers", _csv, mutators.mutate_words, ".csv", fuzz_judges.csv_),
        ("msccl-xml", "MSCCL XML", _msccl, mutators.mutate_xml, ".xml", fuzz_judges.msccl),
        ("poseidon", "Poseidon platform", _poseidon, mutators.mutate_xml, ".xml",
         fuzz_judges.poseidon),
        ("sccl-json", "SCCL JSON", _sccl, mutators.mutate_json, ".json", fuzz_judges.sccl),
        ("teccl", "TE-CCL result", _teccl, mutators.mutate_json, ".json", fuzz_judges.teccl),
    )
}  # fmt: skip
"""The readers of foreign formats, by the name of the importer."""
READERS = (
    *IMPORTERS.values(),
    Reader("audit", _all, _audit(), _mutate, "", fuzz_judges.audited),
    Reader(
        "audit on a named network", _of_the_named_network, _audit(*_NAMED), _mutate, "",
        fuzz_judges.audited,
    ),
)  # fmt: skip
