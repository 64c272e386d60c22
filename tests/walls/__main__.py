"""Delete plugins, and test what is left: ``python -m tests.walls``, see `make test-walls`.

A copy of the repository loses some folders of ``plugins/`` and their tests. All features and half
of the engines are deleted, then all features and the other half: the core passes its tests. Then
every feature stands alone beside the core and all engines, and passes its own tests. So none needs
another. A test that names a deleted engine is skipped, as it is its test, too, and tests that have
no plugin in `make test` are left out (``tests/walls/deleted.py``). What is left out is printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.walls.deleted import VARIABLE, WITHOUT_PLUGINS

ROOT = Path(__file__).parents[2]
ENGINES = Path("plugins/engines")

MARKS = ("long", "faults", "fuzz")
"""Marks of tests that take too long for every wall."""


def folders(path: Path) -> list[str]:
    """Return the names of the packages in a folder of the repository, in order."""
    return sorted(found.parent.name for found in (ROOT / path).glob("*/__init__.py"))


def restore(target: Path) -> None:
    """Copy what is missing of the repository, without tests of the whole.

    The path and the times of files stay, and with them the bytecode of all walls.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        of_the_whole = Path(name).match("test_*.py") and name.count("/") == 1
        if (source := ROOT / name).is_file() and not of_the_whole and not (target / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
    if not (target / "sitecustomize.py").exists():
        # The finder of an editable installation would find what is deleted in the repository.
        (target / "sitecustomize.py").write_text(
            "import sys\n"
            "found = [each for each in sys.meta_path if '__editable__' not in each.__module__]\n"
            "sys.meta_path[:] = found\n"
        )
        (target / "cchybrid_plugins").symlink_to("plugins")
        (target / "cchybrid_instances").symlink_to("instances")


def delete(target: Path, features: list[str], engines: list[str]) -> None:
    """Delete features and engines with their tests."""
    for feature in features:
        shutil.rmtree(target / "plugins" / feature)
        shutil.rmtree(target / "tests" / "plugins" / feature, ignore_errors=True)
    for engine in engines:
        shutil.rmtree(target / ENGINES / engine)
        for test in (target / "tests" / ENGINES).glob(f"test_{engine}*.py"):
            test.unlink()


def passes(title: str, tests: str, features: list[str], engines: list[str], copy: Path) -> bool:
    """Return whether tests pass in a copy without some features and engines."""
    print(f"\n== {title}: without {' '.join(features + engines)}", flush=True)
    restore(copy)
    delete(copy, features, engines)
    environment = {**os.environ, "PYTHONPATH": str(copy), VARIABLE: " ".join(engines)}
    # Without the rewriting of assertions, which takes longer than many of the tests.
    command = f"{sys.executable} -m pytest --assert=plain -n 2 --dist worksteal --reruns 1 {tests}"
    marks = " and ".join(f"not {mark}" for mark in MARKS)
    begun, before = time.monotonic(), os.times()
    ended = subprocess.run([*command.split(), "-m", marks], cwd=copy, env=environment, check=False)
    worked = sum(os.times()[2:4]) - sum(before[2:4])
    print(
        f"{title}: {time.monotonic() - begun:.0f} s, {worked:.0f} s of processor time", flush=True
    )
    return ended.returncode == 0


def main() -> int:
    """Test behind every wall, and return the exit status."""
    features = [name for name in folders(Path("plugins")) if name != ENGINES.name]
    engines = folders(ENGINES)
    packages = [path.parent.name for path in sorted((ROOT / "tests").glob("*/__init__.py"))]
    left_out = {*WITHOUT_PLUGINS, "fuzz", "walls"}
    tests = [f"tests/{name}" for name in packages if name not in left_out]
    by_host = " ".join(name for name in tests if name != "tests/cli")
    walls = [
        ("the core and half of the engines", " ".join(tests), features, engines[::2]),
        ("the core and the other half", by_host, features, engines[1::2]),
    ]
    for feature in features:
        others = [name for name in features if name != feature]
        walls.append((feature, f"tests/plugins/{feature}", others, []))
    print(
        f"left out: tests that are marked {', '.join(MARKS)}; tests of the whole repository, which"
    )
    print(
        "are tests/test_*.py, tests/fuzz and tests/walls; tests that have no plugin in make test,"
    )
    print(f"which are those of {', '.join(WITHOUT_PLUGINS)}; beside the other half of the engines")
    print("tests/cli, which has engines by the host alone")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve()
        failed = [title for title, *rest in walls if not passes(title, *rest, copy)]
    print("\n" + (f"failed: {', '.join(failed)}" if failed else "every wall holds"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
