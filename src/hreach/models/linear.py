"""Learning s' = theta' Phi(s, a) + noise by least squares with a ridge. Paper: Continuous Domain.

    theta^ = A^-1 X'y,    A = X'X + ridge I,    leverage q(s, a) = phi' A^-1 phi,    phi = Phi(s, a)

for each state component. Components with equal feature maps share one `Factor` (see `least_squares`, which also says
how it is kept exact). Nothing is forgotten. `leverage` is all that the exact reachable interval needs; `eigen` and
`terms` give the paper's g, w and z.

The running mean and maximum of |y - prediction|, measured before each update, estimate the paper's Delta. They contain
the noise and only what was visited: the paper's Delta >= sup |error| is an assumption, which neither can promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular

from hreach.errors import InputError, at_least, positive, require, whole
from hreach.models.feature_map import Array, FeatureMap, Integers, check_actions, check_states, in_range
from hreach.models.features import ActionBlocks
from hreach.models.fixed import FixedModel
from hreach.models.flat import Flat
from hreach.models.flattening import flatten
from hreach.models.least_squares import Factor
from hreach.models.spectrum import Spectrum, ZRule

_LARGEST = 1e100  # beyond this, squares and their sums would overflow


class LinearModel:
    """Least squares for `outputs` components of the next state.

    `features` is one map, or one for each output. `components` says which components of the next state are learnt
    (default: the first `outputs`), `target` whether s' itself or the change s' - s is regressed; `predict` returns s'
    in both cases. `truncate`, for changes: predict none beyond those seen so far and no change at all. Far from the
    data least squares says anything, and a planner finds where it says too much; a truncated estimate is never further
    from a truth within that range (Györfi et al. 2002, chapter 10). Leverage and interval are those of the fit itself.
    `refresh_growth`: `eigen` decomposes again only when the samples grew by that share.
    """

    def __init__(
        self,
        features: FeatureMap | Sequence[FeatureMap],
        outputs: int | None = None,
        ridge: float = 1.0,
        *,
        components: Sequence[int] | None = None,
        target: Literal["next", "change"] = "next",
        truncate: bool = False,
        tolerance: float = 1e-9,
        refresh_growth: float = 0.05,
    ) -> None:
        self.maps = _one_map_each(features, outputs, components)
        self.states, self.outputs = self.maps[0].states, len(self.maps)
        chosen = range(self.outputs) if components is None else components
        self.components = [whole("components", c, 0) for c in chosen]
        fits = len(self.components) == self.outputs and max(self.components) < self.states
        require(fits, "components", self.components, f"{self.outputs} of the {self.states} state components")
        self._all = self.components == list(range(self.states))
        require(target in ("next", "change"), "target", target, "'next' or 'change'")
        require(target == "change" or not truncate, "truncate", truncate, "false unless target is 'change'")
        self.ridge, self.target, self.truncate = positive("ridge", ridge), target, truncate
        self.refresh_growth = at_least("refresh_growth", refresh_growth, 0)
        self._kept: list[tuple[Array, list[tuple[Array, Integers]]]] = []
        self._lent: tuple[Array, list[tuple[Array, Integers]]] | None = None
        self._make_factors(positive("tolerance", tolerance))

    def _make_factors(self, tolerance: float) -> None:
        distinct = [m for i, m in enumerate(self.maps) if m not in self.maps[:i]]
        self.index = np.array([distinct.index(m) for m in self.maps])  # the factor of each output
        self.factors, self.bases, self._columns = [], [], []
        self.flat: list[Flat | None] = []  # the compiled form of each base, where it has one
        for f, feature_map in enumerate(distinct):
            blocks = feature_map.actions if isinstance(feature_map, ActionBlocks) else None
            base = feature_map.map if isinstance(feature_map, ActionBlocks) else feature_map
            columns = np.flatnonzero(self.index == f)
            self.bases.append((base, blocks))
            self.flat.append(flatten(base))
            self._columns.append(columns)
            self.factors.append(Factor(base.size, len(columns), blocks or 1, self.ridge, tolerance))

    @property
    def width(self) -> int:
        """Features of all factors, without the zeros of `ActionBlocks`."""
        return sum(base.size for base, _ in self.bases)

    @property
    def samples(self) -> int:
        """How many samples were learnt."""
        return self.factors[0].samples

    @property
    def error_mean(self) -> Array:
        """Running mean of |y - prediction before the update| per output, (nS,); 0 before the first sample."""
        if len(self.factors) == 1:
            return self.factors[0].error_mean.copy()
        return self._join([f.error_mean[None] for f in self.factors]).ravel()

    @property
    def error_max(self) -> Array:
        """Running maximum of |y - prediction before the update| per output, (nS,); 0 before the first sample."""
        return self._join([f.error_max[None] for f in self.factors]).ravel()

    @property
    def seen_changes(self) -> tuple[Array, Array]:
        """The least and the most of 0 and what was regressed so far, per output, (nS,) each."""
        if len(self.factors) == 1:  # the arrays themselves, which the next samples change
            return self.factors[0].least, self.factors[0].most
        least, most = (
            self._join([f.least[None] for f in self.factors]),
            self._join([f.most[None] for f in self.factors]),
        )
        return least.ravel(), most.ravel()

    def factor(self, output: int) -> Factor:
        """The factor that an output uses, shared by all outputs with the same features."""
        return self.factors[int(self.index[output])]

    def update(self, state: ArrayLike, action: ArrayLike, next_state: ArrayLike) -> None:
        """Learn from one sample: state (nS,), action, next state (nS,).

        Or from many, one after the other: (N, nS), (N,), (N, nS).
        """
        points = check_states(np.atleast_2d(np.asarray(state, dtype=np.float64)), self.states)
        taken = check_actions(np.atleast_1d(np.asarray(action)), len(points))
        following = np.atleast_2d(np.asarray(next_state, dtype=np.float64))
        require(following.shape == points.shape, "shape of next_state", following.shape, f"{points.shape}")
        self.learn(points, taken, following)

    def learn(self, states: Array, actions: Integers, following: Array) -> None:
        """The same for states and actions that were checked: (N, nS), (N,) and (N, nS)."""
        seen = self._seen(states, actions)
        y = following - states if self.target == "change" else following
        self._learn([phi for phi, _ in seen], y if self._all else y[:, self.components], [block for _, block in seen])

    def update_features(self, phi: ArrayLike | Sequence[Array], y: ArrayLike, action: ArrayLike = 0) -> None:
        """Learn from features: phi (n,) or (N, n), y (nS,) or (N, nS), action a number or (N,).

        With several distinct maps, phi is a list with the features of each. Of `ActionBlocks`, phi is the inner map's,
        and `action` the block. y is what is regressed, whatever `target` says.
        """
        given = list(phi) if len(self.factors) > 1 else [phi]  # type: ignore[arg-type]
        require(len(given) == len(self.factors), "phi", len(given), f"{len(self.factors)} feature arrays")
        rows = [_finite("phi", np.atleast_2d(np.asarray(p, dtype=np.float64))) for p in given]
        targets = np.asarray(y, dtype=np.float64)
        if targets.ndim < 2:  # one sample, or one output of many samples
            targets = targets[:, None] if np.ndim(given[0]) == 2 and self.outputs == 1 else np.atleast_2d(targets)
        actions = check_actions(np.broadcast_to(np.asarray(action), (len(rows[0]),)), len(rows[0]))
        self._learn(rows, targets, [self._block(actions, blocks) for _, blocks in self.bases])

    def predict(self, states: ArrayLike, actions: ArrayLike) -> Array:
        """The mean next state, states (N, nS) and actions (N,) -> (N, outputs)."""
        seen = self.features(states, actions)
        result = self._join([f.predict(phi, block) for f, (phi, block) in zip(self.factors, seen, strict=True)])
        if self.truncate:
            np.clip(result, *self.seen_changes, out=result)
        if self.target == "change":
            result += np.asarray(states, dtype=np.float64)[:, self.components]
        return result

    def leverage(self, states: ArrayLike, actions: ArrayLike) -> Array:
        """q = phi' A^-1 phi, states (N, nS) and actions (N,) -> (N, outputs)."""
        seen = self.features(states, actions)
        return self._of_outputs([f.leverage(*each) for f, each in zip(self.factors, seen, strict=True)])

    def eigen(self, output: int = 0) -> Spectrum:
        """Eigenvalues and eigenvectors of the unregularised X'X of an output, up to `refresh_growth` old."""
        return self.factor(output).spectrum(self.refresh_growth)

    def terms(self, states: ArrayLike, actions: ArrayLike, ridge: float = 1.0, rule: ZRule = "singular") -> Array:
        """(phi' g phi, ||phi' z||, ||w phi||) of the paper's I_h: shape (3, N, outputs). See `Spectrum.parts`."""
        seen = self.features(states, actions)
        spectra = [f.spectrum(self.refresh_growth) for f in self.factors]
        return self._of_outputs(
            [s.terms(phi, block, ridge, rule) for s, (phi, block) in zip(spectra, seen, strict=True)]
        )

    def known_terms(self, states: ArrayLike, actions: ArrayLike) -> Array:
        """(phi' g phi, ||w phi||) alone, (2, N, outputs): what KWIK linear regression asks, at less cost."""
        seen = self.features(states, actions)
        spectra = [f.spectrum(self.refresh_growth) for f in self.factors]
        return self._of_outputs([s.known_terms(*each) for s, each in zip(spectra, seen, strict=True)])

    def features(self, states: ArrayLike, actions: ArrayLike) -> list[tuple[Array, Integers]]:
        """(phi (N, n), block (N,)) for each factor; the zeros of `ActionBlocks` are left out."""
        for kept, seen in self._kept if self._lent is None else (self._lent, *self._kept):
            if kept is states:
                return seen
        points = check_states(states, self.states)
        return self._seen(points, check_actions(actions, len(points)))

    def _seen(self, points: Array, taken: Integers) -> list[tuple[Array, Integers]]:
        result = []
        for (base, blocks), flat in zip(self.bases, self.flat, strict=True):
            phi = base._values(points, taken) if flat is None else flat.values(points, taken)
            result.append((_finite("features", phi), self._block(taken, blocks)))
        return result

    def keep(self, states: Array, actions: NDArray[np.int64]) -> None:
        """Remember the features of a batch that will be asked about again and again, such as a planner's grid.

        It is known again by being the same array, which must not change.
        """
        self._kept.append((states, self.features(states, actions)))

    def lend(self, states: Array, seen: list[tuple[Array, Integers]]) -> None:
        """The same for features that the caller has computed already, until the next batch is lent."""
        self._lent = states, seen

    def block_of(self, actions: NDArray[np.int64]) -> Integers:
        """The block of each action in the first factor."""
        return self._block(actions, self.bases[0][1])

    def drawn(self, sigma: Array, generator: np.random.Generator) -> FixedModel:
        """Weights theta^ + sigma R^-1 z, z standard normal, R'R = A: a draw from N(theta^, sigma^2 A^-1) per output."""
        draws = []
        for f, columns in zip(self.factors, self._columns, strict=True):
            z = generator.standard_normal(f.weights().shape) * sigma[columns]
            draws.append(f.weights() + np.stack([solve_triangular(R, each) for R, each in zip(f.root, z, strict=True)]))
        within = tuple(bound.copy() for bound in self.seen_changes)

        def predicts(states: Array, actions: Integers) -> Array:
            seen = self.features(states, actions)
            parts = [np.einsum("ij,ijk->ik", phi, w[block]) for w, (phi, block) in zip(draws, seen, strict=True)]
            result = self._join(parts)
            if self.truncate:
                np.clip(result, *within, out=result)
            return result + states[:, self.components] if self.target == "change" else result

        return FixedModel(predicts, self.outputs)

    def state_dict(self) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
        """All that was learnt, as plain arrays; the last eigenvalues too, so that a resumed run goes the same way."""
        return {f"{i}.{name}": saved.copy() for i, f in enumerate(self.factors) for name, saved in f.saved().items()}

    def load_state_dict(self, saved: Mapping[str, ArrayLike]) -> None:
        """Restore what `state_dict` gave; the features, ridge and other settings must be the same."""
        mine = self.state_dict()
        require(set(saved) == set(mine), "state_dict", sorted(saved), f"a table of {', '.join(sorted(mine))}")
        arrays = {name: np.array(saved[name], dtype=old.dtype) for name, old in mine.items()}
        for name, old in mine.items():
            require(arrays[name].shape == old.shape, f"shape of {name}", arrays[name].shape, str(old.shape))
            require(bool(np.isfinite(arrays[name]).all()), name, arrays[name], "finite")
        for name, array in arrays.items():
            number, _, attribute = name.partition(".")
            self.factors[int(number)].restore(attribute, array)

    def _learn(self, phis: Sequence[Array], y: Array, blocks: Sequence[Integers]) -> None:
        require(y.shape == (len(phis[0]), self.outputs), "shape of y", y.shape, f"({len(phis[0])}, {self.outputs})")
        _finite("y", y)
        for phi, f in zip(phis, self.factors, strict=True):  # all checked before anything is learnt
            shape = (len(y), f.gram.shape[1])
            require(phi.shape == shape, "shape of phi", phi.shape, str(shape))
        for phi, block, columns, f in zip(phis, blocks, self._columns, self.factors, strict=True):
            f.learn(phi, block, y if len(self.factors) == 1 else y[:, columns])

    def _block(self, actions: Integers, blocks: int | None) -> Integers:
        if blocks is None:
            return np.zeros(len(actions), dtype=np.int64)
        in_range(actions, blocks)
        return actions

    def _of_outputs(self, each: Sequence[Array]) -> Array:
        """What each factor says (..., N) as what each output says (..., N, outputs)."""
        if len(each) == 1:  # all outputs share it: no copies
            return np.broadcast_to(each[0][..., None], (*each[0].shape, self.outputs))
        return np.stack(each, axis=-1)[..., self.index]

    def _join(self, each: Sequence[Array]) -> Array:
        result = np.empty((len(each[0]), self.outputs))
        for columns, part in zip(self._columns, each, strict=True):
            result[:, columns] = part
        return result


def _one_map_each(
    features: FeatureMap | Sequence[FeatureMap], outputs: int | None, components: Sequence[int] | None
) -> list[FeatureMap]:
    if isinstance(features, FeatureMap):
        count = outputs if outputs is not None else features.states if components is None else len(components)
        return [features] * whole("outputs", count, 1)
    maps = list(features)
    require(len(maps) > 0, "features", features, "a feature map, or one for each output")
    require(outputs in (None, len(maps)), "outputs", outputs, f"{len(maps)}, one for each feature map")
    widths = {m.states for m in maps}
    require(len(widths) == 1, "state components of the maps", sorted(widths), "the same for all")
    return maps


def _finite(name: str, values: Array) -> Array:
    if not np.abs(values).max(initial=0.0) <= _LARGEST:  # also true of nan
        raise InputError(
            f"{name} has a value that is not finite or beyond {_LARGEST:g}; scale it, for instance by Log10."
        )
    return values
