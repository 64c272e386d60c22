"""Fixtures and hooks of the whole suite."""

import contextlib
import copy
import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from cchybrid.plugin import registry
from cchybrid.plugin.registry import Registry
from tests.compiled_kernels import compile_kernels
from tests.exhaustive.report import summary
from tests.walls.deleted import DELETED, imports_one, names_one, needs_no_plugin

# Not before all tests are collected, as they stay to the end.
gc.disable()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in its background so; what the tests start would ignore it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Workers look for modules here only if PYTHONPATH says so.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
)


# Threads of NumPy in each of many processes cost more than they gain.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


with contextlib.suppress(ImportError):
    # When first imported, it sets COLUMNS and LINES for child processes, as if the user had.
    import readline  # noqa: F401
for _name in ("COLUMNS", "LINES"):
    if _name not in os.environ:
        os.unsetenv(_name)


# How fast an example is depends on the machine, so there is no deadline.
settings.register_profile("all", max_examples=100, deadline=None)
settings.register_profile("few", max_examples=10, deadline=None)
# A mutant that fails need not be explained, only found, and by the same examples in every run.
settings.register_profile(
    "mutation", max_examples=10, deadline=None, derandomize=True, database=None,
    phases=[Phase.explicit, Phase.generate],
)  # fmt: skip
settings.load_profile("few")


LOADED = registry.loaded_with
ALONE: Registry = LOADED.__wrapped__("")
"""The plugins of cchybrid, loaded once for all tests, as it takes a while."""
with pytest.MonkeyPatch.context() as _patch:
    _patch.setattr(registry, "entry_points", lambda group: ())
    CORE: Registry = LOADED.__wrapped__("")
"""The core without plugins, which is all that the tests of some folders have."""


def _tables() -> list[dict[str, Any]]:
    return [
        {name: copy.copy(table) for name, table in vars(each).items()} for each in (ALONE, CORE)
    ]


TABLES = _tables()


@pytest.fixture(autouse=True)
def _plugins_of_its_own(monkeypatch, request) -> Iterator[None]:
    """Let every test load further plugins for itself; the registry without any is shared."""
    alone = CORE if needs_no_plugin(request.path) else ALONE
    monkeypatch.setattr(registry, "loaded_with", lambda names: LOADED(names) if names else alone)
    yield
    LOADED.cache_clear()
    alone._reported.clear()
    assert _tables() == TABLES, "the test has changed the plugins of all tests"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels once, where several processes would each compile them for a test.

    A worker that is killed in the midst of it, as many tests have it, would even do so in vain.
    """
    if session.config.getoption("numprocesses", None):  # the workers themselves have none
        compile_kernels()


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but not among modules and tests."""
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out files that import a deleted engine."""
    is_code = collection_path.suffix == ".py"
    return (is_code and imports_one(collection_path, DELETED)) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that name a deleted engine."""
    for item in items if DELETED else ():
        if names_one(item, DELETED):
            item.add_marker(pytest.mark.skip("it names an engine that is deleted"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what was tried on everything small, and what was cut off."""
    reports = [
        report
        for each in terminalreporter.stats.values()
        for report in each
        if getattr(report, "when", None) == "call"
    ]
    if lines := summary(reports):
        terminalreporter.section("everything small")
        for line in lines:
            terminalreporter.write_line(line)
