"""Feature maps in a flat form that compiled code can follow: many steps of a linear model from many states.

    x_{t+1} = clip(x_t + theta_a' Phi(x_t), low, high),      or clip(theta_a' Phi(x_t), low, high)

A map made of `Bias`, `Identity`, `Products`, `Polynomial` up to degree 2, `Power10`, `RandomFourier`, `Term` with "cos"
or "sin", and `Scaled`, `Select`, `Concat` around them has three kinds of features. Of a `Concat`, some parts may be
`ActionBlocks`: their features are computed once and count for one action each. With z = (x_i - centre) / scale,

    product   u v, where each of u and v is 1 or some z
    power     10^z
    wave      amplitude cos(turn . x + phase)

`flatten` finds them. A `Follower` puts the weights into the order of the kinds, so that the loop over steps never looks
anything up. The NumPy map is the reference. Products and powers agree with it to rounding; the argument of a wave is
rounded in another order, which is worth some 1e-16 times the largest of |turn_i x_i| and |phase|. A sine is a cosine
with phase -pi / 2, so the same holds for it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hreach.compiling import compiled, inlined, inlined_with, resolved
from hreach.errors import array, require, whole
from hreach.models.feature_map import Array, FeatureMap, Integers, check_actions, check_states, in_range
from hreach.models.features import (
    POWERS,
    ActionBlocks,
    Bias,
    Concat,
    Identity,
    Polynomial,
    Power10,
    Products,
    RandomFourier,
    Scaled,
    Select,
    Term,
)

Four = tuple[float, float, float, float]


class Line(NamedTuple):
    """z = (x_source - centre) / scale: what an inner map sees as one component of its state."""

    source: int
    centre: float
    scale: float


class Product(NamedTuple):
    """phi = the product of at most two lines; 1 without any."""

    lines: tuple[Line, ...]


class Power(NamedTuple):
    """phi = 10^z."""

    line: Line


class Wave(NamedTuple):
    """phi = amplitude cos(sum_d turns_d z_d + phase)."""

    lines: tuple[Line, ...]
    turns: tuple[float, ...]
    phase: float
    amplitude: float


Feature = Product | Power | Wave
Lines = tuple[Line, ...]


@dataclass(frozen=True, eq=False)
class Flat:
    """The features of a map, by kind.

    The work row of one state holds K waves, then P powers, then the products, with unused places after each kind.
    """

    states: int  # nS
    size: int  # n
    turn: Array  # (6 or 12 ..., K): the components of the state, six by six
    phase: Array  # (K,)
    steepest: Array  # (rows of turn,): the largest |turn| of each component
    farthest: float  # the largest |phase|
    power_line: tuple[Integers, Array, Array]  # source, centre and 1 / scale of each power
    powers: int  # P
    line: tuple[Integers, Array, Array]  # of each z in products
    factors: tuple[Integers, Integers]  # each product multiplies two of (1, z_1, z_2, ...)
    place: Integers  # (n,): where feature f is in the work row
    amplitude: Array  # (n,): what it is multiplied by
    only: Integers  # (n,): the action for which it counts, or -1 for all
    width: int  # of the work row

    @functools.cached_property
    def counting(self) -> list[Integers]:
        """The features that count for each action, where some do not count for all."""
        return [np.flatnonzero((self.only < 0) | (self.only == a)) for a in range(int(self.only.max()) + 1)]

    def seen(self, rows: int) -> tuple[Array, Integers, Array, Integers]:
        """Room for the features of so many rows, and what fills it."""
        return np.empty((rows, self.size)), self.place, self.amplitude, self.only

    @functools.cached_property
    def arrays(self) -> tuple[Any, ...]:
        """What the compiled code reads."""
        waves = self.turn, self.phase, self.steepest, self.farthest
        return *waves, self.power_line, self.powers, self.line, self.factors

    def work(self) -> Array:
        """Work space of one call, which `_spaces` takes apart; in Python that took as long as 40 steps of the model."""
        return np.zeros(8 + 2 * self.width + len(self.turn) + _up(self.states, 3) + 1 + len(self.line[0]))

    def values(self, states: Array, actions: Integers) -> Array:
        """The features (N, n) of states (N, nS) and actions (N,), in the order of the map; nothing is checked."""
        seen = self.seen(len(states))
        self._evaluate(np.ascontiguousarray(states), actions, self.arrays, self._sizes, self.work(), seen)
        return seen[0]

    @functools.cached_property
    def _sizes(self) -> tuple[int, int]:
        return _up(self.states, 3), self.width

    @functools.cached_property
    def _evaluate(self) -> Callable[..., None]:
        some = np.zeros((1, self.states)), np.zeros(1, dtype=np.int64)
        return resolved(_evaluate, *some, self.arrays, self._sizes, self.work(), self.seen(1))


class Follower:
    """Follows the linear model with these weights: weights (B, n, nS) as `Factor.weights` gives them, block = action.

    Where some features count for one action only, there is one block for all actions.

    `change`: whether theta' Phi is the change of the state or the next state itself. Every state that is reached is
    clipped to [low, high], (nS,) each; NaN, which only an overflow can bring, becomes low. The weights are copied:
    after they changed, `renew` the actions whose they are. theta' Phi itself is clipped to `within`, (least, most) of
    shape (nS,) each, which are read at each call.
    """

    def __init__(
        self,
        flat: Flat,
        weights: ArrayLike,
        change: bool,
        low: ArrayLike,
        high: ArrayLike,
        within: tuple[Array, Array] | None = None,
    ) -> None:
        theta = array("weights", weights)
        shape = (flat.size, flat.states)
        right = theta.ndim == 3 and len(theta) > 0 and theta.shape[1:] == shape
        require(right, "shape of weights", theta.shape, f"(actions, {shape[0]}, {shape[1]})")
        require(len(theta) == 1 or not flat.counting, "shape of weights", theta.shape, "a single block")
        self.flat, self.change, self.actions = flat, bool(change), len(flat.counting or theta)
        self.low, self.high = (_bound(n, v, flat.states) for n, v in (("low", low), ("high", high)))
        require(bool((self.low <= self.high).all()), "low", low, f"at most high = {self.high}")
        self.weights = _aligned((self.actions, _up(flat.states, 3), flat.width))
        for block, own in enumerate(theta):
            self.renew(block, own)
        least, most = (np.full(flat.states, -np.inf), np.full(flat.states, np.inf)) if within is None else within
        right = least.shape == most.shape == (flat.states,)
        require(right, "shapes of within", (least.shape, most.shape), f"({flat.states},) each")
        self._limits = (self.change, self.low, self.high, least, most)
        one = np.zeros((1, flat.states)), np.zeros(1, dtype=np.int64)
        rest = self.weights, flat.arrays, self._limits, flat.work(), one[0][None], flat.seen(1)
        self._follow = resolved(_follow, *one, one[1], *rest)

    def renew(self, block: int, weights: Array) -> None:
        """Go on with other weights (n, nS) for one block; nothing is changed if they are not finite."""
        theta, flat = np.ascontiguousarray(weights), self.flat
        alone = -1 if flat.counting else block  # the action whose they are, or all
        require(_renew(theta, alone, flat.place, flat.amplitude, flat.only, self.weights), "weights", weights, "finite")

    def follow(self, states: ArrayLike, actions: ArrayLike, steps: int) -> tuple[Array, Array]:
        """Take every action of `actions` (N,) `steps` times in a row, from `states` (N, nS).

        Returns path (steps, N, nS), the states after 1, 2, ... steps, and phi (N, n), the features of `states`, in the
        order of the map. A row does not depend on the others, not even by rounding.
        """
        points = np.ascontiguousarray(check_states(states, self.flat.states))
        taken = check_actions(actions, len(points))
        in_range(taken, self.actions)
        path = np.empty((whole("steps", steps, 1), *points.shape))
        return path, self._fill(points, np.zeros(0, dtype=np.int64), taken, path)

    def grow(self, root: Array, parents: Integers, actions: Integers, steps: int) -> tuple[Array, Array, Array]:
        """The same for the nodes of a tree: node i begins where node parents[i] < i ends, or in `root` if that is -1.

        Returns states (N, nS) in which the nodes begin, path (steps, N, nS) and phi (N, n). For a search at every step,
        so nothing is checked here but the sizes: parents and actions (N,) are the tree's own.
        """
        nodes = len(parents)
        require(root.shape == (self.flat.states,), "shape of root", root.shape, f"({self.flat.states},)")
        states = np.empty((nodes, len(root)))
        states[:] = root
        path = np.empty((steps, nodes, len(root)))
        return states, path, self._fill(states, parents, actions, path)

    def _fill(self, states: Array, parents: Integers, actions: Integers, path: Array) -> Array:
        """See `_follow`; returns phi."""
        flat, seen = self.flat, self.flat.seen(len(states))
        self._follow(states, parents, actions, self.weights, flat.arrays, self._limits, flat.work(), path, seen)
        return seen[0]


def flatten(map: FeatureMap) -> Flat | None:
    """The flat form of a map, or None if it has features of another kind: the caller then uses the map itself."""
    lines = tuple(Line(i, 0.0, 1.0) for i in range(map.states))
    features: list[Feature] = []
    of: list[int] = []  # for each feature of the map, which of these it is, and for which action
    only: list[int] = []
    for part in map.maps if type(map) is Concat else (map,):
        inner = part.map if type(part) is ActionBlocks else part
        found = _features(inner, lines)
        if found is None:
            return None
        for action in range(part.actions) if type(part) is ActionBlocks else (-1,):
            of += range(len(features), len(features) + len(found))
            only += [action] * len(found)
        features += found
    with np.errstate(all="ignore"):  # a scale such as 1e-310 has no inverse: such a map is not flattened
        flat = _grouped(features, np.array(of), np.array(only), map.states)
    coefficients = (flat.turn, flat.phase, *flat.power_line[1:], *flat.line[1:])
    return flat if all(np.isfinite(c).all() for c in coefficients) else None


def _features(map: FeatureMap, lines: Lines) -> list[Feature] | None:
    """The features of `map`, in its order, when component d of the state it sees is lines[d]."""
    # the exact type, as a class derived from one of these may compute something else
    if type(map) is Concat:
        parts = [_features(m, lines) for m in map.maps]
        return None if None in parts else [f for part in parts if part is not None for f in part]
    if type(map) is Select:
        return _features(map.map, tuple(lines[c] for c in map.components))
    if type(map) is Scaled:
        changes = zip(lines, np.atleast_1d(map.centre).tolist(), np.atleast_1d(map.scale).tolist(), strict=True)
        inner = [Line(z.source, z.centre + centre * z.scale, z.scale * scale) for z, centre, scale in changes]
        return _features(map.map, tuple(inner))
    simple = _SIMPLE.get(type(map))
    return None if simple is None else simple(map, lines)


def _fourier(map: RandomFourier, lines: Lines) -> list[Feature]:
    amplitude = float(map.amplitude or 0.0)
    columns = zip(map.omega.T.tolist(), map.phase.tolist(), strict=True)
    return [Wave(lines, tuple(omega), phase, amplitude) for omega, phase in columns]


def _term(map: Term, lines: Lines) -> list[Feature] | None:
    phases = {"cos": 0.0, "sin": -math.pi / 2}
    if not isinstance(map.function, str) or map.function not in phases:
        return None
    return [Wave((lines[map.component],), (map.scale,), phases[map.function], 1.0)]


def _polynomial(map: Polynomial, lines: Lines) -> list[Feature] | None:
    if map.degree > 2:
        return None
    return [Product(tuple(lines[d] for d in monomial)) for monomial in map.monomials]


def _products(map: Products, lines: Lines) -> list[Feature]:
    return [Product((u, v)) for i, u in enumerate(lines) for v in lines[i + 1 :]]


_SIMPLE: dict[type, Callable[[Any, Lines], list[Feature] | None]] = {
    Bias: lambda map, lines: [Product(())],
    Identity: lambda map, lines: [Product((z,)) for z in lines],
    Power10: lambda map, lines: [Power(z) for z in lines],
    Products: _products,
    Polynomial: _polynomial,
    RandomFourier: _fourier,
    Term: _term,
}


def _grouped(features: list[Feature], of: Integers, only: Integers, states: int) -> Flat:
    """The same features by kind, with the numbers that the compiled loops read; see `flatten` for `of` and `only`."""
    waves = [f for f in features if isinstance(f, Wave)]
    powers = [f.line for f in features if isinstance(f, Power)]
    products = [f.lines for f in features if isinstance(f, Product)]
    # the loops are unrolled by so many; a rest would be computed one by one
    K, P = _up(len(waves), 16), _up(len(powers), 8)
    turn, phase = _waves(waves, _up(states, 6), K)
    known: dict[Line | None, int] = {None: 0}
    pairs = [(*lines, None, None)[:2] for lines in products]
    factors = np.array([[known.setdefault(z, len(known)) for z in pair] for pair in pairs], dtype=np.int64)
    first, second = np.ascontiguousarray(factors.reshape(-1, 2).T)
    begin = {Wave: 0, Power: K, Product: K + P}
    place = np.empty(len(features), dtype=np.int64)
    for f, feature in enumerate(features):
        place[f] = begin[type(feature)]
        begin[type(feature)] += 1
    return Flat(
        states=states,
        size=len(of),
        turn=turn,
        phase=phase,
        steepest=np.abs(turn).max(axis=1, initial=0.0),
        farthest=float(np.abs(phase).max(initial=0.0)),
        power_line=_columns(powers),
        powers=P,
        line=_columns([z for z in known if z is not None]),
        factors=(first, second),
        place=place[of],
        amplitude=np.array([f.amplitude if isinstance(f, Wave) else 1.0 for f in features])[of],
        only=only,
        width=_up(K + P + len(products), 16),
    )


def _waves(waves: Sequence[Wave], rows: int, K: int) -> tuple[Array, Array]:
    """turn (rows, K) and phase (K,) of cos(turn . x + phase), seen from the state itself."""
    turn, phase = _aligned((rows, K)), _aligned((K,))
    for k, wave in enumerate(waves):
        phase[k] = wave.phase
        for z, slope in zip(wave.lines, wave.turns, strict=True):
            turn[z.source, k] += np.float64(slope) / z.scale
            phase[k] -= np.float64(slope) / z.scale * z.centre
    return turn, phase


def _columns(lines: Iterable[Line]) -> tuple[Integers, Array, Array]:
    """source, centre and 1 / scale of each line."""
    table = np.array(list(lines), dtype=np.float64).reshape(-1, 3)
    return table[:, 0].astype(np.int64), table[:, 1].copy(), 1 / table[:, 2]


def _bound(name: str, value: ArrayLike, length: int) -> Array:
    result = array(name, value)
    require(result.shape == (length,), f"shape of {name}", result.shape, f"({length},)")
    require(bool(np.isfinite(result).all()), name, value, "finite")
    return result


def _up(count: int, multiple: int) -> int:
    """The smallest multiple that is not below `count`."""
    return -(-count // multiple) * multiple


def _aligned(shape: tuple[int, ...]) -> Array:
    """Zeros that begin with a cache line: loads of four numbers that cross two lines cost twice as much."""
    size = math.prod(shape)
    room = np.zeros(size + 8)
    begin = -(room.__array_interface__["data"][0] // 8) % 8
    return room[begin : begin + size].reshape(shape)


# Compiled. x (padded to sixes) is the state, y (to threes) theta' Phi, both work space; row is the work row of `Flat`.

ROUND = 1.5 * 2.0**52  # v + ROUND holds round(v) in its last bits
# pi and log10(2) in two parts: the first, with 33 and 41 bits, can be multiplied by every whole number that occurs here
PI_1, PI_2 = 3.1415926534682512, 1.2154201013012384e-10
LOG_1, LOG_2 = 0.30102999566383914, 1.42050232272661e-13
PER_PI, PER_LOG = 1 / math.pi, math.log2(10)
FASTEST = 1e6  # the largest argument of a cosine for which that is so; beyond it, the C library takes over
LOWEST, HIGHEST = POWERS
# Interpolation in Chebyshev points: cos r = 1 + C1 r^2 + C2 r^4 + ..., |r| <= pi / 2, to 6e-17
C1, C2, C3, C4 = -0.4999999999999997, 0.04166666666666388, -0.0013888888888772943, 2.4801587277405412e-05
C5, C6, C7, C8 = -2.755731639003024e-07, 2.087656178396356e-09, -1.1462900299216276e-11, 4.608958672926802e-14
# and 10^r = 1 + E1 r + E2 r^2 + ..., |r| <= log10(2) / 2, to 4e-17
E1, E2, E3, E4 = 2.302585092994046, 2.650949055239209, 2.0346785922934805, 1.171255148907243
E5, E6, E7, E8 = 0.5393829291940392, 0.206995849642765, 0.06808936530776138, 0.019597614136359662
E9, E10, E11 = 0.0050139116752975586, 0.0011576559645729708, 0.00024227228272284373


@compiled
def _follow(
    states: Array, parents: Integers, actions: Integers, weights: Array,
    arrays: Any, limits: Any, work: Array, path: Array, seen: Any,
) -> None:  # fmt: skip
    """Fills path (steps, N, nS) and phi (N, n), which is seen[0]; see `Follower.follow`.

    With parents (N,), which may be empty, also states: row i begins where row parents[i] ended, unless that is -1.
    """
    change, low, high, least, most = limits
    spaces = _spaces(arrays, (weights.shape[1], weights.shape[2]), work)
    row, x, y = spaces[0], spaces[4], spaces[5]
    first = work[work.shape[0] - row.shape[0] :]  # the features in which a row begins: its siblings begin there too
    for i in range(states.shape[0]):
        for j in range(low.shape[0]):
            if parents.shape[0] > 0 and parents[i] >= 0:
                states[i, j] = path[path.shape[0] - 1, parents[i], j]
            x[j] = states[i, j]
        for t in range(path.shape[0]):
            if t == 0 and i > 0 and parents.shape[0] > 0 and parents[i] == parents[i - 1]:
                for k in range(row.shape[0]):
                    row[k] = first[k]
            else:
                _fill(arrays, spaces)
            if t == 0:
                _note(seen, row, i, actions[i])
                for k in range(row.shape[0]):
                    first[k] = row[k]
            for o in range(0, y.shape[0], 3):
                y[o], y[o + 1], y[o + 2] = _outputs(weights, actions[i], o, row)
            for j in range(low.shape[0]):
                y[j] = y[j] if y[j] > least[j] else least[j]
                y[j] = y[j] if y[j] < most[j] else most[j]
                value = x[j] + y[j] if change else y[j]
                value = value if value > low[j] else low[j]  # also of nan
                x[j] = value if value < high[j] else high[j]
                path[t, i, j] = x[j]


@compiled
def _renew(theta: Array, alone: int, place: Integers, amplitude: Array, only: Integers, weights: Array) -> bool:
    """Puts theta (n, nS) into weights (A, nS, width), in the order of the kinds; False if it is not finite."""
    total = 0.0
    for f in range(theta.shape[0]):
        for o in range(theta.shape[1]):
            total += 0.0 * theta[f, o]  # nan if one is not finite
    for action in range(weights.shape[0]):
        for f in range(theta.shape[0]):
            if total == 0.0 and (action == alone or (alone < 0 and (only[f] < 0 or only[f] == action))):
                for o in range(theta.shape[1]):
                    weights[action, o, place[f]] = amplitude[f] * theta[f, o]
    return total == 0.0


@compiled
def _evaluate(
    states: Array, actions: Integers, arrays: Any, sizes: tuple[int, int], work: Array, seen: Any
) -> None:  # fmt: skip
    """Fills phi (N, n), which is seen[0]; see `Flat.values`."""
    spaces = _spaces(arrays, sizes, work)
    for i in range(states.shape[0]):
        for j in range(states.shape[1]):
            spaces[4][j] = states[i, j]
        _fill(arrays, spaces)
        _note(seen, spaces[0], i, actions[i])


@inlined
def _spaces(arrays: Any, sizes: tuple[int, int], work: Array) -> Any:
    """The work row, its waves, powers and products, the state x, theta' Phi and (1, z_1, z_2, ...).

    sizes: of theta' Phi and of the work row, with their unused places.
    """
    begin = -(work.ctypes.data // 8) % 8  # as in `_aligned`
    powers = begin + arrays[1].shape[0]
    products = powers + arrays[5]
    state = begin + sizes[1]
    output = state + arrays[0].shape[0]
    lines = output + sizes[0]
    work[lines] = 1.0
    kinds = (work[begin:powers], work[powers:products], work[products:state])
    return work[begin:state], *kinds, work[state:output], work[output:lines], work[lines:]


@inlined
def _fill(arrays: Any, spaces: Any) -> None:
    """The features of state x, all of them without amplitude, into the work row."""
    turn, phase, steepest, farthest, power_line, _, line, factors = arrays
    _, waves, powers, products, x, _, z = spaces
    _powers(power_line, x, powers)
    _products_of(line, factors, x, z, products)
    _arguments(turn, phase, x, waves)
    if _small(steepest, farthest, x):
        _cosines(waves)
    else:
        for k in range(waves.shape[0]):
            waves[k] = math.cos(waves[k])


@inlined
def _note(seen: Any, row: Array, i: int, action: int) -> None:
    """phi[i] in the order of the map."""
    phi, place, amplitude, only = seen
    for f in range(place.shape[0]):
        phi[i, f] = amplitude[f] * row[place[f]] if only[f] < 0 or only[f] == action else 0.0


@inlined_with("contract", "reassoc", "nsz")
def _outputs(weights: Array, a: int, o: int, row: Array) -> tuple[float, float, float]:
    """Outputs o, o + 1, o + 2 of theta_a' Phi."""
    p, q, r = 0.0, 0.0, 0.0
    for k in range(row.shape[0]):
        p += weights[a, o, k] * row[k]
        q += weights[a, o + 1, k] * row[k]
        r += weights[a, o + 2, k] * row[k]
    return p, q, r


