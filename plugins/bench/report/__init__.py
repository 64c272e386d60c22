"""Reports on benchmarks: the runs of a store, checked again, as Markdown, CSV and HTML."""
