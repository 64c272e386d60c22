"""The encoding of SCCL, decided by z3: can all messages be delivered in a number of steps?

Source: Cai et al., "Synthesizing optimal collective algorithms", PPoPP 2021,
doi:10.1145/3437801.3441620, and the constraints of its public implementation
(github.com/microsoft/msccl-tools, ``path_encoding.py``, commit 030a750), written anew. A chunk is
a message of a store-and-forward instance without ports and half-duplex links. The integer
``time`` is the step in which a node receives a chunk: 0 at the source, more than the number of
steps S if never. The boolean ``send`` says that a chunk takes a link. The integer ``rounds`` of a
step multiplies the capacities; S steps have S rounds in all. As in that implementation, nothing
bounds ``time`` from below but the senders, and the capacities depend on ``rounds``, although only
one value is possible: z3 takes the same constraints, with or without help.

Run as a process with a request on the standard input, an object with ``instance``, ``steps``,
``seed`` and ``limit``, the processor seconds after which the kernel ends it. It prints an object
with ``verdict`` (``true``, ``false``, or ``null`` if z3 gives up), ``steps`` (those of a schedule)
and ``seconds``, the processor seconds of encoding and decision without the start of Python.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections import defaultdict
from typing import Any, NamedTuple

import z3

from cchybrid.model import Instance, Steps, Transfer
from cchybrid.model.schedule import steps_to_json


class Encoding(NamedTuple):
    """The constraints, ``time`` by (chunk, node), and ``send`` by (chunk, sender, receiver)."""

    constraints: list[z3.BoolRef]
    times: dict[tuple[int, int], z3.ArithRef]
    sends: dict[tuple[int, int, int], z3.BoolRef]


def encode(instance: Instance, steps: int) -> Encoding:
    """Return the constraints that the schedules of at most ``steps`` steps satisfy."""
    network, messages = instance.network, instance.collective.deliver_messages
    found = Encoding([], {}, {})
    add, times, sends = found.constraints.append, found.times, found.sends
    senders = defaultdict(list)
    for channel in network.channels:
        senders[channel.target].append(channel.source)
    for chunk in range(len(messages)):
        for node in range(network.nodes):
            times[chunk, node] = z3.Int(f"time_{chunk}_{node}")
            for sender in senders[node]:
                sends[chunk, sender, node] = z3.Bool(f"send_{chunk}_{sender}_{node}")
    for chunk, message in enumerate(messages):
        for node in range(network.nodes):
            time_here = times[chunk, node]
            if node == message.source:
                add(time_here == 0)
            else:
                incoming = [(sends[chunk, sender, node], 1) for sender in senders[node]]
                add(z3.Implies(time_here <= steps, z3.PbEq(incoming, 1) if incoming else False))
            if node in message.destinations:
                add(time_here <= steps)
            for sender in senders[node]:
                add(z3.Implies(sends[chunk, sender, node], times[chunk, sender] < time_here))
    rounds = [z3.Int(f"rounds_{step}") for step in range(steps)]
    found.constraints.extend(number >= 1 for number in rounds)
    add(z3.Sum(rounds) <= steps)
    for channel in network.channels:
        for step, number in enumerate(rounds):
            sent = [
                (z3.And(sends[chunk, channel.source, channel.target],
                        times[chunk, channel.target] == step + 1), 1)
                for chunk in range(len(messages))
            ]  # fmt: skip
            add(z3.Implies(number == 1, z3.PbLe(sent, channel.capacity)))
    return found


def decide(instance: Instance, steps: int, seed: int) -> tuple[bool | None, Steps]:
    """Return whether ``steps`` steps suffice (``None``: z3 gives up), and a schedule's, if so.

    A step in which no message is received is empty.
    """
    encoding = encode(instance, steps)
    solver = z3.Solver()
    solver.set("random_seed", seed)
    solver.add(encoding.constraints)
    verdict = solver.check()
    if verdict != z3.sat:
        return (False if verdict == z3.unsat else None), ()
    model = solver.model()
    found: list[list[Transfer]] = [[] for _ in range(steps)]
    for (chunk, sender, receiver), send in encoding.sends.items():
        arrival = model.eval(encoding.times[chunk, receiver], model_completion=True).as_long()
        # Nodes that never have the chunk may have senders, too.
        if arrival <= steps and z3.is_true(model.eval(send)):
            found[arrival - 1].append(Transfer(chunk, (sender, receiver)))
    return True, tuple(map(tuple, found))


def main() -> None:
    """Read the request, decide, and print the answer."""
    request: dict[str, Any] = json.load(sys.stdin)
    instance = Instance.from_json(request["instance"])
    begun = time.process_time()
    limit = math.ceil(begun + request["limit"])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    verdict, steps = decide(instance, request["steps"], request["seed"])
    seconds = time.process_time() - begun
    print(json.dumps({"verdict": verdict, "steps": steps_to_json(steps), "seconds": seconds}))


if __name__ == "__main__":
    main()
