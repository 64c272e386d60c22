"""The collective of an MPI library in SimGrid: a C program that SMPI runs on the same platform.

Source: A. Degomme et al., Simulating MPI applications: the SMPI approach, IEEE TPDS 28 (2017),
doi:10.1109/TPDS.2017.2669305.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cchybrid.library.patterns import pattern_of
from cchybrid.model import Instance
from cchybrid.model.collective import one_and_many
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text

COMPILER = "smpicc"
SELECTOR = "ompi"
"""SMPI chooses the algorithm of a collective like this library, by its size and the ranks."""
MAX_SECONDS = 300.0
MAX_BYTES = (1 << 31) - 1
"""The largest size times ranks: SMPI's collectives count the bytes of all ranks in 32 bits."""
SETTINGS = (
    # As in replay_program.py, which imports nothing of cchybrid; but here links have latencies.
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/TCP-gamma:1e30",
    f"smpi/coll-selector:{SELECTOR}",
    "smpi/simulate-computation:no",
)

_BLOCKS = "here, size, MPI_BYTE, there, size, MPI_BYTE"
_CALLS = {
    "Allgather": f"({_BLOCKS}, MPI_COMM_WORLD)",
    "Allreduce": "(here, there, size, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD)",
    "Alltoall": f"({_BLOCKS}, MPI_COMM_WORLD)",
    "Bcast": "(here, size, MPI_BYTE, ROOT, MPI_COMM_WORLD)",
    "Gather": f"({_BLOCKS}, ROOT, MPI_COMM_WORLD)",
    "Reduce": "(here, there, size, MPI_BYTE, MPI_BOR, ROOT, MPI_COMM_WORLD)",
    "Reduce_scatter_block": "(here, there, size, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD)",
    "Scatter": f"({_BLOCKS}, ROOT, MPI_COMM_WORLD)",
}


_NAMES = {
    "AAB": "Allgather", "AAR": "Reduce_scatter_block", "AAS": "Alltoall", "AOG": "Gather",
    "AOR": "Reduce", "OAB": "Bcast", "OAS": "Scatter", "allreduce": "Allreduce",
}  # fmt: skip
"""The collectives of MPI by pattern; those with an O have a root."""
_OF_TWO = {"AOR": "custom", "OAB": "OAS"}
"""Other patterns that two nodes are taken for."""


class LibraryCall(NamedTuple):
    """A collective of MPI.

    Attributes
    ----------
    name
        Its name without ``MPI_``.
    nodes
        The nodes that take part, in the order of their ranks.
    root
        The rank of the root, or 0.
    """

    name: str
    nodes: tuple[int, ...]
    root: int = 0


def library_call(instance: Instance) -> LibraryCall | None:
    """Return the collective of MPI that moves the messages of an instance, if there is one."""
    collective = instance.collective
    if collective.kind in ("scan", "exscan"):
        return None
    messages = collective.messages[:: collective.chunks]
    ends = [one_and_many(message) for message in messages]
    nodes = tuple(sorted({node for one, many in ends for node in (one, *many)}))
    pattern = pattern_of(messages, nodes)
    if len(nodes) == 2:
        pattern = _OF_TWO.get(pattern, pattern)
    if pattern not in _NAMES:
        return None
    one, many = ends[0]
    root = many[0] if pattern == "AOG" else one
    return LibraryCall(_NAMES[pattern], nodes, nodes.index(root) if "O" in pattern else 0)


def is_installed() -> bool:
    """Return whether SMPI's compiler and its starter are installed."""
    return shutil.which(COMPILER) is not None and shutil.which("smpirun") is not None


def times(call: LibraryCall, platform: str, sizes: Sequence[int], folder: Path) -> list[float]:
    """Return the simulated microseconds of a collective by message size.

    Parameters
    ----------
    platform
        A platform of SimGrid with a host ``node-N`` for every node, and routes between all.
    folder
        Where program and platform are written.

    Raises
    ------
    InputError
        The program cannot be compiled or run, or a size is too large for SMPI.
    """
    if max(sizes) * len(call.nodes) > MAX_BYTES:
        raise InputError(
            f"a size times {len(call.nodes)} ranks is more than {MAX_BYTES} bytes, SMPI's limit",
            hint="use smaller sizes",
        )
    program = Path(__file__).with_name("collective.c").read_text(encoding="utf-8")
    text = program.replace("CALL", f"MPI_{call.name}{_CALLS[call.name]}")
    write_text(text.replace("ROOT", str(call.root)), folder / "collective.c")
    write_text(platform, folder / "library-platform.xml")
    write_text("".join(f"node-{node}\n" for node in call.nodes), folder / "hostfile")
    run([COMPILER, "-O1", "-o", "collective", "collective.c"], folder)
    found = []
    for size in sizes:
        words = [
            "smpirun", "-np", str(len(call.nodes)), "-platform", "library-platform.xml",
            "-hostfile", "hostfile", *(f"--cfg={setting}" for setting in SETTINGS),
            "--log=root.thres:critical", "./collective", str(size),
        ]  # fmt: skip
        found.append(float(run(words, folder).split()[-1]))
    return found


def run(words: list[str], folder: Path, name: str = "", seconds: float = MAX_SECONDS) -> str:
    """Return the output of a program in a folder; an ``InputError`` if it fails or takes long."""
    name = name or words[0]
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{name} takes more than {seconds:.0f} seconds", hint="use fewer or smaller sizes"
        ) from None
    if done.returncode or (name != COMPILER and not done.stdout.strip()):
        text = (done.stderr.strip() or "no message").splitlines()[-1]
        raise InputError(f"{name} failed: {text[:200]}", hint="see its files with --folder")
    return done.stdout
