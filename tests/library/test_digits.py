"""Numbers have the digits 0 to 9: others, which Python takes for the same, are refused."""

from typing import Any

import pytest

import cchybrid
from cchybrid.host.instances import collective
from cchybrid.library.node_lists import parse_pairs
from cchybrid.model.errors import InputError

THREE = "\u0663"
"""The Arabic-Indic digit three."""


@pytest.mark.parametrize(
    "keywords",
    [
        {"root": THREE}, {"ports": THREE}, {"ports": f"1,{THREE}"}, {"routing": THREE},
        {"rounds": f"1,{THREE}"}, {"participants": f"0,{THREE}"}, {"transmitters": f"0-{THREE}"},
        {"fail_links": [f"0-{THREE}"]}, {"fail_nodes": [THREE]},
    ],
    ids=str,
)  # fmt: skip
def test_in_the_words_of_an_instance(keywords: dict[str, Any]) -> None:
    plain = {
        key: value.replace(THREE, "3") if isinstance(value, str) else [
            each.replace(THREE, "3") for each in value
        ]
        for key, value in keywords.items()
    }  # fmt: skip
    name = "MNB" if "transmitters" in keywords else "OAB"
    cchybrid.instance("mesh-3x3", name, **plain)
    with pytest.raises(InputError):
        cchybrid.instance("mesh-3x3", name, **keywords)


@pytest.mark.parametrize("name", [f"mesh-{THREE}x3", f"hypercube-{THREE}", f"clos-{THREE}"])
def test_in_the_name_of_a_network(name: str) -> None:
    with pytest.raises(InputError):
        cchybrid.network(name)


@pytest.mark.parametrize("name", [f"pairs:0>{THREE}", f"permutation:random-{THREE}"])
def test_in_the_name_of_a_collective(name: str) -> None:
    collective(name.replace(THREE, "3"), "mesh-3x3")
    with pytest.raises(InputError):
        collective(name, "mesh-3x3")


def test_in_lists_rows_and_layouts() -> None:
    with pytest.raises(InputError):
        parse_pairs(f"0>{THREE}")
