"""The program extracted from the proofs, for the tests that question it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.checker.proofs.built import MISSING, Program, build


@pytest.fixture(scope="session")
def program() -> Iterator[Program]:
    """The running program, built where that has not been done."""
    if MISSING:
        pytest.skip(f"{' and '.join(MISSING)} missing: the Debian packages coq and ocaml-nox")
    build()
    found = Program(60.0)
    yield found
    found.end()
