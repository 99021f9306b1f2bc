"""The compiled step of every tabular agent: plan, act, observe.

An agent hopes for the best among the models it holds possible. For each pair (s, a) its *formula* turns what was
seen there into three numbers, and the planner only ever sees those:

    reach  w       weight moved onto the best next state            (PAC-RMDP: w = h / (n + h), Equation (1))
    bonus  b       reward added for knowing little                  (MBIE-EB, VBE, BEB)
    radius e       L1 distance the model may be moved by            (MBIE)

With p the mean model, u(s') = R(s, a, s') + gamma V(s'), and B(p, e) the distributions within L1 distance e of p,

    Q(s, a) = b + (1 - w) max_{p' in B(p, e)} sum_s' p'(s') u(s') + w max_s' u(s'),     V(s) = max_a Q(s, a),

both capped at `value_cap`. A sample that ended the episode counts for an outcome of its own, the end, after which
nothing follows: u(end) = R(s, a, s'), which only `mean` and the best outcome see (`_set_apart`, `_best_end`). A state
in which episodes ended and which nothing was ever seen to leave, or to enter and go on, is *closed*: it is worth 0.

This operator T is a gamma-contraction, so a value V with max |TV - V| <= tolerance is
within tolerance / (1 - gamma) of its fixed point. `plan` sweeps V <- TV; when the sweeps have cost as much as an
exact solve of the greedy model would (S^3 / 3 against A S^2), it solves that linear system instead (policy
iteration, that is Newton's method on V = TV), which is what makes large bonuses cheap.

One file, because numba's cache notices a change only in the file of the function it cached (`caching.py` adds those
of `streams.uniform` and `compiling.formula_at`). Arithmetic is plain IEEE (no `fastmath`), so results do not depend on
the processor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hreach.compiling import Array, compiled, formula_at, inlined
from hreach.streams import uniform

TIE = 1e-9  # relative difference below which two action values count as equal
PIECE = 1 << 22  # multiplications of sweeps between two looks at the world: some milliseconds
FINEST = 4e-16  # relative residual below which doubles cannot go
TICK = 1.01  # growing constants are brought up to date when t + 2 has grown by this factor


class Rule(NamedTuple):
    """What stays fixed during a run."""

    reward: Array  # known reward: (S, A, S), or (S, A, 1) if it does not depend on s'; (0, 0, 0) if unknown
    parameters: Array  # (S, A, P), the formula's constants for each pair; where they grow, what ln(t + 2) multiplies
    preference: NDArray[np.int64]  # actions in the order in which ties are broken; empty: at random
    gamma: float
    tolerance: float
    r_min: float
    r_max: float
    v_min: float
    v_max: float
    value_cap: float
    freeze_at: float  # a pair with this much weight learns no more
    random_action: float  # probability of an action drawn uniformly
    reward_share: float  # of the reach of a pair, what counts for a reward that is learnt: `_refresh`
    adaptive: bool  # constants grow less where a try is dear: `grow`
    ends: bool  # whether an episode can end


class Belief(NamedTuple):
    """What an agent has seen (counts, total, income), what it hopes (mean .. radius), its plan, and its clock.

    Pair i = s A + a is lane i % 4 of block i // 4, and arrays over pairs are padded to whole blocks: a sweep keeps
    four sums going, so that the additions of one do not wait for each other; each sum runs in the order of the states.
    """

    counts: Array  # (S, A, S) alpha(s, a, s'): prior weight and samples
    ended: Array  # (S, A, S) how many of these samples ended the episode
    total: Array  # (S, A) alpha(s, a), the sum of the above
    income: Array  # (S, A) sum of rewards, the prior's included
    mean: Array  # (blocks, S, 4) (1 - w) times the mean model, without what ended in open states
    gone: Array  # (4 blocks,) (1 - w) times the weight of that
    parting: Array  # (4 blocks,) where the reward depends on s': the mean reward of that
    reach: Array  # (4 blocks,) w
    base: Array  # (4 blocks,) bonus, plus the reward unless it depends on s'
    radius: Array  # (4 blocks,)
    value: Array  # (S,)
    q: Array  # (4 blocks,)
    order: NDArray[np.int64]  # (S,) workspace
    target: Array  # (S,) workspace
    matrix: Array  # (S, S + 1) workspace
    clock: Array  # (2,) t, the number of samples, and what t was when the constants last grew (inf: they do not)
    constants: Array  # (S, A, P), the formula's constants now
    plain: Array  # (S,) where they are adaptive: the value without hope when they last grew
    terminal: NDArray[np.bool_]  # (S,) closed: episodes ended here, and nothing was seen to go on from here
    open: NDArray[np.bool_]  # (S,) left, or entered without an end


# --- planning -------------------------------------------------------------------------------------------------


@compiled
def _sort(target: Array, order: NDArray[np.int64]) -> None:
    """Order of the states by target, lowest first (insertion: warm from the last call, so nearly sorted)."""
    for i in range(1, order.size):
        state = order[i]
        k = i
        while k > 0 and target[order[k - 1]] > target[state]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = state


@inlined
def _best_end(reward: Array, s: int, a: int) -> float:
    """What ending the episode is worth at best: max_s' R(s, a, s') where the reward depends on s'."""
    best = -np.inf
    for j in range(reward.shape[2]):
        best = max(best, reward[s, a, j])
    return best


