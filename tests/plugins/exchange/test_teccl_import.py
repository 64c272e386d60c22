"""Results of TE-CCL: what is read, and what is wrong with it."""

import json
import re
from typing import Any

import pytest
from cchybrid_plugins.exchange.epoch_networks import dgx2
from cchybrid_plugins.exchange.teccl_import import read_teccl

import cchybrid
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.referee.verify import verify_schedule
from tests.plugins.exchange.expected import sound
from tests.plugins.exchange.foreign_texts import teccl_demands, teccl_result, teccl_triangle
from tests.refusals import refused


def read(text: str, network: Any = None, collective: str | None = None) -> Imported:
    performed = collective and cchybrid.instance(network, collective).collective
    return read_teccl(text, ImportRequest("hand-made", network, performed))


def overload(found: Imported) -> str:
    """Return the first rate that is exceeded, if there is one."""
    return next((str(each) for each in found.broken if each.rule == "link-overload"), "")


def test_a_valid_result_becomes_a_valid_schedule():
    found = read(teccl_result(*teccl_triangle(), 2))
    assert sound(found).instance.name == "hand-made AAB, store-and-forward"
    assert found.place(1, 0) == "epoch 1, flow 3 (1->2), chunk 0 from 0"
    # Without rates of the links, steps are judged, not epochs.
    limit = "the rates of its links are unknown: an epoch is a step, on every link"
    assert (found.own, found.limits) == (None, (limit,))


def test_the_first_broken_rule_is_named_with_its_epoch():
    flows, paths = teccl_triangle()
    key = next(iter(paths))
    shifted = [*flows[:3], flows[3].replace("epoch 1", "epoch 0"), *flows[4:]]
    fewer = {k: v for k, v in paths.items() if k != key}
    early, latest = (
        {
            key.replace("met by epoch 1", f"met by epoch {epoch}"): path
            for key, path in paths.items()
        }
        for epoch in (0, 7)
    )
    other = {**paths, key: ["0->1 in epoch 1"]}
    chunks = {**paths, **{key.replace("chunk 0", "chunk 1"): [] for key in paths}}
    del chunks[key.replace("chunk 0", "chunk 1")]
    late = [*flows, "Chunk 0 from 2 traveled over 1->2 in epoch 50"]
    for listed, demands, epochs, line in (
        (shifted, paths, 2,
         "epoch 0, flow 3 (1->2), chunk 0 from 0: GPU 1 has 0 of the chunk by then and sends 1 "
         "(not-informed)"),
        (flows[:-1], paths, 2, "demand at 1 for chunk 0 from 2: 0 of the chunk arrives within 2"),
        (flows, fewer, 2, "Chunk paths: nothing is demanded from GPU 0 to GPU 1; 5 of 6 pairs of"),
        (flows, early, 2, "demand at 2 for chunk 0 from 0: 0 of the chunk arrives by epoch 0, "
         "when it is to be met (missing-demand)"),
        (flows, other, 2, "epoch 1, path 0 to 1 (0->1), chunk 0 from 0: a path has this flow, "
         "which is not in the list of flows (missing-demand)"),
        (flows, chunks, 2, "chunk 1 from GPU 0 is not demanded at GPU 1"),
        (flows, paths, 1, "flow 3 (1->2), chunk 0 from 0: it is after the last of 1 epoch"),
        (late, {**paths, key: [[[0, "0->1 in epoch 0"]]]}, 2,
         "it is after the last of 2 epochs (too-late)"),
    ):  # fmt: skip
        assert line in " ".join(map(str, read(teccl_result(listed, demands, epochs)).broken))
    assert read(teccl_result(flows, latest, 2)).broken == ()


FLOW = "Chunk 0 from 8 traveled over 8->1 in epoch 0"
"""A flow on a link of a pair of NDv2."""


def test_a_gpu_that_is_used_as_a_switch_is_found():
    """As it was published, with GPU 0 as a switch."""
    flows = [FLOW, "Chunk 0 from 1 traveled over 1->4 in epoch 0 via switches 0"]
    found = read(teccl_result(flows, teccl_demands(range(1, 16), 9), 10, 0.005, size=1.0))
    [missing] = [each for each in found.broken if each.place == "Chunk paths"]
    assert "GPU 0 is used as a switch; 210 of 240 pairs of 16 GPUs" in missing.text
    assert found.own.lower == 10
    assert any("with all 16 GPUs at least 10 epochs" in fact for fact in found.facts)


