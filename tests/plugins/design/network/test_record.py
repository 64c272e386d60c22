"""The record of a designed network fits its JSON Schema, and what does not fit is refused."""

import json
from typing import Any

import pytest
from cchybrid_plugins.design.network.ports import network_of
from cchybrid_plugins.design.network.record import design_record
from cchybrid_plugins.design.network.task import DesignTask, layout

from cchybrid.checker import EvidenceError
from cchybrid.design_checker import check_design
from cchybrid.library.formats.network_json import network_record
from cchybrid.model import CommunicationModel
from tests.model.test_schemas import VALIDATORS

DESIGNS = (
    {},
    {"redundant_links": True},
    {"positions": layout("centreplane", 8), "max_wire": 4.0},
    {"fault_tolerant": True},
    {"collective": "AAS", "model": CommunicationModel(switching="store-and-forward")},
)


@pytest.mark.parametrize("limits", DESIGNS, ids=str)
def test_every_design_that_is_written_fits(limits: dict[str, Any]) -> None:
    links = [(node, (node + 1) % 8) for node in range(7)] + [(0, 7)]
    task = DesignTask(8, 3, **limits)
    written = design_record(task, tuple(links))
    record = json.loads(json.dumps(network_record(network_of(task, links), written)))
    VALIDATORS["network-1"].validate(record)
    VALIDATORS["design-1"].validate(record["design"])
    check_design(record["design"])
    wrong: dict[str, Any]
    for wrong in (
        {"nodes": 1},
        {"degree": 0},
        {"links": [[0, 1, 2]]},
        {"claims": {"size": 3}},
        {"claims": {"diameter": 3.5}},
        {"colour": "red"},
        {"fault_tolerant": 1},
    ):
        assert not VALIDATORS["design-1"].is_valid({**record["design"], **wrong}), wrong
        with pytest.raises(EvidenceError):
            check_design({**record["design"], **wrong})
