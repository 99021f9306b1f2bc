"""rlberry-scool's UCBVI in the taxi: seconds that the agent takes, as JSON; run by benchmarks/stepping.py.

As it comes its planner is a loop of Python. "compiled" is the same function by numba, which is the fairer rival.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import gymnasium  # noqa: E402
import numba  # noqa: E402
import rlberry_scool.agents.ucbvi.ucbvi as theirs  # noqa: E402
from rlberry.spaces import Discrete  # noqa: E402

GAMMA = 0.95


def main() -> None:
    horizon, steps, compiled = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "compiled"
    if compiled:
        theirs.backward_induction_reward_sd = numba.njit(theirs.backward_induction_reward_sd)
    env = gymnasium.make("Taxi-v3", max_episode_steps=10**9)
    env.observation_space, env.action_space = Discrete(500), Discrete(6)  # its counter knows no others
    agent = theirs.UCBVIAgent(env, gamma=GAMMA, horizon=horizon)

    def plan() -> None:
        """As it does at the end of each episode."""
        rewards = agent.R_hat + agent.B_sa
        theirs.backward_induction_reward_sd(agent.Q, agent.V, rewards, agent.P_hat, GAMMA, agent.v_max[0])

    if compiled:
        plan()
    acting = planning = 0.0
    state, _ = env.reset(seed=0)
    for step in range(steps):
        stage = step % horizon
        begun = time.perf_counter()
        action = int(agent._get_action(state, stage))
        acting += time.perf_counter() - begun
        following, reward, terminated, _, _ = env.step(action)
        begun = time.perf_counter()
        agent.counter.update(state, action)
        agent._update(state, action, following, reward, stage)
        acting += time.perf_counter() - begun
        begun = time.perf_counter()
        plan()
        planning += time.perf_counter() - begun
        state = env.reset()[0] if terminated or stage == horizon - 1 else following
    print(json.dumps({"act": acting / steps, "plan": planning / steps}))


if __name__ == "__main__":
    main()
