"""Streams of random numbers that compiled code can step: PCG64 (O'Neill 2014) as four plain words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from hreach.compiling import Untyped, announcing, compiled, inlined_too
from hreach.errors import require
from hreach.randomness.seeding import AGENT, check_seed, seed_words


@intrinsic  # type: ignore[untyped-decorator]
def _high_product(typingctx: Untyped, a: Untyped, b: Untyped) -> Untyped:
    """Upper 64 bits of the product of two uint64."""

    def codegen(context: Untyped, builder: Untyped, signature: Untyped, args: Untyped) -> Untyped:
        wide = context.get_value_type(types.uint64).__class__(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, wide(64)), args[0].type)

    return types.uint64(types.uint64, types.uint64), codegen


_MULTIPLIER_HIGH = np.uint64(0x2360ED051FC65DA4)
_MULTIPLIER_LOW = np.uint64(0x4385DF649FCCF645)


@inlined_too
def uniform(stream: NDArray[np.uint64]) -> float:
    """Next double in [0, 1) of PCG64 (O'Neill 2014), equal to `numpy.random.Generator.random`; steps `stream`."""
    high, low = stream[0], stream[1]
    product = low * _MULTIPLIER_LOW
    new_low = product + stream[3]
    carry = np.uint64(1) if new_low < product else np.uint64(0)
    new_high = _high_product(low, _MULTIPLIER_LOW) + low * _MULTIPLIER_HIGH + high * _MULTIPLIER_LOW
    new_high = new_high + stream[2] + carry
    stream[0] = new_high
    stream[1] = new_low
    turn = new_high >> np.uint64(58)
    mixed = new_high ^ new_low
    word = (mixed >> turn) | (mixed << ((np.uint64(64) - turn) & np.uint64(63)))
    return float(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def branch(stream: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """Into `out` (4,) a stream of its own that begins where `stream`, which it steps, says."""
    for i in range(4):
        out[i] = np.uint64(uniform(stream) * 9007199254740992.0) << np.uint64(11)
    out[3] |= np.uint64(1)
    uniform(out)  # so that every word decides the first number


@compiled
def begin_streams(words: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """PCG64's state after seeding with words (n, 4), as `uniform` steps it, into out (n, 4).

    The increment is twice the last two words plus 1; the state is increment + the first two words, stepped once.
    """
    for i in range(words.shape[0]):
        out[i, 2] = (words[i, 2] << np.uint64(1)) | (words[i, 3] >> np.uint64(63))
        out[i, 3] = (words[i, 3] << np.uint64(1)) | np.uint64(1)
        out[i, 1] = out[i, 3] + words[i, 1]
        carry = np.uint64(1) if out[i, 1] < words[i, 1] else np.uint64(0)
        out[i, 0] = out[i, 2] + words[i, 0] + carry
        uniform(out[i])


_begin = announcing(begin_streams)
_uniform = announcing(uniform)


def streams(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """State of `numpy.random.PCG64(seed)` for every seed: shape (*seeds.shape, 4).

    The words are (state high, state low, increment high, increment low); `uniform` steps them.
    """
    words = seed_words(seeds.reshape(-1))
    out = np.empty_like(words)
    _begin(words, out)
    return out.reshape(*seeds.shape, 4)


def agent_stream(seed: int) -> NDArray[np.uint64]:
    """The stream of an agent with this seed, shape (4,); not that of an environment with the same seed."""
    check_seed(seed)
    require(not isinstance(seed, Sequence) and seed < 1 << 64, "seed", seed, "a whole number below 2**64")
    return np.asarray(streams(np.array([seed], dtype=np.uint64) ^ AGENT)[0])


def run_streams(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Streams of runs whose seeds (runs, 2) are those of environment and agent: shape (runs, 2, 4)."""
    return streams(seeds ^ np.array([0, AGENT], dtype=np.uint64))


def generator(stream: NDArray[np.uint64]) -> np.random.Generator:
    """NumPy's generator seeded by the next two numbers of a stream, which it steps."""
    drawn = [int(_uniform(stream) * (1 << 53)) for _ in range(2)]
    return np.random.default_rng(drawn)
