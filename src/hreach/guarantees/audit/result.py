"""What an audit found: arrays over the checkpoints, a few totals, and their bounds."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hreach.files import write_whole
from hreach.guarantees import theory
from hreach.guarantees.audit.certified import Certified
from hreach.guarantees.theory import Bound, Form, Sizes
from hreach.problems.mdp import TabularMDP

Array = NDArray[np.float64]
COLUMNS = (
    "step", "state", "h", "optimal", "reachable", "internal", "current", "policy", "learning", "learning_low",
    "learning_high", "anytime_error", "anytime_bound", "anytime_promise", "gap", "slack",
    "certified_lower", "certified_upper", "certified_policy", "certified_reachable_gap", "certified_reachable_error",
    "certified_optimality_gap", "certified_optimality_error", "certified_false",
)  # fmt: skip
_NO_PROMISE = "the theorem is about PAC-RMDP(h) with this h or more, and this agent is not"


@dataclass(frozen=True)
class Measured:
    """What was seen at the checkpoints and, (steps,), at every step."""

    step: NDArray[np.int64]  # (checkpoints,)
    values: dict[str, Array]  # (checkpoints,) each
    states: NDArray[np.int64]  # (steps,)
    rewards: Array  # (steps,) as the audited problem pays
    ended: NDArray[np.int64]  # the last steps of episodes
    cut_off: bool  # whether an episode was truncated before the last step
    gap: Array  # (steps,) V~ - V_{h=0}
    gap_accuracy: float
    rollout_steps: int
    notes: tuple[str, ...]
    certified: Certified


@dataclass(frozen=True)
class Total:
    """A measured number, what was promised ("at most"), and why that promises nothing ("" if it does)."""

    measured: float
    bound: float
    why: str

    @property
    def kept(self) -> bool | None:
        """Whether the promise was kept; None if there was none."""
        return None if self.why else self.measured <= self.bound

    def to_dict(self) -> dict[str, object]:
        """Everything, as plain data."""
        return {**vars(self), "kept": self.kept}


@dataclass(frozen=True, eq=False)
class Audit:
    """An audit of `steps` steps; arrays are over checkpoints, (C,), and values are those of the state s_t.

    step, state       t = 0, 1, ... and s_t
    h                 of V^{d*}
    optimal           V*
    reachable         V^{d*}_{L,t,h}
    internal          V~
    current           V_{h=0}
    policy            V^{A_t}, exact, of the policy at t if it is kept
    learning          V^{A_t} of the agent that goes on learning, and its 95 % interval; nan without rollouts
    anytime_bound     eps_{t,h} of Corollary 1
    anytime_promise   whether it says anything
    shortfall         how far below V^{d*} the planner's tolerance lets V~ be
    short             max_s V^{d*}(s) - V~(s): Lemma 1 says that it is at most `shortfall`

    bad_steps         steps with V^{A_t} < V^{d*} - eps: of the policy at t; each checkpoint stands for the steps until
                      the next. Theorem 1
    exploring_steps   steps, all of them looked at, with |V~ - V_{h=0}| > eps; within `gap_accuracy`. Corollary 2
    exploration_over  the step from which on there are none (Definition 3); None if the last one still is
    average_loss      mean of V^{d*} - V^{A_t}; unless the form is "corrected", times 1 - gamma^(T-t). Corollary 1
    regret            V*(s_0, T) less the run's own discounted rewards: one draw. Appendix Eq. (1)
    loss_of_run       mean over t of V*(s_t, T) less the discounted rewards from t on: one draw. Appendix Eq. (2)
    violations        checkpoints at which Lemma 1 does not hold (for agents for which it need not), and the first step
    promised          whether Theorem 1 is about this agent and this h at all
    notes             where the run is not quite what the statements are about
    certified         what the agent could certify at the checkpoints, beside the truth
    """

    eps: float
    delta: float
    form: Form
    steps: int
    sizes: Sizes
    step: NDArray[np.int64]
    state: NDArray[np.int64]
    h: NDArray[np.int64]
    optimal: Array
    reachable: Array
    internal: Array
    current: Array
    policy: Array
    learning: Array
    learning_low: Array
    learning_high: Array
    anytime_bound: Array
    anytime_promise: NDArray[np.bool_]
    short: Array
    shortfall: Array
    bad_steps: Total
    exploring_steps: Total
    exploration_over: int | None
    average_loss: Total
    regret: float
    loss_of_run: float
    violations: int
    first_violation: int | None
    promised: bool
    gap_accuracy: float
    rollout_steps: int
    notes: tuple[str, ...]
    certified: Certified

    @property
    def anytime_error(self) -> Array:
        """V^{d*} - V^{A_t} of the policy at t; negative where it does better. Paper: Definition 2."""
        return theory.measured_anytime_error(self.reachable, self.policy)

    @property
    def gap(self) -> Array:
        """V~ - V_{h=0} at the checkpoints. Paper: Definition 3."""
        return np.asarray(self.internal - self.current)

    @property
    def slack(self) -> Array:
        """V~ - V^{d*}, at the states of the run. Paper: Lemma 1."""
        return theory.optimism_slack(self.internal, self.reachable)

    @property
    def kept(self) -> bool | None:
        """Whether everything that was promised was kept; None if nothing was."""
        errors = (self.anytime_error <= self.anytime_bound)[self.anytime_promise]
        totals = (self.bad_steps.kept, self.exploring_steps.kept, self.average_loss.kept)
        told = [*errors.tolist(), *(kept for kept in totals if kept is not None)]
        return all(told) if told else None

    def summary(self) -> dict[str, object]:
        """Everything but the arrays, as plain data."""
        return {
            "eps": self.eps,
            "delta": self.delta,
            "form": self.form,
            "steps": self.steps,
            "exploration_over": self.exploration_over,
            "regret": self.regret,
            "loss_of_run": self.loss_of_run,
            "violations": self.violations,
            "first_violation": self.first_violation,
            "promised": self.promised,
            "kept": self.kept,
            "gap_accuracy": self.gap_accuracy,
            "rollout_steps": self.rollout_steps,
            "sizes": vars(self.sizes),
            "bad_steps": self.bad_steps.to_dict(),
            "exploring_steps": self.exploring_steps.to_dict(),
            "average_loss": self.average_loss.to_dict(),
            "notes": list(self.notes),
            "certified": self.certified.summary(self.step),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything, as JSON (what is not a finite number is null); also written to `path`, whole or not at all."""
        text = json.dumps(_finite({**self.summary(), "checkpoints": self._columns()}), indent=1, allow_nan=False) + "\n"
        return _written(text, path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """One row for each checkpoint; also written to `path`, whole or not at all."""
        buffer = io.StringIO()
        table = csv.writer(buffer, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(zip(*self._columns().values(), strict=True))
        return _written(buffer.getvalue(), path)

    def _columns(self) -> dict[str, list[float]]:
        """The arrays over the checkpoints, in the order of `COLUMNS`."""
        derived = {"anytime_error": self.anytime_error, "gap": self.gap, "slack": self.slack}
        arrays = {**vars(self), **derived, **self.certified.columns()}
        return {name: arrays[name].tolist() for name in COLUMNS}


def summed_up(measured: Measured, truth: TabularMDP, sizes: Sizes, eps: float, delta: float, form: Form) -> Audit:
    """The audit of what was measured."""
    v, at, steps = measured.values, measured.step, len(measured.gap)
    promised = bool(v["promised"].all())
    reach = v["reach"] if promised else v["h"]
    bound = theory.anytime_error(sizes, at + 1.0, delta, reach, form)
    errors = theory.measured_anytime_error(v["reachable"], v["policy"])
    width = np.diff(at, append=steps)
    share = 1.0 if form == "corrected" else 1 - truth.gamma ** (steps - at.astype(np.float64))
    still = np.zeros(steps)
    over = int(theory.measured_exploration_runtime(measured.gap, still, eps))
    below = np.flatnonzero(v["short"] > v["shortfall"])
    regret, loss = _against_the_best(measured, truth)
    nothing = np.full(len(at), np.nan)

    def total(number: float, promise: Bound, count: bool) -> Total:
        why = str(promise.why) if promised else _NO_PROMISE
        if not why and count and promise.value >= steps:
            why = "the run is shorter than this: it could not have been more"
        return Total(float(number), float(promise), why)

    most = float(reach.max())
    bad, exploring = width[errors > eps].sum(), theory.exploring_steps(measured.gap, still, eps)
    return Audit(
        eps=eps,
        delta=delta,
        form=form,
        steps=steps,
        sizes=sizes,
        step=at,
        state=measured.states[at],
        h=v["h"].astype(np.int64),
        optimal=v["optimal"],
        reachable=v["reachable"],
        internal=v["internal"],
        current=v["current"],
        policy=v["policy"],
        learning=v.get("learning", nothing),
        learning_low=v.get("learning_low", nothing),
        learning_high=v.get("learning_high", nothing),
        anytime_bound=bound.value,
        anytime_promise=promised & ~bound.vacuous,
        short=v["short"],
        shortfall=v["shortfall"],
        bad_steps=total(bad, theory.sample_complexity(sizes, eps, delta, most, form), True),
        exploring_steps=total(
            float(exploring), theory.explicit_exploration_runtime(sizes, eps, delta, most, form=form), True
        ),
        exploration_over=over if over < steps else None,
        average_loss=total(
            (width * share) @ errors / width.sum(), theory.average_loss(sizes, steps, delta, most, form), False
        ),
        regret=regret,
        loss_of_run=loss,
        violations=len(below),
        first_violation=int(at[below[0]]) if len(below) else None,
        promised=promised,
        gap_accuracy=measured.gap_accuracy,
        rollout_steps=measured.rollout_steps,
        notes=measured.notes,
        certified=measured.certified,
    )


def _against_the_best(measured: Measured, truth: TabularMDP) -> tuple[float, float]:
    """Regret and average loss of the run against V*(s_t, T), T the last step.

    nan for a single step, and where an episode was cut off, for nobody knows what it would have earned.
    """
    if len(measured.rewards) < 2 or measured.cut_off:
        return np.nan, np.nan
    best = optimal_to_go(truth, measured.states)
    episodes = np.split(measured.rewards, measured.ended[measured.ended < len(measured.rewards) - 1] + 1)
    earned = np.concatenate([theory.returns_to_go(rewards, truth.gamma) for rewards in episodes])
    return float(best[0] - earned[0]), float(theory.average_loss_from_values(best, earned))


def optimal_to_go(truth: TabularMDP, states: NDArray[np.int64]) -> Array:
    """V*(s_t, T) for t = 0, ..., T, the best that T + 1 - t steps can earn, by backward induction.

    Far from the end that is V*: where a step more changes nothing, no more are taken.
    """
    result = truth.optimal_value()[states]
    value = np.zeros(truth.states)
    for t in range(len(states) - 1, -1, -1):
        before, value = value, truth.backup(value).max(axis=1)
        result[t] = value[states[t]]
        if np.abs(value - before).max() <= 1e-13 * (1 - truth.gamma) * max(1.0, np.abs(value).max()):
            break
    return result


def _finite(value: object) -> object:
    """`value` with null for numbers that JSON does not have, and NumPy's numbers as Python's."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_whole(Path(path), text.encode())
    return text
