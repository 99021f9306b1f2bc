"""The h-reachable model interval I_h of a linear model: how far h more samples of (s, a) can move its prediction there.

After h samples at phi = Phi(s, a) with mean target y the prediction there has moved by exactly

    f (y - prediction),    f = h q / (1 + h q),    q = phi' A^-1 phi (the leverage),

and q has become q / (1 + h q). Nothing is approximated: A is the matrix of the fit, ridge included. With
|truth - prediction| <= Delta and |noise in y| <= c that gives

    most optimistic shift f (Delta + c)                what Algorithm 1 does with counts, where f = h / (n + h)
    best shift           min(Delta, f (Delta + c))    the reachable model nearest to the truth (paper: Lemma 2)

    c = varsigma(M) sigma / sqrt(max(h, 1))    noise="mean": the mean of h random draws
    c = varsigma(M) sigma                      noise="any": any h samples, each within varsigma(M) sigma (paper's proof)

The paper's own interval bounds q by an eigenvalue split and f by h q; for h >= 1, equal constants and X'X nonsingular
it is never below the exact one:

    I_h = h (Delta + varsigma(M) sigma) (|phi' g phi| + ||phi' z|| ||w phi||)    (paper: Continuous Domain)

Gaussian noise has no bound, so c holds with a probability: over all calls M = 1, 2, ... and all nS components, noise
towards the truth exceeds it with probability at most delta / 2 (paper: Lemma 2). Delta >= |error| is an assumption;
the estimates "mean" and "max" do not guarantee it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.errors import at_least, positive, require
from hreach.models.linear import LinearModel
from hreach.models.spectrum import ZRule
from hreach.reach.growing import growth, is_growing
from hreach.reach.weight import check_h

Array = NDArray[np.float64]


def reach_weight_linear(q: ArrayLike, h: ArrayLike) -> Array:
    """f = h q / (1 + h q) of leverages q >= 0; for h = inf it is 1 where q > 0, and 0 where q = 0."""
    leverage = np.asarray(q, dtype=np.float64)
    require(bool(np.all(leverage >= 0) and np.isfinite(leverage).all()), "q", q, "finite and at least 0")
    leverage, extra = np.broadcast_arrays(leverage, check_h(h))
    with np.errstate(over="ignore", invalid="ignore"):
        x = np.where(leverage > 0, extra * leverage, 0.0)  # inf * 0 stays out
        return np.where(np.isinf(x), 1.0, x / (1 + x))


def varsigma(calls: float, components: int, h: ArrayLike, delta: float) -> Array:
    """varsigma(M) = sqrt(2 ln(pi^2 M^2 nS h / (6 delta))), the logarithm not below 0. Paper: Continuous Domain.

    A bound of varsigma sigma on Gaussian noise fails upwards with probability below exp(-varsigma^2 / 2) / 2, and
    nS h times the sum of that over M = 1, 2, ... is delta / 2. At h = 0 the logarithm is not taken.
    """
    M = at_least("calls", calls, 1)
    extra = check_h(h)
    finite = np.where(np.isinf(extra), 1.0, extra)
    inside = np.pi**2 / 6 * M * M * components * finite / positive("delta", delta)
    result = np.sqrt(2 * np.log(np.maximum(inside, 1.0)))
    return np.where(np.isinf(extra), np.inf, result)


def noise_bound(
    calls: float, h: ArrayLike, sigma: Array, delta: float, noise: Literal["mean", "any"] = "mean"
) -> Array:
    """c for sigma (nS,) and h broadcast against it; 0 for the mean of infinitely many draws, and where sigma = 0."""
    extra = np.asarray(check_h(h))
    z = varsigma(calls, sigma.shape[-1], np.where(np.isinf(extra), 1.0, extra), delta)
    shrink = np.sqrt(np.maximum(extra, 1.0)) if noise == "mean" else np.ones_like(extra)
    endless = np.isinf(extra) & (sigma > 0) & (noise == "any")
    return np.where(endless, np.inf, z / shrink * sigma)


@dataclass(frozen=True, eq=False)
class Interval:
    """I_h as a rule: call it with a model, states, actions and the number of calls so far.

    kind     "exact" or "paper"
    h        a number, (N,) or (N, nS), at least 0; infinite only for "exact" with noise="mean"; or "growing":
             c ln(t + 2), t the number of samples that the model has
    c        only for "growing"; above 0, default .5
    sigma    standard deviation of the noise, a number or (nS,), at least 0; 0 stands for a noise-free component
    Delta    bound on the error, a number or (nS,); or what the model measured: "mean" (the paper's rule for HIV) or
             "max" of |residual|
    delta    failure probability; above 1 the guarantee is empty but the formula is not
    noise    "mean" or "any", see the module; used by "exact" only, the paper's formula has its own
    shift    "optimistic" or "best"; for "paper" the printed formula, and the same capped at Delta
    z_ridge  what makes the paper's z = (X'X)^-1 defined, and `z_rule` where: see `Spectrum.parts`
    """

    kind: Literal["exact", "paper"]
    h: ArrayLike  # or "growing"
    sigma: ArrayLike
    Delta: ArrayLike = "mean"
    delta: float = 0.9
    noise: Literal["mean", "any"] = "mean"
    shift: Literal["optimistic", "best"] = "optimistic"
    z_ridge: float = 1.0
    z_rule: ZRule = "singular"
    c: float | None = None

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, ("exact", "paper"))
        _one_of("noise", self.noise, ("mean", "any"))
        _one_of("shift", self.shift, ("optimistic", "best"))
        _one_of("z_rule", self.z_rule, ("singular", "small"))
        positive("delta", self.delta)
        positive("z_ridge", self.z_ridge)
        _not_negative("sigma", self.sigma)
        if isinstance(self.Delta, str):
            _one_of("Delta", self.Delta, ("mean", "max"))
        else:
            _not_negative("Delta", self.Delta)
        if is_growing(self.h):
            growth(self.c)
            return
        require(self.c is None, "c", self.c, "left out unless h is 'growing'")
        endless = bool(np.isinf(check_h(self.h)).any())
        allowed = self.kind == "exact" and self.noise == "mean"
        require(not endless or allowed, "h", self.h, "finite, except for kind='exact' with noise='mean'")

    def __call__(self, model: LinearModel, states: ArrayLike, actions: ArrayLike, calls: float) -> Array:
        """I_h for states (N, nS) and actions (N,), (N, outputs); `calls` is the paper's M, at least 1."""
        rows = len(np.asarray(states))
        h = self._h(rows, model)
        Delta, sigma = self.bound(model), _per_output("sigma", self.sigma, model.outputs)
        if self.kind == "exact":
            c = noise_bound(calls, h, sigma, self.delta, self.noise)
            result = reach_weight_linear(model.leverage(states, actions), h) * (Delta + c)
        else:
            c = varsigma(calls, model.outputs, h, self.delta) * sigma
            gain, z, w = model.terms(states, actions, self.z_ridge, self.z_rule)
            result = h * (Delta + c) * (gain + z * w)
        return np.minimum(result, Delta) if self.shift == "best" else result

    def length(self, model: LinearModel, states: ArrayLike, actions: ArrayLike, calls: float) -> Array:
        """||I_h||_2 over the outputs, (N,).

        Where all outputs share their features and h is one number, that is ||Delta + c|| times a number of the pair:
        the vectors of all outputs need not be made, which a search of a tree at every step would feel.
        """
        extra = self._one_h(model)
        if self.shift != "optimistic" or len(model.factors) > 1 or not math.isfinite(extra):
            return np.asarray(np.sqrt(np.square(self(model, states, actions, calls)).sum(axis=1)))
        inside = math.pi**2 / 6 * calls * calls * model.outputs * extra / self.delta  # see `varsigma`
        shrink = math.sqrt(max(extra, 1.0)) if self.kind == "exact" and self.noise == "mean" else 1.0
        wide = math.sqrt(2 * math.log(max(inside, 1.0))) / shrink  # c / sigma
        bound, sigma = self.bound(model).tolist(), np.asarray(self.sigma, dtype=np.float64).tolist()
        each = sigma if isinstance(sigma, list) else [sigma] * model.outputs
        most = math.hypot(*(Delta + wide * s for Delta, s in zip(bound, each, strict=True)))
        [(phi, block)] = model.features(states, actions)
        if self.kind == "exact":
            x = np.minimum(extra * model.factors[0].leverage(phi, block), 1e300)
            return np.asarray(x / (1 + x) * most)
        gain, slant, left = model.eigen().terms(phi, block, self.z_ridge, self.z_rule)
        return np.asarray(extra * most * (gain + slant * left))

    def bound(self, model: LinearModel) -> Array:
        """Delta per output, (nS,): as given, or as the model has measured it; 0 if it has no samples yet."""
        if isinstance(self.Delta, str):
            return model.error_mean if self.Delta == "mean" else model.error_max
        return _per_output("Delta", self.Delta, model.outputs)

    def least_h(self, samples: int) -> float:
        """The least h of any pair after so many samples."""
        if is_growing(self.h):
            return growth(self.c) * math.log(samples + 2)
        return float(np.min(check_h(self.h)))

    def _one_h(self, model: LinearModel) -> float:
        """h if it is the same for all pairs and outputs, else nan."""
        if is_growing(self.h):
            return growth(self.c) * math.log(model.samples + 2)
        return float(self.h) if isinstance(self.h, int | float | np.number) else math.nan

    def _h(self, rows: int, model: LinearModel) -> Array:
        one = self._one_h(model)
        if not math.isnan(one):
            return np.asarray(one)
        h, outputs = check_h(self.h), model.outputs
        ok = h.shape in ((), (rows,), (rows, outputs))
        require(ok, "shape of h", h.shape, f"a number, ({rows},) or ({rows}, {outputs})")
        return h[:, None] if h.ndim == 1 else h


def _one_of(field: str, value: object, allowed: tuple[str, ...]) -> None:
    require(value in allowed, field, value, " or ".join(repr(name) for name in allowed))


def _not_negative(field: str, value: ArrayLike) -> None:
    for each in np.asarray(value, dtype=object).ravel():
        at_least(field, each, 0)


def _per_output(field: str, value: ArrayLike, outputs: int) -> Array:
    result = np.asarray(value, dtype=np.float64)
    require(result.shape in ((), (outputs,)), f"shape of {field}", result.shape, f"a number or ({outputs},)")
    return np.broadcast_to(result, (outputs,))
