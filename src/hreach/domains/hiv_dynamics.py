"""The HIV equations of Adams et al. (2004), integrated accurately also when they turn stiff.

With state x = (T1, T1*, T2, T2*, V, E) in cells or copies per ml, time in days, and e1, e2 the efficacies of the two
drugs (reverse transcriptase and protease inhibitors),

    T1'  = l1 - d1 T1 - (1 - e1) k1 V T1
    T1*' = (1 - e1) k1 V T1 - delta T1* - m1 E T1*
    T2'  = l2 - d2 T2 - (1 - f e1) k2 V T2
    T2*' = (1 - f e1) k2 V T2 - delta T2* - m2 E T2*
    V'   = (1 - e2) NT delta I - c V - ((1 - e1) r1 k1 T1 + (1 - f e1) r2 k2 T2) V,             I = T1* + T2*
    E'   = lE + (bE I / (I + Kb) - dE I / (I + Kd) - deltaE) E

Source: B. M. Adams, H. T. Banks, H.-D. Kwon, H. T. Tran, "Dynamic multidrug therapies for HIV: optimal and STI control
approaches", Math. Biosci. Eng. 1 (2004); used by D. Ernst et al., "Clinical data based optimal STI strategies for
HIV", CDC 2006.

Virus decays at c = 13 per day while patients are followed for years, and in a burst k2 V exceeds 100 per day. A fixed
explicit step then returns NaN or, worse, plausible numbers that are wrong. Used here is RODAS4 of Hairer and Wanner
(Solving Ordinary Differential Equations II, 2nd ed., section VI.4): a Rosenbrock method of order 4 with an embedded
solution of order 3, six stages, L-stable and stiffly accurate. With W = I / (g h) - J and J the exact Jacobian,

    W k_i = f(y + sum_{j<i} a_ij k_j) + sum_{j<i} (c_ij / h) k_j,     y_new = y + sum_j a_6j k_j + k_6,     error = k_6.

The step h is chosen such that the error of every component stays below a tolerance times that component: a relative
error, because infection regrows from whatever small number was left. A step that would make a component negative
is repeated with a shorter one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hreach.compiling import Array, announcing, compiled, inlined, inlined_too
from hreach.errors import at_least, require

Six = tuple[float, float, float, float, float, float]
Rates = tuple[float, ...]
Elimination = tuple[float, ...]

STATE_NAMES = ("T1", "T1*", "T2", "T2*", "V", "E")
_BLOOD = ("l1", "d1", "k1", "l2", "d2", "f", "k2", "delta", "m1", "m2", "NT", "c", "r1", "r2")
PARAMETER_NAMES = (*_BLOOD, "lE", "bE", "Kb", "dE", "Kd", "deltaE")

TOLERANCE = 3e-7  # of one step; the error of 5 days was then at most 1.3e-6 in 8000 states of the valid box
TINY = 1e-100  # amounts below this are not resolved; the smallest that 1000 days led to was near 1e-51
FIRST_STEP = 0.1  # days; a rejected first step costs less than a cautious one costs everybody else
MOST_STEPS = 100_000  # of one row; some ten are usual
FOLLOWED = f"such that the equations can be followed in {MOST_STEPS} steps"

G = 0.25
A21 = 1.544
A31, A32 = 0.9466785280815826, 0.2557011698983284
A41, A42, A43 = 3.314825187068521, 2.896124015972201, 0.9986419139977817
A51, A52, A53, A54 = 1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950
C21 = -5.6688
C31, C32 = -2.430093356833875, -0.2063599157091915
C41, C42, C43 = -0.1073529058151375, -9.594562251023355, -20.47028614809616
C51, C52, C53, C54 = 7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160
C61, C62, C63, C64, C65 = (
    8.083246795921522,
    -7.981132988064893,
    -31.52159432874371,
    16.31930543123136,
    -6.058818238834054,
)


def simulate(
    states: ArrayLike, efficacies: ArrayLike, days: float, parameters: Array, tolerance: float = TOLERANCE
) -> Array:
    """The states (N, 6), order `STATE_NAMES`, that follow `states` (N, 6) after `days` under constant treatment.

    `efficacies` is (N, 2) or (2,): (e1, e2) of each row; `parameters` (P,) in the order of `PARAMETER_NAMES`.
    The relative error is below 1e-5 in 5 days; with a larger `tolerance` of each step it is larger, and the time
    shorter. Never negative; states must be finite and not negative.
    """
    x = np.ascontiguousarray(states, dtype=np.float64)
    require(x.ndim == 2 and x.shape[1] == 6, "states", x.shape, "an array of shape (N, 6)")
    require(bool(np.isfinite(x).all() and (x >= 0).all()), "states", states, "finite and not negative")
    e = np.asarray(efficacies, dtype=np.float64)
    require(e.shape in ((2,), (len(x), 2)), "efficacies", e.shape, "an array of shape (2,) or (N, 2)")
    require(bool(((e >= 0) & (e <= 1)).all()), "efficacies", efficacies, "numbers from 0 to 1")
    constants = np.ascontiguousarray(parameters, dtype=np.float64)
    require(constants.shape == (len(PARAMETER_NAMES),), "parameters", constants.shape, f"({len(PARAMETER_NAMES)},)")
    e = np.broadcast_to(e, (len(x), 2))
    out = np.empty_like(x)
    failed = follow_rows(x, e[:, 0].copy(), e[:, 1].copy(), at_least("days", days, 0), constants, tolerance, out)
    require(failed == 0, "states", states, FOLLOWED)
    return out


def derivative(states: Array, efficacies: Array, parameters: Array) -> Array:
    """x' for every row of `states` (N, 6) under `efficacies` (N, 2)."""
    rows = zip(states.tolist(), efficacies.tolist(), strict=True)
    return np.array([_slope(tuple(x), _rates(e[0], e[1], parameters)) for x, e in rows]).reshape(-1, 6)


