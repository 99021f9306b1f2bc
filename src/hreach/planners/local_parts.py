"""What a local plan is made of: what x stands for, what stays fixed, and the arrays before anything was met."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hreach.compiling import Formula
from hreach.errors import InputError, number, positive, require
from hreach.kernels.local_state import (
    DAYS,
    HASTY,
    HIGHEST,
    LEVELS,
    LOWEST,
    MAX_X,
    MEAN_X,
    NO_X,
    NUMBERS,
    OWN_X,
    REST,
    ROUNDS,
    TICKS,
    Lines,
    LocalRule,
)  # fmt: skip
from hreach.models.sparse_counts import SparseCounts
from hreach.optimism import beb, greedy, mbie_eb, mbie_reach, r_max, vbe
from hreach.optimism.schedules import growing
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.sweeps import preference_of
from hreach.problems.problem import Problem
from hreach.protocols import Floats
from hreach.reach.weight import reach_formula

WAYS = ("both", "queue", "sweeps")  # as LocalRule.way counts them
SOLVED = 128  # states up to which there is room for a solve
_OF_X: dict[Formula, int] = {
    reach_formula: MAX_X,
    mbie_reach.optimistic: MAX_X,
    greedy.certain: MEAN_X,
    beb.bonus: MEAN_X,
    mbie_eb.optimistic: NO_X,
    vbe.spread_bonus: NO_X,
    r_max.until_known: NO_X,
}


def mode_of(optimism: TabularOptimism, knows_successors: bool = False) -> int:
    """What x stands for; one sentence for what cannot be planned locally."""
    changes = optimism.schedule not in (None, growing) or optimism.draws or optimism.lookahead is not None
    require(not changes, "planner", "local", "'sweeps' where h is adaptive or of a lifetime, or the model is drawn")
    ours = optimism.formula in _OF_X
    require(ours, "planner", "local", "'sweeps' for a formula other than those of pac-rmdp, bolt, greedy and bonuses")
    mode = _OF_X[optimism.formula]
    if knows_successors:
        return OWN_X
    if optimism.formula is reach_formula:
        h = np.asarray(next(iter(optimism.constants.values())), dtype=np.float64)
        none = bool((h == 0).all())
        require(none or bool((h > 0).all()), "h", h, "above 0 everywhere or 0 everywhere with planner='local'")
        return MEAN_X if none else MAX_X
    return mode


def plannable(problem: Problem, optimism: TabularOptimism, value_cap: float | None) -> bool:
    """Whether this can be planned locally."""
    try:
        mode = mode_of(optimism, problem.successors is not None)
    except InputError:
        return False
    capped = value_cap is not None and mode == MEAN_X
    return problem.prior == 0 and not capped and (problem.reward is None or problem.reward.shape[2] == 1)


def rule_of(
    model: SparseCounts, optimism: TabularOptimism, tolerance: float, cap: float | None, ties: str | Sequence[int],
    budget: int, way: str,
) -> LocalRule:  # fmt: skip
    """What stays fixed; one sentence for what does not go together."""
    known, mode = model.problem, mode_of(optimism, model.problem.successors is not None)
    require(cap is None or mode != MEAN_X, "value_cap", cap, "None with sparse counts and no reach: use model='counts'")
    require(way in WAYS, "way", way, "'both', 'queue' or 'sweeps'")
    constants = _constants(model, optimism)
    reward = np.zeros((0, 0)) if known.reward is None else np.require(known.reward[:, :, 0], requirements=["C", "W"])
    w, bonus, _ = optimism.formula(np.zeros(0), 0.0, (known.r_min + known.r_max) / 2, constants[0, 0])
    fresh = bonus if np.isfinite(bonus) else 0.0
    if known.reward is None:
        fresh += known.r_max if w > 0 else (known.r_min + known.r_max) / 2
    best = reward.max(axis=1) if reward.size else np.zeros(1)
    order = np.argsort(-best, kind="stable") if mode == MAX_X and np.ptp(best) > 0 else np.zeros(0)
    return LocalRule(
        reward=reward,
        constants=constants,
        order=order.astype(np.int32),
        preference=preference_of(ties, known.actions),
        states=known.states,
        actions=known.actions,
        gamma=known.gamma,
        tolerance=positive("tolerance", tolerance),
        r_min=known.r_min,
        r_max=known.r_max,
        v_max=known.values.high,
        value_cap=np.inf if cap is None else number("value_cap", cap),
        reward_share=float(optimism.reward_share),
        random_action=float(optimism.random_action),
        fresh=float(fresh),
        mode=mode,
        ends=known.ends,
        budget=budget,
        way=WAYS.index(way),
    )


def _constants(model: SparseCounts, optimism: TabularOptimism) -> Floats:
    """The formula's constants, (S, A, P), or (1, 1, P) where they are the same for all pairs."""
    known = model.problem
    alike = all(np.ndim(c) == 0 for c in optimism.constants.values())
    return optimism.parameters(1, 1) if alike else optimism.parameters(known.states, known.actions)


def lines_of(model: SparseCounts, rule: LocalRule) -> Lines:
    """The plan before anything was met."""
    states, problem = model.arena.node.shape[0], model.problem
    solved = problem.states if problem.states <= SOLVED and not problem.open else 0
    numbers = np.zeros(NUMBERS)
    top = (max(rule.r_max, 0.0) + max(rule.fresh, 0.0)) / (1 - rule.gamma)
    low = min(model.problem.values.low, 0.0)
    numbers[LOWEST], numbers[HIGHEST] = low - 1.0 - 0.01 * (top - low), top + 1.0 + 0.01 * (top - low)
    numbers[ROUNDS], numbers[HASTY] = 10.0, 1.0  # a first guess, and no haste until the queue was slow
    if rule.mode == MEAN_X:
        best = rule.reward.max(axis=1).sum() if rule.reward.size else 0.0
        numbers[REST] = best + rule.fresh * rule.states
    return Lines(
        value=np.zeros((states, 5)),
        link=np.zeros((states, 8), dtype=np.int32),
        q=np.zeros((states * rule.actions, 3)),
        heap=np.zeros(states, dtype=np.int32),
        calendar=np.zeros((2, DAYS), dtype=np.int32),
        queue=np.zeros(LEVELS, dtype=np.int32),
        number=numbers,
        tick=np.zeros(TICKS, dtype=np.int64),
        scratch=np.zeros(model.problem.states),
        action=np.zeros(rule.actions),
        matrix=np.empty((solved, solved + 1)),
    )
