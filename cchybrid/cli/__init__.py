"""The command line. Large modules are imported where they are used, so that --help is fast."""

from cchybrid.cli.app import main

__all__ = ["main"]
