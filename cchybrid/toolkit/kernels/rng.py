"""Random numbers for kernels: splitmix64 on an explicit state.

The state is one word in an array, so kernels advance it in place.

References
----------
G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
(generator and constants). doi:10.1145/2660193.2660195
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.kernels import compiled, internal

State = NDArray[np.uint64]


def seed_state(seed: int) -> State:
    """Return the state of a seed, shape (1,); equal seeds give equal numbers."""
    return np.array([seed & 0xFFFF_FFFF_FFFF_FFFF], dtype=np.uint64)


@internal
def next_word(state: State) -> np.uint64:
    """Return 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def below(state: State, bound: int) -> int:
    """Return an integer from 0 up to, not including, ``bound``, which is below 2**31.

    Multiplies instead of dividing; the bias of at most ``bound / 2**32`` is negligible here.
    """
    high = next_word(state) >> np.uint64(32)
    # Unsigned and signed integers mixed would make a float of the result.
    drawn: Any = np.int64((high * np.uint64(bound)) >> np.uint64(32))
    return drawn


@internal
def uniform(state: State) -> float:
    """Return a float from 0 up to, not including, 1."""
    return (next_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@internal
def normal(state: State) -> float:
    """Return a float of the standard normal distribution (Box and Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
    return radius * math.cos(2.0 * math.pi * uniform(state))


@compiled
def shuffle(values: NDArray[np.int32], state: State) -> None:
    """Permute an array at random, in place (Fisher and Yates)."""
    for last in range(len(values) - 1, 0, -1):
        other = below(state, last + 1)
        values[last], values[other] = values[other], values[last]
