"""One `numpy.random.SeedSequence` tree, addressed by (seed, run); nothing depends on how work is split.

A run has two seeds, one for its environment and one for its agent's ties and random actions. A Gymnasium environment
turns its seed into PCG64; `streams.py` has the same PCG64 as four words, which the compiled loop steps.
NumPy makes one sequence at a time, in Python; here the same hash (O'Neill's seed_seq, NEP 19) runs over all runs
at once, so that seeding a thousand runs does not cost a fifth of simulating them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hreach.errors import require, whole

Seed = int | Sequence[int]
Words = NDArray[np.uint32]

_MASK32 = (1 << 32) - 1
_POOL = 4


def run_seeds(seed: Seed, first: int, runs: int) -> NDArray[np.uint64]:
    """Seeds of the runs `first` ... `first + runs - 1`: shape (runs, 2), columns environment and agent.

    Row i is `SeedSequence(seed, spawn_key=(first + i,)).generate_state(2, uint64)`.
    """
    check_seed(seed)
    first, runs = whole("first", first, 0), whole("runs", runs, 0)
    require(first + runs <= 1 << 32, "first", first, f"at most {(1 << 32) - runs} for {runs} runs")
    words = [w for part in _parts(seed) for w in _words(int(part))]
    words += [0] * (_POOL - len(words))
    fixed = [np.full(runs, w, dtype=np.uint32) for w in words]
    numbers = np.arange(first, first + runs, dtype=np.uint32)
    return _generate_state([*fixed, numbers], 2)


def seed_words(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`SeedSequence(seed).generate_state(4, uint64)` for every seed: shape (seeds, 4)."""
    low, high = seeds & np.uint64(_MASK32), seeds >> np.uint64(32)
    return _generate_state([low.astype(np.uint32), high.astype(np.uint32)], 4)


AGENT = np.uint64(0x9E3779B97F4A7C15)  # so that an agent never draws what an environment of the same seed draws


def check_seed(seed: Seed) -> None:
    """Seeds are whole numbers of at least 0, or a sequence of them."""
    parts = _parts(seed)
    ok = len(parts) > 0 and all(isinstance(p, int | np.integer) and not isinstance(p, bool) and p >= 0 for p in parts)
    require(ok, "seed", seed, "a whole number of at least 0")


def _parts(seed: Seed) -> Sequence[int]:
    return seed if isinstance(seed, Sequence) else [seed]


def _words(number: int) -> list[int]:
    """A whole number as 32-bit words, lowest first."""
    words = [number & _MASK32]
    while number := number >> 32:
        words.append(number & _MASK32)
    return words


def _generate_state(entropy: list[Words], count: int) -> NDArray[np.uint64]:
    """`SeedSequence.generate_state(count, uint64)` for many entropies at once: shape (many, count)."""
    pool = _mixed_pool(entropy)
    constant = 0x8B51F9DD
    halves = []
    for i in range(2 * count):
        word = pool[i % _POOL] ^ np.uint32(constant)
        constant = constant * 0x58F38DED & _MASK32
        halves.append(_fold(word * np.uint32(constant)).astype(np.uint64))
    return np.stack([halves[2 * i] | halves[2 * i + 1] << np.uint64(32) for i in range(count)], axis=1)


def _mixed_pool(entropy: list[Words]) -> list[Words]:
    constant = 0x43B0D7E5

    def hashed(word: Words) -> Words:
        nonlocal constant
        word = word ^ np.uint32(constant)
        constant = constant * 0x931E8875 & _MASK32
        return _fold(word * np.uint32(constant))

    def mixed(a: Words, b: Words) -> Words:
        return _fold(a * np.uint32(0xCA01F9DD) - b * np.uint32(0x4973F715))

    zero = np.zeros_like(entropy[0])
    pool = [hashed(entropy[i] if i < len(entropy) else zero) for i in range(_POOL)]
    for source in range(_POOL):
        for to in range(_POOL):
            if source != to:
                pool[to] = mixed(pool[to], hashed(pool[source]))
    for extra in entropy[_POOL:]:
        pool = [mixed(word, hashed(extra)) for word in pool]
    return pool


def _fold(word: Words) -> Words:
    return np.asarray(word ^ word >> np.uint32(16), dtype=np.uint32)
