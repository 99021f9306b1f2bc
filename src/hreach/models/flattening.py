"""Finding the flat form of a feature map: its products, powers and waves (`hreach.models.flat`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from hreach.models.feature_map import Array, FeatureMap, Integers
from hreach.models.features import (
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
from hreach.models.flat import Feature, Flat, Line, Lines, Power, Product, Wave, aligned, up


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
    K, P = up(len(waves), 16), up(len(powers), 8)
    turn, phase = _waves(waves, up(states, 6), K)
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
        width=up(K + P + len(products), 16),
    )


def _waves(waves: Sequence[Wave], rows: int, K: int) -> tuple[Array, Array]:
    """turn (rows, K) and phase (K,) of cos(turn . x + phase), seen from the state itself."""
    turn, phase = aligned((rows, K)), aligned((K,))
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
