"""Background compilation: pending engines, and stops at any time."""

import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from cchybrid.cli.warming import compile_kernels
from cchybrid.plugin import warm_up
from cchybrid.plugin.records import EngineInfo
from cchybrid.plugin.registry import load_registry
from cchybrid.plugin.warm_up import WarmUp, pending
from cchybrid.system.kernel_cache import cache_folder

MODULE = """
    import os
    import time

    class Quick:
        Options = dict

        def __init__(self, options):
            print("engines may print" * 10_000)

        def prepare(self):
            pass

    class Slow(Quick):
        def prepare(self):
            time.sleep(60)

    class Faulty(Quick):
        def prepare(self):
            raise ValueError("no kernels")

    class Leaving(Quick):
        def prepare(self):
            raise SystemExit(3)

    class Deadly(Quick):
        def prepare(self):
            os._exit(3)
"""


def engine(name: str, **rest: object) -> EngineInfo:
    target = f"own_engines.engines:{name.title()}"
    return EngineInfo(name, target, "", prepares=True, **rest)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch) -> Iterator[Path]:
    folder = tmp_path / "own_engines"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "engines.py").write_text(dedent(MODULE))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    yield tmp_path
    cache_folder.cache_clear()


def finish(work: WarmUp) -> dict[str, str]:
    work.start()
    found = {}
    end = time.monotonic() + 60
    while work.running and time.monotonic() < end:
        found.update({one.engine: one.error for one in work.wait()})
    assert not work.running
    return found


def test_engines_are_pending_until_they_are_compiled():
    quick, faulty = engine("quick", priority=1), engine("faulty", priority=2)
    other = EngineInfo("other", "own_engines.engines:Quick", "")  # has nothing to prepare
    first = pending([quick, other, faulty])
    assert first == [faulty, quick]
    assert finish(WarmUp(first)) == {"faulty": "ValueError: no kernels", "quick": ""}
    assert pending([quick, other, faulty]) == [faulty]


def test_engines_with_few_kernels_come_first():
    search, exact = engine("quick", priority=9), engine("slow", kind="exact", priority=1)
    newcomer = engine("faulty", kind="exact")
    assert pending([newcomer, search, exact]) == [exact, search, newcomer]


def test_it_may_be_stopped_at_any_time():
    work = WarmUp(pending([engine("slow", priority=1), engine("quick")]))
    work.start()
    assert work.running
    assert work.left == ("slow", "quick")
    work.wait(0.5)
    begun = time.monotonic()
    work.stop()
    assert time.monotonic() - begun < 5
    assert not work.running
    assert work.poll() == []
    assert len(pending([engine("slow"), engine("quick")])) == 2


def test_a_process_that_dies_is_reported():
    work = WarmUp(pending([engine("slow")]))
    work.start()
    work._process.kill()
    found = []
    while work.running:
        found += work.wait()
    assert [one.engine for one in found] == ["slow"]
    assert found[0].error


@pytest.mark.slow
def test_an_engine_that_hangs_or_ends_the_process_does_not_affect_the_others(monkeypatch):
    monkeypatch.setattr(warm_up, "MAX_PREPARE_SECONDS", 1.0)
    names = ("slow", "deadly", "leaving", "quick")
    found = finish(WarmUp([engine(name) for name in names]))
    assert list(found) == list(names)
    assert found["slow"] == "not ready after 1 seconds"
    assert found["deadly"] == "the process was ended"
    assert found["leaving"] == "SystemExit: 3"
    assert found["quick"] == ""


def test_without_pending_engines_no_process_starts():
    work = WarmUp([])
    work.start()
    assert not work.running
    assert work.poll() == []
    work.stop()


def test_the_field_prepares_of_every_built_in_engine():
    for info in load_registry().engines.values():
        if info.target.startswith("cchybrid_plugins."):
            module, _, name = info.target.partition(":")
            kind = getattr(__import__(module, fromlist=[name]), name)
            assert hasattr(kind, "prepare") == info.prepares, info.name


class Times:
    """A clock of the child process, in the place of ``WorkingTime``."""

    wall = worked = 0.0

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def seconds(self) -> float:
        return self.worked


@pytest.fixture
def times(monkeypatch) -> type[Times]:
    class Own(Times):
        pass

    monkeypatch.setattr(warm_up, "WorkingTime", Own)
    return Own


def test_on_a_busy_machine_the_time_of_waiting_for_a_processor_does_not_count(times):
    work = WarmUp([engine("slow"), engine("quick")])
    work.start()
    times.wall, times.worked = warm_up.MAX_WAIT_SECONDS - 1, 1.0
    assert work.poll() == []
    assert work.running
    times.worked = warm_up.MAX_PREPARE_SECONDS + 1
    (slow,) = work.poll()
    assert (slow.error, slow.late) == ("not ready after 121 seconds", False)
    work.stop()


def test_what_a_busy_machine_does_not_compile_is_late_and_not_failed(times):
    work = WarmUp([engine("slow"), engine("quick")])
    work.start()
    times.wall, times.worked = warm_up.MAX_WAIT_SECONDS + 1, 1.0
    found = work.poll()
    assert [(one.engine, one.error, one.late) for one in found] == [
        ("slow", "", True),
        ("quick", "", True),
    ]
    assert not work.running
    assert pending([engine("slow")])


def test_the_command_succeeds_and_says_what_is_left_for_later(times, capsys):
    times.wall = warm_up.MAX_WAIT_SECONDS + 1
    assert compile_kernels([engine("slow")])
    assert "[1/1] slow: left for its first run" in capsys.readouterr().err
