"""What an audit is given: a run, the truth, an agent; checked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hreach.agents.tables import TableAgent, is_table
from hreach.errors import InputError, require, whole
from hreach.guarantees.theory import Sizes
from hreach.problems.mdp import TabularMDP
from hreach.running.loop import Run

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Record:
    """states, actions, paid: (steps,); following: (steps,) the next states.

    terminated   (steps,) whether the step ended its episode; truncated: whether the episode was cut off after it
    """

    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    paid: Array
    following: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]

    def rewards(self, truth: TabularMDP) -> Array:
        """The rewards of the steps as the audited problem has them, (steps,)."""
        table = truth.reward_table()
        pair = (self.states, self.actions)
        return np.asarray(table[pair] if table.ndim == 2 else table[(*pair, self.following)])


def checked_record(run: Run, mdp: TabularMDP, agent: TableAgent) -> Record:
    """The run, once it is sure that this MDP and this kind of agent can have made it."""
    require(is_table(agent), "agent", type(agent).__name__, "a tabular agent")
    require(isinstance(mdp, TabularMDP), "mdp", type(mdp).__name__, "a TabularMDP, the truth")
    size, own = (mdp.states, mdp.actions), (agent.model.problem.states, agent.model.problem.actions)
    require(own == size, "agent's (states, actions)", own, f"those of the MDP, {size}")
    require(
        agent.model.problem.gamma == mdp.gamma,
        "agent's gamma",
        agent.model.problem.gamma,
        f"that of the MDP, {mdp.gamma:g}",
    )
    steps = len(run.rewards)
    require(steps > 0 and run.states.ndim == 1, "run's states shape", run.states.shape, "(steps,), one state a step")
    following = run.next_states.astype(np.int64)
    top = max(int(run.states.max()), int(following.max()))
    require(top < mdp.states, "run's largest state", top, f"one of the MDP's {mdp.states}, from 0")
    require(int(run.actions.max()) < mdp.actions, "run's largest action", run.actions.max(), f"below {mdp.actions}")
    ended = [np.isin(np.arange(steps), run.ended[run.terminated == kind]) for kind in (True, False)]
    record = Record(run.states.astype(np.int64), run.actions, run.rewards, following, *ended)
    _check_possible(record, mdp)
    return record


def _check_possible(record: Record, mdp: TabularMDP) -> None:
    """Every step can have happened, and have ended the episode or not as it did."""
    moves = (record.states, record.actions, record.following)
    ends = mdp.endings()[moves]
    chance = np.where(record.terminated, ends, mdp.transitions()[moves] - ends)
    if (chance <= 0).any():
        t = int(np.argmax(chance <= 0))
        move = f"({record.states[t]}, {record.actions[t]}) to {record.following[t]}"
        word = " and ended the episode" if record.terminated[t] else ""
        raise InputError(f"run's step {t} went from {move}{word}, but that is impossible in this MDP.")


def chosen_steps(checkpoints: int | Sequence[int], steps: int) -> NDArray[np.int64]:
    """The steps to stop at, rising."""
    if isinstance(checkpoints, Sequence | np.ndarray):
        at = np.unique([whole("checkpoints", t, 0) for t in checkpoints])
        require(at.size > 0 and at[-1] < steps, "checkpoints", checkpoints, f"steps from 0 to {steps - 1}")
        return at
    number = min(whole("checkpoints", checkpoints, 1), steps)
    return np.arange(number) * steps // number


def known_problem(mdp: TabularMDP, agent: TableAgent) -> TabularMDP:
    """The true P with the reward that the agent knows."""
    known = agent.model.problem.reward
    if known is None:
        return mdp
    table = known[:, :, 0] if known.shape[2] == 1 else known
    own = mdp.reward_table()
    if table.shape == own.shape and np.array_equal(table, own):
        return mdp
    return mdp.with_(R=table)


def sizes_of_problem(truth: TabularMDP, agent: TableAgent) -> Sizes:
    """|S|, |A|, gamma and the range of rewards for the bounds: what the agent knows, and what is true."""
    table, known = truth.reward_table(), agent.model.problem
    r_max, r_min = max(float(table.max()), known.r_max), min(float(table.min()), known.r_min)
    ends = truth.ends or known.ends
    return Sizes(truth.states, truth.actions, truth.gamma, r_max, table.ndim == 3, r_min, ends)
