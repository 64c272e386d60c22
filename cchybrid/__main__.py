"""``python -m cchybrid`` is the command line."""

from cchybrid.cli import main

main()
