"""Multistage networks: omega, butterfly, Beneš and Clos, whose channels have one direction.

Terminals are the nodes 0 to N - 1. Each sends into a switch of the first stage and receives from
one of the last, so it has one port. Switches have the numbers from N on, stage by stage. The line
that runs straight through all switches leads from every terminal back to itself, so that the
unused paths, those from a terminal to itself, cover every link between the stages once.
"""

import math
from collections.abc import Callable, Iterable

from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_size, numbered, power_of_two, whole
from cchybrid.model import Network
from cchybrid.model.errors import InputError


def omega(terminals: int) -> Network:
    """Return the omega network: log2 N stages of N/2 switches, a perfect shuffle before each.

    The shuffle rotates the bits of a line's number to the left; the lines 2w and 2w + 1 are the
    ports of switch w of a stage, and those of the last stage lead to the terminals 2w and 2w + 1.
    Source: Lawrie, "Access and alignment of data in an array processor", IEEE Trans. Computers
    24 (1975). Switches have 2 inputs and 2 outputs, every path from terminal to terminal has
    log2 N + 1 hops, and there is one for every pair.

    Parameters
    ----------
    terminals
        A power of two, at least 2.

    Raises
    ------
    InputError
        The number is no power of two, or too large.
    """
    bits = power_of_two(terminals, "omega")

    def switch(line: int, stage: int) -> int:
        # Lines run straight through all switches, with one more shuffle before each stage.
        turns = (stage + 1) % bits
        return ((line << turns | line >> bits - turns) % terminals) // 2

    return _of_two_by_two(f"omega-{terminals}", terminals, bits, switch)


def butterfly(terminals: int) -> Network:
    """Return the butterfly network: log2 N stages of N/2 switches, wired like an FFT.

    Lines 0 to N - 1 run from the terminals of these numbers through all stages and back to
    them. The switches of the first stage join the two lines whose numbers differ in the highest
    bit, those of the next stage in the bit below, and so on; they are numbered by the other
    bits. Source: Dally and Towles, "Principles and Practices of Interconnection Networks"
    (2004), chapter 4 (the 2-ary k-fly). Switches have 2 inputs and 2 outputs, every path from
    terminal to terminal has log2 N + 1 hops, and there is one for every pair. It is the
    omega network with other numbers of the switches.

    Parameters
    ----------
    terminals
        A power of two, at least 2.

    Raises
    ------
    InputError
        The number is no power of two, or too large.
    """
    bits = power_of_two(terminals, "butterfly")

    def switch(line: int, stage: int) -> int:
        bit = bits - 1 - stage
        return line >> bit + 1 << bit | line & (1 << bit) - 1

    return _of_two_by_two(f"butterfly-{terminals}", terminals, bits, switch)


def benes(terminals: int) -> Network:
    """Return the Beneš network; its channels have one direction.

    Terminals 0 to N - 1 are endpoints; after them come 2 log2(N) - 1 stages of N/2 switches
    with two inputs and two outputs each. Terminals 2i and 2i + 1 send to switch i of the first
    stage and receive from switch i of the last one. Between them lines 0 to N - 1 run from stage
    to stage; the switches of stage s join the two lines whose numbers differ in bit s up to the
    middle stage log2(N) - 1, and after it in the bits back to bit 0. Any permutation of the
    terminals can be routed without a conflict. Between terminals all paths have the length
    2 log2(N). Source: Beneš, "Mathematical Theory of Connecting Networks and Telephone Traffic"
    (1965).

    Parameters
    ----------
    terminals
        N, a power of two, at least 2.

    Raises
    ------
    InputError
        The number is no power of two, or too large.
    """
    bits = power_of_two(terminals, "benes")
    stages = 2 * bits - 1

    def switch(line: int, stage: int) -> int:
        bit = min(stage, stages - 1 - stage)
        return (line >> bit + 1 << bit) + (line & (1 << bit) - 1)

    return _of_two_by_two(f"benes-{terminals}", terminals, stages, switch)


