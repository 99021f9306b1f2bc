"""Simulated HIV treatment: which of two drugs to give, decided every five days.

The patient is the six equations of Adams et al. (2004), see `hiv_dynamics`. Drugs hold the virus down but weaken the
immune response E, which only learns from the infection; the way to the healthy steady state, in which the patient
needs no drugs, leads through interruptions of treatment. Every measured day with state s earns

    r(s, a) = -Q V - R1 e1^2 - R2 e2^2 + S E,

with (e1, e2) the efficacies of the drugs given. The setting is that of D. Ernst, G.-B. Stan, J. Goncalves, L. Wehenkel,
"Clinical data based optimal STI strategies for HIV: a reinforcement learning approach", CDC 2006, modified by Kawaguchi
(2016), appendix A7: the patient is seen without error every five days, and once more, with error, a day later.

What the sources leave open is settled here, each by a parameter:

- `reward_every` = 1: a decision earns the sum over its five days, measured at the end of each day. The
  paper counts its steps in days, and 1000 days in the healthy steady state then earn 3.53e11, the scale of its epsilon
  of 30^10; `reward_every` = 5 pays for the last day only, as programs of the Ernst line do (1/5 of that).
- `process_noise` = .01: A7 adds N(0, .01) "for each dynamic state" without units. In cells per ml that would be
  nothing, so it is added to log10 of every component, after each day; likewise `observation_noise` = .1 to log10 of the
  noisy measurement.
- `noise_is` = "standard deviation": .01 and .1 are read as standard deviations. Elsewhere the paper writes
  N(0, sigma^2), by which they are variances; `noise_is` = "variance" makes them .1 and .316. A day then multiplies
  every amount by 10^+-.1, and even a search with the true model earns a fraction of what it does (docs/continuous.md).
- `R2` = 2000: some programs have 20000; against S E up to 3.5e8 it makes no difference.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.compiling import compiled
from hreach.domains.hiv_dynamics import FOLLOWED, PARAMETER_NAMES, STATE_NAMES, derivative, live_days, simulate
from hreach.domains.hiv_noise import accumulated, deviation
from hreach.errors import InputError, at_least, discount, finite, number, positive, require, whole
from hreach.problems.task import Preset, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

LOWEST, HIGHEST = -5.0, 8.0  # log10; limits of what is observed, not of what happens
LOG = math.log(10)
PLANNED = 6.5  # log10; a model's predictions are cut off here
# What a linear agent may learn from: the entry of `info` with the state a day later, or None for the next decision.
MODELS = {"day": "day_after", "noisy-day": "day_after_noisy", "step": None}
# The steady states as published (Adams et al. 2004), from which the exact ones are sought.
PUBLISHED = {
    "unhealthy": (163573.0, 11945.0, 5.0, 46.0, 63919.0, 24.0),
    "healthy": (967839.0, 76.0, 621.0, 6.0, 415.0, 353108.0),
}


class HIV(gymnasium.Env[Array, np.int64]):
    """Observes log10 of (T1, T1*, T2, T2*, V, E) at each decision, clipped to [-5, 8].

    What an agent may know, besides Gymnasium's spaces:

    bounds         (2, 6): lowest and highest observation
    state_names    ("T1", "T1*", "T2", "T2*", "V", "E")
    actions        4: no drug, RTI, PI, both
    efficacies     (4, 2): (e1, e2) of each action
    gamma          the discount of one decision (.98)
    known_reward   r(s, a) of one measured day, which the paper's agents know
    noise_free_step  the truth without noise, for tests and for planners that need not learn
    step_deviation   how far the noise spreads the state until the next decision
    healthy, unhealthy  (6,): the steady states without drugs
    task           all that a linear agent knows, as a `hreach.Task`
    episode_figure a picture of a finished episode

    `info` holds "state" (6,), the state without logarithm and clipping, and after a step also

    day_after        (6,): log10 of the state one day after the decision that was just carried out
    day_after_noisy  (6,): the same with `observation_noise`: what the paper's agents see
    trajectory       (days_per_step + 1, 6): the states of this step day by day, from the old to the new one

    An episode is truncated when `episode_days` are over and never terminates. It starts in the unhealthy steady state,
    in `start`, or in `reset(options={"state": ...})` (not in log10). Each step draws 6 (days_per_step + 1) normal
    numbers whatever the noise is, so that runs with different noise share their randomness.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (Gymnasium's own type)
    state_names = STATE_NAMES
    actions = 4

    def __init__(
        self,
        days_per_step: int = 5,
        reward_every: int = 1,
        episode_days: int = 1000,
        process_noise: float = 0.01,
        observation_noise: float = 0.1,
        noise_is: str = "standard deviation",
        start: Sequence[float] | Array | None = None,
        gamma: float = 0.98,
        rti_efficacy: float = 0.7,
        pi_efficacy: float = 0.3,
        Q: float = 0.1,
        R1: float = 20000.0,
        R2: float = 2000.0,
        S: float = 1000.0,
        l1: float = 10000.0,
        d1: float = 0.01,
        k1: float = 8e-7,
        l2: float = 31.98,
        d2: float = 0.01,
        f: float = 0.34,
        k2: float = 1e-4,
        delta: float = 0.7,
        m1: float = 1e-5,
        m2: float = 1e-5,
        NT: float = 100.0,
        c: float = 13.0,
        r1: float = 1.0,
        r2: float = 1.0,
        lE: float = 1.0,
        bE: float = 0.3,
        Kb: float = 100.0,
        dE: float = 0.25,
        Kd: float = 500.0,
        deltaE: float = 0.1,
        render_mode: str | None = None,
    ) -> None:
        self.days_per_step = whole("days_per_step", days_per_step, 1)
        self.reward_every = whole("reward_every", reward_every, 1)
        divides = self.days_per_step % self.reward_every == 0
        require(divides, "reward_every", reward_every, f"a divisor of days_per_step ({self.days_per_step})")
        self.episode_days = whole("episode_days", episode_days, 1)
        self.process_deviation = deviation("process_noise", process_noise, noise_is)
        self.observation_deviation = deviation("observation_noise", observation_noise, noise_is)
        self.gamma = discount(gamma)
        e1, e2 = _share("rti_efficacy", rti_efficacy), _share("pi_efficacy", pi_efficacy)
        self.efficacies = np.array([[0.0, 0.0], [e1, 0.0], [0.0, e2], [e1, e2]])
        self._weights = finite("Q", Q), finite("S", S)
        self._cost = self.efficacies**2 @ (finite("R1", R1), finite("R2", R2))  # R1 e1^2 + R2 e2^2 of each action, (4,)
        given = {"l1": l1, "d1": d1, "k1": k1, "l2": l2, "d2": d2, "f": _share("f", f), "k2": k2, "delta": delta}
        given |= {
            "m1": m1,
            "m2": m2,
            "NT": NT,
            "c": c,
            "r1": r1,
            "r2": r2,
            "lE": lE,
            "bE": bE,
            "Kb": positive("Kb", Kb),
        }
        given |= {"dE": dE, "Kd": positive("Kd", Kd), "deltaE": deltaE}
        self.parameters = np.array([at_least(name, given[name], 0) for name in PARAMETER_NAMES])
        modes = self.metadata["render_modes"]
        require(render_mode is None or render_mode in modes, "render_mode", render_mode, f"None or one of {modes}")
        self.render_mode = render_mode
        self.bounds = np.array([[LOWEST] * 6, [HIGHEST] * 6])
        self.observation_space = gymnasium.spaces.Box(self.bounds[0], self.bounds[1], dtype=np.float64)
        self.action_space = gymnasium.spaces.Discrete(self.actions)
        self.start = self.unhealthy if start is None else _amounts("start", start)
        self._days = [self.start]  # the state of each day of this episode, and the action given on it
        self._given: list[int] = []

    @functools.cached_property
    def unhealthy(self) -> Array:
        """The stable steady state (6,) of an untreated infection, E near 24."""
        return self._steady("unhealthy")

    @functools.cached_property
    def healthy(self) -> Array:
        """The stable steady state (6,) in which the immune system holds the virus down, E near 353 000."""
        return self._steady("healthy")

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        """Back to the start, or to `options["state"]`."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        self._days = [self.start if given is None else _amounts("options['state']", given)]
        self._given = []
        return observed(self._days[0]), {"state": self._days[0].copy()}

    def step(self, action: np.int64 | int) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        """Treat for `days_per_step` days; see the class for `info`."""
        if not (type(action) is int and 0 <= action < self.actions) and not self.action_space.contains(action):
            require(False, "action", action, f"a whole number from 0 to {self.actions - 1}")
        noise = self.np_random.standard_normal((self.days_per_step + 1, 6))
        days = np.empty((self.days_per_step + 1, 6))
        factors = 10 ** (self.process_deviation * noise)
        e1, e2 = self.efficacies[action]
        failed = live_days(self._days[-1], e1, e2, factors, self.parameters, days)
        require(failed == 0, "state", days[failed - 1], FOLLOWED)
        measured = days[self.reward_every :: self.reward_every]
        reward = float(self.known_reward(measured, np.full(len(measured), action)).sum())
        self._days.extend(days[1:])
        self._given.extend([int(action)] * self.days_per_step)
        logs = observed(days)
        after = logs[1].copy()
        info = {
            "state": days[-1].copy(),
            "day_after": after,
            "day_after_noisy": after + self.observation_deviation * noise[-1],
            "trajectory": days,
        }
        return logs[-1].copy(), reward, False, len(self._given) >= self.episode_days, info

    def known_reward(self, states: ArrayLike, actions: ArrayLike) -> Array:
        """r(s, a) = -Q V - R1 e1^2 - R2 e2^2 + S E of N measured days, (N,).

        `states` (N, 6) are amounts, not logarithms, at the end of the day; `actions` (N,) what was given on it. A
        step of the environment earns the sum over its measured days (`reward_every`).
        """
        x = np.asarray(states, dtype=np.float64)
        Q, S = self._weights
        return np.asarray(-Q * x[:, 4] - self._cost[np.asarray(actions)] + S * x[:, 5])

    def noise_free_step(self, states: ArrayLike, actions: ArrayLike, days: float | None = None) -> Array:
        """The amounts (N, 6) that follow `states` (N, 6) under `actions` (N,) without noise; `days` is one decision."""
        efficacies = self.efficacies[np.asarray(actions)]
        return simulate(states, efficacies, self.days_per_step if days is None else days, self.parameters)

    def task(self, model: str = "day") -> Task:
        """What a linear agent knows, the reward among it; it learns all six components of log10.

        model   "day": the state one day after a decision, so that 5 steps of the model make a decision.
                "noisy-day": the same from the measurement with error, which is what the paper's agents see.
                "step": the state at the next decision. The noise of its five days adds up, differently in every state
                (`step_deviation`): sigma is that at the start of an episode, the root mean square over the actions.
        """
        daily = _is_daily(model)
        error = self.observation_deviation if model == "noisy-day" else 0.0
        a_day = np.full(6, math.hypot(self.process_deviation, error))
        days = self.reward_every if daily else self.days_per_step
        best = float(self.known_reward(self.healthy[None], np.zeros(1, dtype=np.int64))[0])
        per_decision = self.days_per_step // self.reward_every
        return Task(
            bounds=np.array([[LOWEST] * 6, [PLANNED] * 6]),
            actions=self.actions,
            gamma=self.gamma,
            learnt=(0, 1, 2, 3, 4, 5),
            sigma=a_day if daily else self._typical_deviation(),
            reward=functools.partial(self._planned_reward, 1 if daily else per_decision),
            values=(0.0, best * per_decision / (1 - self.gamma)),
            duration=self.days_per_step,
            model_steps=self.days_per_step if daily else 1,
            paid_every=days if daily else 1,
            measured=MODELS[model],
            truth=functools.partial(self._true_step, 1.0 if daily else float(self.days_per_step)),
        )

    def preset(self, model: str = "day", share: bool = True, truncate: bool = True) -> Preset:
        """Features and a search that suit a model of a day or of a step: `hreach.domains.presets.hiv`."""
        from hreach.domains.presets import hiv

        return hiv.preset(_is_daily(model), share, truncate, self.days_per_step)

    def _planned_reward(self, times: int, states: Array, actions: NDArray[np.int64], following: Array) -> Array:
        """`times` the reward of a measured day with log10 of the amounts `following` (N, 6)."""
        result = np.empty(len(following))
        _pay(following, actions, self._weights, self._cost, times, result)
        return result

    def _true_step(self, days: float, states: Array, actions: NDArray[np.int64]) -> Array:
        """log10 (N, 6) of what follows without noise after `days` days, to some 1e-4: a search asks 800 times."""
        return observed(simulate(10.0**states, self.efficacies[actions], days, self.parameters, tolerance=1e-4))

    def step_deviation(self, state: ArrayLike, action: int) -> Array:
        """Standard deviations (6,) of log10 at the next decision, from amounts `state` (6,); see `hiv_noise`.

        To first order in the noise: two per cent from the truth at the default, in the steady states.
        """

        def day(logs: Array) -> Array:
            return observed(self.noise_free_step(10.0**logs, np.full(len(logs), action), days=1))

        return accumulated(day, observed(_amounts("state", state)), self.days_per_step, self.process_deviation)

    def _typical_deviation(self) -> Array:
        """The root mean square over the actions of `step_deviation` in the start state, (6,)."""
        each = np.array([self.step_deviation(self.start, action) for action in range(self.actions)])
        return np.asarray(np.sqrt(np.square(each).mean(axis=0)))

    def is_terminal(self, states: ArrayLike) -> NDArray[np.bool_]:
        """Which of the states (N, 6) end the episode: none, (N,)."""
        return np.zeros(len(np.asarray(states)), dtype=np.bool_)

    def render(self) -> NDArray[np.uint8] | None:
        """The patient so far and the treatment, (560, 840, 3); None unless `render_mode` is "rgb_array"."""
        return self._picture() if self.render_mode == "rgb_array" else None

    def _steady(self, name: str) -> Array:
        """Where x' = 0 without drugs, sought from the published state. In log x, so that it cannot become negative."""
        from scipy.optimize import root

        guess, none = np.array(PUBLISHED[name]), np.zeros((1, 2))

        def relative_slope(z: Array) -> Array:
            x = guess * np.exp(np.clip(z, -50, 50))
            return np.asarray(derivative(x[None], none, self.parameters)[0] / x)

        found = root(relative_slope, np.zeros(6), tol=1e-13)
        if np.abs(relative_slope(found.x)).max() > 1e-9:
            raise InputError(
                f"parameters of the HIV domain give no {name} steady state near the published one; "
                "give `start` or parameters closer to the published ones."
            )
        return np.asarray(guess * np.exp(found.x))

    def episode_figure(self, states: Array, actions: NDArray[np.int64]) -> Figure:
        """A matplotlib figure of an episode: states (T + 1, 6) as observed (log10), actions (T,)."""
        days = np.arange(len(states)) * self.days_per_step
        return self._figure(days, 10.0 ** np.asarray(states), np.repeat(actions, self.days_per_step))

    def _picture(self) -> NDArray[np.uint8]:
        from hreach.drawing.canvas import pixels

        return pixels(self._figure(np.arange(len(self._days)), np.array(self._days), np.array(self._given, dtype=int)))

    def _figure(self, days: NDArray[np.int64], amounts: Array, given: NDArray[np.int64]) -> Figure:
        """The amounts (N, 6) on `days` (N,), and the action `given` on each day."""
        from hreach.domains.hiv_picture import draw

        try:
            healthy = self.healthy
        except InputError:  # other parameters may have none
            healthy = np.full(6, np.nan)
        return draw(days, np.maximum(amounts, 10**LOWEST), self.efficacies[given] > 0, healthy, self.episode_days)


@compiled
def _pay(
    logs: Array, actions: NDArray[np.int64], weights: tuple[float, float], cost: Array, times: int, result: Array
) -> None:
    """`known_reward`, `times` over, of log10 of the amounts (N, 6)."""
    Q, S = weights
    for i in range(result.shape[0]):
        V, E = math.exp(LOG * logs[i, 4]), math.exp(LOG * logs[i, 5])
        result[i] = times * (S * E - Q * V - cost[actions[i]])


def _is_daily(model: str) -> bool:
    """Whether a model is of one day, not of a whole step."""
    require(model in MODELS, "model", model, f"one of {', '.join(map(repr, MODELS))}")
    return MODELS[model] is not None


def observed(states: Array) -> Array:
    """log10 of amounts, clipped to [-5, 8]; nothing at all is seen as -5."""
    logs = np.log10(np.minimum(np.maximum(states, 10**LOWEST), 10**HIGHEST))  # np.clip takes twice as long
    return np.asarray(np.minimum(np.maximum(logs, LOWEST), HIGHEST))


def _share(field: str, value: object) -> float:
    result = number(field, value)
    require(0 <= result <= 1, field, value, "a number from 0 to 1")
    return result


def _amounts(field: str, value: object) -> Array:
    amounts = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
    require(len(amounts) == 6, field, value, f"six amounts, the order is {', '.join(STATE_NAMES)}")
    return np.array([at_least(f"{field}[{j}]", amount, 0) for j, amount in enumerate(amounts)])
