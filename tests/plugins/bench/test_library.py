"""The library of files says what the names say, and its README counts right."""

import importlib.util
import re
from pathlib import Path

import pytest
from cchybrid_plugins.bench.suite import library, read_suite, suite_names

from cchybrid.library.formats import read_network
from cchybrid.library.topologies import network
from cchybrid.model import Instance
from tests.plugins.bench.kinds import readable_suites

FOLDER = Path(__file__).parents[3] / "instances"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    for script in ("write_library", "write_general"):
        spec = importlib.util.spec_from_file_location(script, FOLDER / f"{script}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.write(folder)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("part", ["networks", "json", "general"])
def test_the_files_are_what_the_program_writes(written, part):
    fresh = {path.name: path.read_text() for path in (written / part).iterdir()}
    kept = {path.name: path.read_text() for path in (FOLDER / part).iterdir()}
    assert sorted(fresh) == sorted(kept)
    assert fresh == kept


@pytest.mark.parametrize("path", sorted((FOLDER / "networks").iterdir()), ids=lambda p: p.stem)
def test_a_network_is_read_back(path):
    named = network(path.stem)
    read = read_network(path)
    assert read.network.channels == named.channels
    assert read.transmitters == read.receivers == named.terminals


def test_every_instance_is_read_back():
    for path in (FOLDER / "json").iterdir():
        instance = Instance.load(path)
        assert instance.name.replace(" ", "-") == path.stem.partition("-root")[0]


def test_half_of_the_general_suite_is_for_training():
    training, test, every = (
        {row.name for row in read_suite(f"general{half}").rows}
        for half in ("-training", "-test", "")
    )
    assert len(training) == len(test) == 60
    assert training | test == every


@pytest.mark.slow
def test_the_readme_names_every_suite_and_counts_its_rows():
    counts = dict(
        re.findall(r"^\| `([\w-]+)` \| (\d+) \|", (FOLDER / "README.md").read_text(), re.M)
    )
    assert sorted(counts) == suite_names()
    for name in readable_suites():
        assert len(read_suite(name).rows) == int(counts[name]), name
    assert library().samefile(FOLDER)