def clos(inputs: int, middle: int, outer: int) -> Network:
    """Return the Clos network of three stages.

    Each of the ``outer`` switches of the first stage takes in ``inputs`` terminals, in order,
    and leads to each of the ``middle`` switches, which lead to each of the ``outer`` switches of
    the last stage. Source: Clos, "A study of non-blocking switching networks", Bell System
    Technical J. 32 (1953), in whose notation this is (n, m, r). Every path from terminal to
    terminal has 4 hops; there is one for every middle switch.

    Raises
    ------
    InputError
        A number below 1, fewer than 2 terminals, or too many nodes or channels.
    """
    if min(inputs, middle, outer) < 1 or inputs * outer < 2:
        corrected = [max(1, inputs), max(1, middle), max(1, outer)]
        if corrected[0] * corrected[2] < 2:
            corrected[2] = 2
        raise InputError(
            "there are fewer than 2 terminals or no switches in a stage",
            hint=f"use clos-{'-'.join(map(str, corrected))}",
        )
    terminals = inputs * outer
    check_size(terminals + 2 * outer + middle, 2 * (terminals + middle * outer))
    first = terminals
    second = first + outer
    third = second + middle
    arcs = [(node, first + node // inputs) for node in range(terminals)]
    arcs += [(first + a, second + b) for a in range(outer) for b in range(middle)]
    arcs += [(second + b, third + a) for a in range(outer) for b in range(middle)]
    arcs += [(third + node // inputs, node) for node in range(terminals)]
    return _network(
        f"clos-{inputs}-{middle}-{outer}", terminals, arcs, [terminals, outer, middle, outer]
    )


def square_clos(terminals: int) -> Network:
    """Return the Clos network of N terminals with n = m, n the largest divisor up to sqrt(N).

    So ``clos-12`` is (3, 3, 4) and ``clos-16`` is (4, 4, 4), as in Jaroš's thesis. As m = n it
    can be rearranged for any permutation.

    Raises
    ------
    InputError
        Fewer than 4 terminals, a prime number (n would be 1), or too many nodes.
    """
    if terminals < 4:
        raise InputError("a Clos network has at least 4 terminals here", hint="use clos-4")
    check_size(terminals)
    root = math.isqrt(terminals)
    inputs = max(size for size in range(1, root + 1) if terminals % size == 0)
    if inputs == 1:
        raise InputError(
            f"{terminals} is prime, so it cannot be divided among switches",
            hint=f"use clos-{terminals - 1} or clos-{terminals + 1}",
        )
    return clos(inputs, inputs, terminals // inputs)


def _of_two_by_two(
    name: str, terminals: int, stages: int, switch: Callable[[int, int], int]
) -> Network:
    """Return the network of stages of two-by-two switches.

    Every terminal has a line that runs straight through one switch of each stage and back to
    it; ``switch(line, stage)`` is the number of the switch within the stage.
    """
    half = terminals // 2
    check_size(terminals + stages * half, (stages + 1) * terminals)
    arcs: list[tuple[int, int]] = []
    for line in range(terminals):
        passed = [terminals + stage * half + switch(line, stage) for stage in range(stages)]
        arcs += zip([line, *passed], [*passed, line], strict=True)
    return _network(name, terminals, arcs, [terminals, *[half] * stages])


def _network(
    name: str, terminals: int, arcs: Iterable[tuple[int, int]], columns: list[int]
) -> Network:
    return Network.from_arcs(
        name,
        sum(columns),
        arcs,
        endpoints=tuple(range(terminals)),
        positions=layouts.columns(columns),
    )


def _clos(first: str, *others: str | None) -> Network:
    """Return the Clos network of the numbers in a name: one, or all three."""
    numbers = [whole(text) for text in (first, *others) if text is not None]
    return square_clos(*numbers) if len(numbers) == 1 else clos(*numbers)


FAMILIES = (
    numbered("omega-N", omega,
        "omega network: N = 2^k terminals, k stages of two-by-two switches, one-way", "omega-8"),
    numbered("butterfly-N", butterfly,
        "butterfly network: N = 2^k terminals, k stages of two-by-two switches, one-way",
        "butterfly-8"),
    TopologyInfo(name="clos", usage="clos-N or clos-n-m-r", pattern=r"clos-(\d+)(?:-(\d+)-(\d+))?",
        build=_clos,
        summary="Clos network of three stages: r switches of n terminals each, m in the middle",
        example="clos-12"),
    numbered("benes-N", benes,
        "Beneš network of N = 2^k terminals: 2k - 1 stages of 2x2 switches, one-way", "benes-8"),
)  # fmt: skip