@inlined_with("contract")
def _products_of(line: Any, factors: Any, x: Array, z: Array, products: Array) -> None:
    """u v of all pairs; z[0] is 1."""
    source, centre, rate = line
    first, second = factors
    for m in range(source.shape[0]):
        z[m + 1] = (x[source[m]] - centre[m]) * rate[m]
    for k in range(first.shape[0]):
        products[k] = z[first[k]] * z[second[k]]


@inlined
def _powers(line: Any, x: Array, powers: Array) -> None:
    """10^z of all lines."""
    source, centre, rate = line
    for k in range(source.shape[0]):
        powers[k] = (x[source[k]] - centre[k]) * rate[k]
    for k in range(powers.shape[0]):
        powers[k] = _power(powers[k])


@inlined_with("contract")
def _power(z: float) -> float:
    """10^z = 2^q 10^r with q whole and r = z - q log10(2): 2^q is added to the bits of the exponent."""
    z = min(max(z, LOWEST), HIGHEST)
    s = z * PER_LOG + ROUND
    q = s - ROUND
    r = (z - q * LOG_1) - q * LOG_2
    v = r * r
    w = v * v
    # by halves and not from the top down: the powers of a state are few, so a chain would be waited for
    low = (1.0 + E1 * r) + v * (E2 + E3 * r)
    middle = (E4 + E5 * r) + v * (E6 + E7 * r)
    top = (E8 + E9 * r) + v * (E10 + E11 * r)
    bits = np.float64(low + w * (middle + w * top)).view(np.int64) + (np.float64(s).view(np.int64) << np.int64(52))
    return np.int64(bits).view(np.float64)


