"""The check of an entry of the archive, run by Pyodide on the checker alone."""

import gzip
import json
import time
import zlib
from typing import Any

from cchybrid.checker.certificate import check
from cchybrid.checker.description import describe
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.reading import read_json
from cchybrid.checker.schedule import checked_schedule


def check_entry(packed: Any) -> str:
    """Return the verdict about a packed schedule and certificate, as JSON for the page."""
    started = time.perf_counter()
    try:
        lines = gzip.decompress(bytes(packed)).decode().splitlines()
        schedule, certificate = map(read_json, lines)
        if certificate is None:
            words = f"{_steps(len(checked_schedule(schedule)[1]))}, valid, without a certificate"
            sentence = ""
        else:
            verdict = check(schedule, certificate)
            word = "optimal" if verdict.optimal else f"valid, at least {verdict.bound} are needed"
            words, sentence = f"{_steps(verdict.steps)}, {word}", verdict.sentence
        text = "\n".join([sentence, *describe(schedule["instance"])]).strip()
    except (EvidenceError, ValueError, OSError, EOFError, zlib.error) as error:
        return json.dumps({"refused": str(error)})
    seconds = time.perf_counter() - started
    return json.dumps({"words": words, "sentence": text, "seconds": seconds})


def _steps(number: int) -> str:
    return f"{number} step{'s' * (number != 1)}"
