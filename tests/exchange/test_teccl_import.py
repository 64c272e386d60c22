"""Results of TE-CCL, and bounds in epochs."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from cchybrid.exchange.epoch_networks import KNOWN, dgx2, epoch_bound, ndv2, recognise
from cchybrid.exchange.teccl_import import read_teccl
from cchybrid.model.errors import InputError
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.referee.verify import verify_schedule
from tests.exchange.foreign_texts import teccl_result, teccl_triangle


def read(text: str) -> Imported:
    return read_teccl(text, ImportRequest("hand-made"))


def test_a_valid_result_becomes_a_valid_schedule() -> None:
    flows, paths = teccl_triangle()
    found = read(teccl_result(flows, paths, 2))
    assert found.broken == ()
    assert found.schedule is not None
    assert verify_schedule(found.schedule) == ()
    assert found.schedule.instance.name == "hand-made AAB"
    assert found.place(1, 0) == "epoch 1, flow 3 (1->2), chunk 0 from 0"
    assert found.own is not None
    assert (found.own.value, found.own.unit) == (2, "epochs")


def test_a_chunk_that_is_sent_before_it_arrives_is_named_with_its_epoch() -> None:
    flows, paths = teccl_triangle()
    flows[3] = flows[3].replace("epoch 1", "epoch 0")
    [broken] = read(teccl_result(flows, paths, 2)).broken
    assert broken.rule == "not-informed"
    assert broken.place == "epoch 0, flow 3 (1->2), chunk 0 from 0"


def test_what_does_not_arrive_or_is_not_demanded_is_named() -> None:
    flows, paths = teccl_triangle()
    [broken] = read(teccl_result(flows[:-1], paths, 2)).broken
    assert (broken.rule, broken.place) == ("missing-demand", "demand at 1 for chunk 0 from 2")
    key = next(iter(paths))
    fewer = {k: v for k, v in paths.items() if k != key}
    [broken] = read(teccl_result(flows, fewer, 2)).broken
    assert broken.place == "Chunk paths"
    assert "nothing is demanded from GPU 0 to GPU 1; 5 of 6 pairs of 3 GPUs" in broken.text


def test_a_flow_after_the_last_epoch_is_named() -> None:
    flows, paths = teccl_triangle()
    rules = [each.rule for each in read(teccl_result(flows, paths, 1)).broken]
    assert rules[0] == "too-late"


def ndv2_flows(switch: bool) -> tuple[list[str], dict[str, Any]]:
    """Return flows on the links of a pair of NDv2; with GPU 0 as a switch, as it was published."""
    flows = ["Chunk 0 from 8 traveled over 8->1 in epoch 0"]
    if switch:
        flows.append("Chunk 0 from 1 traveled over 1->4 in epoch 0 via switches 0")
    gpus = range(1 if switch else 0, 16)
    paths = {f"Demand at {a} for chunk 0 from {b} met by epoch 9": [] for a in gpus for b in gpus
             if a != b}  # fmt: skip
    return flows, paths


def test_a_gpu_that_is_used_as_a_switch_is_found() -> None:
    flows, paths = ndv2_flows(switch=True)
    found = read(teccl_result(flows, paths, 10, duration=0.005, size=1.0))
    [missing] = [each for each in found.broken if each.place == "Chunk paths"]
    assert "GPU 0 is used as a switch; 210 of 240 pairs of 16 GPUs" in missing.text
    assert found.own is not None
    assert found.own.lower == 10
    assert any("with all 16 GPUs at least 10 epochs" in fact for fact in found.facts)


def test_links_have_rates() -> None:
    flows, paths = ndv2_flows(switch=False)
    again = [text.replace("from 8", "from 9") for text in flows]
    # An epoch of a chunk on the fast links: InfiniBand takes four, so two chunks are too many.
    found = read(teccl_result([*flows, *again], paths, 10, duration=0.00125, size=1.0))
    [broken] = [each for each in found.broken if each.rule == "link-overload"]
    assert (
        str(broken) == "epoch 0: link 8->1 carries 2 chunks in 4 epochs, 1 at most (link-overload)"
    )
    later = "Chunk 0 from 8 traveled over 1->0 in epoch {}"
    for epoch, wrong in ((3, True), (4, False)):
        text = teccl_result([*flows, later.format(epoch)], paths, 10, duration=0.00125, size=1.0)
        assert any(each.rule == "not-informed" for each in read(text).broken) is wrong


@pytest.mark.parametrize(
    "key", ["1-Epoch_Duration", "4-Collective_Finish_Time", "5-Algo_Bandwidth"]
)
def test_rates_that_no_link_has_are_refused(key: str) -> None:
    record = json.loads(teccl_result(*ndv2_flows(switch=False), 10, duration=0.00125, size=1.0))
    for value in (0, -1.0, 5e-324, 1e-300, 1e300, 1.7e308, 10**400):
        with pytest.raises(InputError, match=r"^Epoch_Duration: (a time|an epoch that is far)"):
            read(json.dumps({**record, key: value}))


def test_parts_of_chunks_are_added_up_along_the_paths() -> None:
    part = "0->{0} with volume 0.5 in epoch {1}"
    paths: dict[str, Any] = {
        "Demand at 1 for chunk 1 from 0 met by epoch 1": [
            [[0, part.format(1, 0)]], [[1, part.format(1, 1)]],
        ],
        "Demand at 0 for chunk 0 from 1 met by epoch 1": [
            [[0, "1->0 with volume 1.0 in epoch 0"]],
        ],
    }  # fmt: skip
    flows = ["Chunk 1 from 0 traveled over 0->1 with volume 0.5 in epoch 0",
             "Chunk 0 from 1 traveled over 1->0 with volume 1.0 in epoch 0"]  # fmt: skip
    found = read(teccl_result(flows, paths, 2))
    assert found.broken == ()
    assert found.schedule is None
    assert "parts of chunks, such as a volume of 0.5: no schedule here" in found.limits
    assert "its list of flows lacks a volume of 0.5 chunks of its paths" in found.facts
    del paths["Demand at 1 for chunk 1 from 0 met by epoch 1"][1]
    [broken] = read(teccl_result(flows, paths, 2)).broken
    assert broken.place == "demand at 1 for chunk 1 from 0"
    assert broken.text == "0.5 of the chunk arrives within 2 epochs"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"3-Epochs_Required": 0}', "Flows: the key is missing"),
        (teccl_result(["Chunk zero"], {}, 1), "Flows[0]: 'Chunk zero' is no flow"),
        (teccl_result([], {}, 1), "Chunk paths: no demands"),
        (teccl_result([], {"Demand": []}, 1), "'Demand' is no demand"),
        (teccl_result([], {"Demand at 1 for chunk 0 from 0 met by epoch 0": [["x"]]}, 1),
         "'x' is no hop"),
        (teccl_result(["Chunk 0 from 0 traveled over 0->1 with volume 1e999999999 in epoch 0"],
                      {}, 1), "volume 1e999999999"),
        (teccl_result(["Chunk 0 from 0 traveled over 0->1 with volume 1e-99999999 in epoch 0"],
                      {}, 1), "volume 1e-99999999"),
        (teccl_result(["Chunk 0 from 0 traveled over 0->1 with volume ... in epoch 0"], {}, 1),
         "volume ..."),
    ],
)  # fmt: skip
def test_what_is_no_result_is_said_in_one_line(text: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        read(text)
    assert words in str(raised.value)


def test_the_epochs_required_must_make_sense() -> None:
    flows, paths = teccl_triangle()
    record = json.loads(teccl_result(flows, paths, 2))
    record["3-Epochs_Required"] = 10**9
    with pytest.raises(InputError, match="3-Epochs_Required: 1000000000"):
        read(json.dumps(record))


def test_clusters_have_the_links_of_their_sources() -> None:
    assert [len(each.gpus) for each in KNOWN] == [16, 32, 32]
    assert [len(each.links) for each in KNOWN] == [2 * 32 + 2, 4 * 32 + 8, 2 * 32 + 16]
    for each in KNOWN:
        degrees = {sum(a == gpu for a, _ in each.links) for gpu in each.gpus}
        assert degrees <= {1, 2, 4, 5}


@pytest.mark.parametrize(
    ("network", "fast", "slow"), [(ndv2(4), 99, 26), (dgx2(), 31, 4)], ids=["ndv2", "dgx2"]
)
def test_bounds_of_allgathers_by_hand(network: Any, fast: int, slow: int) -> None:
    # One chunk of each GPU; an epoch lasts a chunk on the fastest link, or on the slowest.
    demands = {(gpu, 0): network.gpus - {gpu} for gpu in network.gpus}
    for pick, epochs in ((max, fast), (min, slow)):
        unit = pick(network.links.values())
        rates = {link: Fraction(rate) / unit for link, rate in network.links.items()}
        assert epoch_bound(network, network.switches, demands, rates)[0] == epochs


def test_parts_of_chunks_may_share_a_slow_link() -> None:
    network = ndv2(2)
    demands = {(a, b): frozenset({b}) for a in network.gpus for b in network.gpus if a != b}
    rates = {link: Fraction(rate, 50) for link, rate in network.links.items()}
    bound, reason = epoch_bound(network, network.switches, demands, rates)
    assert bound == 256
    assert reason == "64 chunks into GPUs 0 to 7 over 1 link: 256 epochs"


def test_a_network_is_recognised_by_its_links_only_if_they_fit() -> None:
    assert recognise(range(16), [(0, 1), (8, 1)]) == ndv2(2)
    assert recognise(range(16), [(0, 5)]) is None
    assert recognise(range(3), [(0, 1)]) is None
