"""Named networks and collectives, graph files, JSON Schemas, instance specifications."""
