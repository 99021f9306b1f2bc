"""The mountain car with noise and a comfortable valley.

A car stands in a valley and is too weak to climb out of it; it has to swing back first. With force a in {-1, 0, 1}
(actions 0, 1, 2), position x and velocity v,

    v' = clip(v + power a - gravity cos(3 x) + N(0, noise^2), -speed_limit, speed_limit)
    x' = clip(x + v', low, high),     v' = 0 where x' = low (the wall on the left takes all speed).

The episode ends when x' >= goal. Each step earns -cost, but -cheap_cost around the start (x' in `cheap_zone`), and 0
when it reaches the goal: staying where one is looks better than it is.

Source: R. S. Sutton, A. G. Barto, "Reinforcement Learning: An Introduction" (1998), section 8.4, modified by Kawaguchi
(2016), appendix A7: fixed start, noise of standard deviation .001 (as much as the engine can do), cheap zone.
Two things the appendix leaves open are settled here. It prints the zone as "[-0.6, 0.4]", which would reach nearly to
the goal; around the start is [-.6, -.4]. And it does not say which position is paid for: the one after the move.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.errors import at_least, discount, finite, positive, require, whole
from hreach.problems.task import Preset, Task

Array = NDArray[np.float64]


class MountainCar(gymnasium.Env[Array, np.int64]):
    """Observes (x, v); all defaults are the paper's (appendix A7).

    What an agent may know, besides Gymnasium's spaces:

    bounds         (2, 2): lowest and highest (x, v)
    state_names    ("position", "velocity")
    actions        3; action k pushes with force k - 1
    gamma          the discount for planning (the paper names none; .99 as in the project's replication)
    known_reward   r(s, a, s'), which the paper's agents know
    is_terminal    which states end the episode
    noise_free_step  the truth without noise, for tests and for planners that need not learn
    task           all that a linear agent knows, as a `hreach.Task`

    `reset(options={"state": (x, v)})` starts elsewhere. An episode is truncated after `max_steps` steps.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012 (Gymnasium's own type)
    state_names = ("position", "velocity")
    actions = 3

    def __init__(
        self,
        noise: float = 0.001,
        start: Sequence[float] | Array = (-0.5, 0.0),
        cheap_zone: Sequence[float] | Array = (-0.6, -0.4),
        cheap_cost: float = 0.9,
        cost: float = 1.0,
        goal: float = 0.5,
        position_bounds: Sequence[float] | Array = (-1.2, 0.6),
        speed_limit: float = 0.07,
        power: float = 0.001,
        gravity: float = 0.0025,
        max_steps: int = 2000,
        gamma: float = 0.99,
        render_mode: str | None = None,
    ) -> None:
        self.noise = at_least("noise", noise, 0)
        self.cheap_zone = _interval("cheap_zone", cheap_zone)
        self.cheap_cost, self.cost = finite("cheap_cost", cheap_cost), finite("cost", cost)
        self._low, self._high = _interval("position_bounds", position_bounds)
        self.goal = finite("goal", goal)
        require(self._low < self.goal <= self._high, "goal", goal, f"above {self._low:g} and at most {self._high:g}")
        self.speed_limit = positive("speed_limit", speed_limit)
        self.power, self.gravity = at_least("power", power, 0), at_least("gravity", gravity, 0)
        self.max_steps = whole("max_steps", max_steps, 1)
        self.gamma = discount(gamma)
        modes = self.metadata["render_modes"]
        require(render_mode is None or render_mode in modes, "render_mode", render_mode, f"None or one of {modes}")
        self.render_mode = render_mode
        self.bounds = np.array([[self._low, -self.speed_limit], [self._high, self.speed_limit]])
        self.start = self._checked("start", start)
        self.observation_space = gymnasium.spaces.Box(self.bounds[0], self.bounds[1], dtype=np.float64)
        self.action_space = gymnasium.spaces.Discrete(self.actions)
        self._x, self._v = self.start
        self._steps = 0

    def task(self) -> Task:
        """What a linear agent knows: it learns the velocity; where the car then is follows from it."""
        return Task(
            bounds=self.bounds,
            actions=self.actions,
            gamma=self.gamma,
            learnt=(1,),
            sigma=np.array([self.noise]),
            reward=self.known_reward,
            values=(-max(self.cost, self.cheap_cost, 0.0) / (1 - self.gamma), 0.0),
            complete=self.complete,
            terminal=self.is_terminal,
            truth=self.noise_free_step,
        )

    def preset(self) -> Preset:
        """Features and a planner that suit it."""
        from hreach.domains.presets import mountain_car

        return mountain_car.preset(self.speed_limit)

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Array, dict[str, object]]:
        """Back to the start, or to `options["state"]`."""
        super().reset(seed=seed)
        given = (options or {}).get("state")
        self._x, self._v = self.start if given is None else self._checked("options['state']", given)
        self._steps = 0
        return np.array([self._x, self._v]), {}

    def step(self, action: np.int64) -> tuple[Array, float, bool, bool, dict[str, object]]:
        """One push; draws one normal number.

        The same mathematics as `noise_free_step` and `known_reward`, in plain floats: NumPy costs ten times as much
        for a single state.
        """
        if not isinstance(action, int | np.integer) or not 0 <= action < self.actions:
            require(False, "action", action, f"a whole number from 0 to {self.actions - 1}")
        v = self._v + self.power * (int(action) - 1) - self.gravity * math.cos(3 * self._x)
        v += self.noise * self.np_random.standard_normal()
        v = min(max(v, -self.speed_limit), self.speed_limit)
        x = min(max(self._x + v, self._low), self._high)
        self._x, self._v = x, 0.0 if x <= self._low else v
        self._steps += 1
        terminated = x >= self.goal
        cheap = self.cheap_zone[0] <= x <= self.cheap_zone[1]
        reward = 0.0 if terminated else -self.cheap_cost if cheap else -self.cost
        return np.array([x, self._v]), reward, terminated, self._steps >= self.max_steps, {}

    def noise_free_step(self, states: ArrayLike, actions: ArrayLike) -> Array:
        """The next states (N, 2) of `states` (N, 2) under `actions` (N,) if the noise is 0.

        This is the mean of the next state, except near a bound, where clipping shifts the mean of the noisy one.
        """
        x, v = np.asarray(states, dtype=np.float64).T
        force = np.asarray(actions, dtype=np.float64) - 1
        v = np.clip(v + self.power * force - self.gravity * np.cos(3 * x), -self.speed_limit, self.speed_limit)
        x = np.clip(x + v, self._low, self._high)
        return np.stack([x, np.where(x <= self._low, 0.0, v)], axis=1)

    def complete(self, states: ArrayLike, actions: ArrayLike, predicted: ArrayLike) -> Array:
        """Next states (N, 2) from predicted velocities (N, 1): clipping, the new position and the wall are known."""
        v = np.clip(np.asarray(predicted, dtype=np.float64)[:, 0], -self.speed_limit, self.speed_limit)
        x = np.clip(np.asarray(states, dtype=np.float64)[:, 0] + v, self._low, self._high)
        return np.stack([x, np.where(x <= self._low, 0.0, v)], axis=1)

    def known_reward(self, states: ArrayLike, actions: ArrayLike, next_states: ArrayLike) -> Array:
        """r(s, a, s') for N transitions, (N,): it depends on the position x' of `next_states` (N, 2) only."""
        x = np.asarray(next_states, dtype=np.float64)[:, 0]
        cheap = (self.cheap_zone[0] <= x) & (x <= self.cheap_zone[1])
        return np.where(x >= self.goal, 0.0, np.where(cheap, -self.cheap_cost, -self.cost))

    def is_terminal(self, states: ArrayLike) -> NDArray[np.bool_]:
        """Which of the states (N, 2) end the episode: x >= goal."""
        return np.asarray(np.asarray(states, dtype=np.float64)[:, 0] >= self.goal)

    def render(self) -> NDArray[np.uint8] | None:
        """The car on its hill, (400, 600, 3); None unless `render_mode` is "rgb_array"."""
        return self._picture() if self.render_mode == "rgb_array" else None

    def _checked(self, field: str, state: object) -> tuple[float, float]:
        """A state to start from: within the bounds and not yet at the goal."""
        x, v = _pair(field, state)
        ok = self._low <= x < self.goal and abs(v) <= self.speed_limit
        allowed = f"(x, v) with x from {self._low:g} to below {self.goal:g} and |v| at most {self.speed_limit:g}"
        require(ok, field, state, allowed)
        return x, v

    def _picture(self) -> NDArray[np.uint8]:
        from hreach.domains.mountain_car_picture import Scene, draw
        from hreach.drawing.canvas import pixels

        scene = Scene(
            low=self._low,
            high=self._high,
            goal=self.goal,
            cheap_zone=self.cheap_zone,
            cheap_cost=self.cheap_cost,
            speed_limit=self.speed_limit,
            x=self._x,
            v=self._v,
            steps=self._steps,
        )
        return pixels(draw(scene))


def _pair(field: str, value: object) -> tuple[float, float]:
    numbers = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
    require(len(numbers) == 2, field, value, "two numbers")
    return finite(field, numbers[0]), finite(field, numbers[1])


def _interval(field: str, value: object) -> tuple[float, float]:
    low, high = _pair(field, value)
    require(low < high, field, value, "two numbers, the first below the second")
    return low, high
