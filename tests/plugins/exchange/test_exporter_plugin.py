"""The exporters as the command ``export`` sees them."""

import pytest
from typer.testing import CliRunner

from cchybrid.cli.app import app
from cchybrid.plugin.registry import load_registry
from tests.plugins.exchange.schedules import schedule

FORMATS = ("msccl", "mscclpp", "goal", "anynet", "graphml", "dot", "routes", "jsonl")


@pytest.fixture
def file(tmp_path):
    schedule("ring-bi-4", "allgather").save(tmp_path / "s.json")
    return tmp_path / "s.json"


def run(*words):
    return CliRunner().invoke(app, ["export", *map(str, words)])


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written(name, file):
    assert name in load_registry().exporters
    done = run(file, "--to", name, "-o", file.with_suffix(".out"))
    assert done.exit_code == 0, done.output
    assert file.with_suffix(".out").read_text().endswith("\n")


def test_sizes_are_for_formats_that_state_them(file):
    done = run(file, "--to", "goal", "--size", "96")
    assert done.exit_code == 0
    assert "send 96b" in done.output
