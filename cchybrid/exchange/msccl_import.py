"""MSCCL XML programs as instances and schedules: executed, checked, and put into steps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from itertools import pairwise
from typing import cast

from cchybrid.exchange.message_table import collective_of, match_messages
from cchybrid.exchange.msccl_collectives import Meaning
from cchybrid.exchange.msccl_execution import Execution, Machine, Sent, Value
from cchybrid.exchange.msccl_program import Program, read_program
from cchybrid.model import Channel, CommunicationModel, Instance, Network, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest

HOP_BY_HOP = CommunicationModel("store-and-forward")


def recognises_msccl_xml(text: str) -> bool:
    """Return whether a text may be an MSCCL XML program."""
    return "<algo" in text


def read_msccl_xml(text: str, request: ImportRequest) -> Imported:
    """Return an MSCCL XML program as an instance and a schedule.

    Raises
    ------
    InputError
        It is no program, exceeds a limit, or its collective has no meaning here.
    """
    program = read_program(text)
    meaning = Meaning(program)
    size = counted(meaning.chunks, "chunk")
    facts = [f"{len(program.gpus)} GPUs, {program.collective}, {size} a message"]
    if program.broken:
        return Imported(broken=tuple(program.broken), facts=tuple(facts))
    machine = Machine(program, meaning.cell, meaning.initial())
    execution = machine.run()
    broken = execution.broken or _wrong_results(meaning, execution)
    if broken:
        return Imported(broken=tuple(broken), facts=tuple(facts))
    limits = []
    if not execution.races_searched:
        limits.append("too large to search for unordered accesses of memory")
    length = execution.steps
    if request.network is not None:
        _check_size(request.network, program)
        capacity = _capacity_of(request.network)
        times = machine.times
        execution = Machine(program, meaning.cell, meaning.initial(), capacity, times).run()
    sent, redundant = _useful(meaning, execution)
    if redundant:
        facts.append(f"left out, as nothing new is in them: {counted(redundant, 'transfer')}")
    schedule, places = _schedule(program, meaning, sent, request)
    if request.network is None:
        channels = schedule.instance.network.channels
        widest = max(channel.capacity for channel in channels)
        facts.append(f"judged on the {len(channels)} channels it uses, of capacity up to {widest}")
    return Imported(
        instance=schedule.instance,
        schedule=schedule,
        places=places,
        length=length,
        limits=tuple(limits),
        facts=tuple(facts),
        meaning_checked=True,
    )


def _wrong_results(meaning: Meaning, execution: Execution) -> list[BrokenRule]:
    """Return the first chunk of an output that is not what the collective puts there."""
    for gpu, offset, value in meaning.expected():
        found = execution.memory.get(meaning.cell(gpu, "o", offset))
        if found != value:
            text = f"it holds {meaning.shown(found)} in the end, not {meaning.shown(value)}"
            return [BrokenRule("wrong-result", f"gpu {gpu}, output chunk {offset}", text)]
    return []


def _check_size(network: Network, program: Program) -> None:
    if network.nodes < len(program.gpus):
        raise InputError(
            f"{network.name} has {network.nodes} nodes, the program {len(program.gpus)} GPUs",
            where="--topology",
            hint="name a network of the same size",
        )


def _capacity_of(network: Network) -> Callable[[int, int], int]:
    index = {(a, b): size for a, b, size in network.channels}
    # A channel that does not exist is reported by the referee.
    return lambda a, b: index.get((a, b), 1)


def _useful(meaning: Meaning, execution: Execution) -> tuple[list[Sent], int]:
    """Return the transfers that bring something new to their receiver, by step, and the others."""
    held: defaultdict[tuple[Hashable, int], int] = defaultdict(int)
    keys = {key for key, _ in meaning.messages()}
    for (gpu, _, _), value in meaning.initial().items():
        held[meaning.key(value), gpu] |= value[1]
    useful: list[Sent] = []
    sent = sorted(execution.sent, key=lambda each: each.step)
    # Larger sums of a step first, as the referee counts them.
    sent.sort(key=lambda each: (each.step, -_value(each)[1].bit_count()))
    for each in sent:
        value = _value(each)
        key, mask = meaning.key(value), value[1]
        if key in keys and held[key, each.receiver] | mask != held[key, each.receiver]:
            useful.append(each)
            held[key, each.receiver] |= mask
    return useful, len(sent) - len(useful)


def _value(sent: Sent) -> Value:
    return cast(Value, sent.value)  # an execution without broken rules sends no empty chunk


def _schedule(
    program: Program, meaning: Meaning, sent: list[Sent], request: ImportRequest
) -> tuple[Schedule, dict[tuple[int, int], str]]:
    messages = dict(meaning.messages())
    if request.collective is None:
        collective, numbers = collective_of(messages.items())
    else:
        collective = request.collective
        numbers = match_messages(collective, messages, "--collective")
    steps: dict[int, list[Transfer]] = defaultdict(list)
    sums: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    place_of: dict[tuple[int, int], str] = {}
    for each in sent:
        value = _value(each)
        transfers = steps[each.step]
        place_of[each.step, len(transfers)] = each.sender.place
        transfers.append(Transfer(numbers[meaning.key(value)], (each.sender.gpu, each.receiver)))
        sums[each.step].append(tuple(n for n in range(meaning.gpus) if value[1] >> n & 1))
    used = sorted(steps)
    network = request.network or used_network(
        request.name, len(program.gpus), [steps[step] for step in used]
    )
    instance = Instance(network, collective, HOP_BY_HOP)
    schedule = Schedule(
        instance,
        tuple(tuple(steps[step]) for step in used),
        sums=tuple(tuple(sums[step]) for step in used) if collective.kind == "allreduce" else (),
    )
    rank = {step: number for number, step in enumerate(used)}
    return schedule, {(rank[step], slot): text for (step, slot), text in place_of.items()}


def used_network(name: str, nodes: int, steps: list[list[Transfer]]) -> Network:
    """Return the network that a schedule uses: its channels, as wide as the fullest step needs."""
    widest: Counter[tuple[int, int]] = Counter()
    for step in steps:
        load = Counter(hop for _, path in step for hop in pairwise(path))
        for hop, count in load.items():
            widest[hop] = max(widest[hop], count)
    channels = tuple(Channel(a, b, size) for (a, b), size in sorted(widest.items()))
    return Network(name, nodes, channels)