def test_a_cluster_that_lacks_a_link_is_named():
    """One hop that no cluster has makes the rates of all links unknown."""
    first, *others = [FLOW.replace("8", str(gpu)) for gpu in (8, 0, 3)]
    flows = [first, *others, "Chunk 0 from 1 traveled over 1->4 in epoch 0 via switches 77"]
    result = teccl_result(flows, teccl_demands(range(1, 16), 9), 10, 0.005, size=1.0)
    named = "NDv2, 2 chassis lacks 2 of its links, such as 1->77: not judged by the rates of that"
    assert any(named in fact for fact in read(result).facts)


def test_a_gpu_is_no_switch_of_an_unknown_network_either():
    flows, paths = teccl_triangle()
    short = [f"Chunk 0 from {a} traveled over {a}->{2 - a} in epoch 0 via switches" for a in (0, 2)]

    def broken(switch: int) -> str:
        listed = [*flows, *(f"{each} {switch}" for each in short)]
        return " ".join(map(str, read(teccl_result(listed, paths, 2)).broken))

    assert "GPU 1 forwards chunks as a switch does (no-switch)" in broken(1)
    assert broken(7) == ""


def test_teccl_links_in_and_out_of_switches_have_rates():
    # The InfiniBand links carry a chunk in ten epochs, those of a switch one in each.
    via = "Chunk 0 from {0} traveled over {0}->{1} in epoch {2} via switches 0".format
    far = "Chunk 0 from {} traveled over 2->18 in epoch {}".format
    other = via(1, 4, 2).replace("from 1", "from 9")
    paths = teccl_demands(dgx2().gpus, 9)
    for flows, link in (
        ([via(1, 5, 2), via(2, 5, 2)], "epoch 3: link 0->5 carries 2 chunks in 1 epoch"),
        ([via(1, 5, 2), via(2, 5, 3)], ""),
        ([via(1, 5, 2), other], "epoch 2: link 1->0 carries 2 chunks in 1 epoch"),
        ([via(1, 5, 2), via(1, 4, 2)], ""),  # a switch copies
        ([far(2, 0), far(3, 9)], "epoch 0: link 2->18 carries 2 chunks in 10 epochs"),
    ):
        found = overload(read(teccl_result(flows, paths, 10, size=32 * 125.0)))
        assert found == (link and f"{link}, 1 at most (link-overload)")


@pytest.mark.parametrize(
    "key", ["1-Epoch_Duration", "4-Collective_Finish_Time", "5-Algo_Bandwidth"]
)
def test_rates_that_no_link_has_are_refused(key):
    record = json.loads(teccl_result([FLOW], teccl_demands(range(16), 9), 10, 0.00125, size=1.0))
    for value in (0, -1.0, 5e-324, 1e-300, 1e300, 1.7e308, 10**400):
        with pytest.raises(InputError, match=r"^Epoch_Duration: (a time|an epoch that is far)"):
            read(json.dumps({**record, key: value}))


ENDS = "Demand at 1 for chunk 1 from 8 met by epoch 9"


def in_parts(parts: list[str], flows: list[str], duration: float = 0.0025) -> Imported:
    """Return an all-to-all of NDv2 with parts of the chunk of GPU 8 for GPU 1."""
    paths = teccl_demands(range(16), 9, own_chunks=True)
    paths[ENDS] = [[[0, text]] for text in parts]
    listed = [f"Chunk 1 from 8 traveled over {text}" for text in flows]
    return read(teccl_result(listed, paths, 10, duration, size=1.0))


def halves(*more: str) -> Imported:
    """Return half of the chunk in each of epochs 0 and 1, and more parts."""
    parts = [f"8->1 with volume 0.5 in epoch {epoch}" for epoch in (0, 1)]
    return in_parts([*parts, *more], parts[:1])


