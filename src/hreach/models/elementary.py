"""cos x and 10^x in compiled code, faster than the C library and to the last bit or so, for many numbers at once."""

from __future__ import annotations

import math

import numpy as np

from hreach.compiling import inlined, inlined_with
from hreach.models.feature_map import Array
from hreach.models.features import POWERS

Four = tuple[float, float, float, float]
ROUND = 1.5 * 2.0**52  # v + ROUND holds round(v) in its last bits
# pi and log10(2) in two parts: the first, with 33 and 41 bits, can be multiplied by every whole number that occurs here
PI_1, PI_2 = 3.1415926534682512, 1.2154201013012384e-10
LOG_1, LOG_2 = 0.30102999566383914, 1.42050232272661e-13
PER_PI, PER_LOG = 1 / math.pi, math.log2(10)
FASTEST = 1e6  # the largest argument of a cosine for which that is so; beyond it, the C library takes over
LOWEST, HIGHEST = POWERS
# Interpolation in Chebyshev points: cos r = 1 + C1 r^2 + C2 r^4 + ..., |r| <= pi / 2, to 6e-17
C1, C2, C3, C4 = -0.4999999999999997, 0.04166666666666388, -0.0013888888888772943, 2.4801587277405412e-05
C5, C6, C7, C8 = -2.755731639003024e-07, 2.087656178396356e-09, -1.1462900299216276e-11, 4.608958672926802e-14
# and 10^r = 1 + E1 r + E2 r^2 + ..., |r| <= log10(2) / 2, to 4e-17
E1, E2, E3, E4 = 2.302585092994046, 2.650949055239209, 2.0346785922934805, 1.171255148907243
E5, E6, E7, E8 = 0.5393829291940392, 0.206995849642765, 0.06808936530776138, 0.019597614136359662
E9, E10, E11 = 0.0050139116752975586, 0.0011576559645729708, 0.00024227228272284373


@inlined_with("contract")
def power(z: float) -> float:
    """10^z = 2^q 10^r with q whole and r = z - q log10(2): 2^q is added to the bits of the exponent."""
    z = min(max(z, LOWEST), HIGHEST)
    s = z * PER_LOG + ROUND
    q = s - ROUND
    r = (z - q * LOG_1) - q * LOG_2
    v = r * r
    w = v * v
    # by halves and not from the top down: the powers of a state are few, so a chain would be waited for
    low = (1.0 + E1 * r) + v * (E2 + E3 * r)
    middle = (E4 + E5 * r) + v * (E6 + E7 * r)
    top = (E8 + E9 * r) + v * (E10 + E11 * r)
    bits = np.float64(low + w * (middle + w * top)).view(np.int64) + (np.float64(s).view(np.int64) << np.int64(52))
    return np.int64(bits).view(np.float64)


@inlined_with("contract")
def arguments(turn: Array, phase: Array, x: Array, waves: Array) -> None:
    """turn . x + phase, six components at a time."""
    p, q, r, s, t, u = x[0], x[1], x[2], x[3], x[4], x[5]
    for k in range(waves.shape[0]):
        waves[k] = (phase[k] + turn[0, k] * p + turn[1, k] * q + turn[2, k] * r) + (
            turn[3, k] * s + turn[4, k] * t + turn[5, k] * u
        )
    for i in range(6, turn.shape[0]):
        p = x[i]
        for k in range(waves.shape[0]):
            waves[k] += turn[i, k] * p


@inlined
def small(steepest: Array, farthest: float, x: Array) -> bool:
    """Whether every |turn . x + phase| is small enough for `cosines`; false of nan."""
    bound = farthest
    for i in range(x.shape[0]):
        bound += steepest[i] * abs(x[i])
    return bound <= FASTEST


# Four cosines are taken side by side, which makes no difference to the result: written so, the processor has something
# to do while it waits for one of them, and needs little more than half the time.


@inlined
def cosines(waves: Array) -> None:
    """cos of every number, in place; their count is a multiple of 4, and of 16 for speed."""
    h = waves.shape[0] // 4
    for k in range(h):
        c = _four_cosines((waves[k], waves[k + h], waves[k + 2 * h], waves[k + 3 * h]))
        waves[k], waves[k + h], waves[k + 2 * h], waves[k + 3 * h] = c


@inlined_with("contract")
def _four_cosines(v: Four) -> Four:
    """cos v = (-1)^q cos r with q whole and r = v - q pi."""
    s = _times(v, PER_PI, ROUND)
    q = (s[0] - ROUND, s[1] - ROUND, s[2] - ROUND, s[3] - ROUND)
    r = _less(_less(v, q, PI_1), q, PI_2)
    u = (r[0] * r[0], r[1] * r[1], r[2] * r[2], r[3] * r[3])
    p = _plus(_plus(_plus(_times(u, C8, C7), u, C6), u, C5), u, C4)
    p = _plus(_plus(_plus(_plus(p, u, C3), u, C2), u, C1), u, 1.0)
    return _signed(p[0], s[0]), _signed(p[1], s[1]), _signed(p[2], s[2]), _signed(p[3], s[3])


@inlined_with("contract")
def _times(v: Four, a: float, b: float) -> Four:
    """a v + b."""
    return v[0] * a + b, v[1] * a + b, v[2] * a + b, v[3] * a + b


@inlined_with("contract")
def _plus(p: Four, u: Four, c: float) -> Four:
    """p u + c."""
    return p[0] * u[0] + c, p[1] * u[1] + c, p[2] * u[2] + c, p[3] * u[3] + c


@inlined_with("contract")
def _less(v: Four, q: Four, c: float) -> Four:
    """v - c q."""
    return v[0] - q[0] * c, v[1] - q[1] * c, v[2] - q[2] * c, v[3] - q[3] * c


@inlined
def _signed(p: float, s: float) -> float:
    """p with the other sign if the last bit of s is set."""
    bits = np.float64(p).view(np.int64) ^ (np.float64(s).view(np.int64) << np.int64(63))
    return np.int64(bits).view(np.float64)