@inlined_with("contract")
def _arguments(turn: Array, phase: Array, x: Array, waves: Array) -> None:
    """turn . x + phase, six components at a time."""
    p, q, r, s, t, u = x[0], x[1], x[2], x[3], x[4], x[5]
    for k in range(waves.shape[0]):
        waves[k] = (phase[k] + turn[0, k] * p + turn[1, k] * q + turn[2, k] * r) + (
            turn[3, k] * s + turn[4, k] * t + turn[5, k] * u
        )
    for i in range(6, turn.shape[0]):
        p = x[i]
        for k in range(waves.shape[0]):
            waves[k] += turn[i, k] * p


@inlined
def _small(steepest: Array, farthest: float, x: Array) -> bool:
    """Whether every |turn . x + phase| is small enough for `_cosines`; false of nan."""
    bound = farthest
    for i in range(x.shape[0]):
        bound += steepest[i] * abs(x[i])
    return bound <= FASTEST


# Four cosines are taken side by side, which makes no difference to the result: written so, the processor has something
# to do while it waits for one of them, and needs little more than half the time.


@inlined
def _cosines(waves: Array) -> None:
    """cos of every number, in place; their count is a multiple of 4, and of 16 for speed."""
    h = waves.shape[0] // 4
    for k in range(h):
        c = _four_cosines((waves[k], waves[k + h], waves[k + 2 * h], waves[k + 3 * h]))
        waves[k], waves[k + h], waves[k + 2 * h], waves[k + 3 * h] = c