def test_parts_of_chunks_are_added_up_along_the_paths():
    found = halves()
    # The demand at GPU 1 is met, that at GPU 0 is the first one that is not.
    assert [each.place for each in found.broken] == ["demand at 1 for chunk 1 from 0"]
    assert found.schedule is None
    assert "parts of chunks, such as a volume of 0.5: no schedule here" in found.limits
    assert "its list of flows lacks a volume of 0.5 chunks of its paths" in found.facts
    ahead = halves("1->0 with volume 0.6 in epoch 1").broken[0]
    assert ahead.text == "GPU 1 has 0.5 of the chunk by then and sends 0.6"
    assert halves("1->0 with volume 0.5 in epoch 1").broken[0].rule == "missing-demand"
    again = halves("1->0 with volume 0.5 in epoch 1", "1->5 with volume 0.5 in epoch 1").broken[0]
    assert again.text == "GPU 1 has 0 of the chunk by then and sends 0.5", "parts are not copied"


def test_teccl_parts_on_no_path_are_judged_and_equal_parts_are_listed_once():
    half = "8->1 with volume 0.5 in epoch 0"

    def result(*more: str) -> Imported:
        return in_parts([half, half], [half, *more], 0.005)

    assert [each.place for each in result().broken] == ["demand at 1 for chunk 1 from 0"]
    assert result(half).broken == result().broken
    assert result(half.replace("epoch 0", "epoch 50")).broken[0].rule == "too-late"
    onward = result(*2 * ["1->5 with volume 0.75 in epoch 3"]).broken
    assert onward[0].text == "GPU 1 has 1 of the chunk by then and sends 1.5"
    over = overload(result(*2 * ["8->1 with volume 0.75 in epoch 2"]))
    assert "link 8->1 carries 1.5 chunks in 1 epoch, 1 at most" in over


def test_parts_of_chunks_have_rates_in_every_epoch_and_in_all():
    assert overload(halves()) == ""
    assert overload(halves("8->1 with volume 0.1 in epoch 1")) == (
        "epoch 1: link 8->1 carries 0.6 chunks in 1 epoch, 0.5 at most (link-overload)"
    )
    tiny = [f"8->1 with volume 0.500009 in epoch {epoch}" for epoch in range(2, 10)]
    assert overload(halves(*tiny)).startswith("epoch 0: link 8->1 carries 5.00007 chunks in 10")


def test_teccl_parts_of_chunks_that_are_copied_are_not_judged():
    flows, paths = teccl_triangle()
    flows[0] = flows[0].replace(" in epoch", " with volume 0.5 in epoch")
    with pytest.raises(InputError, match="parts of chunks with several destinations"):
        read(teccl_result(flows, paths, 2))


def test_teccl_parts_of_chunks_on_unknown_links_are_not_judged():
    hops = [f"0->1 with volume 0.5 in epoch {epoch}" for epoch in (0, 1)]
    paths = {
        "Demand at 1 for chunk 1 from 0 met by epoch 1": [[[0, hop]] for hop in hops],
        "Demand at 0 for chunk 0 from 1 met by epoch 1": [[[0, "1->0 with volume 1 in epoch 0"]]],
    }
    flows = [f"Chunk 1 from 0 traveled over {hops[0]}"]
    with pytest.raises(InputError, match=r"parts of chunks.*and its links have unknown rates"):
        read(teccl_result(flows, paths, 2))
    late = read(teccl_result(flows, paths, 1)).broken[0]
    assert late.rule == "too-late", "what breaks a rule at any rate is invalid"


def test_teccl_times_must_agree():
    record = json.loads(teccl_result([FLOW], teccl_demands(range(16), 9), 10, 0.00125, size=1.0))
    assert all(each.rule != "wrong-time" for each in read(json.dumps(record)).broken)
    record["4-Collective_Finish_Time"] *= 2
    line = "Collective_Finish_Time: 0.025 s for 10 epochs of 0.00125 s (wrong-time)"
    assert line in map(str, read(json.dumps(record)).broken)


def test_teccl_chunks_are_as_large_as_its_bandwidth_says_however_many_there_are():
    # A chunk takes four epochs on InfiniBand, also where every GPU has two of them.
    paths = teccl_demands(range(16), 9)
    paths |= {key.replace("chunk 0", "chunk 1"): [] for key in paths}
    flows = [FLOW, FLOW.replace("Chunk 0", "Chunk 1").replace("epoch 0", "epoch 3")]
    found = read(teccl_result(flows, paths, 10, duration=0.00125, size=1.0))
    assert "link 8->1 carries 2 chunks in 4 epochs, 1 at most" in overload(found)


