"""The command line. Large modules are imported where they are used, so that --help is fast."""

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C during the imports ends it in one line, exit status 130."""
    try:
        from cchybrid.cli.interrupts import catch_interrupts

        catch_interrupts()
        from cchybrid.cli import app
    except KeyboardInterrupt:
        print("cchybrid: interrupted before the run began", file=sys.stderr, flush=True)
        os._exit(130)
    app.main()
