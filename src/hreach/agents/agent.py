"""The agent, of tables and of continuous problems alike: a model, an optimism, a planner. Paper: Algorithms 1 and 2.

    for each time step:   act        take the best action under the internal value V~
                          observe    learn from what followed

Algorithms differ in their optimism, tables and continuous problems in their model and planner, and in when to plan
again (`Replan`): a table after every sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import numpy as np

from hreach.agents import saving
from hreach.agents.replan import EVERY_SAMPLE, Replan
from hreach.compiling import announcing
from hreach.guarantees.exploration_gap import ExplorationGap, GapMeter
from hreach.protocols import AnyModel, AnyPlanner, Arrays, Floats, Info, Optimism, State, States, Stream
from hreach.randomness.streams import agent_stream, uniform

if TYPE_CHECKING:
    from hreach.guarantees.certificate import Certificate

_uniform = announcing(uniform)
M = TypeVar("M", bound=AnyModel, covariant=True)
Opt = TypeVar("Opt", bound=Optimism, covariant=True)
P = TypeVar("P", bound=AnyPlanner, covariant=True)


@dataclass(frozen=True)
class Design(Generic[M, Opt, P]):
    """What an agent is made of before it has seen anything; its seed is all that is missing.

    optimism   what the algorithm adds to its model
    actions    how many there are
    make       a new model and its planner, for a seed (random features are drawn from it) and the agent's stream
    settings   what the model was made with, as plain data
    replan     when to plan again
    commit     after a plan, its "first" action is carried out before the next one, or "all" that it has
    """

    optimism: Opt
    actions: int
    make: Callable[[int, Stream], tuple[M, P]]
    settings: Mapping[str, object]
    replan: Replan = EVERY_SAMPLE
    commit: Literal["first", "all"] = "first"


class Agent(Generic[M, Opt, P]):
    """An agent of this design; `seed` decides its ties, random actions and random features."""

    def __init__(self, design: Design[M, Opt, P], seed: int = 0) -> None:
        self.design, self.optimism, self.replan = design, design.optimism, design.replan
        self._every_sample = design.replan is EVERY_SAMPLE
        self._chance, self._selective = design.optimism.random_action, design.optimism.selective
        self._commits = design.commit == "all"
        self.stream = agent_stream(seed)
        self.build(seed)
        self.planned_with = -1  # the version of the model that the last plan knows
        self.committed: list[int] = []
        self.expected = b""  # the state in which the episode goes on, as bytes, or nothing
        self._meter: GapMeter | None = None

    def build(self, seed: int) -> None:
        """Model and planner anew, with the random features of `seed`."""
        self.seed = seed
        self.model, self.planner = self.design.make(seed, self.stream)

    def act(self, state: State) -> int:
        """The action to take in `state`; plans first if the model has changed, or if the rule for it says so."""
        here = self.model.state("state", state)
        if not self._every_sample:
            self._follow(here)
        elif self.model.version != self.planned_with:
            self.plan()
        if self._chance > 0 and _uniform(self.stream) < self._chance:
            self.committed.clear()
            return int(_uniform(self.stream) * self.design.actions)
        if self.committed:
            return self.committed.pop(0)
        action = self.planner.best_action(here, self.stream)
        if self._commits:
            self.committed = self.planner.sequence(action)[1:]
        return action

    def observe(
        self,
        state: State,
        action: int,
        reward: float,
        next_state: State,
        terminated: bool = False,
        info: Info | None = None,
    ) -> None:
        """Learn from one step; `terminated`: the episode has ended by the problem's own rules, nothing follows.

        `info` is what Gymnasium's `step` returned: a task that is learnt from a measurement looks for it there.
        """
        if not self._selective or self.planner.unknown(state, action):
            self.model.learn(state, action, reward, next_state, terminated, info)
        if not self._every_sample:
            self.expected = b"" if terminated else np.asarray(next_state, dtype=np.float64).tobytes()

    def plan(self) -> None:
        """Bring the plan up to date with the model."""
        self.planner.plan()
        self.planned_with = self.model.version
        if self.replan.moved is not None:
            self.planner.remember()

    def internal_value(self, states: States | None = None) -> Floats:
        """V~ of states, (N,); of all that the planner keeps by default. Paper: Eq. (1)."""
        self._catch_up()
        return self.planner.internal_value(states)

    def action_values(self, states: States | None = None) -> Floats:
        """Q~ of states, (N, A); of all that the planner keeps by default."""
        self._catch_up()
        return self.planner.action_values(states)

    def clone(self, seed: int) -> Agent[M, Opt, P]:
        """The same parameters, nothing learnt."""
        return Agent(self.design, seed)

    def certainty_equivalent(self) -> CertaintyEquivalent:
        """A copy that acts greedily on the current model: without optimism, random actions or learning."""
        return CertaintyEquivalent(self)

    def exploration_gap(self, state: State | None = None, *, eps: float, delta: float = 0.1) -> ExplorationGap:
        """V~, the value without optimism and their gap in `state` (None: where it is largest), and what the theorem
        says at (eps, delta).

        The actions that follow are the same as without it: it plans if `act` would have to, and keeps the other value
        apart. Of a table it is cheap enough for every step. Paper: Definition 3, Theorem 1, Corollaries 1 and 2.
        """
        meter = self._meter
        if meter is None:
            meter = self._meter = GapMeter(self.model, self.planner)
        if self.model.version != self.planned_with:
            self._catch_up()
        return meter.measure(state, eps, delta)

    def certify(self, delta: float = 0.1, state: State | None = None, h: float | None = None) -> Certificate:
        """What holds of the policy that the agent follows now, whatever the truth is, but for a probability delta.

        The policy is the greedy one of the last plan, frozen; of actions as good as equal, the lowest. `state` None:
        the state with the largest optimality gap. `h` (default: the agent's own, the smallest of any pair, rounded
        down) is what the reachable gap is about. Of agents that count; nothing of the agent is changed but that it
        plans if `act` would have to. Paper: Definition 2; `hreach.guarantees.certificate`.
        """
        from hreach.guarantees.certify import certify_agent

        self._catch_up()
        return certify_agent(self.model, self.planner, delta, state, h)

    def describe(self) -> dict[str, object]:
        """Every constant in force and where it comes from; what model and planner were made with."""
        return {**self.optimism.constants_in_force(), "slope": self.planner.slope, "settings": dict(self.settings)}

    @property
    def settings(self) -> Mapping[str, object]:
        """What model and planner were made with, as plain data."""
        return {**self.design.settings, **self.planner.settings()}

    def state_dict(self) -> dict[str, np.ndarray]:
        """Everything that changed since construction and what the agent was made with, as plain arrays."""
        return saving.state_dict(self)

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from a saved state: the same actions follow as if the agent had never stopped.

        A state that is damaged, or of an agent that was made with something else, is refused; nothing changes then.
        """
        saving.load_state_dict(self, saved)
        self._meter = None

    def _catch_up(self) -> None:
        """Plan if `act` would have to whatever the state."""
        if self.planned_with < 0 or (self._every_sample and self.model.version != self.planned_with):
            self.plan()

    def _follow(self, here: Floats) -> None:
        """Plan if the rule says so, and forget what was committed to if this is not where it led."""
        new_episode = here.tobytes() != self.expected
        if new_episode:
            self.committed.clear()
        rule, version = self.replan, self.model.version
        due = self.planned_with < 0 or rule.due(new_episode, version, self.planned_with)
        if due or (rule.moved is not None and version != self.planned_with and self.planner.moved() > rule.moved):
            self.plan()


class CertaintyEquivalent:
    """Acts greedily on the model of an agent as it is when this is made; of equally good actions, one drawn."""

    def __init__(self, agent: Agent[AnyModel, Optimism, AnyPlanner]) -> None:
        self._model, self._stream = agent.model, agent_stream(agent.seed)
        self.planner = agent.planner.certainty_equivalent(self._stream)
        self.planner.plan()

    def act(self, state: State) -> int:
        """The best action in `state`."""
        return self.planner.best_action(self._model.state("state", state), self._stream)

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
