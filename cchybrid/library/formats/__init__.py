"""Network files: the thesis's text format, and what NetworkX reads."""

from cchybrid.library.formats.graph_files import read_network
from cchybrid.library.formats.network_file import NetworkFile
from cchybrid.library.formats.seed_text import read_seed_text, write_seed_text

__all__ = ["NetworkFile", "read_network", "read_seed_text", "write_seed_text"]
