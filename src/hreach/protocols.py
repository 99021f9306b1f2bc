"""The interfaces: what a model, an optimism, a planner and an agent must be able to do, ours and yours.

    model      what was learnt of the problem                        `hreach.models`
    optimism   what an algorithm adds to its model                   `hreach.optimism`
    planner    from both to values, made for one of each             `hreach.planners`
    agent      acts, observes, and says what it knows                `hreach.agents`

A *state* is a whole number in a table and an array of floats (d,) in a continuous problem; many states are an array
(N,) or (N, d), the type S. `hreach.testing.check_agent` and its like run the same checks over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, SupportsFloat, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hreach.guarantees.exploration_gap import ExplorationGap

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Stream = NDArray[np.uint64]  # (4,) random numbers: `hreach.randomness.streams`
Arrays = Mapping[str, NDArray[np.generic]]  # a state, saved
State = Any  # one state: an int of a table, an array (d,) of a continuous problem
Info = Mapping[str, Any]  # what Gymnasium's `step` tells besides
Plain = Mapping[str, Any]  # what JSON can hold: numbers, texts, lists and tables, by name
S = TypeVar("S", bound=NDArray[np.generic])
States = NDArray[Any]  # many states: (N,) of a table, (N, d) of a continuous problem


@runtime_checkable
class Environment(Protocol):
    """What `hreach.run` needs of an environment: Gymnasium's two methods."""

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[State, Info]:
        """Begin an episode."""

    def step(self, action: Any, /) -> tuple[State, SupportsFloat, bool, bool, Info]:
        """Take an action."""


class Pairs(NamedTuple, Generic[S]):
    """N pairs: states, and actions (N,)."""

    states: S
    actions: Ints


class Outcomes(NamedTuple, Generic[S]):
    """What may follow each of N pairs: pair i owns the entries first[i] .. first[i + 1] - 1."""

    first: Ints  # (N + 1,)
    following: S  # next states, one for each entry
    weight: Floats  # their probabilities, which sum to 1 within a pair
    reward: Floats  # what each pays
    goes_on: Bools  # False: the episode ends with it


class Upper(NamedTuple):
    """What optimism adds to each of N pairs. An infinite bonus: worth the most there is."""

    reach: Floats  # (N,) weight moved onto the best outcome                   PAC-RMDP, BOLT: h / (n + h)
    bonus: Floats  # (N,) reward added                                         MBIE-EB, VBE, BEB; Algorithm 2: L |I_h|
    radius: Floats  # (N,) L1 distance by which the model may be moved         MBIE
    shift: Floats  # (N, K) how far each prediction may be moved               "shift" of Algorithm 2; K = 0: not at all
    reward: Floats  # (N,) added to a reward that is learnt                    Algorithm 2


class Saved(Protocol):
    """What can be saved as plain arrays and go on from them."""

    def state_dict(self) -> Arrays:
        """Everything that changed since construction."""

    def check_state_dict(self, saved: Arrays, /) -> None:
        """Whether this can have been saved by one like it; `InputError` if not."""

    def load_state_dict(self, saved: Arrays, /) -> None:
        """Go on from it, or raise `InputError` and change nothing."""


class Model(Saved, Protocol[S]):
    """What was learnt of a problem."""

    @property
    def samples(self) -> int:
        """How many samples were learnt."""

    @property
    def version(self) -> int:
        """A number that changes whenever an outcome may have."""

    def state(self, field: str, value: State, /) -> State:
        """A state of the problem, checked; errors name it `field`."""

    def learn(
        self, state: State, action: int, reward: float, next_state: State, terminated: bool, info: Info | None, /
    ) -> None:
        """Learn from one sample."""

    def outcomes(self, pairs: Pairs[S], /, shift: Floats | None = None) -> Outcomes[S]:
        """What the model says may follow; with the predictions moved by `shift` (N, K) where a model predicts."""

    def leverage(self, pairs: Pairs[S], /) -> Floats:
        """(N, K) q: how much one more sample weighs, 1/n of counts, phi' A^-1 phi of least squares."""

    def error(self) -> Floats:
        """(K,) how far predictions were off so far; of counts (1,), 0."""

    def sample(self, stream: Stream, /) -> Model[S]:
        """A draw from the posterior, which learns nothing more."""


