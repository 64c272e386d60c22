"""From a name such as ``mesh-4x8`` to its network, and from a misspelt one to the mend."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cchybrid.library.records import TopologyInfo
from cchybrid.model import Network
from cchybrid.model.errors import InputError, inside

_LIST = "`cchybrid topologies` lists the names"


def resolve(name: str, families: Iterable[TopologyInfo]) -> Network:
    """Return the network of a name, in any case; the network is called by the lower-case name.

    Raises
    ------
    InputError
        No family knows the name, or its parameters make no sense.
    """
    families = tuple(families)
    wanted = name.strip().lower()
    for family in families:
        match = re.fullmatch(family.pattern, wanted, re.ASCII)
        if match:
            with inside(_shortened(wanted)):
                network = family.build(*match.groups())
            return network if network.name == wanted else replace(network, name=wanted)
    for family in families:
        if wanted == family.name:
            raise InputError(
                "the parameters are missing",
                where=wanted,
                mend=f"write {family.usage}, such as {family.example}",
            )
    guesses = _guesses(wanted, families)
    mend = f"did you mean {' or '.join(guesses)}? {_LIST}" if guesses else _LIST
    raise InputError(f"unknown network {_shortened(wanted)!r}", mend=mend)


def _shortened(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."


def _guesses(wanted: str, families: Sequence[TopologyInfo]) -> list[str]:
    """Return up to two names that somebody who wrote ``wanted`` may have meant."""
    numbers = re.findall(r"\d+", wanted)
    # An x between digits writes extents; it is no word.
    words = "-".join(re.findall(r"[a-z]+", re.sub(r"\d+(?:x\d*)*", "-", wanted)))
    by_words = {family.name: family for family in families}
    near = [name for name in by_words if name.startswith(f"{words}-")][:2]
    if words in by_words or not near:
        near = _nearest(words, by_words)
    found = [_with_numbers(by_words[word], numbers) for word in near]
    if not found:
        whole_names = {family.usage.lower(): family.example for family in families}
        whole_names |= {family.example: family.example for family in families}
        near = difflib.get_close_matches(wanted, whole_names, n=2, cutoff=0.7)
        found = [whole_names[match] for match in near]
    if words in by_words:  # the family is certain; only its spelling is not
        found = found[:1]
    return list(dict.fromkeys(found))


def _nearest(word: str, names: Iterable[str]) -> list[str]:
    """Return the name that is most like the word, and another one if it is hardly less so."""
    near = difflib.get_close_matches(word, list(names), n=2, cutoff=0.6)
    likeness = [difflib.SequenceMatcher(None, name, word).ratio() for name in near]
    return [name for name, value in zip(near, likeness, strict=True) if value > likeness[0] - 0.15]


def _with_numbers(family: TopologyInfo, numbers: Sequence[str]) -> str:
    """Return the family's member with the numbers that the user wrote, or else its example."""
    for written in (f"{family.name}-{'x'.join(numbers)}", f"{family.name}-{''.join(numbers[-1:])}"):
        match = re.fullmatch(family.pattern, written, re.ASCII)
        if match:
            with contextlib.suppress(InputError):
                family.build(*match.groups())
                return written
    return family.example
