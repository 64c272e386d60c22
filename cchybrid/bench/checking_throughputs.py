"""The check of a run of a throughput: trees and bound are added up again."""

from __future__ import annotations

import zlib

from cchybrid.bench.store import Run
from cchybrid.checker import EvidenceError
from cchybrid.checker.throughput import ThroughputVerdict, check_throughput
from cchybrid.model import Instance
from cchybrid.model.errors import CchybridError, InputError


def checked_throughput(run: Run) -> ThroughputVerdict:
    """Return what the checker says of a record, which has to be that of the result.

    Raises
    ------
    InputError
        The trees or the bound do not hold, or are not those of the result.
    """
    try:
        record = run.unpacked()
        verdict = check_throughput(record)
        stated = (run.result["rounds_per_chunk"], run.result["bound"])
        if stated != (str(verdict.rounds_per_chunk), str(verdict.bound)):
            raise InputError("the trees are not those of the result")
        if Instance.from_json(record["instance"]).digest != run.result["digest"]:
            raise InputError("the trees are of another instance")
    except (zlib.error, ValueError, KeyError, EvidenceError, CchybridError) as error:
        raise InputError(str(error), where=f"run {run.row}", hint="run it again") from None
    return verdict
