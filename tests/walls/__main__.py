"""Delete plugins, and test what is left: ``python -m tests.walls``, see `make test-walls`.

Each wall is a copy of the repository without some folders of ``plugins/`` and their tests. All
features and half of the engines are deleted, then all features and the other half: the core passes
its tests. Then every feature stands alone beside the core and all engines, and passes its own
tests. So none needs another. A test that names a deleted engine is skipped, as it is its test, too
(``tests/walls/deleted.py``). What is left out is printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.walls.deleted import VARIABLE

ROOT = Path(__file__).parents[2]
ENGINES = Path("plugins/engines")

MARKS = ("long", "faults", "fuzz")
"""Marks of tests that take too long for every wall."""
WITHOUT_ENGINES = ("checker", "design_checker", "exhaustive", "library", "model", "problem",
                   "referee", "system")  # fmt: skip
"""Folders whose tests run no engine: beside one half of the engines they show the same."""


def folders(path: Path) -> list[str]:
    """Return the names of the packages in a folder of the repository, in order."""
    return sorted(found.parent.name for found in (ROOT / path).glob("*/__init__.py"))


def copy_without(target: Path, features: list[str], engines: list[str]) -> None:
    """Copy the repository without some features and engines, and without tests of the whole."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (source := ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
    for feature in features:
        shutil.rmtree(target / "plugins" / feature)
        shutil.rmtree(target / "tests" / "plugins" / feature, ignore_errors=True)
    for engine in engines:
        shutil.rmtree(target / ENGINES / engine)
        for test in (target / "tests" / ENGINES).glob(f"test_{engine}*.py"):
            test.unlink()
    for test in (*(target / "tests").glob("test_*.py"), *(target / "tests/fuzz").glob("test_*.py")):
        test.unlink()
    # The finder of an editable installation would find what is deleted in the repository.
    (target / "sitecustomize.py").write_text(
        "import sys\n"
        "found = [each for each in sys.meta_path if '__editable__' not in each.__module__]\n"
        "sys.meta_path[:] = found\n"
    )
    (target / "cchybrid_plugins").symlink_to("plugins")
    (target / "cchybrid_instances").symlink_to("instances")


def passes(title: str, tests: str, features: list[str], engines: list[str]) -> bool:
    """Return whether tests pass in a copy without some features and engines."""
    print(f"\n== {title}: without {' '.join(features + engines)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve()
        copy_without(copy, features, engines)
        environment = {**os.environ, "PYTHONPATH": str(copy), VARIABLE: " ".join(engines)}
        command = f"{sys.executable} -m pytest -n 4 --dist worksteal --reruns 1 {tests}"
        marks = " and ".join(f"not {mark}" for mark in MARKS)
        begun = time.monotonic()
        ended = subprocess.run(
            [*command.split(), "-m", marks], cwd=copy, env=environment, check=False
        )
        print(f"{title}: {time.monotonic() - begun:.0f} s", flush=True)
    return ended.returncode == 0


def main() -> int:
    """Test behind every wall, and return the exit status."""
    features = [name for name in folders(Path("plugins")) if name != ENGINES.name]
    engines = folders(ENGINES)
    tests = [path.parent.name for path in sorted((ROOT / "tests").glob("*/__init__.py"))]
    other_tests = " ".join(f"tests/{name}" for name in tests if name not in WITHOUT_ENGINES)
    walls = [
        ("the core and half of the engines", "tests", features, engines[::2]),
        ("the core and the other half", other_tests, features, engines[1::2]),
    ]
    for feature in features:
        others = [name for name in features if name != feature]
        walls.append((feature, f"tests/plugins/{feature}", others, []))
    print(
        f"left out: tests that are marked {', '.join(MARKS)}; tests of the whole repository, which"
    )
    print("are tests/test_*.py and tests/fuzz; beside the other half of the engines the tests of")
    print(f"{', '.join(WITHOUT_ENGINES)}, which run no engine")
    failed = [title for title, *rest in walls if not passes(title, *rest)]
    print("\n" + (f"failed: {', '.join(failed)}" if failed else "every wall holds"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
