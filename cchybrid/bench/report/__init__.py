"""Reports on benchmarks: what a store says, checked once more, as Markdown, CSV and one page."""
