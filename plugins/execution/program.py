"""Perform a collective by its schedule, with real buffers over real ranks (mpi4py).

Rank n stands for node n of the network. Every step consists of messages from one rank to another; a
rank sends what it holds since an earlier step. Afterwards every byte is checked against the meaning
of the collective, and the time is compared with the library's own collective and with a naive
exchange, in which every source sends to every destination directly.

    mpiexec -n RANKS python PROGRAM [--sizes 1024,65536] [--repetitions 20] [--json]
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

SIZES = "64,4096,65536"
WORD = np.dtype(np.uint64)
BUFFERS = {
    "Allgather": ("message", "all"),
    "Allreduce": ("message", "message"),
    "Alltoall": ("all", "all"),
    "Bcast": ("message",),
    "Gather": ("message", "all"),
    "Reduce": ("message", "message"),
    "Reduce_scatter_block": ("all", "message"),
    "Scatter": ("all", "message"),
}
"""Sizes of the buffers of the library's collectives: a message, or one for every rank."""
ROOTED = ("Bcast", "Gather", "Reduce", "Scatter")


class Data:
    """The messages of one rank: bytes to deliver, or whole numbers to add up.

    Parameters
    ----------
    plan
        ``kind``, ``nodes``, ``messages`` (each a source and its destinations; of a reduction the
        destination and its sources; of an allreduce the members), ``steps`` (each a list of
        ``[message, sender, receiver, parts]``), ``chunks`` (of which each is a message of its own)
        and ``library`` (the collective of MPI).
    rank
        The node.
    size
        Bytes of a message before it is cut into chunks, a multiple of 8 times the chunks.
    """

    def __init__(self, plan: dict[str, Any], rank: int, size: int) -> None:
        self.plan, self.rank, self.size = plan, rank, size // plan["chunks"]
        self.own = {
            message: self.part(message, rank)
            for message, nodes in enumerate(plan["messages"])
            if rank == nodes[0] or (plan["kind"] != "deliver" and rank in nodes)
        }
        self.restart()

    def restart(self) -> None:
        """Drop all that was received."""
        # Per message the arrays that this rank holds, by the parts that each adds up.
        self.values: dict[int, dict[frozenset[int], Any]] = {
            message: {frozenset([self.rank]): array} for message, array in self.own.items()
        }

    def part(self, message: int, node: int) -> Any:
        """Return what a node contributes to a message: pseudo-random 64-bit words, all different.

        A sum of other parts is wrong in every word, but for a chance of 2 to the power of -64.
        Source: G. Steele et al., Fast splittable pseudorandom number generators, 2014,
        doi:10.1145/2660193.2660195.
        """
        count = self.size // WORD.itemsize
        first = (message * self.plan["nodes"] + node) * count + 1
        words = np.arange(first, first + count, dtype=WORD) * 0x9E3779B97F4A7C15
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            words = (words ^ words >> shift) * factor
        return words

    def outgoing(self, message: int, parts: list[int] | None) -> Any:
        """Return what a transfer carries: a message, all that is held so far, or a sum of parts."""
        held = self.values[message]
        if self.plan["kind"] == "deliver":
            return next(iter(held.values()))
        inside = [key for key in held if parts is None or key <= set(parts)]
        largest = [key for key in inside if not any(key < other for other in inside)]
        return sum((held[key] for key in largest[1:]), start=held[largest[0]])

    def accept(self, message: int, sender: int, parts: list[int] | None, array: Any) -> None:
        """Keep what was received; a reduction adds it up with the other parts."""
        key = frozenset(parts) if parts else frozenset([sender])
        self.values.setdefault(message, {})[key] = array

    def expected(self, message: int) -> Any:
        """Return what this rank must have in the end, or ``None``."""
        nodes, kind = self.plan["messages"][message], self.plan["kind"]
        if kind == "deliver":
            return self.part(message, nodes[0]) if self.rank in nodes else None
        if (kind == "combine" and self.rank != nodes[0]) or self.rank not in nodes:
            return None
        return sum((self.part(message, node) for node in nodes[1:]), self.part(message, nodes[0]))

    def check(self) -> tuple[int, str]:
        """Return how many messages of this rank are right, and the first error or nothing."""
        checked = 0
        for message in range(len(self.plan["messages"])):
            expected = self.expected(message)
            if expected is not None:
                if message not in self.values:
                    return checked, f"rank {self.rank}: message {message} never arrived"
                if not np.array_equal(self.outgoing(message, None), expected):
                    return checked, f"rank {self.rank}: message {message} is wrong"
                checked += 1
        return checked, ""


