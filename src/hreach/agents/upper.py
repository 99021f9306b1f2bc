"""An agent that explores in order to certify: it acts greedily on U, the most that any policy can be worth.

    U(s) = max_a max over the confidence sets of r(s, a) + gamma p.U            (`hreach.planners.robust`)

over the sets of `Agent.certify`: they hold the truth at all times, but for a probability delta, so U >= V*. A pair is
tried as long as it may be part of something better, which is what a certificate of V* has to rule out. KL-UCRL
(Filippi, Cappe & Garivier 2010) does the same for average rewards. Python steps it: values are computed anew when a
pair was tried by a share `growth` more often than at the last time, some S A ln(T) / growth times in T steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hreach.agents.agent import Agent, Design
from hreach.agents.make import Reward, problem_of
from hreach.errors import at_least, require
from hreach.guarantees.certify import evidence_in, greedy
from hreach.guarantees.confidence import chance
from hreach.guarantees.sets import confidence_sets
from hreach.models.counts import Counts
from hreach.optimism.greedy import CERTAIN
from hreach.optimism.tabular import digest
from hreach.planners.robust import Robust
from hreach.planners.sweeps import Sweeps
from hreach.planners.ties import best_actions
from hreach.protocols import Arrays, Comparison, Floats, Ints, State, Stream
from hreach.randomness.streams import agent_stream, uniform

FINE = 1e-6  # residual of the value without optimism, in units of the range of values


@dataclass(frozen=True)
class UpperOptimism:
    """The best model in sets of probability 1 - delta; `growth`: of the samples of a pair until values are computed."""

    delta: float
    growth: float
    random_action = 0.0
    selective = False

    def h(self, samples: int) -> None:
        """None: it considers no number of further samples."""

    def constants_in_force(self) -> Mapping[str, object]:
        """Both constants."""
        return {"origin": "given", "constants": {"delta": self.delta, "growth": self.growth}}

    def identity(self) -> Mapping[str, object]:
        """Both constants, and what it is."""
        return {"formula": f"{__name__}:OnUpper", "delta": self.delta, "growth": self.growth}


class OnUpper:
    """U of a model of counts, computed anew when enough is new."""

    slope = residual = 0.0  # U is certified: what its search leaves is added to it

    def __init__(self, model: Counts, optimism: UpperOptimism) -> None:
        self.model, self.optimism = model, optimism
        shape = model.seen.total.shape
        self._value, self._q = np.zeros(shape[0]), np.zeros(shape)
        self._known = np.full(shape, -1.0)  # samples of each pair that the last plan knew
        self._ends = np.array(False)  # whether it knew that episodes can end
        self._certain: Sweeps | None = None

    def plan(self) -> None:
        """Bring U up to date, if a pair has `growth` times more samples than it knows of, and one more at least."""
        samples = np.rint(self.model.seen.total - self.model.problem.prior)
        due = np.maximum(self._known + 1, (1 + self.optimism.growth) * self._known)
        if (samples < due).all() and bool(self._ends) == self.model.problem.ends:
            return
        robust = Robust(confidence_sets(evidence_in(self.model), self.optimism.delta))
        value, q = robust.upper(greedy(self._q))
        self._value[...], self._q[...] = value[:-1], q.reshape(self._q.shape)
        self._known[...], self._ends[...] = samples, self.model.problem.ends

    def best_action(self, state: State, stream: Stream) -> int:
        """The best action under the last plan; of equally good ones, one drawn."""
        best = np.flatnonzero(best_actions(self._q[state]))
        return int(best[0] if best.size == 1 else best[int(uniform(stream) * best.size)])

    def sequence(self, first: int) -> list[int]:
        """The first action only: the next state is not known."""
        return [first]

    def internal_value(self, states: Ints | None = None) -> Floats:
        """U of states, of all by default."""
        return self._value.copy() if states is None else self._value[states]

    def action_values(self, states: Ints | None = None) -> Floats:
        """UQ of states, of all by default: (N, A)."""
        return self._q.copy() if states is None else self._q[states]

    def certainty_equivalent(self, stream: Stream) -> Sweeps:
        """A planner for the same model, without optimism."""
        values = self.model.problem.values
        return Sweeps(self.model, CERTAIN, stream, tolerance=FINE * max(values.high - values.low, 1e-9), beside=True)

    def compare(self, state: State | None) -> Comparison:
        """U and the certainty-equivalent value; state None: where they are furthest apart."""
        if self._certain is None:
            self._certain = self.certainty_equivalent(agent_stream(0))
        self._certain.plan()
        current = self._certain.internal_value()
        where = int(np.argmax(np.abs(self._value - current))) if state is None else self.model.state("state", state)
        gamma = self.model.problem.gamma
        off = gamma * self._certain.residual / (1 - gamma)
        return self.model.samples, where, float(self._value[where]), float(current[where]), off

    def reach(self) -> None:
        """None: it considers no number of further samples."""

    def unknown(self, state: State, action: int) -> bool:
        """False: it learns from every pair."""
        return False

    def remember(self) -> None:
        """Nothing: it decides itself when to plan anew."""

    def moved(self) -> float:
        """Infinite: it decides itself when to plan anew."""
        return np.inf

    def settings(self) -> dict[str, object]:
        """None but those of the optimism."""
        return {}

    def state_dict(self) -> dict[str, np.ndarray]:
        """The plan, and the samples that it knows of."""
        return {
            "value": self._value.copy(),
            "q": self._q.copy(),
            "known": self._known.copy(),
            "ends": self._ends.copy(),
        }

    def check_state_dict(self, saved: Arrays) -> None:
        """Whether this can have been a plan; `InputError` if not."""
        for name in ("value", "q", "known"):
            require(bool(np.isfinite(saved[name]).all()), name, "nan or infinite", "finite everywhere")

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from a plan; the model has what it had then."""
        self.check_state_dict(saved)
        mine = {"value": self._value, "q": self._q, "known": self._known, "ends": self._ends}
        for name, array in mine.items():
            array[...] = saved[name]
        self._certain = None


def make(
    env: object,
    delta: float = 0.1,
    growth: float = 0.05,
    *,
    seed: int = 0,
    gamma: float | None = None,
    reward: Reward = "known",
    r_max: float | None = None,
    r_min: float | None = None,
) -> Agent[Counts, UpperOptimism, OnUpper]:
    """An agent that acts greedily on U; what is not named here is as for every agent of tables (`make_tabular`).

    delta    of the sets, as for `Agent.certify`
    growth   values are computed anew when a pair has this share more samples than at the last time; 0: at every step
    """
    problem = problem_of(env, gamma=gamma, reward=reward, r_max=r_max, r_min=r_min, prior=0)
    optimism = UpperOptimism(chance(delta), at_least("growth", growth, 0))

    def build(own_seed: int, stream: Stream) -> tuple[Counts, OnUpper]:
        model = Counts(problem)
        return model, OnUpper(model, optimism)

    settings = {
        "gamma": problem.gamma,
        "reward": None if problem.reward is None else digest(problem.reward),
        "r_min": problem.r_min,
        "r_max": problem.r_max,
    }
    return Agent(Design(optimism, problem.actions, build, settings), seed)
