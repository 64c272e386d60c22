"""First fit of one class: rows are added in an order as long as an option of theirs fits."""

from __future__ import annotations

import numpy as np

from cchybrid.toolkit.kernels.first_fit import UNSTOPPED, fill
from cchybrid.toolkit.kernels.flat import flatten, min_uses
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.usage_matrix import IntVector


class ClassFiller:
    """First fit of classes of one packing; ties among options are random."""

    def __init__(self, packing: Packing, seed: int) -> None:
        self._packing = packing
        self._flat = flatten(packing.problem)
        self._near = min_uses(packing.problem, self._flat)
        self._state = seed_state(seed)

    def fill(self, columns: IntVector, rows: IntVector) -> IntVector:
        """Return the columns of a class and, for each further row that fits, in order, one more."""
        packing, found = self._packing, self._packing.problem.empty()
        given = packing.delivery[packing.row[columns]]
        found.option[given], found.step[given] = packing.option[columns], 0
        order = packing.delivery[rows].astype(np.int32)
        fill(self._flat, self._near, 1, order, found.option, found.step, UNSTOPPED, self._state)
        taken = found.option[packing.delivery]
        return np.searchsorted(packing.option, taken[taken >= 0])
