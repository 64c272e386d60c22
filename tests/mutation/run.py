"""Mutants of the trusted code: ``python tests/mutation/run.py run [NAMES]``, see `make mutation`.

It is mutmut with one more operator: a refusal (``raise``), or a call whose result is not used, is
left out; on the lines, too, whose expressions the settings leave alone. A mutant whose tests pytest
does not find by their names is not tried, instead of killed. It is run by its path, as the package
``tests`` is to be imported from the folder ``mutants``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import libcst as cst
import pytest
from mutmut.__main__ import cli
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.runners.harness import BadTestExecutionCommandsException, PytestRunner

_removes_ignored_code = MutationVisitor._removes_ignored_code
_execute_pytest = PytestRunner.execute_pytest


def _leave_out(node: cst.CSTNode) -> Iterable[cst.CSTNode]:
    if isinstance(node, cst.Raise) or isinstance(getattr(node, "value", None), cst.Call):
        yield cst.Pass()


def _removes(visitor: MutationVisitor, node: cst.CSTNode, mutated: cst.CSTNode) -> bool:
    return not isinstance(mutated, cst.Pass) and _removes_ignored_code(visitor, node, mutated)


def _execute(runner: PytestRunner, params: list[str], **kwargs: Any) -> int:
    try:
        return _execute_pytest(runner, params, **kwargs)
    except BadTestExecutionCommandsException:
        return pytest.ExitCode.INTERRUPTED


if __name__ == "__main__":
    mutation_operators += [(cst.Raise, _leave_out), (cst.Expr, _leave_out)]
    MutationVisitor._removes_ignored_code = _removes
    PytestRunner.execute_pytest = _execute
    cli(prog_name="mutmut")
