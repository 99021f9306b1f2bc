"""One backup over confidence sets: the best and the worst expectation in a KL ball around each row of counts.

    max {q.u : KL(p^ || q) <= b} = min over nu >= max u of  nu - e^{-b} prod_i (nu - u_i)^{p^_i}

and the minimum likewise for -u. Every nu gives a bound, so an unfinished search only loosens it. The search runs in
x = nu - max u, for all digits of nu are lost where x is small; outcomes that were never seen enter through max u alone.

At the best nu the extreme row is q_i proportional to p^_i / (nu - u_i); what is left of 1 goes to the best outcome.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, inlined, inlined_too, merged

CLOSE = 1e-10  # the search for nu ends where its slope is below this share of b: the bound is then off by its square
FINEST = 2e-15  # or below this, where doubles end
ROUNDS = 60  # and after this many steps at the latest


class Rows(NamedTuple):
    """What was counted of each pair i = s A + a, which owns the entries first[i] .. first[i + 1] - 1.

    following   (M,) the next state of an entry; S: the episode ends
    seen        (M,) how often it was; 0 is allowed where `open` is False
    pays        (M,) its reward where that depends on s', else 0
    total       (N,) samples of each pair
    rewards     (S, A, S) where the reward depends on s', else (0, 0, 0)
    closed      (S,) states that are worth 0: nothing follows them
    open        whether outcomes may follow that have no entry
    ends        whether an episode can end
    copies      (S,) how many states of the problem each stands for: 1, or all those never met that pay alike
    """

    first: NDArray[np.int64]
    following: NDArray[np.int64]
    seen: Array
    pays: Array
    total: Array
    rewards: Array
    closed: NDArray[np.bool_]
    gamma: float
    open: bool
    ends: bool
    copies: Array


class Extreme(NamedTuple):
    """What a backup found: of each pair its value, and the row that attains it.

    q       (N,) the bound on reward + gamma P.V
    paid    (N,) the expected reward of the extreme row
    model   (M,) its weights on the entries
    rest    (N,) its weight on the best outcome, `aim` (N,): a next state, or S
    flat    (N,) its weight on all states alike
    hint    (N,) x of the last search
    """

    q: Array
    paid: Array
    model: Array
    rest: Array
    aim: NDArray[np.int64]
    flat: Array
    hint: Array


@inlined
def _slope(count: Array, gap: Array, first: int, end: int, n: float, x: float) -> tuple[float, float, float]:
    """(sum p ln(x + g), sum p/(x + g), sum p/(x + g)^2) over the entries, p = count/n."""
    logs = inverse = squares = 0.0
    for k in range(first, end):
        if count[k] > 0.0:
            p, y = count[k] / n, x + gap[k]
            logs += p * np.log(y)
            inverse += p / y
            squares += p / (y * y)
    return logs, inverse, squares


@merged
def _begin(count: Array, gap: Array, first: int, end: int, n: float, budget: float) -> float:
    """x that would be right for a small ball: sqrt(variance / (2 b))."""
    mean = square = 0.0
    for k in range(first, end):
        mean += count[k] / n * gap[k]
        square += count[k] / n * gap[k] * gap[k]
    return float(np.sqrt(max(square - mean * mean, 1e-30 * square) / (2.0 * budget)))


@compiled
def widest(
    count: Array, gap: Array, first: int, end: int, n: float, budget: float, hint: float
) -> tuple[float, float, float]:
    """(x, M, sum p/(x + g)): max q.u <= max u + x - M, M = e^{-b} prod (x + g)^p, g = max u - u; slope 1 - M sum.

    ln M + ln sum p/(x + g) falls as x grows, is convex in ln x and is 0 at the best x: Newton's method in ln x, which
    is monotone from the left. If it is below 0 at x = 0 already, the best outcome was not seen and x = 0 is the best.
    """
    least = np.inf
    most = 0.0
    for k in range(first, end):
        if count[k] > 0.0:
            least = min(least, gap[k])
            most = max(most, gap[k])
    if most <= 0.0 or not budget < np.inf:
        return 0.0, 0.0, 0.0
    if least > 0.0:
        logs, inverse, _ = _slope(count, gap, first, end, n, 0.0)
        if logs + np.log(inverse) <= budget:
            return 0.0, float(np.exp(logs - budget)), inverse
    x = hint if hint > 0.0 else _begin(count, gap, first, end, n, budget)
    logs = inverse = 0.0
    for _ in range(ROUNDS):
        logs, inverse, squares = _slope(count, gap, first, end, n, x)
        off = logs + np.log(inverse) - budget
        if abs(off) <= max(CLOSE * budget, FINEST):
            break
        fall = x * (squares / inverse - inverse)
        step = off / fall if fall > 0.0 else np.copysign(3.0, off)
        x *= np.exp(min(max(step, -3.0), 3.0))
    else:
        logs, inverse, _ = _slope(count, gap, first, end, n, x)
    return x, float(np.exp(logs - budget)), inverse


@inlined_too
def highest(value: Array, sign: float, states: int, ends: bool) -> int:
    """The state, or the end, of the largest sign * value; value[S] = 0 is that of the end."""
    best = states if ends else 0
    for j in range(states):
        if sign * value[j] > sign * value[best]:
            best = j
    return best


@inlined
def best_unseen(rows: Rows, i: int, sign: float, value: Array) -> tuple[float, int, float]:
    """(sign * target, next state, reward) of the best outcome of a pair whose reward depends on s'."""
    states, actions = rows.closed.size, rows.rewards.shape[1]
    best, aim, pay = -np.inf, 0, 0.0
    for j in range(states):
        r = rows.rewards[i // actions, i % actions, j]
        if sign * (r + rows.gamma * value[j]) > best:
            best, aim, pay = sign * (r + rows.gamma * value[j]), j, r
        if rows.ends and sign * r > best:
            best, aim, pay = sign * r, states, r
    return best, aim, pay


@compiled
def backup_pair(
    rows: Rows, i: int, base: float, budget: float, sign: float, paying: float, value: Array, best: int,
    found: Extreme, gap: Array,
) -> None:  # fmt: skip
    """The bound on base + gamma P.value of pair i over its ball: the largest (sign 1) or the least (-1).

    paying   1, or 0: without the rewards of outcomes. best: `highest`. gap: (M,) scratch.
    """
    first, end, n = rows.first[i], rows.first[i + 1], rows.total[i]
    top, aim, pay = -np.inf, 0, 0.0
    if rows.open and paying > 0.0 and rows.rewards.shape[0] > 0:
        top, aim, pay = best_unseen(rows, i, sign, value)
    elif rows.open:
        top, aim = sign * rows.gamma * value[best], best
    for k in range(first, end):
        r = paying * rows.pays[k]
        gap[k] = sign * (r + rows.gamma * value[rows.following[k]])
        if gap[k] > top:
            top, aim, pay = gap[k], rows.following[k], r
    for k in range(first, end):
        gap[k] = top - gap[k]
    x, weight, inverse = widest(rows.seen, gap, first, end, n, budget, found.hint[i])
    found.hint[i], found.q[i] = x, base + sign * (top + x - weight)
    scale = min(weight, 1.0 / inverse) if inverse > 0.0 else 0.0
    paid, left = base, 1.0
    for k in range(first, end):
        share = scale * rows.seen[k] / n / (x + gap[k]) if scale > 0.0 and rows.seen[k] > 0.0 else 0.0
        found.model[k] = share
        left -= share
        paid += paying * share * rows.pays[k]
    found.rest[i], found.aim[i], found.flat[i] = max(left, 0.0), aim, 0.0
    found.paid[i] = paid + found.rest[i] * pay
