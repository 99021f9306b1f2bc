"""A continuous task as it was learnt: the components of the next state by least squares, the reward if it is not known.

A sample is learnt when somebody asks (a model that nobody asks need not know it), many at once and in their order.
Outcomes are the nodes of a Gauss-Hermite quadrature over the noise of the learnt components.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import InputError, array, finite, require, whole
from hreach.models.feature_map import FeatureMap
from hreach.models.fixed import FixedModel
from hreach.models.linear import LinearModel
from hreach.problems.task import Task
from hreach.protocols import Arrays, Floats, Info, Ints, Outcomes, Pairs, State, Stream
from hreach.randomness.streams import generator


class Regression:
    """What was learnt of `task`, linear in `features`.

    target, truncate   what is regressed, see `LinearModel`
    ridge           weight of the ridge in least squares
    learns_reward   the reward is learnt too, linear in the same features; else it is the task's
    quadrature      nodes of the integration over the noise (1: the mean only)
    truth           the task's true dynamics instead of what was learnt: for what would be earned with nothing to learn
    """

    def __init__(
        self,
        task: Task,
        features: FeatureMap,
        *,
        target: Literal["next", "change"] = "next",
        truncate: bool = False,
        ridge: float = 0.1,
        learns_reward: bool = False,
        quadrature: int = 3,
        truth: bool = False,
    ) -> None:
        self.task = task
        known = task.reward is not None
        require(learns_reward or known, "reward", "known", "'learn': the task tells no reward")
        self.linear: LinearModel | FixedModel = (
            _true_model(task)
            if truth
            else LinearModel(
                features, len(task.learnt), ridge, components=task.learnt, target=target, truncate=truncate
            )
        )
        self.reward_model = LinearModel(features, 1, ridge) if learns_reward else None
        self._unlearnt: list[tuple[float, ...]] = []
        self._shape = (task.width,)
        nodes, chance = np.polynomial.hermite_e.hermegauss(whole("quadrature", quadrature, 1))
        self.noise = all_combinations(nodes, len(task.learnt))
        self.chance = all_combinations(chance / chance.sum(), len(task.learnt)).prod(axis=1)

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return self.linear.samples + len(self._unlearnt)

    version = samples  # each may change every outcome

    def state(self, field: str, value: State) -> Floats:
        """A state as an array (nS,); the compiled interpolation would read past a shorter one."""
        plain = type(value) is np.ndarray and value.dtype == np.float64 and value.shape == self._shape
        if plain and value.flags.c_contiguous and math.isfinite(sum(value.tolist())):  # nearly always
            return value  # type: ignore[no-any-return]
        result = array(field, value)
        ok = result.shape == self._shape and bool(np.isfinite(result).all())
        require(ok, field, value, f"{self.task.width} finite numbers")
        return result

    def learn(
        self, state: State, action: int, reward: float, next_state: State, terminated: bool, info: Info | None = None
    ) -> None:
        """Keep one sample; a task that is learnt from a measurement looks for it in `info`."""
        here, end = self.state("state", state), self.state("next_state", next_state)
        if not (type(action) is int or isinstance(action, np.integer)) or not 0 <= action < self.task.actions:
            require(False, "action", action, f"a whole number from 0 to {self.task.actions - 1}")
        name = self.task.measured
        if name is not None:
            measured = None if info is None else info.get(name)
            require(measured is not None, f"info[{name!r}]", measured, "given: this task is learnt from it")
            end = self.state(name, measured)
        paid = finite("reward", reward) if self.reward_model is not None else 0.0
        self._unlearnt.append((*here.tolist(), *end.tolist(), int(action), paid))

    def settle(self) -> None:
        """Learn what was kept, in its order."""
        if not self._unlearnt:
            return
        rows = np.array(self._unlearnt)
        self._unlearnt.clear()  # before, or a sample that the model refuses would be refused for ever
        width = self.task.width
        states, following = rows[:, :width], rows[:, width : 2 * width]
        actions, paid = rows[:, 2 * width].astype(np.int64), rows[:, 2 * width + 1]
        self.linear.learn(states, actions, following)
        if self.reward_model is not None:
            [(phi, block)] = self.reward_model.features(states, actions)
            self.reward_model.update_features(phi, paid[:, None], block)

    def keep(self, pairs: Pairs[Floats]) -> None:
        """Remember the features of pairs that will be asked about again and again, as these very arrays."""
        for each in (self.linear, self.reward_model):
            if each is not None:
                each.keep(*pairs)

    def predict(self, states: Floats, actions: Ints) -> Floats:
        """The learnt components of the next state, (N, L)."""
        self.settle()
        return self.linear.predict(states, actions)

    def outcomes(self, pairs: Pairs[Floats], shift: Floats | None = None) -> Outcomes[Floats]:
        """The nodes of the noise around each prediction, moved by `shift` (N, L) if it is given."""
        states, actions = pairs
        each = self._following(pairs, shift)
        following = np.stack(each, axis=1).reshape(-1, self.task.width)
        paid = [self.reward(states, actions, after) for after in each]
        weight = np.tile(self.chance, len(states))
        first = np.arange(len(states) + 1) * len(self.chance)
        return Outcomes(first, following, weight, np.stack(paid, axis=1).ravel(), self.task.goes_on(following))

    def by_node(self, pairs: Pairs[Floats], shift: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """The same, node by node: (expected reward (N,), next states (J, N, nS), chances to go on in them (J, N))."""
        states, actions = pairs
        each = self._following(pairs, shift)
        goes_on = np.stack([self.task.goes_on(after) for after in each]).astype(np.float64)
        if self.reward_model is None:
            paid = [p * self.reward(states, actions, after) for p, after in zip(self.chance, each, strict=True)]
            expected = np.asarray(np.sum(paid, axis=0))
        else:
            expected = self.reward(states, actions, each[0])
        return expected, np.stack(each), self.chance[:, None] * goes_on

    def _following(self, pairs: Pairs[Floats], shift: Floats | None) -> list[Floats]:
        """The next states (N, nS) at each node of the noise."""
        mean = self.predict(*pairs)
        if shift is not None:
            mean = mean + shift
        return [self.task.next_states(*pairs, mean + z * self.task.sigma) for z in self.noise]

    def reward(self, states: Floats, actions: Ints, following: Floats) -> Floats:
        """What is paid, (N,): as the task tells it, or as it was learnt."""
        if self.reward_model is not None:
            self.settle()
            return self.reward_model.predict(states, actions)[:, 0]
        assert self.task.reward is not None
        return self.task.reward(states, actions, following)

    def leverage(self, pairs: Pairs[Floats]) -> Floats:
        """q = phi' A^-1 phi of each learnt component, (N, L)."""
        self.settle()
        return self.linear.leverage(*pairs)

    def error(self) -> Floats:
        """(L,) running mean of |y - prediction|, measured before each sample was learnt."""
        self.settle()
        return self.linear.error_mean

    def sample(self, stream: Stream) -> Regression:
        """Weights drawn from N(theta^, sigma^2 A^-1), their posterior under Gaussian noise."""
        self.settle()
        drawn = Regression.__new__(Regression)
        drawn.__dict__.update(self.__dict__, _unlearnt=[])
        drawn.linear = self.linear.drawn(self.task.sigma, generator(stream))
        return drawn

    def state_dict(self) -> dict[str, np.ndarray]:
        """All that was learnt, and what was not yet."""
        own = {"unlearnt": np.array(self._unlearnt).reshape(-1, 2 * self.task.width + 2)}
        own |= {f"transitions.{name}": saved for name, saved in self.linear.state_dict().items()}
        if self.reward_model is not None:
            own |= {f"reward.{name}": saved for name, saved in self.reward_model.state_dict().items()}
        return own

    def check_state_dict(self, saved: Arrays) -> None:
        """Whether this can have been learnt; `InputError` if not."""
        for name, values in saved.items():
            require(bool(np.isfinite(values).all()), name, "nan or infinite", "finite everywhere")

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from what was learnt."""
        self.check_state_dict(saved)
        for each, prefix in ((self.linear, "transitions."), (self.reward_model, "reward.")):
            if each is not None:
                each.load_state_dict(_part(saved, prefix))
        self._unlearnt = [tuple(row) for row in np.asarray(saved["unlearnt"], dtype=np.float64).tolist()]


def _part(saved: Arrays, prefix: str) -> dict[str, ArrayLike]:
    return {name.removeprefix(prefix): value for name, value in saved.items() if name.startswith(prefix)}


def _true_model(task: Task) -> FixedModel:
    truth, learnt = task.truth, list(task.learnt)
    if truth is None:
        raise InputError("truth of the task is None, but must be given to plan with the true model.")
    return FixedModel(lambda states, actions: truth(states, actions)[:, learnt], len(learnt))


def all_combinations(values: Floats, dimensions: int) -> Floats:
    """Every choice of one value for each dimension: (values ^ dimensions, dimensions)."""
    return np.stack(np.meshgrid(*[values] * dimensions, indexing="ij"), axis=-1).reshape(-1, dimensions)
