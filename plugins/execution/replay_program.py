"""Replay the steps of a schedule in SimGrid: ``python PROGRAM PLATFORM PLAN``, JSON out.

The plan has ``sizes`` (bytes), ``startup`` (time before every step), ``per_hop`` (time of a hop),
and ``runs``: lists of steps, each a list of transfers ``[host, host, hops]``. A transfer uses its
links after the time of its hops. A step ends when all of its transfers have ended. Only SimGrid's
own Python module is needed.
"""

import json
import sys
from typing import Any

from simgrid import Actor, Comm, Engine, Host, this_actor

SETTINGS = (
    "network/model:CM02",  # size over bandwidth, without latencies in equal shares, no corrections
    "network/crosstraffic:0",
    "network/TCP-gamma:1e30",
)


def replay(plan: dict[str, Any], results: list[Any]) -> None:
    """Perform all runs with all sizes, one after another."""
    for steps in plan["runs"]:
        for size in plan["sizes"]:
            durations, start = [], Engine.clock
            for step in steps:
                this_actor.sleep_for(plan["startup"])
                comms = []
                for first, last, _ in step:
                    comm = Comm.sendto_init(Host.by_name(first), Host.by_name(last))
                    comms.append(comm.set_payload_size(int(size)))
                begun = Engine.clock
                # Latencies of links would make shares unequal: the time of hops goes by before.
                for index in sorted(range(len(step)), key=lambda index: step[index][2]):
                    this_actor.sleep_until(begun + step[index][2] * plan["per_hop"])
                    comms[index].start()
                Comm.wait_all(comms)
                durations.append([comm.finish_time - begun for comm in comms])
            results.append({"time": Engine.clock - start, "durations": durations})


def main() -> None:
    """Load the platform, run the replay as one actor, and print the results."""
    settings = [f"--cfg={setting}" for setting in SETTINGS]
    engine = Engine([sys.argv[0], "--log=root.thres:critical", *settings])
    engine.load_platform(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        plan = json.load(file)
    results: list[Any] = []
    Actor.create("replay", engine.all_hosts[0], replay, plan, results)
    engine.run()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
