"""Small hand-made files of other tools, and ways to change them."""

import json
import re
from typing import Any


def step(
    kind: str,
    source: tuple[str, int] = ("o", 0),
    target: tuple[str, int] = ("o", 0),
    count: int = 1,
    waits: tuple[int, int] = (-1, -1),
) -> str:
    """Return a step without its number, which ``block`` adds."""
    return (
        f'type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}" dstbuf="{target[0]}"'
        f' dstoff="{target[1]}" cnt="{count}" depid="{waits[0]}" deps="{waits[1]}" hasdep="0"'
    )


def block(number: int, send: int, receive: int, *steps: str, channel: int = 0) -> str:
    """Return a thread block."""
    inner = "".join(f'<step s="{s}" {text}/>\n' for s, text in enumerate(steps))
    return f'<tb id="{number}" send="{send}" recv="{receive}" chan="{channel}">\n{inner}</tb>\n'


def program(
    coll: str,
    chunks: tuple[int, int, int],
    *gpus: list[str],
    in_place: bool = True,
    extra: str = "",
) -> str:
    """Return a program; ``chunks`` are those of input, output and scratch.

    The steps that others wait for signal their end.
    """
    inner = "".join(
        f'<gpu id="{g}" i_chunks="{chunks[0]}" o_chunks="{chunks[1]}" s_chunks="{chunks[2]}">\n'
        f"{''.join(_flagged(blocks))}</gpu>\n"
        for g, blocks in enumerate(gpus)
    )
    return (
        f'<algo name="hand-made" proto="Simple" nchannels="1" ngpus="{len(gpus)}" coll="{coll}"'
        f' inplace="{int(in_place)}" outofplace="{int(not in_place)}" {extra}>\n{inner}</algo>\n'
    )


def _flagged(blocks: list[str]) -> list[str]:
    """Return the thread blocks of a GPU, with a flag at each step that one of them waits for."""
    awaited = set(re.findall(r'depid="(\d+)" deps="(\d+)"', "".join(blocks)))
    found = []
    for text in blocks:
        number = text.split('"')[1]
        steps = re.split(r"(?=<step )", text)
        for place, each in enumerate(steps[1:]):
            if (number, str(place)) in awaited:
                steps[place + 1] = each.replace('hasdep="0"', 'hasdep="1"')
        found.append("".join(steps))
    return found


def ring_allgather(gpus: int = 3) -> str:
    """Return an allgather on a one-way ring: what arrives is sent on in the next step."""
    listed = []
    for g in range(gpus):
        steps = [step("s", ("o", g), ("o", g))]
        for k in range(1, gpus - 1):
            chunk = (g - k) % gpus
            steps.append(step("rcs", ("o", chunk), ("o", chunk)))
        last = (g + 1) % gpus
        steps.append(step("r", ("o", last), ("o", last)))
        listed.append([block(0, (g + 1) % gpus, (g - 1) % gpus, *steps)])
    return program("allgather", (1, gpus, 0), *listed)


def pair_allreduce() -> str:
    """Return an allreduce of two GPUs: each sends its part, and adds what it receives."""
    gpus = [
        [block(0, 1 - g, 1 - g, step("s", ("i", 0), ("i", 0)), step("r", ("s", 0), ("s", 0)),
               step("re", ("s", 0), ("i", 0)))]
        for g in (0, 1)
    ]  # fmt: skip
    return program("allreduce", (1, 1, 1), *gpus)


def chain_reduce_scatter() -> str:
    """Return a reduce-scatter of two GPUs in place: the part of the other is added to one's own."""
    gpus = [
        [block(0, 1 - g, 1 - g, step("s", ("i", 1 - g), ("i", 1 - g)),
               step("rrc", ("i", g), ("i", g)))]
        for g in (0, 1)
    ]  # fmt: skip
    return program("reduce_scatter", (2, 1, 0), *gpus)


def pair_alltoall() -> str:
    """Return an all-to-all of two GPUs with buffers of their own, and its local copies."""
    gpus = [
        [
            block(0, -1, -1, step("cpy", ("i", g), ("o", g))),
            block(1, 1 - g, -1, step("s", ("i", 1 - g), ("o", g))),
            block(2, -1, 1 - g, step("r", ("i", 1 - g), ("o", 1 - g))),
        ]
        for g in (0, 1)
    ]
    return program("alltoall", (2, 2, 0), *gpus, in_place=False)


def sccl_allgather(**changes: Any) -> str:
    """Return a JSON algorithm: an allgather on a ring of three, both ways, in one step."""
    record: dict[str, Any] = {
        "msccl_type": "algorithm",
        "name": "hand-made",
        "instance": {"msccl_type": "instance", "extra_rounds": 0, "chunks": 1,
                     "pipeline": None, "extra_memory": None, "allow_exchange": False},
        "input_map": {"0": [0], "1": [1], "2": [2]},
        "output_map": {"0": [0, 1, 2], "1": [0, 1, 2], "2": [0, 1, 2]},
        "steps": [{"msccl_type": "step", "rounds": 1,
                   "sends": [[a, a, b] for a in range(3) for b in range(3) if a != b]}],
        "collective": {"msccl_type": "collective", "name": "Allgather", "nodes": 3,
                       "chunks": [{"msccl_type": "chunk", "pre": [a], "post": [0, 1, 2], "addr": a}
                                  for a in range(3)],
                       "triggers": {}, "runtime_name": "allgather"},
        "topology": {"msccl_type": "topology", "name": "triangle", "switches": [],
                     "links": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]},
    }  # fmt: skip
    return json.dumps({**record, **changes})


def teccl_result(
    flows: list[str], paths: dict[str, Any], epochs: int, duration: float = 1.0, size: float = 3.0
) -> str:
    """Return a result of TE-CCL; ``size`` is bandwidth times finishing time."""
    finish = epochs * duration
    return json.dumps({
        "1-Epoch_Duration": duration, "2-Expected_Epoch_Duration": duration,
        "3-Epochs_Required": epochs, "4-Collective_Finish_Time": finish,
        "5-Algo_Bandwidth": size / finish, "7-Flows": flows, "8-Chunk paths": paths,
        "Solver_Time": 1.0,
    })  # fmt: skip


def teccl_demands(gpus: Any, epoch: int, own_chunks: bool = False) -> dict[str, Any]:
    """Return a demand of every GPU for a chunk of every other: chunk 0, or one of its own."""
    return {
        f"Demand at {b} for chunk {b if own_chunks else 0} from {a} met by epoch {epoch}": []
        for a in gpus for b in gpus if a != b
    }  # fmt: skip


def teccl_triangle() -> tuple[list[str], dict[str, Any]]:
    """Return flows and paths of an allgather on a ring of three GPUs, 0 to 1 to 2 to 0."""
    flows, paths = [], {}
    for epoch in (0, 1):
        for g in range(3):
            nodes = [(g + hop) % 3 for hop in range(epoch + 2)]
            hops = [f"{nodes[t]}->{nodes[t + 1]} in epoch {t}" for t in range(epoch + 1)]
            flows.append(f"Chunk 0 from {g} traveled over {hops[-1]}")
            paths[f"Demand at {nodes[-1]} for chunk 0 from {g} met by epoch {epoch}"] = hops
    return flows, paths
