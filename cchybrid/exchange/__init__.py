"""Schedules and proofs in the formats of other tools: exporters, importers, the audit."""
