"""An agent after a compiled run: what it has seen then, as if it had lived step by step."""

from __future__ import annotations

import numpy as np

from hreach import kernels
from hreach.agents.tables import TableAgent
from hreach.compiling import announcing
from hreach.kernels import Seen, Table, World
from hreach.problems.mdp import TabularMDP
from hreach.randomness.streams import run_streams

_simulate = announcing(kernels.simulate)


def lived(agent: TableAgent, mdp: TabularMDP, steps: int, env_seed: int) -> TableAgent:
    """A clone of `agent` after `steps` steps in `mdp`: that of `hreach.run(..., seed=env_seed)` with the same seeds."""
    learner: TableAgent = agent.clone(agent.seed)
    planner, model = learner.planner, learner.model
    world = World(mdp.indptr, mdp.next_state, mdp.cumulative, mdp.reward, mdp.end, np.cumsum(mdp.start))
    streams = run_streams(np.array([[env_seed, agent.seed]], dtype=np.uint64))
    paid, over, stop = np.empty((1, steps)), np.empty((1, 0), dtype=np.bool_), np.zeros(1, dtype=np.bool_)
    begin = model.seen, planner.table
    after = Seen._make(map(np.empty_like, begin[0])), Table._make(map(np.empty_like, begin[1]))
    _simulate(planner.schedule, planner.formula, planner.rule, begin, after, world, streams, paid, over, False, stop)
    for mine, theirs in zip((*model.seen, *planner.table), (*after[0], *after[1]), strict=True):
        mine[...] = theirs
    model.version += 1
    return learner


def last_state(agent: TableAgent, start: int) -> int:
    """Where a run ended that began in `start` and whose episodes do not end: it was entered once more than left."""
    samples = np.rint(agent.model.seen.counts - agent.model.problem.prior / agent.model.problem.states)
    more = samples.sum(axis=(0, 1)) - samples.sum(axis=(1, 2))
    return int(np.argmax(more)) if more.max() > 0 else start
