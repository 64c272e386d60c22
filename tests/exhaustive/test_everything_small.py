"""All kinds of small instances: checker, finders and referee against a plain search.

The plain search and the plain rules are written from docs/valid-schedule.md alone. What was tried
and what was cut off is printed at the end of the run.
"""

import random

import pytest

from tests.exhaustive.examine import LONG, SHORT, Effort, examine
from tests.exhaustive.features import cases
from tests.exhaustive.report import PROPERTY

GROUPS_OF_TENTH, GROUPS_OF_REST = 16, 100


def _agree(record_property, tenth: bool, group: int, groups: int, effort: Effort) -> None:
    mixed = [*cases(tenth, group, groups)]
    random.Random(group).shuffle(mixed)  # evidence of any switching is tried on cases of others
    counts, wrong = examine(iter(mixed), effort)
    part = "tenth" if tenth else "rest"
    record_property(PROPERTY, {"part": part, "counts": dict(counts)})
    assert not wrong, f"{len(wrong)} disagreements, the shortest:\n{min(wrong, key=len)}"


@pytest.mark.parametrize("group", range(GROUPS_OF_TENTH))
def test_a_tenth(record_property, group):
    _agree(record_property, True, group, GROUPS_OF_TENTH, SHORT)


@pytest.mark.long
@pytest.mark.parametrize("group", range(GROUPS_OF_REST))
def test_the_rest(record_property, group):
    _agree(record_property, False, group, GROUPS_OF_REST, LONG)
