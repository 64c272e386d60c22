"""From a name such as ``mesh-4x8`` to its network, and suggestions for a misspelt one."""

import contextlib
import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cchybrid.library.rates import Rates
from cchybrid.library.records import TopologyInfo
from cchybrid.model import Network
from cchybrid.model.errors import InputError, with_context

_LIST = "`cchybrid topologies` lists the names"


def resolve(
    name: str, families: Iterable[TopologyInfo], first: Sequence[TopologyInfo] = ()
) -> Network:
    """Return the network of a name in any case; its own name is in lower case.

    Families of ``first`` come before others, and the order of others decides nothing.

    Raises
    ------
    InputError
        Unknown name, one that two families have, or invalid parameters.
    """
    families = tuple(families)
    text = name.strip().lower()
    matches = [(each, re.fullmatch(each.pattern, text, re.ASCII)) for each in families]
    found = [(family, match) for family, match in matches if match]
    # By name, which no other family can have: a plugin host keeps wrapped copies of families.
    own = {family.name for family in first}
    found.sort(key=lambda pair: pair[0].name not in own)
    if len(found) > 1 and found[0][0].name not in own:
        raise InputError(
            f"the families {found[0][0].name} and {found[1][0].name} both have this name",
            where=_shortened(text),
            hint="use one of the two plugins",
        )
    if found:
        family, match = found[0]
        with with_context(_shortened(text)):
            network = family.build(*match.groups())
        return network if network.name == text else replace(network, name=text)
    for family in families:
        if text == family.name:
            raise InputError(
                "the parameters are missing",
                where=text,
                hint=f"write {family.usage}, such as {family.example}",
            )
    guesses = _guesses(text, families)
    hint = f"did you mean {' or '.join(guesses)}? {_LIST}" if guesses else _LIST
    raise InputError(f"unknown network {_shortened(text)!r}", hint=hint)


def rates_of(network: Network, families: Iterable[TopologyInfo]) -> Rates | None:
    """Return the bandwidths and latencies of a named network, ``None`` if they are not known."""
    for family in families:
        if re.fullmatch(family.pattern, network.name, re.ASCII):
            return family.rates(network)
    return None


def _shortened(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."


def _guesses(text: str, families: Sequence[TopologyInfo]) -> list[str]:
    """Return up to two names that the user may have meant."""
    numbers = re.findall(r"\d+", text)
    # An x between digits separates extents.
    words = "-".join(re.findall(r"[a-z]+", re.sub(r"\d+(?:x\d*)*", "-", text)))
    by_words = {family.name: family for family in families}
    near = [name for name in by_words if name.startswith(f"{words}-")][:2]
    if words in by_words or not near:
        near = _nearest(words, by_words)
    found = [_with_numbers(by_words[word], numbers) for word in near]
    if not found:
        whole_names = {family.usage.lower(): family.example for family in families}
        whole_names |= {family.example: family.example for family in families}
        near = difflib.get_close_matches(text, whole_names, n=2, cutoff=0.7)
        found = [whole_names[match] for match in near]
    if words in by_words:  # the family is certain; only its spelling is not
        found = found[:1]
    return list(dict.fromkeys(found))


def _nearest(word: str, names: Iterable[str]) -> list[str]:
    """Return the name most similar to the word, and a second one if it is nearly as similar."""
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
