"""Write the seed files that are made by searches: ``python -m tests.fuzz.write_corpus``.

Small files of each kind, so that a mutant is read within milliseconds. The other seeds are files
of the repository (``readers.py``).
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import cchybrid
from cchybrid.host.certificates import certificate
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import Channel, Network, Schedule
from cchybrid.proof.blocks import refute_blocks
from tests.checker.certified import CASES, certified
from tests.proof.test_blocks import two_islands

CORPUS = Path(__file__).parent / "corpus"
_KINDS = (0, 1, 4, 5, 7, 8, 9, 10, 11, 12, 14, 15)
"""The cases of ``tests.checker.certified`` whose files are small."""
_ROUNDS = {
    "worth": ("dgx-1", "allgather", 2, 2),
    "routes": ("ring-bi-5", "alltoall", 2, 2),
    "backwards": ("spidergon-6", "reduce-scatter", 2, 2),
    "throughput": ("ring-bi-5", "allgather", 1, 2),
}
_STAR = Network(
    "star", 5, tuple(Channel(*pair, 2) for node in range(4) for pair in ((node, 4), (4, node))),
    switches=(4,),
)  # fmt: skip
_THROUGHPUTS: dict[str, tuple[Any, str]] = {
    "trees": ("dgx-1", "allgather"),
    "switch": (_STAR, "allgather"),
    "backwards": ("spidergon-6", "reduce-scatter"),
    "broadcast": ("mesh-2x3", "broadcast"),
    "routes": ("mesh-2x3", "alltoall"),
    "endpoints": ("2-fat-hypercube-4", "gather"),
}


def main() -> None:
    """Write all seed files."""
    for index in _KINDS:
        _write(f"certificate-{index}-{CASES[index].kind}", *certified(index))
    _write("certificate-blocks", *_certified_blocks())
    for name, (network, collective, chunks, steps) in _ROUNDS.items():
        instance = cchybrid.instance(network, collective, chunks=chunks)
        found = cchybrid.fewest_rounds(instance, steps, time_limit=60, threads=1)
        assert found.schedule is not None
        assert found.certificate is not None
        record = found.certificate
        if name == "throughput":  # the bound of all numbers of steps
            evidence = cchybrid.throughput(network, collective).record["evidence"]
            record["claim"]["rounds_per_chunk"] = "2"
            record["evidence"] = evidence
        _write(f"rounds-{name}", found.schedule.to_json(), record)
    for name, case in _THROUGHPUTS.items():
        _write(f"throughput-{name}", dict(cchybrid.throughput(*case).record))
    for collective in ("allreduce", "scan"):
        summed = cchybrid.solve("ring-bi-4", collective, time_limit=10, seed=0)
        assert summed.schedule is not None
        _write(f"schedule-{collective}", summed.schedule.to_json())
        proof = cchybrid.prove(summed.schedule, time_limit=60)
        assert proof.certificate is not None
        _write(f"certificate-{collective}", summed.schedule.to_json(), dict(proof.certificate))
    for name, more in {
        "plain": [], "grid": ["--layout", "grid-3x3", "--max-wire", "2"],
        "steps": ["--collective", "AAS"],
    }.items():  # fmt: skip
        words = ["design", "--nodes", "9", "--degree", "4", "--time-limit", "5", *more]
        _run(*words, "-o", str(CORPUS / f"design-{name}.json"))
    _run("solve", "ring-bi-5", "AAS", "--engine", "colouring", "--log", str(CORPUS / "run.jsonl"))


def _certified_blocks() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a small schedule, and a bound below its steps with linear evidence between blocks."""
    instance = two_islands()
    steps = first_schedule(instance)
    assert steps is not None
    record = Schedule(instance, steps).to_json()
    evidence = refute_blocks(record["instance"], 2)
    assert evidence is not None
    return record, certificate(
        record["instance"], {"steps": 3, "scope": "any routing"}, evidence, {}
    )


def _run(*words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "cchybrid", *words], check=True, stdout=subprocess.DEVNULL
    )


def _write(name: str, *records: Any) -> None:
    """Write a file of one object, or of a list of several."""
    text = json.dumps(records[0] if len(records) == 1 else records, separators=(",", ":"))
    (CORPUS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