def test_teccl_results_are_judged_on_a_named_network_in_steps():
    flows, paths = teccl_triangle()
    ring = cchybrid.network("ring-uni-3")
    text = teccl_result(flows, paths, 2)
    assert sound(read(text, ring, "AAB")).instance.network is ring
    with refused("the message from 0 to 1, 2 is none of AAS"):
        read(text, ring, "AAS")
    flows[0] += " via switches 3"
    with refused("--topology: paths over switch 3"):
        read(teccl_result(flows, paths, 2), ring)


def test_the_collective_that_is_named_says_what_is_demanded():
    """A broadcast lacks the demands of an allgather; as a broadcast it is complete."""
    flows, paths = teccl_triangle()
    flows = [flow for flow in flows if "from 0" in flow]
    text = teccl_result(flows, {key: path for key, path in paths.items() if "from 0" in key}, 2)
    ring = cchybrid.network("ring-bi-3")
    assert read(text, ring).broken[0].rule == "missing-demand"
    sound(read(text, ring, "broadcast"))
    found = verify_schedule(read(text, ring, "allgather").schedule)
    assert {each.rule for each in found} == {"missing-destination"}


def test_gpus_are_the_nodes_of_their_numbers_on_a_named_network():
    flows, paths = json.loads(json.dumps(teccl_triangle()).replace("2", "3"))
    text = teccl_result(flows, paths, 2)
    found = read(text, cchybrid.network("ring-uni-4")).schedule
    assert {move.path for step in found.steps for move in step} == {(0, 1), (1, 3), (3, 0)}
    assert "no-such-channel" in {each.rule for each in verify_schedule(found)}  # 1->3 skips node 2
    links = ((0, 1, 1), (1, 2, 1), (2, 0, 1), (2, 3, 1))
    named = Network("named", 4, links, node_names=("1", "R", "S", "T"))
    for network, words in (
        (cchybrid.network("ring-uni-3"), "no node 3 in ring-uni-3"),
        (named, "no node '0' in named"),
    ):
        with refused(words):
            read(text, network)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (teccl_result(*teccl_triangle(), 10**9), "3-Epochs_Required: 1000000000"),
        ('{"3-Epochs_Required": 0}', "Flows: the key is missing"),
        (teccl_result(*teccl_triangle(), 1)[:-1] + ', "9-Epochs_Required": 3}',
         "9-Epochs_Required: 3-Epochs_Required beside it; leave one of them out"),
        (teccl_result(["Chunk zero"], {}, 1), "Flows[0]: 'Chunk zero' is no flow"),
        (teccl_result([f"{FLOW} via switches -"], {}, 1), "via switches -' is no flow"),
        (teccl_result([f"{FLOW} via switches 1234567890"], {}, 1), "is no flow"),
        (teccl_result([], {}, 1), "Chunk paths: no demands"),
        (teccl_result([], {"Demand": []}, 1), "'Demand' is no demand"),
        (teccl_result([], {"Demand at 1 for chunk 0 from 0 met by epoch 0": [["x"]]}, 1),
         "'x' is no hop"),
        (teccl_result([], {"Demand at 1 for chunk 0 from 0 met by epoch 0": ["x"]}, 1), "is no ho"),
        (teccl_result(["Chunk 0 from 0 traveled over 0->1 with volume 1e999999999 in epoch 0"],
                      {}, 1), "volume 1e999999999"),
        (teccl_result(["Chunk 0 from 0 traveled over 0->1 with volume 1e-99999999 in epoch 0"],
                      {}, 1), "volume 1e-99999999"),
        (teccl_result(["Chunk 0 from 0 traveled over 0->1 with volume ... in epoch 0"], {}, 1),
         "volume ..."),
    ],
)  # fmt: skip
def test_what_is_no_result_is_said_in_one_line(text, words):
    with refused(words):
        read(text)


def test_teccl_epochs_without_a_flow_take_a_step_where_rates_are_unknown():
    flows, paths = teccl_triangle()
    late = [re.sub(r"epoch (\d)", lambda found: f"epoch {int(found[1]) + 3}", f) for f in flows]
    found = read(teccl_result(late, paths, 5))
    assert (found.own, found.length) == (None, 5)
