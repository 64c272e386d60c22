"""Families of networks that users name, such as ``mesh-4x8``; one file per subject."""

from collections.abc import Iterable
from importlib import import_module

from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies import fat_nodes
from cchybrid.library.topologies.faults import fail, without_link
from cchybrid.library.topologies.names import resolve
from cchybrid.model import Network

_SUBJECTS = (
    "cubes", "rings", "grids", "small", "circulants", "amp", "multistage", "trees", "hyperx",
    "shift_graphs", "dragonfly", "slim_fly", "k_ary_trees", "random_graphs", "clusters", "machines",
)  # fmt: skip
"""The modules of families, in the order in which these are listed."""
PLAIN: tuple[TopologyInfo, ...] = tuple(
    family for name in _SUBJECTS for family in import_module(f"{__name__}.{name}").FAMILIES
)
FAMILIES: tuple[TopologyInfo, ...] = (*PLAIN, *fat_nodes.families(PLAIN))


def network(name: str, families: Iterable[TopologyInfo] = FAMILIES) -> Network:
    """Return the network of a name, in any case: ``network("Mesh-4x8")``.

    Parameters
    ----------
    name
        A member of one of the families; it becomes, in lower case, the network's name.
    families
        The families; those of cchybrid come first.

    Raises
    ------
    InputError
        Unknown name (the error suggests similar ones), or invalid parameters.
    """
    return resolve(name, families, FAMILIES)


__all__ = ["FAMILIES", "fail", "network", "without_link"]