@inlined_with("contract")
def _four_cosines(v: Four) -> Four:
    """cos v = (-1)^q cos r with q whole and r = v - q pi."""
    s = _times(v, PER_PI, ROUND)
    q = (s[0] - ROUND, s[1] - ROUND, s[2] - ROUND, s[3] - ROUND)
    r = _less(_less(v, q, PI_1), q, PI_2)
    u = (r[0] * r[0], r[1] * r[1], r[2] * r[2], r[3] * r[3])
    p = _plus(_plus(_plus(_times(u, C8, C7), u, C6), u, C5), u, C4)
    p = _plus(_plus(_plus(_plus(p, u, C3), u, C2), u, C1), u, 1.0)
    return _signed(p[0], s[0]), _signed(p[1], s[1]), _signed(p[2], s[2]), _signed(p[3], s[3])


@inlined_with("contract")
def _times(v: Four, a: float, b: float) -> Four:
    """a v + b."""
    return v[0] * a + b, v[1] * a + b, v[2] * a + b, v[3] * a + b


@inlined_with("contract")
def _plus(p: Four, u: Four, c: float) -> Four:
    """p u + c."""
    return p[0] * u[0] + c, p[1] * u[1] + c, p[2] * u[2] + c, p[3] * u[3] + c


@inlined_with("contract")
def _less(v: Four, q: Four, c: float) -> Four:
    """v - c q."""
    return v[0] - q[0] * c, v[1] - q[1] * c, v[2] - q[2] * c, v[3] - q[3] * c


@inlined
def _signed(p: float, s: float) -> float:
    """p with the other sign if the last bit of s is set."""
    bits = np.float64(p).view(np.int64) ^ (np.float64(s).view(np.int64) << np.int64(63))
    return np.int64(bits).view(np.float64)
