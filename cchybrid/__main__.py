"""``python -m cchybrid`` is the command line. As with ``cchybrid``, stray modules do not matter."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, which Python puts there by default

from cchybrid.cli import main

main()