class Optimism(Protocol):
    """What an algorithm adds to its model: an `upper` for its kind of model, and what follows."""

    @property
    def random_action(self) -> float:
        """Probability of an action that is drawn uniformly."""

    @property
    def selective(self) -> bool:
        """Whether it learns only from pairs that it does not know."""

    def h(self, samples: int, /) -> float | None:
        """The least number of further samples that it considers in any pair, or None if it is not of that kind."""

    def constants_in_force(self) -> Mapping[str, object]:
        """Every constant as plain data ("constants"), and where it comes from ("origin")."""

    def identity(self) -> Mapping[str, object]:
        """All that decides what it does, as plain data; arrays by their digest."""


# The internal value beside the certainty-equivalent one: (samples, state, internal, current, accuracy), the last what
# planning may be off by. A plain tuple: it is made at every step, and a named one takes as long as comparing does.
Comparison = tuple[int, State, float, float, float]


class Planner(Saved, Protocol[S]):
    """From a model and an optimism to values; it is made for one of each and kept from plan to plan."""

    @property
    def optimism(self) -> Optimism:
        """The one that it was made for."""

    @property
    def residual(self) -> float:
        """max |TV - V| of the last plan; 0 where planning is exact."""

    @property
    def slope(self) -> float:
        """L, where optimism needs the slope of the value; else 0."""

    def plan(self) -> None:
        """Bring the plan up to date with the model."""

    def best_action(self, state: State, stream: Stream, /) -> int:
        """The best action under the last plan; of equally good ones, one by the stream or by preference."""

    def sequence(self, first: int, /) -> list[int]:
        """The actions of the last plan, from `first` on; that one alone where the next state is not known."""

    def internal_value(self, states: S | None = None, /) -> Floats:
        """V~ under the last plan, (N,); of all states that the planner keeps by default."""

    def action_values(self, states: S | None = None, /) -> Floats:
        """Q~ under the last plan, (N, A); of all states that the planner keeps by default."""

    def certainty_equivalent(self, stream: Stream, /) -> Planner[S]:
        """A planner for the same model, without optimism."""

    def compare(self, state: State | None, /) -> Comparison:
        """The internal value and the certainty-equivalent one; state None: where they are furthest apart."""

    def reach(self) -> tuple[float, float] | None:
        """The least and the most h that optimism considers in any pair now; None if it is not of that kind."""

    def unknown(self, state: State, action: int, /) -> bool:
        """Whether a selective optimism does not know this pair."""

    def remember(self) -> None:
        """Keep the predictions that the last plan used, for `moved`."""

    def moved(self) -> float:
        """How far, in standard deviations of the noise, the farthest of them has moved since."""

    def settings(self) -> Mapping[str, object]:
        """What it was made with, as plain data."""


@runtime_checkable
class Acts(Protocol):
    """All that `hreach.run` and `hreach.simulate` need of an agent."""

    def act(self, state: State, /) -> int:
        """The action to take."""

    def observe(
        self,
        state: State,
        action: int,
        reward: float,
        next_state: State,
        terminated: bool = False,
        info: Info | None = None,
    ) -> None:
        """Learn from one step."""


class Until(Protocol):
    """A rule for when to stop a run."""

    def met(self, agent: Acts, state: State, /) -> str | None:
        """Why to stop now, or None."""


class Agent(Acts, Protocol):
    """Acts, observes, goes on from what was saved, and says what it knows."""

    def state_dict(self) -> Arrays:
        """Everything that changed since construction."""

    def load_state_dict(self, saved: Arrays, /) -> None:
        """Go on from it, or raise `InputError` and change nothing."""

    def clone(self, seed: int) -> Agent:
        """The same parameters, nothing learnt."""

    def certainty_equivalent(self) -> Acts:
        """Acts greedily on the current model, without optimism, random actions or learning."""

    def exploration_gap(self, state: State | None = None, *, eps: float, delta: float = 0.1) -> ExplorationGap:
        """V~, the certainty-equivalent value and their gap. Paper: Definition 3."""

    def describe(self) -> Mapping[str, object]:
        """Every constant in force and where it comes from."""


AnyModel = Model[Any]  # whatever its states
AnyPlanner = Planner[Any]
