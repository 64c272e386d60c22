"""One row of a suite of throughputs: an instance, and its published rounds per chunk."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from cchybrid.host.throughput import throughput_instance, throughput_of
from cchybrid.library.collectives import canonical_name
from cchybrid.library.instance_spec import InstanceSpec, resolve
from cchybrid.model import Instance
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import Registry

COLUMNS = ("topology", "collective", "rounds_per_chunk", "source", "note")
"""The columns of a table of throughputs."""


@dataclass(frozen=True)
class ThroughputRow:
    """A named network and collective, and the published rounds per chunk.

    Parameters
    ----------
    topology, collective
        Names as in ``cchybrid throughput``.
    rounds_per_chunk
        The published fraction, such as ``7/6``; "" if there is none.
    source, note
        The source of the published value, and a remark.
    """

    topology: str
    collective: str
    rounds_per_chunk: str = ""
    source: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """The unique name."""
        return f"{self.topology} {self.collective} throughput"

    @property
    def published(self) -> Fraction | None:
        """The published rounds per chunk."""
        return Fraction(self.rounds_per_chunk) if self.rounds_per_chunk else None

    def instance(self, registry: Registry) -> Instance:
        """Return the instance, with any routing.

        Raises
        ------
        InputError
            The row names no instance.
        """
        named = resolve(InstanceSpec(topology=self.topology, collective=self.collective), registry)
        return throughput_instance(named)

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object, as in the store."""
        return {"throughput": asdict(self)}

    def to_job(self, solve: Mapping[str, Any]) -> dict[str, Any]:
        """Return the job of a run; the arguments of ``solve`` play no part."""
        return self.to_json()

    def work(self, registry: Registry) -> dict[str, Any]:
        """Return the answer of the row's job: result and ``cchybrid-throughput/1`` object."""
        started = time.monotonic()
        try:
            instance = self.instance(registry)
            found = throughput_of(instance)
        except CchybridError as error:
            return {"failure": str(error)}
        result = {
            "digest": instance.digest,
            "status": "optimal" if found.certified else "feasible",
            "certified": found.certified,
            "rounds_per_chunk": str(found.rounds_per_chunk),
            "bound": str(found.bound),
            "seconds": time.monotonic() - started,
        }
        return {"result": result, "schedule": dict(found.record)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> ThroughputRow:
        """Return the row of a JSON object of ``to_json``."""
        row = cls(**record["throughput"])
        if not all(isinstance(value, str) for value in vars(row).values()):
            raise ValueError(f"invalid values of {row.name}")
        _fraction(row.rounds_per_chunk)
        return row

    @classmethod
    def from_text(cls, values: Mapping[str, str]) -> ThroughputRow:
        """Return the row of a line of a table with columns of ``COLUMNS``.

        Raises
        ------
        InputError
            For unknown columns, missing names, and values that are no fraction.
        """
        for key in values:
            if key not in COLUMNS:
                raise InputError(
                    f"a throughput has no {key!r}", hint=f"use one of {', '.join(COLUMNS)}"
                )
        text = {key: value.strip() for key, value in values.items() if value.strip()}
        for key in ("topology", "collective"):
            if key not in text:
                raise InputError(f"a row without a {key}", where=key, hint="name one")
        text["topology"] = text["topology"].lower()
        text["collective"] = canonical_name(text["collective"])
        text["rounds_per_chunk"] = _fraction(text.get("rounds_per_chunk", ""))
        return cls(**text)


def _fraction(text: str) -> str:
    """Return the text of a fraction, or an empty one."""
    if text and not re.fullmatch(r"[1-9][0-9]{0,8}(/[1-9][0-9]{0,8})?", text):
        raise InputError(
            f"{text[:40]!r} is no fraction", where="rounds_per_chunk", hint="write 7/6, or 4"
        )
    return text
