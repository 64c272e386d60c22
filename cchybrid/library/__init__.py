"""Everything that has a name or a file format: networks, collectives, graph files, schemas."""
