"""The schedules that the papers print have the verdicts that the documentation states."""

import re
from pathlib import Path

import pytest
from cchybrid_plugins.exchange.csv_import import read_csv

import cchybrid
from cchybrid.model import Schedule
from cchybrid.plugin.imported import ImportRequest
from cchybrid.referee.verify import verify_schedule

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "instances" / "printed"
PAGE = (ROOT / "docs" / "reports" / "printed-schedules.md").read_text()
TABLE = [
    (name, topology, int(steps))
    for topology, files in re.findall(r"^\| `(.+?)` \| (`.+) \|$", PAGE, re.M)
    for name, steps in re.findall(r"`(\S+)` (\d+)", files)
]
INVALID = "thesis-table-8.11-AAB"


def schedule(text: str, topology: str, collective: str) -> Schedule:
    network = cchybrid.network(topology)
    ends = {"transmitters": "4-7", "receivers": "4-7"} if collective == "MNS" else {}
    performed = cchybrid.collective(collective, network, **ends)
    return read_csv(text, ImportRequest("printed", network, performed)).schedule


def test_the_table_names_every_file() -> None:
    assert sorted(row[0] for row in TABLE) == sorted(path.stem for path in FOLDER.iterdir())
    assert PAGE.count("(invalid)") == 1


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_the_referee_says_what_the_page_says(row: tuple[str, str, int]) -> None:
    name, topology, steps = row
    collective = name.rpartition("-")[2]
    found = schedule((FOLDER / f"{name}.csv").read_text(), topology, collective)
    assert len(found.steps) == steps
    assert found.instance.model.switching == "wormhole"
    assert found.instance.model.routing == ("any" if collective == "MNS" else "minimal")
    reasons = [violation.text.partition(": ")[2] for violation in verify_schedule(found)]
    assert len(reasons) == (name == INVALID)
    assert all(f"`{reason}`" in PAGE for reason in reasons)


@pytest.mark.parametrize(
    ("name", "printed", "read", "topology", "collective", "overload"),
    [
        ("thesis-table-8.11-AAB", "3,10,10,2,", "4,10,10,2,", "kautz-12", "AAB", ""),
        ("thesis-table-8.22-MNS", "2,5,7,", "1,5,7,", "spidergon-8", "MNS", "channel 5->6"),
    ],
)
def test_other_readings_have_the_verdicts_that_the_page_states(
    name: str, printed: str, read: str, topology: str, collective: str, overload: str
) -> None:
    text = (FOLDER / f"{name}.csv").read_text()
    assert text.count(f"\n{printed}") == 1
    changed = text.replace(f"\n{printed}", f"\n{read}")
    found = schedule(changed, topology, collective)
    assert [violation.place for violation in verify_schedule(found)] == [overload] * bool(overload)
