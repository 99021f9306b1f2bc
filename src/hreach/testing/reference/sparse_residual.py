"""max |TV - V| of a local plan from the counts alone, pair by pair: the oracle of `hreach.planners.local`."""

from __future__ import annotations

import numpy as np

from hreach.agents.agent import Agent
from hreach.models.sparse_counts import SparseCounts
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.local import Local
from hreach.protocols import Floats

SparseAgent = Agent[SparseCounts, TabularOptimism, Local]


def residual_of(agent: SparseAgent) -> float:
    """max_s |TV(s) - V(s)| over all states of the problem, V as the plan stores it."""
    known, planner = agent.model.problem, agent.planner
    value = planner.internal_value()
    met, stored = planner.stored_value()
    value[met] = stored
    best = max(float(value.max()), 0.0) if known.ends else float(value.max())
    worst = 0.0
    for s in range(known.states):
        found = 0.0
        if not agent.model.closed(np.array([s]))[0]:
            found = max(_action_value(agent, value, best, s, a) for a in range(known.actions))
            found = min(found, planner.rule.value_cap)
        worst = max(worst, abs(found - float(value[s])))
    return worst


def _action_value(agent: SparseAgent, value: Floats, best: float, s: int, a: int) -> float:
    """Q(s, a) = r + bonus + gamma [(1 - w) sum_s' n(s') V(s') / n + w max V], a uniform row where n = 0."""
    known, optimism = agent.model.problem, agent.optimism
    following, times, ended = agent.model.row(s, a)
    n, paid = float(times.sum()), agent.model.paid(s, a)
    now = (
        optimism.parameters(known.states, known.actions) if optimism.schedule is None else agent.planner.rule.constants
    )
    constants = np.broadcast_to(now, (known.states, known.actions, now.shape[2]))[s, a]
    w, bonus, _ = optimism.formula(times.astype(np.float64), n, paid, constants)
    if bonus == np.inf:
        return known.values.high
    if known.reward is None:
        c = optimism.reward_share
        share = c * w / (1 - w + c * w) if w < 1 else 1.0
        paid = (1 - share) * paid + share * known.r_max
    possible = agent.model.possible(s, a)
    if known.successors is not None:
        best = max(float(value[possible].max()), 0.0 if known.ends else -np.inf)
    mean = float((times - ended) @ value[following]) / n if n else float(value[possible].mean())
    return float(bonus + paid + known.gamma * ((1 - w) * mean + w * best))
