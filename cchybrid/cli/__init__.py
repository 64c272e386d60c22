"""The command line. Heavy modules are imported where they are used: --help answers at once."""

from cchybrid.cli.app import main

__all__ = ["main"]
