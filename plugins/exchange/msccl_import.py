"""MSCCL XML programs as instances and schedules: executed, checked, and put into steps."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import cast

from cchybrid.model import Channel, CommunicationModel, Instance, Network, Schedule, Transfer
from cchybrid.model.shown import counted
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest
from cchybrid.referee.verify import verify_schedule

from .message_table import at_nodes, collective_for
from .msccl_collectives import ROOTED, Meaning
from .msccl_execution import Execution, Machine, Sent, StatedSteps, Value
from .msccl_program import Program, read_program
from .placement import Placement

HOP_BY_HOP = CommunicationModel("store-and-forward")


def recognises_msccl(text: str) -> bool:
    """Return whether a text may be an MSCCL XML program."""
    return "<algo" in text


def read_msccl(text: str, request: ImportRequest) -> Imported:
    """Return an MSCCL XML program as an instance and a schedule.

    Raises
    ------
    InputError
        It is no program, exceeds a limit, or its collective has no meaning here.
    """
    program = read_program(text)
    facts: list[str] = []
    root = program.root
    if root is None and program.collective in ROOTED and not program.broken:
        root = _root_shown(program)
        facts.append(f"the file names no root; the outputs show gpu {root}")
    meanings = [Meaning(program, in_place, root) for in_place in program.modes]
    meaning = meanings[0]
    size = counted(meaning.chunks, "chunk")
    facts.insert(0, f"{len(program.gpus)} GPUs, {program.collective}, {size} a message")
    broken = program.broken or list(meaning.wrong_sizes())
    if broken:
        return Imported(broken=tuple(broken), facts=tuple(facts))
    machines = [Machine(program, each.cell, each.initial()) for each in meanings]
    for each, machine in zip(meanings, machines, strict=True):
        execution = machine.run()
        broken = execution.broken or _wrong_results(each, execution)
        if broken:
            if len(meanings) > 1:
                facts.append("in place" if each.in_place else "out of place")
            return Imported(broken=tuple(broken), facts=tuple(facts))
    if len(meanings) > 1:
        facts.append("executed in place and out of place")
    machine = machines[0]
    execution = machine.result
    limits = []
    if not execution.races_searched:
        limits.append("too large to search for unordered accesses of memory")
    unlimited = execution.steps
    nodes: Sequence[int] = range(len(program.gpus))
    if request.network is not None:
        placement = Placement(request.network, len(program.gpus), program.nodes)
        nodes = placement.nodes
        if program.states_steps:
            stated = _as_stated(meaning, nodes, request)
            if stated is not None:
                schedule, places = stated
                facts.append("in the steps and on the paths that the file states")
                return Imported(
                    instance=schedule.instance, schedule=schedule, places=places,
                    limits=tuple(limits), facts=tuple(facts), meaning_checked=True,
                )  # fmt: skip
            facts.append(f"the steps that the file states do not hold on {request.network.name}")
        execution = Machine(
            program, meaning.cell, meaning.initial(), placement, machine.times
        ).run()
        if execution.steps > unlimited:
            facts.append(f"{counted(unlimited, 'step')} without limits of capacity")
    sent, redundant = _useful(meaning, execution)
    if redundant:
        facts.append(f"left out, as nothing new is in them: {counted(redundant, 'transfer')}")
    # What brings nothing new uses channels, too, and a better schedule may use them.
    every: defaultdict[int, list[Transfer]] = defaultdict(list)
    for move in execution.sent:
        every[move.step].append(Transfer(0, move.path))
    network = request.network or used_network(request.name, meaning.gpus, [*every.values()])
    schedule, places = _schedule(meaning, sent, nodes, network, request)
    if request.network is None:
        facts.append(judged_on_used(network))
    return Imported(
        instance=schedule.instance,
        schedule=schedule,
        places=places,
        length=execution.steps,
        limits=tuple(limits),
        facts=tuple(facts),
        meaning_checked=True,
    )


def _as_stated(
    meaning: Meaning, nodes: Sequence[int], request: ImportRequest
) -> tuple[Schedule, dict[tuple[int, int], str]] | None:
    """Return the schedule in the steps that the file states, ``None`` if it is not valid."""
    assert request.network is not None
    steps = StatedSteps(nodes)
    execution = Machine(meaning.program, meaning.cell, meaning.initial(), steps).run()
    if not steps.hold:
        return None
    ends: set[int] = set()
    for each in execution.sent:  # what a GPU sends on in the step of its arrival has passed it
        if each.origin is not None and each.origin.step == each.step:
            each.path = each.origin.path + each.path[1:]
            ends.add(id(each.origin))
    execution.sent = [each for each in execution.sent if id(each) not in ends]
    sent, _ = _useful(meaning, execution)
    rounds = meaning.program.rounds
    schedule, places = _schedule(meaning, sent, nodes, request.network, request, rounds)
    if len(schedule.steps) < execution.steps or verify_schedule(schedule):
        return None
    return schedule, places


def _root_shown(program: Program) -> int:
    """Return the root of a program that names none, from what it puts into the outputs."""
    meaning = Meaning(program, program.modes[0])
    return meaning.root_of(Machine(program, meaning.cell, meaning.initial()).run().memory)


def _wrong_results(meaning: Meaning, execution: Execution) -> list[BrokenRule]:
    """Return the first chunk of an output that is not what the collective puts there."""
    for gpu, offset, value in meaning.expected():
        found = execution.memory.get(meaning.cell(gpu, "o", offset))
        if found != value:
            text = f"it holds {meaning.shown(found)} in the end, not {meaning.shown(value)}"
            return [BrokenRule("wrong-result", f"gpu {gpu}, output chunk {offset}", text)]
    return []


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
    meaning: Meaning,
    sent: list[Sent],
    nodes: Sequence[int],
    network: Network,
    request: ImportRequest,
    rounds: tuple[int, ...] = (),
) -> tuple[Schedule, dict[tuple[int, int], str]]:
    """Return the schedule, and the places of its transfers; ``nodes`` are those of the GPUs."""
    messages = {key: at_nodes(message, nodes) for key, message in meaning.messages()}
    collective, numbers = collective_for(request, messages, network.terminals)
    steps: dict[int, list[Transfer]] = defaultdict(list)
    sums: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    place_of: dict[tuple[int, int], str] = {}
    for each in sent:
        value = _value(each)
        transfers = steps[each.step]
        place_of[each.step, len(transfers)] = each.sender.place
        transfers.append(Transfer(numbers[meaning.key(value)], each.path))
        sums[each.step].append(tuple(node for n, node in enumerate(nodes) if value[1] >> n & 1))
    used = sorted(steps)
    # Switches are passed within a step, whether or not this program needs it.
    model = HOP_BY_HOP
    if network.has_switches or any(len(each.path) > 2 for each in sent):
        model = CommunicationModel("wormhole", routing="any")
    instance = Instance(network, collective, model).with_model(rounds=rounds)
    schedule = Schedule(
        instance,
        tuple(tuple(steps[step]) for step in used),
        sums=tuple(tuple(sums[step]) for step in used) if collective.kind == "allreduce" else (),
    )
    rank = {step: number for number, step in enumerate(used)}
    return schedule, {(rank[step], slot): text for (step, slot), text in place_of.items()}


def used_network(
    name: str, nodes: int, steps: list[list[Transfer]], rounds: Sequence[int] = ()
) -> Network:
    """Return the network that a schedule uses: its channels, as wide as the fullest step needs.

    Without ``rounds`` every step has one.
    """
    widest: Counter[tuple[int, int]] = Counter()
    for number, step in enumerate(steps):
        times = rounds[number] if rounds else 1
        load = Counter(hop for _, path in step for hop in pairwise(path))
        for hop, count in load.items():
            widest[hop] = max(widest[hop], -(-count // times))
    channels = tuple(Channel(a, b, size) for (a, b), size in sorted(widest.items()))
    return Network(name, nodes, channels)


def judged_on_used(network: Network) -> str:
    """Return the line that says that a schedule is judged on the network that it uses."""
    widest = max((channel.capacity for channel in network.channels), default=0)
    count = counted(len(network.channels), "channel")
    return f"judged on the {count} it uses, of capacity up to {widest}"