@compiled
def _ball_gain(
    mean: Array, i: int, radius: float, target: Array, order: NDArray[np.int64], gone: float, parting: float,
    best_end: float,
) -> float:  # fmt: skip
    """What the best model within L1 distance `radius` of pair i's mean p adds to sum_s' p(s') target(s').

    Half the radius moves to the best outcome, taken from the worst ones (Strehl & Littman 2008): exact. Besides the
    states there is the end: `gone` is its weight, `parting` its target, `best_end` what it could be worth (-inf: there
    is no end).
    """
    best: float = max(target[order[order.size - 1]], best_end)
    left = radius / 2.0
    gain: float = 0.0
    for k in range(order.size):
        state = order[k]
        if gone > 0.0 and parting <= target[state]:
            taken = min(gone, left)
            gain += taken * (best - parting)
            left -= taken
            gone = 0.0
        taken = min(mean[i // 4, state, i % 4], left)
        gain += taken * (best - target[state])
        left -= taken
        if left <= 0.0:
            return gain
    gain += min(gone, left) * (best - parting)
    return gain


@compiled
def _hopes_per_transition(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    value: Array, q: Array, target: Array, order: NDArray[np.int64], ends: bool,
) -> None:  # fmt: skip
    """q <- Q of `value` where the reward depends on s': the order of the targets is each pair's own."""
    states, actions = reward.shape[:2]
    for i in range(states * actions):
        expected = 0.0
        best = -np.inf
        for j in range(states):
            target[j] = reward[i // actions, i % actions, j] + gamma * value[j]
            expected += mean[i // 4, j, i % 4] * target[j]
            best = max(best, target[j])
        best_end = _best_end(reward, i // actions, i % actions) if ends else -np.inf
        q[i] = base[i] + expected + reach[i] * max(best, best_end)
        if radius[i] > 0.0:
            _sort(target, order)
            q[i] += _ball_gain(mean, i, radius[i], target, order, gone[i], parting[i], best_end)


@compiled
def _add_ball_gains(
    mean: Array, gone: Array, radius: Array, gamma: float, value: Array, q: Array, order: NDArray[np.int64], ends: bool
) -> None:
    """q <- q + gamma times what each pair's L1 ball adds."""
    _sort(value, order)
    for i in range(radius.size):
        if radius[i] > 0.0:
            q[i] += gamma * _ball_gain(mean, i, radius[i], value, order, gone[i], 0.0, 0.0 if ends else -np.inf)


@inlined
def _hopes(
    mean: Array, gone: Array, reach: Array, base: Array, radius: Array, gamma: float,
    value: Array, q: Array, order: NDArray[np.int64], balls: bool, ends: bool,
) -> None:  # fmt: skip
    """q <- Q of `value` where the reward does not depend on s': one best outcome for all pairs.

    `balls` is False if every radius is 0.
    """
    blocks, states, _ = mean.shape
    top = value[0]
    for s in range(1, states):
        if value[s] > top:
            top = value[s]
    if ends and top < 0.0:
        top = 0.0
    for b in range(blocks):
        i = 4 * b
        q0, q1, q2, q3 = reach[i] * top, reach[i + 1] * top, reach[i + 2] * top, reach[i + 3] * top
        for j in range(states):
            v = value[j]
            q0 += mean[b, j, 0] * v
            q1 += mean[b, j, 1] * v
            q2 += mean[b, j, 2] * v
            q3 += mean[b, j, 3] * v
        q0, q1 = base[i] + gamma * q0, base[i + 1] + gamma * q1
        q2, q3 = base[i + 2] + gamma * q2, base[i + 3] + gamma * q3
        q[i], q[i + 1], q[i + 2], q[i + 3] = q0, q1, q2, q3
    if balls:
        _add_ball_gains(mean, gone, radius, gamma, value, q, order, ends)


@inlined
def _sweep(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], actions: int, balls: bool, ends: bool,
) -> float:  # fmt: skip
    """q <- Q of `value`, target <- max_a q; returns max |target - value|, the residual of `value`."""
    states = value.size
    if reward.shape[2] == states and states > 1:
        _hopes_per_transition(
            mean, gone, parting, reach, base, radius, reward, gamma, value, q, target, order, ends
        )  # fmt: skip
    else:
        _hopes(mean, gone, reach, base, radius, gamma, value, q, order, balls, ends)
    residual = 0.0
    for s in range(states):
        best = -np.inf
        for i in range(s * actions, s * actions + actions):
            q[i] = min(q[i], cap)
            best = max(best, q[i])
        change = abs(best - value[s])
        if change > residual:
            residual = change
        target[s] = best
    return residual


@compiled
def _greedy_model(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], matrix: Array, actions: int,
    ends: bool,
) -> None:  # fmt: skip
    """Rows of (I - gamma P') V = r for the greedy action and the model it hopes for; q is the backup of value.

    What ends the episode has no column; what it pays is in r.
    """
    states = value.size
    per_transition = reward.shape[2] == states and states > 1
    for s in range(states):
        i = s * actions
        for other in range(s * actions + 1, s * actions + actions):
            if q[other] > q[i]:
                i = other
        if q[i] >= cap:
            for j in range(states):
                matrix[s, j] = 0.0
            matrix[s, s] = 1.0
            matrix[s, states] = cap
            continue
        best = 0
        for j in range(states):
            matrix[s, j] = mean[i // 4, j, i % 4]
            target[j] = gamma * value[j]
            if per_transition:
                target[j] += reward[s, i - s * actions, j]
            if target[j] > target[best]:
                best = j
        left = radius[i] / 2.0
        if left > 0.0:
            _sort(target, order)
            best = order[states - 1]
        best_end = -np.inf
        if ends:
            best_end = _best_end(reward, s, i - s * actions) if per_transition else 0.0
        to_end = best_end > target[best]
        income = base[i]
        ending = 0.0  # weight that moves to the end
        if left > 0.0:
            waiting = gone[i]
            for k in range(states):
                j = order[k]
                if waiting > 0.0 and parting[i] <= target[j]:
                    taken = min(waiting, left)
                    income -= taken * parting[i]
                    if to_end:
                        ending += taken
                    else:
                        matrix[s, best] += taken
                    left -= taken
                    waiting = 0.0
                if to_end:
                    taken = min(matrix[s, j], left)
                    matrix[s, j] -= taken
                    ending += taken
                    left -= taken
                elif j != best:
                    taken = min(matrix[s, j], left)
                    matrix[s, j] -= taken
                    matrix[s, best] += taken
                    left -= taken
            if to_end:
                taken = min(waiting, left)
                income -= taken * parting[i]
                ending += taken
        if to_end:
            income += (ending + reach[i]) * best_end
        else:
            matrix[s, best] += reach[i]
        for j in range(states):
            if per_transition:
                income += matrix[s, j] * reward[s, i - s * actions, j]
            matrix[s, j] *= -gamma
        matrix[s, s] += 1.0
        matrix[s, states] = income


@compiled
def _eliminate(matrix: Array, value: Array) -> None:
    """Solve the system by Gaussian elimination; rows are diagonally dominant, so no pivoting is needed."""
    states = value.size
    for i in range(states):
        pivot = 1.0 / matrix[i, i]
        for k in range(i + 1, states):
            factor = matrix[k, i] * pivot
            if factor != 0.0:
                for j in range(i + 1, states + 1):
                    matrix[k, j] -= factor * matrix[i, j]
    for i in range(states - 1, -1, -1):
        rest = matrix[i, states]
        for j in range(i + 1, states):
            rest -= matrix[i, j] * value[j]
        value[i] = rest / matrix[i, i]


@compiled
def _improve(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, tolerance: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], matrix: Array,
    actions: int, balls: bool, ends: bool, residual: float,
) -> tuple[int, float, bool]:  # fmt: skip
    """Sweep and solve until the residual is small, from a sweep that left it too large: (sweeps, residual, finished).

    A plain sweep leaves at most gamma times the residual. Where it does not lower it, what is left is rounding, and no
    work would help: that is the end as well. So is, for now, a piece of work that has become long (False).
    """
    states = value.size
    sweeps = 1
    longest = max(64, PIECE // (actions * states * states))
    unpaid = 0
    solving = True
    while True:
        unpaid += 3 * actions
        solved = solving and unpaid >= states
        before = residual
        if solved:
            unpaid = 0
            _greedy_model(
                mean, gone, parting, reach, base, radius, reward, gamma, cap,
                value, q, target, order, matrix, actions, ends,
            )  # fmt: skip
            _eliminate(matrix, value)
        else:
            for s in range(states):
                value[s] = target[s]
        residual = _sweep(
            mean, gone, parting, reach, base, radius, reward, gamma, cap, value, q, target, order, actions, balls, ends
        )  # fmt: skip
        sweeps += 1
        largest = 0.0
        for s in range(states):
            largest = max(largest, abs(target[s]))
        if residual <= tolerance or residual <= FINEST * largest or (not solved and residual >= before):
            return sweeps, residual, True
        if sweeps >= longest:
            return sweeps, residual, False
        # Under a cap T is not convex and a solve may not help; plain sweeps always do.
        solving = solving and not (solved and residual >= before)


@inlined
def _plan(
    mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array, gamma: float,
    cap: float, tolerance: float, value: Array, q: Array, target: Array, order: NDArray[np.int64], matrix: Array,
    actions: int, balls: bool, ends: bool,
) -> tuple[int, float, bool]:  # fmt: skip
    """`plan` on plain arrays: after one more sample, a single sweep is mostly all it takes."""
    sweeps = 1
    finished = True
    residual = _sweep(
        mean, gone, parting, reach, base, radius, reward, gamma, cap, value, q, target, order, actions, balls, ends
    )  # fmt: skip
    if residual > tolerance:
        sweeps, residual, finished = _improve(
            mean, gone, parting, reach, base, radius, reward, gamma, cap, tolerance,
            value, q, target, order, matrix, actions, balls, ends, residual,
        )  # fmt: skip
    for s in range(value.size):
        value[s] = target[s]
    return sweeps, residual, finished


@compiled
def _any_ball(radius: Array) -> bool:
    for i in range(radius.size):  # noqa: SIM110 (compiled: a generator would not be)
        if radius[i] > 0.0:
            return True
    return False


@compiled
def plan(rule: Rule, belief: Belief) -> tuple[int, float, bool]:
    """Bring `value` and `q` up to date with the model: (sweeps, residual, finished); to be called until finished.

    q is the backup of a value V with max |TV - V| <= residual, and `value` is TV, so
    |value - V~| <= gamma residual / (1 - gamma). When it is finished the residual is at most the tolerance, unless
    that is finer than doubles can hold.
    """
    b = belief
    return _plan(
        b.mean, b.gone, b.parting, b.reach, b.base, b.radius, rule.reward, rule.gamma, rule.value_cap, rule.tolerance,
        b.value, b.q, b.target, b.order, b.matrix, b.total.shape[1], _any_ball(b.radius), rule.ends,
    )  # fmt: skip


# --- acting and learning --------------------------------------------------------------------------------------


@inlined
def _act(
    q: Array, first: int, end: int, random_action: float, preference: NDArray[np.int64],
    stream: NDArray[np.uint64],
) -> int:  # fmt: skip
    """The best of the actions whose values are q[first:end]; draws from `stream` only where chance decides."""
    if random_action > 0.0 and uniform(stream) < random_action:
        return int(uniform(stream) * (end - first))
    best = q[first]
    for i in range(first + 1, end):
        if q[i] > best:
            best = q[i]
    floor = best - TIE * max(1.0, abs(best))
    for k in range(preference.size):
        if q[first + preference[k]] >= floor:
            return int(preference[k])
    ties = 0
    chosen = 0
    for i in range(first, end):
        if q[i] >= floor:
            if ties == 0:
                chosen = i - first
            ties += 1
    if ties > 1:
        skip = int(uniform(stream) * ties)
        for i in range(first, end):
            if q[i] >= floor:
                if skip == 0:
                    return i - first
                skip -= 1
    return chosen


@compiled
def act(rule: Rule, belief: Belief, s: int, stream: NDArray[np.uint64]) -> int:
    """The action to take in s under the last plan."""
    actions = belief.total.shape[1]
    return _act(belief.q, s * actions, (s + 1) * actions, rule.random_action, rule.preference, stream)


@inlined
def _set_apart(
    s: int, a: int, i: int, scale: float, counts: Array, ended: Array, terminal: NDArray[np.bool_], reward: Array,
    mean: Array, gone: Array, parting: Array,
) -> float:  # fmt: skip
    """Take what ended in open states out of the mean of pair i; what it pays, where the reward depends on s'.

    What ended in closed states may stay: they are worth 0.
    """
    states = counts.shape[2]
    weight = 0.0
    pays = 0.0
    for j in range(states):
        if ended[s, a, j] > 0.0 and not terminal[j]:
            mean[i // 4, j, i % 4] = scale * (counts[s, a, j] - ended[s, a, j])
            weight += scale * ended[s, a, j]
            if reward.shape[2] == states and states > 1:
                pays += scale * ended[s, a, j] * reward[s, a, j]
    gone[i] = weight
    parting[i] = pays / weight if weight > 0.0 else 0.0
    return pays


@inlined
def _refresh(
    formula: Any, s: int, a: int, counts: Array, ended: Array, terminal: NDArray[np.bool_], total: Array,
    income: Array, mean: Array, gone: Array, parting: Array, reach: Array, base: Array, radius: Array, reward: Array,
    constants: Array, r_min: float, r_max: float, v_max: float, reward_share: float, ends: bool,
) -> None:  # fmt: skip
    """Recompute what the agent hopes for (s, a) from its counts.

    A reward that is learnt is hoped for with c h instead of h samples, c the `reward_share`: with w = h/(n + h) that is
    the weight c h/(n + c h) = c w/(1 - w + c w) on r_max.
    """
    states, actions = counts.shape[:2]
    i = s * actions + a
    b, lane = i // 4, i % 4
    weight = total[s, a]
    paid = 0.0
    if reward.shape[0] == 0:
        paid = income[s, a] / weight if weight > 0.0 else (r_min + r_max) / 2.0
    w, bonus, ball = formula(counts[s, a], weight, paid, constants[s, a])
    if bonus == np.inf:  # nothing is known here: the largest value there is
        for j in range(states):
            mean[b, j, lane] = 0.0
        gone[i] = 0.0
        reach[i] = 0.0
        radius[i] = 0.0
        base[i] = v_max
        return
    if weight > 0.0:
        scale = (1.0 - w) / weight
        for j in range(states):
            mean[b, j, lane] = scale * counts[s, a, j]
        if ends:
            bonus += _set_apart(s, a, i, scale, counts, ended, terminal, reward, mean, gone, parting)
    else:
        gone[i] = 0.0
        for j in range(states):
            mean[b, j, lane] = (1.0 - w) / states
    reach[i] = w
    radius[i] = ball
    if reward.shape[0] == 0:
        weight_of_best = reward_share * w / (1.0 - w + reward_share * w) if w < 1.0 else 1.0
        bonus += (1.0 - weight_of_best) * paid + weight_of_best * r_max
    elif reward.shape[2] == 1:
        bonus += reward[s, a, 0]
    base[i] = bonus


@compiled
def refresh_all(formula: Any, rule: Rule, belief: Belief) -> None:
    """Recompute what the agent hopes for every pair."""
    b = belief
    for s in range(b.total.shape[0]):
        for a in range(b.total.shape[1]):
            _refresh(
                formula, s, a, b.counts, b.ended, b.terminal, b.total, b.income, b.mean, b.gone, b.parting, b.reach,
                b.base, b.radius, rule.reward, b.constants, rule.r_min, rule.r_max, rule.v_max, rule.reward_share,
                rule.ends,
            )  # fmt: skip
        if b.terminal[s]:
            close(belief, s)


@compiled
def close(belief: Belief, s: int) -> None:
    """Nothing follows the closed state s: no reward, no future."""
    b = belief
    for i in range(s * b.total.shape[1], (s + 1) * b.total.shape[1]):
        for j in range(b.value.size):
            b.mean[i // 4, j, i % 4] = 0.0
        b.gone[i] = b.reach[i] = b.base[i] = b.radius[i] = 0.0


@compiled
def _open(formula: Any, rule: Rule, belief: Belief, s: int) -> None:
    """Something goes on from s; if it was closed, all that ended there is to be set apart."""
    belief.open[s] = True
    if belief.terminal[s]:
        belief.terminal[s] = False
        refresh_all(formula, rule, belief)


@compiled
def _meet(formula: Any, rule: Rule, belief: Belief, s: int, next_state: int, terminated: bool) -> bool:
    """Learn from a sample which states are closed; whether that changed."""
    b = belief
    closed = b.terminal[s]
    if not b.open[s]:
        _open(formula, rule, belief, s)
    if not terminated:
        closed = closed or b.terminal[next_state]
        if not b.open[next_state]:
            _open(formula, rule, belief, next_state)
    elif not b.open[next_state] and not b.terminal[next_state]:
        b.terminal[next_state] = True
        close(belief, next_state)
        return True
    return bool(closed)


@compiled
def grow(formula: Any, rule: Rule, belief: Belief, samples: float) -> None:
    """From here on the constants are `rule.parameters` times ln(samples + 2), and where they are adaptive times

        min(1, [(1 - gamma) (V(s) - v_min) / (V(s) - Q(s, a))]^2),    V, Q the values without hope:

    less where trying a once costs more than losing one step does. Rewards below r_min can make values lower than v_min;
    then the least of them takes its place.
    """
    b = belief
    states, actions = b.total.shape
    b.clock[1] = samples
    factor = np.log(samples + 2.0)
    if rule.adaptive:
        _set(b.constants, rule.parameters, 0.0)
        refresh_all(formula, rule, belief)
        finished = False
        while not finished:
            _, _, finished = _plan(
                b.mean, b.gone, b.parting, b.reach, b.base, b.radius, rule.reward, rule.gamma, rule.value_cap,
                0.1 * rule.tolerance, b.plain, b.q, b.target, b.order, b.matrix, actions, _any_ball(b.radius),
                rule.ends,
            )  # fmt: skip
    _set(b.constants, rule.parameters, factor)
    if rule.adaptive:
        lowest = rule.v_min
        for i in range(states * actions):
            lowest = min(lowest, b.q[i])
        for s in range(states):
            step = (1.0 - rule.gamma) * (b.plain[s] - lowest)
            for a in range(actions):
                cost = b.plain[s] - b.q[s * actions + a]
                if cost > step:
                    for k in range(b.constants.shape[2]):
                        b.constants[s, a, k] *= (step / cost) ** 2
    refresh_all(formula, rule, belief)


@compiled
def _set(constants: Array, parameters: Array, factor: float) -> None:
    """constants <- factor parameters."""
    for s in range(parameters.shape[0]):
        for a in range(parameters.shape[1]):
            for k in range(parameters.shape[2]):
                constants[s, a, k] = factor * parameters[s, a, k]


@compiled
def _due(since: float) -> float:
    """The number of samples at which constants that grew at `since` are to grow again: t + 2 is `TICK` times as large.

    That is at every step until t = 98, and once in 1 % of the life then: constants stay within ln(TICK) < .01 of
    ln(t + 2) times their parameter, and a step costs what it costs with fixed constants.
    """
    return TICK * (since + 2.0) - 2.0


@compiled
def learn(
    address: int, rule: Rule, belief: Belief, s: int, a: int, paid: float, next_state: int, terminated: bool
) -> bool:
    """Add one sample to (s, a); False if nothing changed, for the pair is frozen. `address`: that of the formula."""
    b = belief
    formula = formula_at(address)
    changed = rule.ends and _meet(formula, rule, belief, s, next_state, terminated)
    if b.total[s, a] >= rule.freeze_at:
        return changed
    b.counts[s, a, next_state] += 1.0
    b.ended[s, a, next_state] += terminated
    b.total[s, a] += 1.0
    b.income[s, a] += paid
    b.clock[0] += 1.0
    _refresh(
        formula, s, a, b.counts, b.ended, b.terminal, b.total, b.income, b.mean, b.gone, b.parting, b.reach,
        b.base, b.radius, rule.reward, b.constants, rule.r_min, rule.r_max, rule.v_max, rule.reward_share, rule.ends,
    )  # fmt: skip
    if b.clock[0] >= _due(b.clock[1]):
        grow(formula, rule, belief, b.clock[0])
    return True


# --- the value without hope -----------------------------------------------------------------------------------


@inlined
def _expected(counts: Array, s: int, a: int, weight: float, values: Array) -> float:
    """sum_s' p(s') values(s') by four sums, p the mean model of (s, a), which is uniform where nothing was seen."""
    states = values.size
    whole = states // 4 * 4
    e0 = e1 = e2 = e3 = 0.0
    if weight > 0.0:
        for j in range(0, whole, 4):
            e0 += counts[s, a, j] * values[j]
            e1 += counts[s, a, j + 1] * values[j + 1]
            e2 += counts[s, a, j + 2] * values[j + 2]
            e3 += counts[s, a, j + 3] * values[j + 3]
        for j in range(whole, states):
            e0 += counts[s, a, j] * values[j]
        return ((e0 + e1) + (e2 + e3)) / weight
    for j in range(states):
        e0 += values[j]
    return e0 / states


@inlined
def _plain_backup(
    s: int, a: int, counts: Array, ended: Array, total: Array, income: Array, reward: Array, middle: float,
    gamma: float, value: Array, ends: bool,
) -> float:  # fmt: skip
    """R(s, a) + gamma sum_s' p(s') value(s'), straight from the counts: there is no model to keep up to date."""
    weight = total[s, a]
    if reward.shape[0] == 0:
        paid = income[s, a] / weight if weight > 0.0 else middle
    elif reward.shape[2] == 1:
        paid = reward[s, a, 0]
    else:
        paid = _expected(counts, s, a, weight, reward[s, a])
    future = _expected(counts, s, a, weight, value)
    if ends and weight > 0.0:
        lost = 0.0
        for j in range(value.size):
            lost += ended[s, a, j] * value[j]
        future -= lost / weight
    return paid + gamma * future


@inlined
def _plain_sweep(
    counts: Array, ended: Array, total: Array, income: Array, terminal: NDArray[np.bool_], reward: Array,
    middle: float, gamma: float, value: Array, matrix: Array, ends: bool,
) -> float:  # fmt: skip
    """The last column of `matrix` <- T value, the best backup of each state; returns max |T value - value|."""
    states, actions = total.shape
    residual = 0.0
    for s in range(states):
        best = 0.0 if terminal[s] else -np.inf
        if not terminal[s]:
            for a in range(actions):
                q = _plain_backup(s, a, counts, ended, total, income, reward, middle, gamma, value, ends)
                best = max(best, q)
        matrix[s, states] = best
        residual = max(residual, abs(best - value[s]))
    return residual


@compiled
def _plain_solve(
    counts: Array, ended: Array, total: Array, income: Array, terminal: NDArray[np.bool_], reward: Array,
    middle: float, gamma: float, value: Array, matrix: Array, ends: bool,
) -> None:  # fmt: skip
    """value <- that of the policy that is greedy under it; the last column of `matrix` is T value."""
    states, actions = total.shape
    for s in range(states):
        for j in range(states):
            matrix[s, j] = 0.0
        matrix[s, s] = 1.0
        if terminal[s]:
            continue
        a = 0
        best = -np.inf
        for other in range(actions):
            q = _plain_backup(s, other, counts, ended, total, income, reward, middle, gamma, value, ends)
            if q > best:
                a, best = other, q
        weight = total[s, a]
        for j in range(states):
            p = (counts[s, a, j] - ended[s, a, j]) / weight if weight > 0.0 else 1.0 / states
            matrix[s, j] -= gamma * p
            matrix[s, states] -= gamma * p * value[j]
    _eliminate(matrix, value)


@compiled
def _plain_improve(
    counts: Array, ended: Array, total: Array, income: Array, terminal: NDArray[np.bool_], reward: Array,
    middle: float, gamma: float, tolerance: float, value: Array, matrix: Array, residual: float, ends: bool,
) -> float:  # fmt: skip
    """Sweep and solve as `_improve` does, until the residual is small; returns it."""
    states, actions = total.shape
    unpaid = 0
    solving = True
    while True:
        unpaid += 3 * actions
        solved = solving and unpaid >= states
        before = residual
        if solved:
            unpaid = 0
            _plain_solve(counts, ended, total, income, terminal, reward, middle, gamma, value, matrix, ends)
        else:
            for s in range(states):
                value[s] = matrix[s, states]
        residual = _plain_sweep(counts, ended, total, income, terminal, reward, middle, gamma, value, matrix, ends)
        largest = 0.0
        for s in range(states):
            largest = max(largest, abs(matrix[s, states]))
        if residual <= tolerance or residual <= FINEST * largest or (not solved and residual >= before):
            return residual
        solving = solving and not (solved and residual >= before)  # no nearer: all that is left is rounding


@compiled
def compare(
    counts: Array, ended: Array, total: Array, income: Array, terminal: NDArray[np.bool_], clock: Array,
    hoped: Array, reward: Array, middle: float, gamma: float, ends: bool, tolerance: float, value: Array,
    matrix: Array, known: Array, residual: float, s: int,
) -> tuple[int, int, float, float, float]:  # fmt: skip
    """Bring `value`, V_{h=0}, up to date and set it beside V~: (samples, s, V~(s), V_{h=0}(s), accuracy of their gap).

    middle            the reward of a pair that was never tried, where rewards are learnt
    hoped, residual   V~, (S,), and its residual
    matrix            (S, S + 1), workspace
    known             (3,) of how many samples and closed states `value` is, and its own residual, as that of `plan`
    s                 a state, or -1: the first one of those in which V~ and V_{h=0} are furthest apart
    """
    states = value.size
    closed = 0
    for state in range(states):
        closed += terminal[state]
    if clock[0] != known[0] or closed != known[1]:
        own = _plain_sweep(counts, ended, total, income, terminal, reward, middle, gamma, value, matrix, ends)
        if own > tolerance:
            own = _plain_improve(
                counts, ended, total, income, terminal, reward, middle, gamma, tolerance, value, matrix, own, ends
            )  # fmt: skip
        for state in range(states):
            value[state] = matrix[state, states]
        known[0], known[1], known[2] = clock[0], closed, own
    if s < 0:
        s = 0
        for state in range(1, states):
            if abs(hoped[state] - value[state]) > abs(hoped[s] - value[s]):
                s = state
    return int(clock[0]), s, hoped[s], value[s], gamma / (1.0 - gamma) * (residual + known[2])


# --- whole runs -----------------------------------------------------------------------------------------------


class World(NamedTuple):
    """A tabular MDP as cumulative rows: pair (s, a) owns the entries first[s A + a] .. first[s A + a + 1] - 1."""

    first: NDArray[np.int64]  # (S A + 1,)
    next_state: NDArray[np.int64]  # (nonzeros,)
    cumulative: Array  # (nonzeros,) cumulative probability within the row
    reward: Array  # (nonzeros,) reward paid for this transition
    end: Array  # (nonzeros,) probability that this transition ends the episode
    start: Array  # (S,) cumulative start distribution


@inlined
def _draw(cumulative: Array, first: int, end: int, u: float) -> int:
    """First entry k of first .. end - 1 with u < cumulative[k] (the last one at the latest)."""
    k = first
    while k < end - 1 and u >= cumulative[k]:
        k += 1
    return k


@compiled
def _copy(source: Array, to: Array) -> None:
    a, b = source.reshape(source.size), to.reshape(to.size)
    for i in range(a.size):
        b[i] = a[i]


@compiled
def _restore(begin: Belief, belief: Belief) -> None:
    """belief <- begin."""
    _copy(begin.counts, belief.counts)
    _copy(begin.ended, belief.ended)
    _copy(begin.gone, belief.gone)
    _copy(begin.parting, belief.parting)
    _copy(begin.total, belief.total)
    _copy(begin.income, belief.income)
    _copy(begin.clock, belief.clock)
    _copy(begin.constants, belief.constants)
    _copy(begin.plain, belief.plain)
    _copy(begin.mean, belief.mean)
    _copy(begin.reach, belief.reach)
    _copy(begin.base, belief.base)
    _copy(begin.radius, belief.radius)
    _copy(begin.value, belief.value)
    for s in range(begin.order.size):
        belief.order[s] = begin.order[s]
        belief.terminal[s] = begin.terminal[s]
        belief.open[s] = begin.open[s]


@inlined
def _ends_here(end: float, environment: NDArray[np.uint64]) -> bool:
    """Whether a transition that ends with this probability does; draws only where chance decides."""
    return end >= 1.0 or (end > 0.0 and uniform(environment) < end)


@inlined
def _walk(
    formula: Any, rule: Rule, belief: Belief, world: World, environment: NDArray[np.uint64],
    coins: NDArray[np.uint64], state: int, paid: Array, over: NDArray[np.bool_], run: int, begun: int, end: int,
    once: bool, stop: NDArray[np.bool_],
) -> int:  # fmt: skip
    """Steps begun .. end - 1 of a run, from `state`; fills paid[run, begun:end], and returns the state after them.
    `over` is filled alike with whether the episode ended, unless it has no columns.

    An episode that ends is followed by a new one, or, if the run is for one episode only (`once`), by nothing: -1.

    The same steps as `plan`, `act` and `learn`, on arrays taken out of their tuples once: taking them out at
    every step costs more than planning does. Once `stop` is set, nothing that follows means anything.
    """
    actions = belief.total.shape[1]
    reward, preference = rule.reward, rule.preference
    first, successor, cumulative, pays = world.first, world.next_state, world.cumulative, world.reward
    gamma, cap, tolerance = rule.gamma, rule.value_cap, rule.tolerance
    r_min, r_max, v_max, ends = rule.r_min, rule.r_max, rule.v_max, rule.ends
    reward_share = rule.reward_share
    freeze_at, random_action = rule.freeze_at, rule.random_action
    counts, ended, total, income = belief.counts, belief.ended, belief.total, belief.income
    constants, terminal = belief.constants, belief.terminal
    mean, gone, parting, reach = belief.mean, belief.gone, belief.parting, belief.reach
    base, radius = belief.base, belief.radius
    value, q, order, target, matrix = belief.value, belief.q, belief.order, belief.target, belief.matrix
    stale = True
    balls = _any_ball(radius)
    for t in range(begun, end):
        while stale and not stop[0]:
            _, _, finished = _plan(
                mean, gone, parting, reach, base, radius, reward, gamma, cap, tolerance,
                value, q, target, order, matrix, actions, balls, ends,
            )  # fmt: skip
            stale = not finished
        if stop[0]:
            break
        i = state * actions
        action = _act(q, i, i + actions, random_action, preference, coins)
        k = _draw(cumulative, first[i + action], first[i + action + 1], uniform(environment))
        done = ends and _ends_here(world.end[k], environment)
        paid[run, t] = pays[k]
        if over.shape[1] > 0:
            over[run, t] = done
        stale = ends and _meet(formula, rule, belief, state, successor[k], done)
        if total[state, action] < freeze_at:
            stale = True
            counts[state, action, successor[k]] += 1.0
            ended[state, action, successor[k]] += done
            total[state, action] += 1.0
            income[state, action] += pays[k]
            _refresh(
                formula, state, action, counts, ended, terminal, total, income, mean, gone, parting, reach,
                base, radius, reward, constants, r_min, r_max, v_max, reward_share, ends,
            )  # fmt: skip
            balls = balls or radius[i + action] > 0.0
        state = successor[k]
        if done:
            if once:
                return -1
            state = _draw(world.start, 0, world.start.size, uniform(environment))
    return state


@compiled
def simulate(
    formula: Any,
    rule: Rule,
    begin: Belief,
    belief: Belief,
    world: World,
    streams: NDArray[np.uint64],
    paid: Array,
    over: NDArray[np.bool_],
    once: bool,
    stop: NDArray[np.bool_],
) -> None:
    """Runs 0 .. runs - 1, each from the belief `begin`; streams: (runs, 2, 4); paid: (runs, steps) is filled, and so is
    over, (runs, steps) or (runs, 0), with which steps ended an episode.

    `belief` is scratch space of the same shapes as `begin`. A run is one walk, or, where constants grow, one walk
    after each time that they did. `once`: a run ends with its first episode. `stop` (1,) may be set by another thread:
    the runs then end at once, unfinished.
    """
    runs, steps = paid.shape
    for run in range(runs):
        _restore(begin, belief)
        environment, coins = streams[run, 0], streams[run, 1]
        state = _draw(world.start, 0, world.start.size, uniform(environment))
        done = min(steps, 0)  # a plain 0 is a literal, for which `_walk` would be compiled once more
        while done < steps and state >= 0 and not stop[0]:
            until = int(min(np.ceil(_due(belief.clock[1]) - begin.clock[0]), float(steps)))
            state = _walk(
                formula, rule, belief, world, environment, coins, state, paid, over, run, done, until, once, stop
            )
            done = until
            if begin.clock[0] + done >= _due(belief.clock[1]):
                grow(formula, rule, belief, begin.clock[0] + done)
