"""The steps of networks that were designed for a collective, as a section."""

from __future__ import annotations

from collections.abc import Mapping

from pandas import DataFrame

from cchybrid.bench.checking_designs import FoundSteps
from cchybrid.bench.design_row import DesignRow
from cchybrid.bench.report.sections import Section

STEPS_FACT = (
    "every schedule was verified again and the evidence of its bound checked again; that all other"
    " networks were refuted (by exhaustion) was not"
)


def steps_section(rows: Mapping[str, DesignRow], found: Mapping[str, FoundSteps]) -> Section:
    """Return the table of the steps, in the order of the rows."""
    lines = [
        {
            "collective": row.collective,
            "degree": row.degree,
            "nodes": row.nodes,
            "steps": found[name].steps,
            "bound over all networks": found[name].bound,
            "no network has fewer": found[name].proven,
            "certified on it": found[name].mark,
        }
        for name, row in rows.items()
        if name in found
    ]
    text = (
        "The fewest steps found, by a verified schedule on the designed network. Certified: no"
        " schedule on this network has fewer. The bound holds for every network of as many nodes"
        " and links."
    )
    return Section("Fewest steps", text, table=DataFrame(lines))