def perform(comm: Any, plan: dict[str, Any], data: Data) -> None:
    """Perform all steps of the schedule."""
    rank = comm.Get_rank()
    data.restart()
    for step in plan["steps"]:
        requests, received = [], []
        for tag, (message, sender, receiver, parts) in enumerate(step):
            if receiver == rank:
                array = np.empty(data.size // WORD.itemsize, dtype=WORD)
                requests.append(comm.Irecv([array, MPI.BYTE], source=sender, tag=tag))
                received.append((message, sender, parts, array))
        for tag, (message, sender, receiver, parts) in enumerate(step):
            if sender == rank:
                array = data.outgoing(message, parts)
                requests.append(comm.Isend([array, MPI.BYTE], dest=receiver, tag=tag))
        MPI.Request.Waitall(requests)
        for message, sender, parts, array in received:
            data.accept(message, sender, parts, array)


def exchange(comm: Any, plan: dict[str, Any], data: Data) -> None:
    """Send every message from its source to its destinations directly, all at the same time."""
    step = []
    for message, (one, *others) in enumerate(plan["messages"]):
        if plan["kind"] == "deliver":
            step += [[message, one, other, None] for other in others]
        elif plan["kind"] == "combine":
            step += [[message, other, one, None] for other in others]
        else:
            nodes = [one, *others]
            step += [[message, a, b, [a]] for a in nodes for b in nodes if a != b]
    perform(comm, {**plan, "steps": [step]}, data)


def library_call(comm: Any, plan: dict[str, Any], size: int) -> tuple[Callable[[], Any], str]:
    """Return a function that calls the library's own collective, and its name, or ``""``."""
    library = plan["library"] or {"nodes": []}
    nodes = library["nodes"]
    group = comm.Split(0 if comm.Get_rank() in nodes else MPI.UNDEFINED)
    if group == MPI.COMM_NULL:
        return (lambda: None), ""
    each = size // WORD.itemsize
    words = {"message": each, "all": each * len(nodes)}
    buffers = [np.ones(words[part], dtype=WORD) for part in BUFFERS[library["name"]]]
    rooted = {"root": library["root"]} if library["name"] in ROOTED else {}
    return (lambda: getattr(group, library["name"])(*buffers, **rooted)), library["name"]


def median_time(comm: Any, run: Callable[[], Any], repetitions: int) -> float:
    """Return the median over repetitions of the time of the slowest rank, in microseconds."""
    times = []
    for _ in range(repetitions + 1):
        comm.Barrier()
        start = time.perf_counter()
        run()
        times.append(comm.allreduce(time.perf_counter() - start, op=MPI.MAX))
    return float(1e6 * statistics.median(times[1:]))  # the first one opens connections


def measure(comm: Any, plan: dict[str, Any], size: int, repetitions: int) -> dict[str, Any]:
    """Perform, check and time the schedule, the naive exchange and the library's collective."""
    rank = comm.Get_rank()
    data = Data(plan, rank, size)
    perform(comm, plan, data)
    found = comm.allgather(data.check())
    row: dict[str, Any] = {"bytes": size, "messages_checked": sum(count for count, _ in found)}
    row["error"] = max(error for _, error in found)
    if row["error"]:
        return row
    exchange(comm, plan, data)
    row["error"] = max(error for _, error in comm.allgather(data.check()))
    call, name = library_call(comm, plan, size)
    name = max(comm.allgather(name))
    if repetitions:
        run = lambda: perform(comm, plan, data)  # noqa: E731
        direct = lambda: exchange(comm, plan, data)  # noqa: E731
        row["schedule_us"] = round(median_time(comm, run, repetitions), 1)
        row["exchange_us"] = round(median_time(comm, direct, repetitions), 1)
        if name:
            row["library_us"] = round(median_time(comm, call, repetitions), 1)
            row["library"] = name
    return row


def main(plan: dict[str, Any], arguments: list[str]) -> int:
    """Run the program on all ranks; return the exit status."""
    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    parser = argparse.ArgumentParser(description=plan["name"])
    unit = WORD.itemsize * plan["chunks"]
    default = ",".join(str(-(-int(size) // unit) * unit) for size in SIZES.split(","))
    words = f"bytes of a message before any cut into chunks, multiples of {unit}"
    parser.add_argument("--sizes", default=default, help=words)
    parser.add_argument("--repetitions", type=int, default=20, help="0: only check")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        sizes = [int(size) for size in options.sizes.split(",")]
    except ValueError:
        sizes = []
    wrong = ""
    if not sizes or any(size < unit or size % unit for size in sizes):
        wrong = f"--sizes {options.sizes}: give multiples of {unit}, such as {default}"
    elif ranks != plan["nodes"]:
        wrong = f"{plan['name']} has {plan['nodes']} nodes: start as many ranks, not {ranks}"
    if wrong:
        if rank == 0:
            print(wrong, file=sys.stderr)
        return 2
    rows = [measure(comm, plan, size, options.repetitions) for size in sizes]
    error = next((row["error"] for row in rows if row["error"]), "")
    if rank == 0:
        if error:
            print(error, file=sys.stderr)
        elif options.json:
            print(json.dumps({"name": plan["name"], "ranks": ranks, "rows": rows}))
        else:
            show(plan, ranks, rows)
    return 1 if error else 0


def show(plan: dict[str, Any], ranks: int, rows: list[dict[str, Any]]) -> None:
    """Print a table: microseconds by message size."""
    steps = f"{len(plan['steps'])} step{'s' * (len(plan['steps']) != 1)}"
    print(f"{plan['name']}: {steps} on {ranks} ranks, every byte is right")
    if "schedule_us" in rows[0]:
        library = rows[0].get("library", "")
        print(
            f"{'bytes':>10} {'schedule':>12} {'exchange':>12} {library or '-':>12}  (microseconds)"
        )
        for row in rows:
            own = f"{row['library_us']:12.1f}" if library else f"{'-':>12}"
            print(f"{row['bytes']:10} {row['schedule_us']:12.1f} {row['exchange_us']:12.1f} {own}")
