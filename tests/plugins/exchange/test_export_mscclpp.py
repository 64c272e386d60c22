"""Plans of MSCCL++: performed by an interpreter with real buffers."""

import json

import pytest
from cchybrid_plugins.exchange.export_mscclpp import export_mscclpp
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.model.errors import InputError
from tests.examples import examples
from tests.plugins.exchange.memory import DeadlockError, RaceError, RefusedError
from tests.plugins.exchange.mscclpp_interpreter import check
from tests.plugins.exchange.schedules import (
    COLLECTIVES,
    gathered_allreduce,
    random_allreduce,
    schedule,
    wormhole,
)

DETECTED = (AssertionError, DeadlockError, IndexError, RaceError, RefusedError)


@pytest.mark.parametrize("collective", [*COLLECTIVES, "allreduce"])
@pytest.mark.parametrize("network", ["ring-bi-5", "dgx-1", "ring-uni-3"])
def test_every_collective_moves_the_right_data(network, collective):
    root = 2 if collective in ("broadcast", "scatter", "gather", "reduce") else None
    more = {} if root is None else {"root": root}
    plan = check(export_mscclpp(schedule(network, collective, **more)), root or 0)
    assert plan["collective"] == collective.replace("-", "")


@settings(max_examples=examples(40))
@given(st.integers(0, 10**6), st.sampled_from(["complete-4", "mesh-2x3", "ring-bi-5"]))
def test_any_sums_are_added_up(seed, network):
    found = random_allreduce(network, seed)
    if found is not None:
        check(export_mscclpp(found))


def test_an_allgather_of_all_parts_is_added_up_by_every_rank():
    check(export_mscclpp(gathered_allreduce("complete-12")))  # more parts than one operation takes


@pytest.mark.parametrize(
    ("network", "collective"),
    [("ring-bi-6", "alltoall"), ("torus-3x3", "allgather"), ("mesh-2x3", "reduce-scatter"),
     ("ring-bi-5", "allreduce"), ("dgx-a100-x2", "broadcast"),
     pytest.param("dgx-a100-x2", "alltoall", marks=pytest.mark.slow)],
)  # fmt: skip
def test_processors_that_a_transfer_passes_send_it_on(network, collective):
    check(export_mscclpp(wormhole(network, collective)))


@pytest.mark.slow
def test_adapters_have_channels_of_type_port():
    """GPUs 0 to 7 are in one server, the others in the second one."""
    text = export_mscclpp(wormhole("dgx-a100-x2", "allreduce"))
    plan = check(text)
    for gpu in plan["gpus"]:
        for channel in gpu["channels"]:
            servers = {peer // 8 == gpu["id"] // 8 for peer in channel["connected_to"]}
            assert servers == {channel["channel_type"] == "memory"}
    assert text.count('"pwsf"') > 0
    for name in ("pwsf", "wait"):
        plan = json.loads(text)
        ops = next(
            block["ops"]
            for gpu in plan["gpus"]
            for block in gpu["threadblocks"]
            if any(op["name"] == name and op["channel_type"] == "port" for op in block["ops"])
        )
        del ops[next(n for n, op in enumerate(ops) if op["name"] == name)]
        with pytest.raises(DETECTED):
            check(json.dumps(plan))


def test_chunks_of_a_step_go_in_operations_of_eight():
    plan = check(export_mscclpp(schedule("ring-uni-3", "broadcast", chunks=9, rounds=(9,))))
    sizes = [
        len(op["src_buff"])
        for op in plan["gpus"][0]["threadblocks"][0]["ops"]
        if op["name"] == "put"
    ]
    assert sum(sizes) == 9
    assert max(sizes) <= 8


def test_what_mscclpp_cannot_express_is_one_line():
    with pytest.raises(InputError, match=r"switch 8 keeps it .* MSCCL\+\+ has .*wormhole"):
        export_mscclpp(schedule("2-fat-ring-bi-3", "allgather"))
    with pytest.raises(InputError, match=r"operations of a thread block, and MSCCL.* use fewer"):
        export_mscclpp(schedule("ring-uni-3", "allgather", chunks=20))


@pytest.mark.parametrize("kind", ["put", "signal", "wait", "barrier", "re"])
def test_every_operation_of_a_plan_is_needed(kind):
    sound = export_mscclpp(schedule("mesh-2x3", "allreduce"))
    check(sound)
    for number in range(min(sound.count(f'"name": "{kind}"'), examples(30))):
        plan = json.loads(sound)
        listed = [block["ops"] for gpu in plan["gpus"] for block in gpu["threadblocks"]]
        places = [(ops, n) for ops in listed for n, op in enumerate(ops) if op["name"] == kind]
        ops, place = places[number]
        # Without one operation at the barrier the others would wait for ever.
        ops[place : place + 1] = [{"name": "nop"}] if kind == "barrier" else []
        with pytest.raises(DETECTED):
            check(json.dumps(plan))
