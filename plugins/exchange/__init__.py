"""Schedules and proofs in the formats of other tools: exporters, importers, the audit."""

from cchybrid.plugin import CommandInfo, ExporterInfo, ImporterInfo, ProofFormatInfo, hookimpl
from cchybrid.plugin.records import later

GROUP = "Exchange"


@hookimpl
def cchybrid_commands() -> tuple[CommandInfo, ...]:
    """Return the commands."""
    return (
        CommandInfo("export", f"{__name__}.commands:export",
            "Write a verified schedule for people or other tools.", group=GROUP),
        CommandInfo("import", f"{__name__}.commands:import_",
            "Convert a schedule of another tool to a schedule file.", group=GROUP),
        CommandInfo("audit", f"{__name__}.commands:audit",
            "Judge a schedule of another tool: its first broken rule, or its gap.", group="Trust"),
    )  # fmt: skip


_STATED = (
    "store-and-forward", "extra hops", "limited ports", "rounds", "chunks", "combining",
    "allreduce", "wide channels", "endpoints", "switches",
)  # fmt: skip
"""Features that all formats below express or state; BookSim's is the network alone."""
_PORTS, _EMPTY, _HALF = "ports by node", "empty steps", "half duplex"


@hookimpl
def cchybrid_exporters() -> tuple[ExporterInfo, ...]:
    """Return the formats for people and for other tools."""
    return (
        _exporter("csv", "export_text:export_csv",
            "one row per transfer, for spreadsheets and scripts", _HALF),
        _exporter("text", "export_text:export_text", "one line per transfer, for reading",
            _HALF, _PORTS, _EMPTY, "scan"),
        _exporter("table", "step_tables:export_table_csv", "sources by steps, as CSV",
            _HALF, _PORTS, _EMPTY, "scan"),
        _exporter("markdown", "step_tables:export_markdown",
            "sources by steps, as a Markdown table", _HALF, _PORTS, _EMPTY, "scan"),
        _exporter("latex", "step_tables:export_latex",
            "sources by steps, as a LaTeX table (booktabs)", _HALF, _PORTS, _EMPTY, "scan"),
        _exporter("msccl", "export_msccl:export_msccl", "MSCCL XML, for GPUs", _HALF, _PORTS),
        _exporter("mscclpp", "export_mscclpp:export_mscclpp", "JSON plan of MSCCL++, for GPUs",
            _HALF, _PORTS),
        _exporter("goal", "export_goal:export_goal", "GOAL, for LogGOPSim", _PORTS, sized=True),
        _exporter("anynet", "export_graphs:export_anynet", "the network, for BookSim",
            _PORTS, _EMPTY),
        _exporter("graphml", "export_graphs:export_graphml", "the network and its use, GraphML",
            _HALF, _PORTS, _EMPTY),
        _exporter("dot", "export_graphs:export_dot", "the same for Graphviz",
            _HALF, _PORTS, _EMPTY),
        ExporterInfo("poseidon", later(f"{__name__}.poseidon_tables:export_poseidon"),
            "tables of adapters and routers as Poseidon writes them, for networks on chip",
            expresses=("tdm", "limited ports", "wide channels", "chunks", _EMPTY)),
        _exporter("routes", "export_tables:export_routes", "routing tables of all nodes, CSV",
            _HALF, _PORTS),
        _exporter("jsonl", "export_tables:export_jsonl", "a JSON object per transfer and line",
            _HALF, _PORTS),
    )  # fmt: skip


def _exporter(
    name: str, target: str, summary: str, *more: str, sized: bool = False
) -> ExporterInfo:
    """Return an exporter of the common features and of ``more``."""
    export = later(f"{__name__}.{target}")
    # A reader of CSV would take the paths of a table for paths chosen from all.
    stated = _STATED if name == "csv" else (*_STATED, "routing table")
    return ExporterInfo(name, export, summary, sized=sized, expresses=(*stated, *more))


@hookimpl
def cchybrid_importers() -> tuple[ImporterInfo, ...]:
    """Return the formats that can be read."""
    return (
        _importer("csv", "csv", "rows of step, source, destination, path"),
        _importer("cchybrid", "native", "schedule files of cchybrid"),
        _importer("msccl-xml", "msccl", "MSCCL XML programs"),
        _importer("poseidon", "poseidon", "Poseidon platforms and schedules"),
        _importer("sccl-json", "sccl_json", "algorithms of msccl-tools"),
        _importer("teccl", "teccl", "results of TE-CCL"),
    )


def _importer(name: str, module: str, summary: str) -> ImporterInfo:
    file = f"{__name__}.{module}_import"
    recognises, read = later(f"{file}:recognises_{module}"), later(f"{file}:read_{module}")
    return ImporterInfo(name, recognises, read, summary)


@hookimpl
def cchybrid_proof_formats() -> tuple[ProofFormatInfo, ...]:
    """Return the formats of proofs for checkers of other projects."""
    return (
        ProofFormatInfo("dimacs", f"{__name__}.dimacs:write_dimacs",
            "Write a propositional formula and its refutation, for cake_lpr and others."),
        ProofFormatInfo("opb", f"{__name__}.opb:write_opb",
            "Write a pseudo-Boolean formula and a VeriPB proof."),
    )  # fmt: skip