@compiled
def integrate(states: Array, e1: Array, e2: Array, days: float, parameters: Array, tolerance: float, out: Array) -> int:
    """Writes the states (N, 6) that follow after `days` into `out` (N, 6), which may be `states` itself.

    Row i is treated with efficacies e1[i], e2[i]; `parameters` (P,) in the order of `PARAMETER_NAMES`. Returns the
    number of rows that could not be followed within `MOST_STEPS` steps; those are NaN rather than wrong. It is none
    for states from 0 up to (1.2e6, 1e5, 4e3, 1e3, 1e7, 1e6), as the tests check.
    """
    failed = 0
    for i in range(states.shape[0]):
        x = (states[i, 0], states[i, 1], states[i, 2], states[i, 3], states[i, 4], states[i, 5])
        x = _follow(x, days, _rates(e1[i], e2[i], parameters), tolerance)
        for j in range(6):
            out[i, j] = x[j]
        if not x[0] >= 0.0:
            failed += 1
    return failed


@compiled
def live(state: Array, e1: float, e2: float, factors: Array, parameters: Array, days: Array) -> int:
    """One patient (6,) day by day: writes days (D + 1, 6), each day's amounts times its factors (D, 6).

    Returns the first day that could not be followed, which is NaN then, or 0.
    """
    rates = _rates(e1, e2, parameters)
    for j in range(6):
        days[0, j] = state[j]
    for d in range(days.shape[0] - 1):
        x = (days[d, 0], days[d, 1], days[d, 2], days[d, 3], days[d, 4], days[d, 5])
        x = _follow(x, 1.0, rates, TOLERANCE)
        for j in range(6):
            days[d + 1, j] = x[j] * factors[d, j]
        if not x[0] >= 0.0:
            return d + 1
    return 0


# The same, for Python: they say so when they have to compile.
follow_rows, live_days = announcing(integrate), announcing(live)


@compiled
def _follow(y: Six, days: float, rates: Rates, tolerance: float) -> Six:
    """The state after `days`; NaN if the steps became too many."""
    t, h = 0.0, min(FIRST_STEP, days)
    rejected = False
    for _ in range(MOST_STEPS):
        if t >= days:
            return y
        last = t + 1.001 * h >= days  # no crumb is left for a last tiny step
        if last:
            h = days - t
        new, error = _step(y, h, rates)
        off = 0.0
        for j in range(6):
            off = max(off, abs(error[j]) / (tolerance * max(abs(y[j]), abs(new[j])) + TINY))
            # Also refuses NaN: every comparison with it is false.
            if not (new[j] >= -TINY and abs(error[j]) < np.inf):
                off = np.inf
        if off <= 1.0:
            y = (
                max(new[0], 0.0),
                max(new[1], 0.0),
                max(new[2], 0.0),
                max(new[3], 0.0),
                max(new[4], 0.0),
                max(new[5], 0.0),
            )
            t = days if last else t + h
            # After a rejection the step may not grow at once, or it would be rejected again.
            h *= min(1.0 if rejected else 6.0, 0.9 * max(off, 1e-6) ** -0.25)
            rejected = False
        else:
            h *= max(0.1, 0.9 * off**-0.25)
            rejected = True
    return (np.nan, np.nan, np.nan, np.nan, np.nan, np.nan)


@compiled
def _step(y: Six, h: float, rates: Rates) -> tuple[Six, Six]:
    """One step of RODAS4: the new state and the estimated error."""
    w = _eliminate(y, 1.0 / (G * h), rates)
    r = 1.0 / h
    k1 = _solve(w, _slope(y, rates))
    u = _plus(y, A21, k1)
    k2 = _solve(w, _plus(_slope(u, rates), r * C21, k1))
    u = _plus(_plus(y, A31, k1), A32, k2)
    k3 = _solve(w, _plus(_plus(_slope(u, rates), r * C31, k1), r * C32, k2))
    u = _plus(_plus(_plus(y, A41, k1), A42, k2), A43, k3)
    k4 = _solve(w, _plus(_plus(_plus(_slope(u, rates), r * C41, k1), r * C42, k2), r * C43, k3))
    u = _plus(_plus(_plus(_plus(y, A51, k1), A52, k2), A53, k3), A54, k4)
    b = _plus(_plus(_plus(_plus(_slope(u, rates), r * C51, k1), r * C52, k2), r * C53, k3), r * C54, k4)
    k5 = _solve(w, b)
    u = _plus(u, 1.0, k5)
    b = _plus(_plus(_plus(_plus(_slope(u, rates), r * C61, k1), r * C62, k2), r * C63, k3), r * C64, k4)
    k6 = _solve(w, _plus(b, r * C65, k5))
    return _plus(u, 1.0, k6), k6


