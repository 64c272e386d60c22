"""The claim of a certificate, "no schedule has this number of steps", for foreign checkers."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cchybrid.checker.certificate import ANY_ROUTING
from cchybrid.checker.instance import Network
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_parts
from cchybrid.model.text import printable


@dataclass(frozen=True)
class Claim:
    """The statement that no schedule of an instance has at most ``steps`` steps.

    Attributes
    ----------
    name
        The name of the instance.
    network
        The instance as the checker reads it.
    scope_network
        The same with the routing of the claim's scope, which the evidence is about.
    steps
        The number of steps that is refuted.
    evidence
        The evidence of the certificate. Of an allreduce that of one of its parts, and the networks
        have the broadcasts or the reductions of this part only.
    """

    name: str
    network: Network
    scope_network: Network
    steps: int
    evidence: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The kind of the evidence."""
        return str(self.evidence["kind"])

    def heading(self, network: Network) -> Iterator[str]:
        """Yield the lines that say what a formula is about, for comments.

        ``network`` is the one of the two whose paths it counts.
        """
        yield f"{printable(self.name)}: is there a schedule of at most {self.steps} steps?"
        yield "Unsatisfiable means that there is none. Nodes, messages and steps are numbers; nodes"
        yield "and messages count from 0, steps from 1."
        hops = network.extra_hops
        words = "any" if hops is None else f"at most {hops} hops more than the fewest"
        yield f"Routing: {'the paths of a table' if network.table else words}."
        if network.backwards:
            yield "A reduction is described backwards: channels reversed, the last step first, and"
            yield "each message goes from the node that gets the result to all others."
        for number, (source, destinations) in enumerate(network.messages):
            yield f"message {number}: from {source} to {' '.join(map(str, destinations))}"


def read_claim(instance: Mapping[str, Any], certificate: Mapping[str, Any]) -> Claim:
    """Return the claim of a certificate that the checker has accepted.

    Raises
    ------
    InputError
        Nothing is refuted, or the evidence is about the exchanges of an allreduce.
    """
    claim, evidence = certificate["claim"], certificate["evidence"]
    if claim["steps"] < 2:
        raise InputError("every schedule has at least one step, so there is nothing to refute")
    network = scope_network = Network(instance)
    if network.periodic:
        raise InputError("the formulas are not for time slots", hint="cchybrid check checks it")
    if claim["scope"] == ANY_ROUTING:
        scope_network = network.with_any_routing()
    if network.members:
        if evidence["kind"] != "part":
            raise InputError(
                f"a bound by {evidence['kind']} has no formula for other checkers",
                hint="it is a count of transfers, described in docs/allreduce.md",
            )
        back = "to" in evidence
        node = evidence["to" if back else "from"]
        network, scope_network = network.part(node, back), scope_network.part(node, back)
        evidence = evidence["evidence"]
    name = str(instance.get("name", ""))
    return Claim(name, network, scope_network, claim["steps"] - 1, evidence)


def write_lines(lines: Iterable[str], path: Path) -> None:
    """Write a text file atomically, line by line; its folder is made if it is missing.

    Raises
    ------
    InputError
        It cannot be written.
    """
    with contextlib.suppress(OSError):  # then the file cannot be written, either
        path.parent.mkdir(parents=True, exist_ok=True)
    write_parts((f"{line}\n".encode("ascii", errors="replace") for line in lines), path)
