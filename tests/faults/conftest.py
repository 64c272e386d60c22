"""The standing suite of faults: the marker of its tests, and an end of what they leave."""

import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.processes import OWN, end_all

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.faults)


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path_factory) -> Iterator[None]:
    """Mark the processes of the test, and give it a folder of temporary files; none may be left."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv(OWN, uuid.uuid4().hex)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faults.faulty_plugin")
    yield
    end_all()
    assert not list(folder.iterdir()), "temporary files are left"
