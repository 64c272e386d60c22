"""The times of the parts of a run, and what a result says about them."""

import contextlib
from dataclasses import replace
from typing import Any

import pytest

import cchybrid
from cchybrid.host.phase_times import PhaseTimes
from cchybrid.host.replay import replay


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_of_nested_parts_the_inner_one_counts():
    now = Clock()
    times = PhaseTimes(now)
    now.seconds = 1.0
    with times.part("searching"):
        now.seconds += 2.0
        with times.part("verifying"):
            now.seconds += 8.0
        now.seconds += 4.0
    with contextlib.suppress(KeyboardInterrupt), times.part("stopping"):
        now.seconds += 0.5
        raise KeyboardInterrupt
    now.seconds += 0.25
    expected = {"verifying": 8.0, "searching": 6.0, "preparing": 1.25, "stopping": 0.5}
    assert list(times.seconds().items()) == list(expected.items())


@pytest.mark.slow
def test_the_parts_add_up_to_the_run_and_are_in_its_log():
    lines: list[dict[str, Any]] = []
    hard = cchybrid.instance("mesh-4x4", "AAS", ports=1)
    result = cchybrid.solve(hard, engines=["colouring"], time_limit=1.0, log=lines.append)
    assert sum(result.times.values()) == pytest.approx(result.seconds, abs=0.1)
    assert set(result.times) >= {"preparing", "first schedule", "searching", "stopping"}
    assert replay(lines)[0].times == result.times


@pytest.fixture(scope="module")
def result() -> cchybrid.Result:
    return cchybrid.solve("ring-bi-4", "AAS", time_limit=30.0)


@pytest.mark.parametrize(
    ("limit", "seconds", "overrun"),
    [(20.0, 46.8, 26.8), (20.0, 20.9, 0.0), (0.5, 1.4, 0.0), (100.0, 104.0, 0.0), (None, 9.0, 0.0)],
)
def test_a_result_that_took_longer_than_its_limit_says_where_the_time_went(
    limit, seconds, overrun, result
):
    result = replace(
        result, seconds=seconds, budget={} if limit is None else {"seconds": limit},
        times={"compiling": 26.82, "searching": 19.0, "verifying": 0.98, "bounding": 0.01},
    )  # fmt: skip
    assert result.overrun == pytest.approx(overrun)
    assert result.to_json()["overrun"] == overrun
    parts = "compiling 26.8 s, searching 19.0 s, verifying 1.0 s"
    line = f"took 26.8 s longer than the 20 s asked: {parts}"
    assert (line in result.lines()) == (overrun > 0)
    assert any("longer" in each for each in result.lines()) == (overrun > 0)