@inlined
def _plus(y: Six, a: float, k: Six) -> Six:
    """y + a k."""
    return (
        y[0] + a * k[0],
        y[1] + a * k[1],
        y[2] + a * k[2],
        y[3] + a * k[3],
        y[4] + a * k[4],
        y[5] + a * k[5],
    )


@inlined_too
def _rates(e1: float, e2: float, p: Array) -> Rates:
    """The constants of the equations under this treatment, in the order in which `_slope` takes them apart."""
    infect1, infect2 = (1.0 - e1) * p[2], (1.0 - p[5] * e1) * p[6]
    # V loses r1 copies for each T1 cell that it infects, r2 for each T2 cell.
    flows = (p[0], p[1], infect1, p[3], p[4], infect2, p[7], p[8], p[9])
    return (*flows, (1.0 - e2) * p[10] * p[7], p[11], p[12] * infect1, p[13] * infect2, *_immune(p))


@inlined
def _immune(p: Array) -> Six:
    """(lE, bE, Kb, dE, Kd, deltaE)."""
    return (p[14], p[15], p[16], p[17], p[18], p[19])


@inlined_too
def _slope(x: Six, rates: Rates) -> Six:
    """x'."""
    l1, d1, i1, l2, d2, i2, delta, m1, m2, made, c, lost1, lost2, lE, bE, Kb, dE, Kd, deltaE = rates
    T1, S1, T2, S2, V, E = x
    new1, new2, sick = i1 * V * T1, i2 * V * T2, S1 + S2
    return (
        l1 - d1 * T1 - new1,
        new1 - (delta + m1 * E) * S1,
        l2 - d2 * T2 - new2,
        new2 - (delta + m2 * E) * S2,
        made * sick - (c + lost1 * T1 + lost2 * T2) * V,
        lE + (bE * sick / (sick + Kb) - dE * sick / (sick + Kd) - deltaE) * E,
    )


@inlined_too
def _eliminate(x: Six, g: float, rates: Rates) -> Elimination:
    """W = g I - J(x) taken apart once for the six systems W k = b of a step.

    Each T depends on V only, each T* on its T, V and E; so those four rows give T and T* in terms of V and E, and two
    equations for V and E remain. Their pivots are g plus rates of loss, hence positive.
    """
    _, d1, i1, _, d2, i2, delta, m1, m2, made, c, lost1, lost2, _, bE, Kb, dE, Kd, deltaE = rates
    T1, S1, T2, S2, V, E = x
    sick = S1 + S2
    p1, q1 = 1.0 / (g + d1 + i1 * V), 1.0 / (g + delta + m1 * E)
    p2, q2 = 1.0 / (g + d2 + i2 * V), 1.0 / (g + delta + m2 * E)
    u1, u2 = -i1 * T1 * p1, -i2 * T2 * p2  # dT = p b + u dV
    f1, f2 = i1 * V, i2 * V
    v1, v2 = (f1 * u1 + i1 * T1) * q1, (f2 * u2 + i2 * T2) * q2  # dT* = q (b* + f p b) + v dV + w dE
    w1, w2 = -m1 * S1 * q1, -m2 * S2 * q2
    s1, s2 = lost1 * V, lost2 * V
    gain = (bE * Kb / (sick + Kb) ** 2 - dE * Kd / (sick + Kd) ** 2) * E
    a = g + c + lost1 * T1 + lost2 * T2 + s1 * u1 + s2 * u2 - made * (v1 + v2)
    b = -made * (w1 + w2)
    d = -gain * (v1 + v2)
    e = g - bE * sick / (sick + Kb) + dE * sick / (sick + Kd) + deltaE - gain * (w1 + w2)
    scale = 1.0 / (a * e - b * d)
    return (
        p1,
        q1,
        p2,
        q2,
        u1,
        u2,
        f1,
        f2,
        v1,
        v2,
        w1,
        w2,
        s1,
        s2,
        made,
        gain,
        a * scale,
        b * scale,
        d * scale,
        e * scale,
    )


@inlined_too
def _solve(w: Elimination, b: Six) -> Six:
    """k with W k = b."""
    p1, q1, p2, q2, u1, u2, f1, f2, v1, v2, w1, w2, s1, s2, made, gain, a, n, d, e = w
    T1, T2 = p1 * b[0], p2 * b[2]
    S1, S2 = q1 * (b[1] + f1 * T1), q2 * (b[3] + f2 * T2)
    y = b[4] - s1 * T1 - s2 * T2 + made * (S1 + S2)
    z = b[5] + gain * (S1 + S2)
    V, E = e * y - n * z, a * z - d * y
    return (T1 + u1 * V, S1 + v1 * V + w1 * E, T2 + u2 * V, S2 + v2 * V + w2 * E, V, E)
