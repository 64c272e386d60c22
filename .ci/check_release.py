"""Build the wheel and try it in clean environments, as a new user would get it from an index.

For every Python 3.11 to 3.13 that is found, and for the newest and the lowest versions of the
dependencies that ``pyproject.toml`` admits: an empty environment, ``pip install`` of the wheel
alone, then every engine is listed, each of those that ship solves a small instance, and a schedule
is proven and checked, by the checker's own module, too. Prints a line per environment.

Usage: python .ci/check_release.py [--python VERSION] [--versions CHOICE] [--keep FOLDER]
Exit status: 0 if all pass, 1 otherwise, 2 if nothing can be tried.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
RESOLUTIONS = ("highest", "lowest-direct")
"""How uv chooses versions: the newest, and the lowest that ``pyproject.toml`` admits."""
COMPILED = ("llvmlite", "matplotlib", "mpi4py", "numba", "numpy", "ortools", "pandas")
WHEELS = [word for name in COMPILED for word in ("--only-binary", name)]
"""Packages that are taken as wheels only; pynauty is built from its sources."""
EXTRAS = ("draw", "mpi", "prove", "report")
INSTANCES = {
    # An instance that each engine works on; all others solve the first one. The optimum is below
    # the steps of the host's own schedule and is not proven before the engine starts.
    "": ("mesh-3x3", "AAS"),
    "broadcast": ("torus-5x5", "OAB"),
    "matching": ("random-regular-20-3-2", "AAB"),
    "rounds": ("ring-bi-4", "AAB", "--switching", "store-and-forward", "--chunks", "2",
               "--rounds", "1,2,3"),
}  # fmt: skip


def main() -> int:
    """Read the options and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", help="only this version; may be repeated")
    parser.add_argument(
        "--versions", choices=RESOLUTIONS, action="append", help="only these; may be repeated"
    )
    parser.add_argument("--keep", type=Path, help="put wheel and environments here, and keep them")
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="cchybrid-release-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return check(folder, arguments.python or PYTHONS, arguments.versions or RESOLUTIONS)
    finally:
        if arguments.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def check(folder: Path, pythons: Sequence[str], resolutions: Sequence[str]) -> int:
    """Try the wheel in an environment per Python and choice of versions; return the status."""
    tools = folder / "tools"
    run(sys.executable, "-m", "venv", tools)
    run(tools / "bin" / "pip", "install", "--quiet", "build", "uv")
    shutil.rmtree(folder / "dist", ignore_errors=True)
    run(tools / "bin" / "python", "-m", "build", "--outdir", folder / "dist", ROOT)
    wheel = next((folder / "dist").glob("*.whl"))
    print(f"built {wheel.name}, {wheel.stat().st_size / 2**20:.1f} MiB", flush=True)
    failures = tried = 0
    for version in pythons:
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: not found, not tried", flush=True)
            continue
        for resolution in resolutions:
            tried += 1
            title = f"Python {version}, {resolution} versions"
            try:
                found = in_environment(folder, tools / "bin" / "uv", python, resolution, wheel)
                print(f"{title}: {found}", flush=True)
            except (subprocess.CalledProcessError, AssertionError) as error:
                failures += 1
                text = getattr(error, "stderr", "") or str(error)
                print(f"{title}: FAILED: {' '.join(text.split())[-600:]}", flush=True)
    print(f"{tried - failures} passed, {failures} failed", flush=True)
    return 2 if not tried else 1 if failures else 0


def in_environment(folder: Path, uv: Path, python: str, resolution: str, wheel: Path) -> str:
    """Install the wheel, use it, and return the versions that were installed."""
    place = folder / f"{Path(python).name}-{resolution}"
    run(uv, "venv", "--quiet", "--clear", "--python", python, place)
    binaries = place / "bin"

    # uv takes the lowest versions of what is named here, and not of what the wheel requires. A
    # version that is older than this Python has no wheel, and is not one that a user would get.
    def install(*what: str) -> None:
        run(uv, "pip", "install", "--quiet", "--python", binaries / "python", "--resolution",
            resolution, *WHEELS, *what)  # fmt: skip

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = project["dependencies"]
    install(str(wheel), *required)
    # Nothing of this repository, and no plugin of another project, may take part.
    env = {key: value for key, value in os.environ.items() if key not in _LEFT_OUT}
    command = binaries / "cchybrid"
    names, designers = (
        [each["name"] for each in json.loads(run(command, what, "--json", env=env))[what]]
        for what in ("engines", "designers")
    )
    shipped = len(list((ROOT / "plugins").glob("*/engine.py")))
    assert len(names) + len(designers) == shipped, f"{names} and {designers} are not {shipped}"
    for name in names:
        found = solve(command, folder, env, INSTANCES.get(name, INSTANCES[""]), "--engine", name)
        assert name in found["evaluations"], f"{name} did not start"
    solve(command, folder, env, ("spidergon-8", "AAS"))
    run(command, "verify", "schedule.json", env=env, cwd=folder)
    optional = project["optional-dependencies"]
    extra = [each for name in EXTRAS for each in optional[name]]
    install(f"{wheel}[{','.join(EXTRAS)}]", *required, *extra)
    run(command, "prove", "schedule.json", env=env, cwd=folder)
    files = ("schedule.json", "schedule.certificate.json")
    run(command, "check", *files, env=env, cwd=folder)
    run(binaries / "python", "-m", "cchybrid.checker", *files, env=env, cwd=folder)
    run(command, "draw", "schedule.json", "-o", "steps.svg", env=env, cwd=folder)
    listed = json.loads(run(uv, "pip", "list", "--python", binaries / "python", "--format", "json"))
    versions = {each["name"]: each["version"] for each in listed}
    shown = ("ortools", "numpy", "numba", "networkx", "pynauty", "typer", "pandas", "matplotlib")
    return f"{len(names)} engines; " + ", ".join(f"{name} {versions[name]}" for name in shown)


_LEFT_OUT = ("PYTHONPATH", "CCHYBRID_PLUGINS", "VIRTUAL_ENV")


def solve(
    command: Path, folder: Path, env: dict[str, str], instance: tuple[str, ...], *options: str
) -> dict[str, Any]:
    """Solve an instance, check what the command says of the result, and return it."""
    text = run(command, "solve", *instance, *options, "--time-limit", "20", "--seed", "1",
               "--json", "-o", "schedule.json", env=env, cwd=folder)  # fmt: skip
    record: dict[str, Any] = json.loads(text)
    assert record["steps"] >= record["lower_bound"], f"{options}: {record['steps']} steps"
    assert not record["troubles"], f"{options}: {record['troubles']}"
    return record


def interpreter(version: str) -> str | None:
    """Return the path of a Python of this version, from PATH or pyenv's folder."""
    found = shutil.which(f"python{version}")
    candidates = [found] if found else []
    candidates += map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    for each in candidates:
        if subprocess.run([each, "--version"], capture_output=True).returncode == 0:
            return each
    return None


def run(*words: object, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a command and return what it prints; raise ``CalledProcessError`` if it fails."""
    done = subprocess.run(
        [str(word) for word in words], env=env, cwd=cwd, check=True, capture_output=True, text=True
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
