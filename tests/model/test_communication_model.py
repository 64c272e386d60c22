"""Communication models: what they refuse, what they derive, and JSON."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.model import CommunicationModel
from cchybrid.model.errors import InputError
from tests.examples import examples
from tests.model.model_strategies import models
from tests.refusals import refused


@settings(max_examples=examples(60))
@given(st.integers(1, 5).flatmap(models))
def test_turning_round_twice_changes_nothing(model: CommunicationModel) -> None:
    assert model.reversed().reversed() == model


def test_an_empty_object_is_the_default() -> None:
    model = CommunicationModel.from_json({})
    assert model == CommunicationModel("wormhole", None, None, "minimal")
    assert model.inject_limit(3) is None
    assert model.accept_limit(3) is None


@pytest.mark.parametrize(
    ("ports", "inject", "accept"),
    [
        ("all", None, None),
        (2, 2, 2),
        ({"inject": 2, "accept": 1}, 2, 1),
        ({"inject": [1, 0], "accept": 3}, (1, 0), 3),
    ],
)
def test_ports(ports: Any, inject: Any, accept: Any) -> None:
    model = CommunicationModel.from_json({"ports": ports})
    assert (model.inject, model.accept) == (inject, accept)
    assert model.to_json()["ports"] == ports


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"switching": "circuit"}, "model.switching: unknown switching 'circuit'; use wormhole"),
        ({"switching": 1}, "model.switching: 1 is not a string"),
        ({"routing": "xy"}, "model.routing: unknown routing 'xy'; use minimal, any, or a number"),
        ({"routing": -1}, "model.routing: -1 extra hops; use 0 to 2^128"),
        ({"routing": True}, "model.routing: true is no routing; use minimal"),
        ({"routing": 1.5}, "model.routing: 1.5 is no routing"),
        ({"routing": None}, "model.routing: null is no routing"),
        ({"ports": "one"}, 'model.ports: "one" is no number of ports; use "all"'),
        ({"ports": True}, "model.ports: true is no number of ports"),
        ({"routing": 10**4000}, "model.routing: 10000000000000000000 extra hops; use 0 to 2^128"),
        ({"ports": 2**128 + 1}, "model.ports: too many ports; use at most 2^128"),
        ({"ports": {"inject": [1, 10**4000], "accept": 1}}, "too many ports; use at most 2^128"),
        ({"ports": 0}, "model.ports: too few ports; use at least 1"),
        ({"ports": [1, 1]}, 'model.ports: a list alone; write {"inject": [...], "accept"'),
        ({"ports": {"inject": 1}}, "model.ports.accept: the key is missing; add it"),
        ({"ports": {"inject": 1, "accept": "all"}}, 'model.ports.accept: "all" is no number'),
        ({"ports": {"inject": [-1], "accept": 1}}, "too few ports; use at least 0"),
        ({"ports": {"inject": ["a"], "accept": 1}}, 'model.ports.inject[0]: "a" is not an int'),
        ({"ports": {"in": 1}}, "model.ports.in: the format has no such key; use inject, accept"),
        ({"port": 1}, "model.port: the format has no such key; use switching, ports, routing"),
        (None, "model: null is not an object"),
    ],
)
def test_refusals(record: Any, message: str) -> None:
    with refused(message):
        CommunicationModel.from_json(record)


def test_one_limit_alone_is_refused() -> None:
    with pytest.raises(InputError, match="only one of inject and accept is limited"):
        CommunicationModel(inject=1)
