"""A policy that is frozen, lives on, and is certified by what comes then alone."""

from __future__ import annotations

from hreach.agents.agent import Agent
from hreach.cli.asked import Asked, Found, times
from hreach.cli.counted import moves_of
from hreach.guarantees.certificate import Certificate
from hreach.guarantees.certificate_picture import Look
from hreach.guarantees.certify import certify_counts, greedy
from hreach.models.counts import Counts
from hreach.models.sparse_counts import SparseCounts
from hreach.protocols import AnyPlanner, Environment, Info, Ints, Optimism, State
from hreach.randomness.seeding import run_seeds
from hreach.running.loop import run


class Frozen:
    """Acts by a policy (S,) and learns nothing."""

    def __init__(self, policy: Ints) -> None:
        self._policy = policy

    def act(self, state: State) -> int:
        """The policy's action."""
        return int(self._policy[state])

    def observe(
        self,
        state: State,
        action: int,
        reward: float,
        next_state: State,
        terminated: bool = False,
        info: Info | None = None,
    ) -> None:
        """Nothing is learnt."""


def frozen(
    env: Environment,
    agent: Agent[Counts | SparseCounts, Optimism, AnyPlanner],
    steps: int,
    seed: int,
    title: str,
    stopped: str,
    asked: Asked,
) -> Found:
    """The policy as it is now, and `steps` steps of it, which alone count.

    Their seed is another one: with the first one the environment would draw again what the policy was learnt from.
    """
    problem = agent.model.problem
    policy = greedy(agent.action_values())
    done = run(env, Frozen(policy), steps, int(run_seeds([seed, 1], first=0, runs=1)[0, 0]))
    moves = moves_of(done)
    assert problem.reward is not None
    reward = problem.reward[:, :, 0] if problem.reward.shape[2] == 1 else problem.reward

    def certified(last: int) -> Certificate:
        counts, ended = moves.table(problem.states, problem.actions, last)
        return certify_counts(
            counts,
            reward,
            problem.gamma,
            policy,
            delta=asked.delta,
            state=int(done.last_state) if asked.state is None else asked.state,
            h=asked.h,
            prior=problem.prior,
            ended=ended if problem.ends else None,
            r_min=problem.r_min,
            r_max=problem.r_max,
            watched=True,
        )

    found = [certified(last) for last in times(steps, asked)]
    looks = [Look(one.samples, one.bounds) for one in found]
    return Found(found[-1], looks, f"{title}, frozen", stopped)
