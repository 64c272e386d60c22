"""Numbers have the digits 0 to 9: others, which Python takes for the same, are refused."""

import pytest
import scipy.sparse

import cchybrid
from cchybrid.host.instances import collective
from cchybrid.model.errors import InputError

THREE = "\u0663"
"""The Arabic-Indic digit three."""


@pytest.mark.parametrize(
    "keywords",
    [
        {"root": "3"}, {"ports": "3"}, {"ports": "1,3"}, {"routing": "3"}, {"rounds": "1,3"},
        {"participants": "0,3"}, {"transmitters": "0-3"}, {"fail_links": ["0-3"]},
        {"fail_nodes": ["3"]},
    ],
    ids=str,
)  # fmt: skip
def test_in_the_words_of_an_instance(keywords):
    words = "mesh-3x3", "MNB" if "transmitters" in keywords else "OAB"
    cchybrid.instance(*words, **keywords)
    other = {
        key: value.replace("3", THREE) if isinstance(value, str) else [value[0].replace("3", THREE)]
        for key, value in keywords.items()
    }
    with pytest.raises(InputError):
        cchybrid.instance(*words, **other)


@pytest.mark.parametrize("name", [f"mesh-{THREE}x3", f"hypercube-{THREE}", f"clos-{THREE}"])
def test_in_the_name_of_a_network(name):
    with pytest.raises(InputError):
        cchybrid.network(name)


@pytest.mark.parametrize("name", [f"pairs:0>{THREE}", f"permutation:random-{THREE}"])
def test_in_the_name_of_a_collective(name):
    collective(name.replace(THREE, "3"), "mesh-3x3")
    with pytest.raises(InputError):
        collective(name, "mesh-3x3")


@pytest.mark.parametrize("text", ["2_0", THREE], ids=ascii)
@pytest.mark.parametrize("kind", ["int", "double"])
@pytest.mark.parametrize("default", [False, True])
def test_in_graphml(tmp_path, text, kind, default):
    file = tmp_path / "pair.graphml"
    file.write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        f'<key id="c" for="edge" attr.name="capacity" attr.type="{kind}">'
        f"{f'<default>{text}</default>' if default else ''}</key>"
        '<graph edgedefault="undirected"><node id="0"/><node id="1"/><edge source="0" target="1">'
        f'{"" if default else f"""<data key="c">{text}</data>"""}</edge></graph></graphml>'
    )
    with pytest.raises(InputError, match="digits 0 to 9"):
        cchybrid.network(str(file))


def test_in_a_sparse_matrix_with_a_wrong_entry_stored_twice():
    matrix = scipy.sparse.coo_matrix(([1, -1, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    with pytest.raises(InputError, match="no capacity"):
        cchybrid.network(matrix)
