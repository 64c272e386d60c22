"""Design the networks of ``designs/``: ``python instances/write_designs.py``.

Networks of degree 4 for the numbers of nodes of the AMP networks, at least as good as those in
diameter and mean distance. A line of every file names the designer, its seed and the number of
networks that it evaluates; a minute is enough for all files.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from cchybrid_plugins.design.annealing.engine import Annealing, AnnealingOptions
from cchybrid_plugins.design.network.local_run import LocalDesignRun
from cchybrid_plugins.design.network.ports import network_of
from cchybrid_plugins.design.network.task import DesignTask

from cchybrid.library.formats import NetworkFile, write_seed_text
from cchybrid.model.errors import CchybridError
from cchybrid.model.instance import write_text


class Design(NamedTuple):
    """A network of degree 4: nodes, and the seed and evaluations of ``annealing``."""

    nodes: int
    seed: int
    evaluations: int

    @property
    def name(self) -> str:
        """The name of the network and of its file."""
        return f"design-{self.nodes}-4"


DESIGNS = (
    Design(8, 1, 10_000),
    Design(23, 1, 100_000),
    Design(32, 1, 200_000),
    Design(42, 1, 1_000_000),
    Design(53, 2, 18_000_000),
)


def text_of(design: Design) -> str:
    """Return the file of a design, which is searched for."""
    task = DesignTask(design.nodes, 4)
    run = LocalDesignRun(task, seed=design.seed, evaluations=design.evaluations)
    Annealing(AnnealingOptions()).design(task, run)
    if run.links is None:
        raise CchybridError(f"no network found for {design.name}")
    network = network_of(task, run.links)
    made = (
        f"# made by instances/write_designs.py: annealing, seed {design.seed},"
        f" {design.evaluations} evaluations\n"
    )
    return made + write_seed_text(NetworkFile(network, network.terminals, network.terminals))


def write(folder: Path) -> list[Path]:
    """Write all designs into a folder and return the files."""
    (folder / "designs").mkdir(parents=True, exist_ok=True)
    written = []
    for design in DESIGNS:
        path = folder / "designs" / f"{design.name}.txt"
        write_text(text_of(design), path)
        written.append(path)
    return written


if __name__ == "__main__":
    print(f"{len(write(Path(__file__).parent))} files")
    sys.exit(0)
