"""The audit of a run: the agent is put through the record again, and stopped at checkpoints.

Time is t = 0, 1, ..., steps - 1, and what is measured at t is what held when the action of step t was chosen:

    V*(s_t)              the optimum of the truth                                     `optimal`
    V^{d*}_{L,t,h}(s_t)  the optimum of the reachable models nearest to the truth     `reachable`
    V~(s_t)              what the agent believed                                      `internal`
    V_{h=0}(s_t)         what its model said without optimism                             `current`
    V^{A_t}(s_t)         the truth about its policy, if it stopped learning           `policy`
                         the truth about the agent that goes on learning              `learning` (with rollouts)

and what the agent could certify at t, by its data alone, beside the truth about the same policy (`certified.py`).

All of them use the known reward, as the paper does ("the reward function R is known"): where the
environment pays something else, as the chain does, this is the problem with the true P and the known R. An agent that
has to learn its reward is judged by the MDP's. A step that ended its episode is an outcome of its own, after which
nothing follows; values are those until the end of the episode.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hreach.agents.tables import TableAgent
from hreach.errors import InputError, positive, require, whole
from hreach.guarantees.audit.certified import Certifying
from hreach.guarantees.audit.checkpoint import Checkpoint, Reachability
from hreach.guarantees.audit.record import (
    Record,
    checked_record,
    chosen_steps,
    known_problem,
    sizes_of_problem,
)
from hreach.guarantees.audit.result import Audit, Measured, summed_up
from hreach.guarantees.audit.rollouts import Rollouts, copied
from hreach.guarantees.exploration_gap import notes
from hreach.guarantees.theory import Form
from hreach.guarantees.theory.bound import check_delta, check_epsilon, check_form
from hreach.planners.sweeps import CertainValue
from hreach.planners.ties import best_actions
from hreach.problems.mdp import TabularMDP
from hreach.problems.memory import require_memory
from hreach.reach.nearest import Ties
from hreach.running.loop import Run

TABLES = 12  # arrays (S, A, S) that a checkpoint holds at once


def audit(
    run: Run,
    mdp: TabularMDP,
    agent: TableAgent,
    *,
    eps: float,
    delta: float = 0.1,
    h: int | None = None,
    checkpoints: int | Sequence[int] = 100,
    rollouts: int = 0,
    accuracy: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    lemma: bool | None = None,
    form: Form = "corrected",
    ties: Ties = "largest",
) -> Audit:
    """Measure what was promised on a run of a tabular agent (`hreach.run`) in a problem whose truth is known.

    agent        the one that made the run, or one made alike: it is built anew and put through the record
    eps, delta   of Theorem 1 and Corollary 2; delta also of the certificates
    h            of V^{d*}; default: the agent's own, rounded down to whole samples
    checkpoints  how many, spread evenly from the first step; or which steps
    rollouts     N copies of the agent that go on learning from each checkpoint, for `learning`; 0: none
    accuracy     these end when what comes later is worth this at most (default eps/100)
    lemma        True: a violation of Lemma 1 is an error; default: only for agents for which the lemma must hold,
                 that is Algorithm 1 with this h or more (PAC-RMDP, BOLT); violations of others are counted
    form         of the bounds: "printed", "proof" or "corrected" (`hreach.guarantees.theory`)
    ties         V^{d*} is not unique where reachable models are equally near to the truth: the "largest" of its values,
                 which no numbering of the states changes, the "least", or the "first" (`hreach.reach.nearest`)

    Paper: Lemma 1, Theorem 1, Corollaries 1 and 2, Definitions 2 and 3, Appendix A3.
    """
    eps, delta = float(check_epsilon(eps)), float(check_delta(delta))
    check_form(form)
    copies = whole("rollouts", rollouts, 0)
    require(copies != 1, "rollouts", rollouts, "0, or at least 2: one copy says nothing about chance")
    record = checked_record(run, mdp, agent)
    at = chosen_steps(checkpoints, len(record.states))
    truth = known_problem(mdp, agent)
    sizes = sizes_of_problem(truth, agent)
    require_memory(
        f"auditing an MDP of {truth.states} states and {truth.actions} actions, state by state",
        TABLES * 8.0 * truth.states**2 * truth.actions,
        "hreach.solve and agent.certify need memory for what is possible, or was seen, only",
    )
    reachability = Reachability.of(agent, h, lemma, ties)
    shown = None
    if copies:
        tail = eps / 100 if accuracy is None else positive("accuracy", accuracy)
        shown = Rollouts(truth, agent, copies, tail, seed, threads)
    measured = _replayed(record, truth, agent, reachability, at, eps, delta, shown)
    return summed_up(measured, truth, sizes, eps, delta, form)


def _replayed(
    record: Record,
    truth: TabularMDP,
    agent: TableAgent,
    reachability: Reachability,
    at: NDArray[np.int64],
    eps: float,
    delta: float,
    shown: Rollouts | None,
) -> Measured:
    steps = len(record.states)
    again = agent.clone(0)
    spread = truth.gamma / (1 - truth.gamma)
    tolerance = min(agent.planner.rule.tolerance, eps / (20 * max(spread, 1.0)))
    certain = CertainValue(again.planner, tolerance)
    checkpoint, certifying = Checkpoint(truth, reachability), Certifying(truth, delta)
    gap, worst = np.empty(steps), 0.0
    rows: list[dict[str, float]] = []
    marked = set(at.tolist())
    for t, (s, a, paid, following, terminated) in enumerate(_moves(record)):
        beginning = again.planner.begin if shown is None or t not in marked else copied(again.planner.begin)
        again.plan()
        gap[t] = again.planner.table.value[s] - certain()[s]
        worst = max(worst, again.planner.residual + certain.residual)
        if t in marked:
            row = checkpoint(again, t, s)
            rows.append(row if shown is None else row | shown(beginning, s, t))
            certifying(again, int(row["h"]), s, last=t == at[-1])
        _check_action(again, t, s, a)
        again.observe(s, a, paid, following, terminated)
    values = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    rewards = record.rewards(truth)
    return Measured(
        step=at,
        values=values,
        states=record.states,
        rewards=rewards,
        ended=np.flatnonzero(record.terminated | record.truncated),
        cut_off=bool(record.truncated[:-1].any()),
        gap=gap,
        gap_accuracy=spread * worst,
        certified=certifying.result(),
        rollout_steps=0 if shown is None else shown.horizon,
        notes=tuple(_notes(agent, np.allclose(record.paid, rewards), len(at) == steps)),
    )


def _notes(agent: TableAgent, known: bool, every_step: bool) -> list[str]:
    """Where the run is not quite what the statements are about."""
    found = []
    if not known:
        found.append("the known reward is another than was paid; all values are of the known reward")
    found += notes(agent.model, agent.planner)
    if not every_step:
        found.append("bad steps and average loss are counted at checkpoints, each standing for the steps to the next")
    return found


def _moves(record: Record) -> zip[tuple[int, int, float, int, bool]]:
    columns = (record.states, record.actions, record.paid, record.following, record.terminated)
    return zip(*(column.tolist() for column in columns), strict=True)


def _check_action(agent: TableAgent, t: int, s: int, a: int) -> None:
    """The agent would have taken this action, random actions aside."""
    values = agent.planner.action_values(np.array([s]))[0]
    if not best_actions(values)[a] and agent.optimism.random_action == 0:
        raise InputError(f"run's action {a} in step {t} is not this agent's: it was made by another agent.")
