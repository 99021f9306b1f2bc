"""Feature maps Phi(s, a): what a linear model sees of a state and an action.

    phi = map(states, actions),    states (N, nS) float64,  actions (N,) int  ->  phi (N, size) float64

A map is a small frozen value, and a larger one is put together from smaller ones: `Select`, `Scaled` and `Log10` change
the state that an inner map sees, `Concat` joins maps, `ActionBlocks` gives every action weights of its own.

    Concat((Identity(6), Products(6)))                                the 21 features of the HIV experiment (paper: A7)
    ActionBlocks(Select(rbf_grid(-0.07, 0.07, 10), states=2, components=(1,)), actions=3)         10 RBFs per action

`from_settings` builds the same from plain data. Settings are tuples of numbers, so equal maps compare equal and
components of a model that use equal maps share one factor.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike

from hreach.errors import number, positive, require, unknown_name, whole
from hreach.models.feature_map import Array, FeatureMap, Integers, Numbers, fill, in_range, indices, numbers, plain
from hreach.registry import Params

POWERS = (-300.0, 100.0)  # the exponents of `Power10`


@dataclass(frozen=True)
class Bias(FeatureMap):
    """phi = 1."""

    states: int
    size: int = field(init=False, default=1)

    def _values(self, states: Array, actions: Integers) -> Array:
        return np.ones((len(states), 1))


@dataclass(frozen=True)
class Identity(FeatureMap):
    """phi = s."""

    states: int
    size: int = field(init=False)

    def __post_init__(self) -> None:
        fill(self, size=whole("states", self.states, 1))

    def _values(self, states: Array, actions: Integers) -> Array:
        return states


@dataclass(frozen=True)
class Products(FeatureMap):
    """phi = (s_i s_j) for i < j, in the order (0, 1), (0, 2), ..., (1, 2), ...; no squares. Paper: A7, HIV."""

    states: int
    size: int = field(init=False)
    pairs: tuple[Integers, Integers] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        first, second = np.triu_indices(whole("states", self.states, 2), k=1)
        fill(self, size=len(first), pairs=(first, second))

    def _values(self, states: Array, actions: Integers) -> Array:
        first, second = self.pairs
        return np.asarray(states[:, first] * states[:, second])


@dataclass(frozen=True)
class Polynomial(FeatureMap):
    """phi = all monomials of degree 1 to `degree`, lower degrees first; no intercept (add `Bias`)."""

    states: int
    degree: int
    size: int = field(init=False)
    monomials: tuple[tuple[int, ...], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        degrees = range(1, whole("degree", self.degree, 1) + 1)
        each = range(whole("states", self.states, 1))
        found = tuple(m for d in degrees for m in combinations_with_replacement(each, d))
        fill(self, monomials=found, size=len(found))

    def _values(self, states: Array, actions: Integers) -> Array:
        return np.stack([states[:, list(m)].prod(axis=1) for m in self.monomials], axis=1)


@dataclass(frozen=True)
class Power10(FeatureMap):
    """phi = 10^s per component, s clipped to [-300, 100]: a model takes nothing beyond 1e100.

    What is measured in log10 grows by amounts that are linear without it. `Scaled` keeps the powers near 1.
    """

    states: int
    size: int = field(init=False)

    def __post_init__(self) -> None:
        fill(self, size=whole("states", self.states, 1))

    def _values(self, states: Array, actions: Integers) -> Array:
        return np.asarray(10.0 ** np.clip(states, *POWERS))


@dataclass(frozen=True)
class RBF(FeatureMap):
    """Gaussian bumps on a grid: phi_c(s) = prod_d exp(-(s_d - c_d)^2 / (2 widths_d^2)), last dimension fastest.

    `centres` has one tuple per state component. Normalised, the features sum to 1 everywhere: the sum over a grid is
    the product of the sums of its dimensions, so each dimension is normalised by itself, and far away from every
    centre the nearest one wins instead of 0 / 0.
    """

    centres: tuple[tuple[float, ...], ...]
    widths: Numbers
    normalised: bool = False
    states: int = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        centres = tuple(numbers("centres", c) for c in self.centres)
        require(len(centres) > 0 and all(centres), "centres", self.centres, "a list of centres for each component")
        widths = tuple(positive("widths", w) for w in numbers("widths", self.widths, len(centres)))
        size = int(np.prod([len(c) for c in centres]))
        fill(self, centres=centres, widths=widths, states=len(centres), size=size)

    def _values(self, states: Array, actions: Integers) -> Array:
        result = np.ones((len(states), 1))
        for d, (centres, width) in enumerate(zip(self.centres, np.atleast_1d(self.widths), strict=True)):
            power = -0.5 * np.square(np.clip((states[:, d, None] - np.array(centres)) / width, -1e150, 1e150))
            top = power.max(axis=1, keepdims=True) if self.normalised else 0.0
            bump = np.exp(power - top)
            bump /= bump.sum(axis=1, keepdims=True) if self.normalised else 1.0
            result = (result[:, :, None] * bump[:, None, :]).reshape(len(states), result.shape[1] * len(centres))
        return result


def rbf_grid(
    low: Numbers, high: Numbers, count: int | Sequence[int], widths: Numbers | None = None, normalised: bool = False
) -> RBF:
    """An `RBF` with `count` evenly spaced centres from `low` to `high`; width = the spacing unless given."""
    lows = numbers("low", low)
    counts = [whole("count", c, 2) for c in numbers("count", count, len(lows))]
    spans = list(zip(lows, numbers("high", high, len(lows)), counts, strict=True))
    require(all(lo < hi for lo, hi, _ in spans), "low", low, f"below high = {high}")
    spacing = tuple((hi - lo) / (c - 1) for lo, hi, c in spans)
    centres = tuple(tuple(np.linspace(*span).tolist()) for span in spans)
    return RBF(centres, spacing if widths is None else widths, normalised)


@dataclass(frozen=True)
class RandomFourier(FeatureMap):
    """phi(s) = amplitude (cos(omega_1 . s), ..., sin(omega_1 . s), ...), omega ~ N(0, 1 / length_scale^2).

    With the amplitude sqrt(2 / D), which is the default, phi(s) . phi(s') tends to the Gaussian kernel
    exp(-|s - s'|^2 / (2 length_scale^2)) as D = `count` grows (Rahimi and Recht 2007); a larger one is a smaller ridge
    for these features. `length_scale` is one number or one per component; the draw depends on `seed` alone.

    Waves come in pairs, a cosine and a sine, so that ||phi(s)|| is the same everywhere (the last of an odd count is
    alone): before any data, no state is further from being known than another. As many omega as there are components
    are drawn at right angles (for equal length scales), which brings the kernel nearer than independent ones do
    (Yu et al. 2016).
    """

    states: int
    count: int
    length_scale: Numbers = 1.0
    seed: int = 0
    amplitude: float | None = None
    size: int = field(init=False)
    omega: Array = field(init=False, compare=False, repr=False)
    phase: Array = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        states, count = whole("states", self.states, 1), whole("count", self.count, 1)
        scale = tuple(positive("length_scale", s) for s in numbers("length_scale", self.length_scale, states))
        rng = np.random.default_rng(whole("seed", self.seed, 0))
        fill(self, amplitude=math.sqrt(2 / count) if self.amplitude is None else positive("amplitude", self.amplitude))
        turns = _at_right_angles(states, -(-count // 2), rng) / np.array(scale)[:, None]
        phases = np.repeat([0.0, -np.pi / 2], turns.shape[1])
        fill(self, length_scale=scale, size=count, omega=np.tile(turns, 2)[:, :count].copy(), phase=phases[:count])

    def _values(self, states: Array, actions: Integers) -> Array:
        return np.asarray(np.cos(states @ self.omega + self.phase) * self.amplitude)


def _at_right_angles(states: int, count: int, rng: np.random.Generator) -> Array:
    """(states, count): each column is N(0, I) by itself, and `states` of them in a row are at right angles."""
    blocks = []
    for _ in range(-(-count // states)):
        turned, upper = np.linalg.qr(rng.standard_normal((states, states)))
        turned *= np.sign(upper.diagonal())  # or the directions would not be uniform
        blocks.append(turned * np.sqrt(rng.chisquare(states, states)))
    return np.concatenate(blocks, axis=1)[:, :count]


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "cos": np.cos, "sin": np.sin, "tanh": np.tanh, "square": np.square, "abs": np.abs, "arctan": np.arctan,
}  # fmt: skip


@dataclass(frozen=True)
class Term(FeatureMap):
    """One known term: phi = function(scale s_i), such as cos(3 x); or any function(states, actions) -> (N,).

    A name is looked up in `FUNCTIONS`; a callable gets all states and actions, and not `component` and `scale`.
    """

    states: int
    function: str | Callable[[Array, Integers], ArrayLike]
    component: int = 0
    scale: float = 1.0
    size: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        if not callable(self.function) and self.function not in FUNCTIONS:
            raise unknown_name("function", self.function, FUNCTIONS)
        indices((self.component,), self.states)
        fill(self, scale=number("scale", self.scale))

    def _values(self, states: Array, actions: Integers) -> Array:
        if not callable(self.function):
            return np.asarray(FUNCTIONS[self.function](self.scale * states[:, self.component, None]))
        result = np.asarray(self.function(states, actions), dtype=np.float64)
        require(result.shape == (len(states),), "shape of the term", result.shape, f"({len(states)},)")
        require(bool(np.isfinite(result).all()), "value of the term", result, "finite")
        return result[:, None]


@dataclass(frozen=True)
class ActionValue(FeatureMap):
    """phi = values[a], one number (or one row) per action: a control signal such as (-1, 0, 1)."""

    states: int
    value: tuple[float | tuple[float, ...], ...]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        rows = tuple(numbers("value", row) for row in self.value)
        same = len({len(row) for row in rows}) == 1
        require(same, "value", self.value, "a number for each action, or equally long rows")
        fill(self, value=rows, size=len(rows[0]))

    def _values(self, states: Array, actions: Integers) -> Array:
        in_range(actions, len(self.value))
        return np.asarray(np.array(self.value, dtype=np.float64)[actions])


@dataclass(frozen=True)
class Concat(FeatureMap):
    """phi = (phi_1, phi_2, ...): the features of every map, side by side."""

    maps: tuple[FeatureMap, ...]
    states: int = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        widths = {m.states for m in self.maps}
        require(len(widths) == 1, "maps", [m.states for m in self.maps], "maps of the same number of state components")
        fill(self, maps=tuple(self.maps), states=widths.pop(), size=sum(m.size for m in self.maps))

    def _values(self, states: Array, actions: Integers) -> Array:
        return np.concatenate([m._values(states, actions) for m in self.maps], axis=1)


@dataclass(frozen=True)
class Select(FeatureMap):
    """phi(s) = map(s[components]): the inner map sees only the chosen state components."""

    map: FeatureMap
    states: int
    components: tuple[int, ...]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        chosen = indices(self.components, self.states)
        require(len(chosen) == self.map.states, "components", chosen, f"{self.map.states} components for the map")
        fill(self, components=chosen, size=self.map.size)

    def _values(self, states: Array, actions: Integers) -> Array:
        return self.map._values(states[:, list(self.components)], actions)


@dataclass(frozen=True)
class Scaled(FeatureMap):
    """phi(s) = map((s - centre) / scale), per component."""

    map: FeatureMap
    centre: Numbers
    scale: Numbers
    states: int = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        n = self.map.states
        scale = tuple(positive("scale", s) for s in numbers("scale", self.scale, n))
        fill(self, centre=numbers("centre", self.centre, n), scale=scale, states=n, size=self.map.size)

    def _values(self, states: Array, actions: Integers) -> Array:
        return self.map._values((states - np.array(self.centre)) / np.array(self.scale), actions)


@dataclass(frozen=True)
class Log10(FeatureMap):
    """phi(s) = map(clip(log10 s, low, high)); zero and negative states count as 10^low."""

    map: FeatureMap
    low: float = -5.0
    high: float = 8.0
    states: int = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        low, high = number("low", self.low), number("high", self.high)
        require(-300 <= low < high <= 300, "low", low, f"below high = {high:g}, both within -300 and 300")
        fill(self, low=low, high=high, states=self.map.states, size=self.map.size)

    def _values(self, states: Array, actions: Integers) -> Array:
        logs = np.log10(np.maximum(states, 10.0**self.low))
        return self.map._values(np.clip(logs, self.low, self.high), actions)


@dataclass(frozen=True)
class ActionBlocks(FeatureMap):
    """phi(s, a) = (0, ..., map(s, a), ..., 0), block a of `actions`: every action has weights of its own.

    X'X is then block diagonal; `LinearModel` keeps one small factor per block and never forms the zeros.
    """

    map: FeatureMap
    actions: int
    states: int = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        fill(self, states=self.map.states, size=self.map.size * whole("actions", self.actions, 1))

    def _values(self, states: Array, actions: Integers) -> Array:
        in_range(actions, self.actions)
        result = np.zeros((len(states), self.actions, self.map.size))
        result[np.arange(len(states)), actions] = self.map._values(states, actions)
        return result.reshape(len(states), self.size)


KINDS: dict[str, Callable[..., FeatureMap]] = {
    "bias": Bias, "identity": Identity, "products": Products, "polynomial": Polynomial, "power10": Power10,
    "rbf": RBF, "rbf-grid": rbf_grid, "random-fourier": RandomFourier, "term": Term, "action-value": ActionValue,
    "concat": Concat, "scaled": Scaled, "log10": Log10, "action-blocks": ActionBlocks,
}  # fmt: skip


def from_settings(settings: Params, states: int, actions: int, seed: int = 0) -> FeatureMap:
    """Build a map from `kind` and the arguments of that kind, as a TOML file gives them.

    {"kind": "action-blocks", "map": {"kind": "rbf-grid", "components": [1], "low": -0.07, "high": 0.07, "count": 10}}

    `states` and `actions` come from the domain, `seed` from the run; `components` wraps any map in `Select`.
    """
    require(isinstance(settings, Mapping), "features", settings, "a table with a kind")
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise unknown_name("kind of features", kind, KINDS)
    chosen = indices(settings["components"], states) if "components" in settings else None
    width = states if chosen is None else len(chosen)
    run = {"states": width, "actions": actions, "seed": seed}
    built = KINDS[kind](**_arguments(kind, settings, run))
    require(built.states == width, f"state components of {kind!r}", built.states, f"{width}; name its components")
    return built if chosen is None else Select(built, states, chosen)


def _arguments(kind: str, settings: Params, run: Mapping[str, int]) -> dict[str, object]:
    known = inspect.signature(KINDS[kind]).parameters
    allowed = {*known} - {"states", "actions"}
    for name in settings:
        if name not in {*allowed, "kind", "components"}:
            raise unknown_name(f"setting of {kind!r}", name, {*allowed, "components"})
    result: dict[str, object] = {name: value for name, value in run.items() if name in known}
    result |= {name: plain(value) for name, value in settings.items() if name in allowed}
    missing = [p.name for p in known.values() if p.default is p.empty and p.name not in result]
    require(not missing, f"{kind!r} without {', '.join(missing)}", dict(settings), "given every setting it needs")
    if "map" in result:
        result["map"] = from_settings(settings["map"], **run)
    if "maps" in result:
        result["maps"] = tuple(from_settings(each, **run) for each in settings["maps"])
    return result
