"""The compiled loop over steps of a linear model whose features are flat (`hreach.models.flat`).

x (padded to sixes) is the state, y (to threes) theta' Phi, both work space; row is the work row of `Flat`.
"""

from __future__ import annotations

import math

from hreach.compiling import compiled, inlined, inlined_with
from hreach.models.elementary import arguments, cosines, power, small
from hreach.models.feature_map import Array, Integers

Columns = tuple[Integers, Array, Array]  # source, centre and 1 / scale of each line
Factors = tuple[Integers, Integers]
Kinds = tuple[Array, Array, Array, float, Columns, int, Columns, Factors]  # `Flat.arrays`
Limits = tuple[bool, Array, Array, Array, Array]  # change, low, high, least, most: see `Follower`
Noted = tuple[Array, Integers, Array, Integers]  # `Flat.seen`
Spaces = tuple[Array, Array, Array, Array, Array, Array, Array]  # see `_spaces`


@compiled
def follow(
    states: Array, parents: Integers, actions: Integers, weights: Array,
    arrays: Kinds, limits: Limits, work: Array, path: Array, seen: Noted,
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
def renew(theta: Array, alone: int, place: Integers, amplitude: Array, only: Integers, weights: Array) -> bool:
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
def evaluate(
    states: Array, actions: Integers, arrays: Kinds, sizes: tuple[int, int], work: Array, seen: Noted
) -> None:  # fmt: skip
    """Fills phi (N, n), which is seen[0]; see `Flat.values`."""
    spaces = _spaces(arrays, sizes, work)
    for i in range(states.shape[0]):
        for j in range(states.shape[1]):
            spaces[4][j] = states[i, j]
        _fill(arrays, spaces)
        _note(seen, spaces[0], i, actions[i])


@inlined
def _spaces(arrays: Kinds, sizes: tuple[int, int], work: Array) -> Spaces:
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
def _fill(arrays: Kinds, spaces: Spaces) -> None:
    """The features of state x, all of them without amplitude, into the work row."""
    turn, phase, steepest, farthest, power_line, _, line, factors = arrays
    _, waves, powers, products, x, _, z = spaces
    _powers(power_line, x, powers)
    _products_of(line, factors, x, z, products)
    arguments(turn, phase, x, waves)
    if small(steepest, farthest, x):
        cosines(waves)
    else:
        for k in range(waves.shape[0]):
            waves[k] = math.cos(waves[k])


@inlined
def _note(seen: Noted, row: Array, i: int, action: int) -> None:
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
def _products_of(line: Columns, factors: Factors, x: Array, z: Array, products: Array) -> None:
    """u v of all pairs; z[0] is 1."""
    source, centre, rate = line
    first, second = factors
    for m in range(source.shape[0]):
        z[m + 1] = (x[source[m]] - centre[m]) * rate[m]
    for k in range(first.shape[0]):
        products[k] = z[first[k]] * z[second[k]]


@inlined
def _powers(line: Columns, x: Array, powers: Array) -> None:
    """10^z of all lines."""
    source, centre, rate = line
    for k in range(source.shape[0]):
        powers[k] = (x[source[k]] - centre[k]) * rate[k]
    for k in range(powers.shape[0]):
        powers[k] = power(powers[k])
