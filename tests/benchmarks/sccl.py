"""The encoding of SCCL, decided by z3: can all messages be delivered in a number of steps?

Source: Cai et al., "Synthesizing optimal collective algorithms", PPoPP 2021,
doi:10.1145/3437801.3441620. A chunk is a message of a store-and-forward instance without ports and
half-duplex links. The integer ``time`` is the step in which a node receives a chunk: 0 at the
source, more than the number of steps S if never. The boolean ``snd`` says that a chunk takes a
link. Every step is one round (R = S).

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
    """The constraints, ``time`` by (chunk, node), and ``snd`` by (chunk, sender, receiver)."""

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
    for chunk, message in enumerate(messages):
        for node in range(network.nodes):
            times[chunk, node] = z3.Int(f"time_{chunk}_{node}")
            for sender in senders[node]:
                sends[chunk, sender, node] = z3.Bool(f"snd_{chunk}_{sender}_{node}")
        for node in range(network.nodes):
            moment = times[chunk, node]
            if node == message.source:
                add(moment == 0)
                continue
            incoming = [(sends[chunk, sender, node], 1) for sender in senders[node]]
            add(moment >= 1)
            add(z3.Implies(moment <= steps, z3.PbEq(incoming, 1) if incoming else False))
        for node in message.destinations:
            add(times[chunk, node] <= steps)
        for channel in network.channels:
            send = sends[chunk, channel.source, channel.target]
            add(z3.Implies(send, times[chunk, channel.source] < times[chunk, channel.target]))
    for channel in network.channels:
        for step in range(1, steps + 1):
            arrivals = [
                (z3.And(sends[chunk, channel.source, channel.target],
                        times[chunk, channel.target] == step), 1)
                for chunk in range(len(messages))
            ]  # fmt: skip
            add(z3.PbLe(arrivals, channel.capacity))
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
