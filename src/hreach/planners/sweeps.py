"""The planner of tables: compiled sweeps and solves, after every sample. Paper: Algorithm 1.

T is a gamma-contraction (`hreach.kernels`): a value V with max |TV - V| <= tolerance is within tolerance / (1 - gamma)
of its fixed point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from hreach import kernels
from hreach.compiling import announcing, compile_formula, compile_schedule, resolved
from hreach.errors import InputError, number, positive, require, whole
from hreach.kernels import Rule, Seen, Table
from hreach.kernels.lookahead import compile_lookahead
from hreach.models.counts import Counts
from hreach.optimism.greedy import CERTAIN, certain
from hreach.optimism.schedules import never
from hreach.optimism.tabular import TabularOptimism
from hreach.protocols import Arrays, Comparison, Floats, Ints, State, Stream
from hreach.reach.weight import reach_formula

_refresh_all = announcing(kernels.refresh_all)
_SAVED = ("value", "q", "order", "due")
_SCHEDULED = ("constants", "certain")
_DRAWN = ("mean", "gone", "parting", "base")


class Sweeps:
    """Values of a table.

    tolerance   planning stops when max |TV - V| is at most this
    value_cap   values above it are cut off (None: no cap)
    ties        "random", or all actions in the order of preference
    stream      what a schedule that draws draws from
    beside      another planner follows the model's news: this one computes every pair anew when it plans
    """

    slope = 0.0

    def __init__(
        self,
        model: Counts,
        optimism: TabularOptimism,
        stream: Stream,
        *,
        tolerance: float = 0.01,
        value_cap: float | None = None,
        ties: str | Sequence[int] = "random",
        beside: bool = False,
    ) -> None:
        self.model, self.optimism, self.stream = model, optimism, stream
        self._beside, self._mortal = beside, optimism.lifetime < np.inf
        self.seen = model.seen._replace(news=model.seen.news.copy()) if beside else model.seen
        self.formula = compile_formula(optimism.formula)
        self.schedule = compile_schedule(never if optimism.schedule is None else optimism.schedule)
        self.rule = _rule(model, optimism, tolerance, value_cap, ties)
        self.table = _table(model, self.rule, optimism.schedule is not None)
        self._addresses = (
            self.schedule.address,
            self.formula.address,
        )  # which take long to ask for
        self.residual = np.inf
        self._unfinished = True
        self._certain: CertainValue | None = None

    def plan(self) -> None:
        """Bring the value up to date with the model; a long plan comes back in pieces, so that Ctrl-C is heard."""
        if self._mortal and self.model.samples > self.optimism.lifetime:  # asking for the samples takes long
            self._outlived()
        if self.model.problem.ends and not self.rule.ends:
            self.rule = _with_ends(self.rule, self.model)
        if self._beside:
            self.seen.news[0] = -1
        schedule, formula = self._addresses
        while True:
            sweeps, residual, finished = self._plan(
                schedule, formula, self.rule, self.seen, self.table, self.stream, self._unfinished
            )
            if sweeps:
                self.residual = residual
            self._unfinished = not finished
            if finished:
                return

    def _outlived(self) -> None:
        lived, allowed = self.model.samples, int(self.optimism.lifetime)
        raise InputError(f"lifetime is {allowed}, but must be at least the {lived} samples that were lived.")

    @property
    def begin(self) -> tuple[Seen, Table]:
        """Where a compiled run would go on from: what the model has seen, and the plan."""
        return self.seen, self.table

    def best_action(self, state: State, stream: Stream) -> int:
        """The best action in a state under the last plan; ties by preference or drawn."""
        return self._act(self.rule, self.table, state, stream)

    def internal_value(self, states: Ints | None = None) -> Floats:
        """V~ of states, of all by default, within gamma residual / (1 - gamma) of the fixed point. Paper: Eq. (1)."""
        return self.table.value.copy() if states is None else self.table.value[states]

    def action_values(self, states: Ints | None = None) -> Floats:
        """Q~ of states, of all by default: (N, A)."""
        shape = self.model.seen.total.shape
        q = self.table.q[: shape[0] * shape[1]].reshape(shape)
        return q.copy() if states is None else q[states]

    def sequence(self, first: int) -> list[int]:
        """The first action only: the next state is not known."""
        return [first]

    def certainty_equivalent(self, stream: Stream) -> Sweeps:
        """A planner for the same model, without optimism."""
        ties: str | list[int] = self.rule.preference.tolist() or "random"
        return Sweeps(self.model, CERTAIN, stream, tolerance=self.rule.tolerance, ties=ties, beside=True)

    def compare(self, state: State | None) -> Comparison:
        """V~ beside V_{h=0}, which is kept warm from the last time; state None: where they are furthest apart."""
        certain = self._certain or self.certain_value
        where = -1 if state is None else self.model.state("state", state)
        return certain.compare(certain.where, self.residual, self.rule.ends, where)

    @property
    def certain_value(self) -> CertainValue:
        """V_{h=0} of the model, kept beside the plan."""
        if self._certain is None:
            self._certain = CertainValue(self)
        return self._certain

    def reach(self) -> tuple[float, float] | None:
        """The least and the most h of any pair now: of PAC-RMDP and BOLT; 0 without optimism; None of any other."""
        formula, other = self.optimism.formula, self.optimism.random_action > 0 or self.optimism.draws
        if other or formula not in (reach_formula, certain):
            return None
        if formula is certain:
            return 0.0, 0.0
        h = self.table.constants[:, :, 0]
        return float(h.min()), float(h.max())

    def unknown(self, state: State, action: int) -> bool:
        """False: optimism about tables is not selective, it freezes pairs (`TabularOptimism.freeze_at`)."""
        return False

    def remember(self) -> None:
        """Nothing: tables are planned anew after every sample."""

    def moved(self) -> float:
        """Infinite: tables are planned anew after every sample."""
        return np.inf

    def settings(self) -> dict[str, object]:
        """What the planner was made with, as plain data."""
        cap = self.rule.value_cap
        return {
            "tolerance": self.rule.tolerance,
            "value_cap": None if np.isinf(cap) else cap,
            "ties": self.rule.preference.tolist() or "random",
        }

    def state_dict(self) -> dict[str, np.ndarray]:
        """The plan, the constants in force and, of an optimism that draws, the draw."""
        saved = {name: array.copy() for name, array in self._saved().items()}
        return saved | {"unfinished": np.array(self._unfinished), "residual": np.array(self.residual)}

    def check_state_dict(self, saved: Arrays) -> None:
        """Whether this can have been a plan; `InputError` if not."""
        for name in ("value", "q"):
            require(bool(np.isfinite(saved[name]).all()), name, "nan or infinite", "finite everywhere")
        order = np.sort(saved["order"])
        require(bool((order == np.arange(order.size)).all()), "order", saved["order"], "every state once")
        due = float(saved["due"][0])
        allowed = "a number of samples" if self.optimism.schedule is not None else "infinite: constants stay"
        require(due >= 0 and (np.isinf(due) or self.optimism.schedule is not None), "due", due, allowed)
        residual = float(saved["residual"])
        require(residual >= 0, "residual", residual, "at least 0")
        if self.optimism.schedule is not None:
            constants = np.asarray(saved["constants"], dtype=np.float64)
            require(bool((constants >= 0).all()), "constants", "nan or negative", "at least 0")

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from a plan; the model has what it had then."""
        self.check_state_dict(saved)
        for name, array in self._saved().items():
            array[...] = saved[name]
        self._unfinished, self.residual = bool(saved["unfinished"]), float(saved["residual"])
        self._certain = None  # it was of other counts, perhaps as many
        if self.model.problem.ends and not self.rule.ends:
            self.rule = _with_ends(self.rule, self.model)
        if not self.optimism.draws:
            _refresh_all(self.formula, self.rule, self.seen, self.table)

    def _saved(self) -> dict[str, Floats]:
        """The arrays of the table that a state holds; the rest follows from the counts."""
        scheduled = _SCHEDULED if self.optimism.schedule is not None else ()
        names = (*_SAVED, *scheduled, *(_DRAWN if self.optimism.draws else ()))
        table = self.table._asdict()
        return {name: table[name] for name in names}

    # The kernels for the types of these arrays; found when first needed, for `simulate` needs none of them.

    @cached_property
    def _plan(self) -> Callable[[int, int, Rule, Seen, Table, Stream, bool], tuple[int, float, bool]]:
        return resolved(
            kernels.plan, self.schedule.address, self.formula.address, self.rule, self.seen, self.table,
            self.stream, False,
        )  # fmt: skip

    @cached_property
    def _act(self) -> Callable[[Rule, Table, int, Stream], int]:
        return resolved(kernels.act, self.rule, self.table, 0, self.stream)


class CertainValue:
    """V_{h=0} of a model, warm from the last time it was asked for; nothing of the planner is changed."""

    def __init__(self, planner: Sweeps, tolerance: float | None = None) -> None:
        seen, table, rule = planner.model.seen, planner.table, planner.rule
        self._model = planner.model
        self._value = table.value.copy()
        tolerance = rule.tolerance if tolerance is None else tolerance
        middle = (rule.r_min + rule.r_max) / 2
        self._known = np.array([-1.0, 0.0, np.inf, tolerance, rule.gamma, middle])  # of no samples yet
        self._arrays = (
            seen.counts, seen.ended, seen.total, seen.reward_sum, seen.terminal, seen.samples, table.value, rule.reward,
            self._value, table.matrix, self._known,
        )  # fmt: skip
        sizes = (*seen.total.shape, *rule.reward.shape[1:])
        self.where = np.array([*(array.ctypes.data for array in self._arrays), *sizes])
        self.compare = resolved(kernels.compare_at, self.where, 0.0, True, 0)

    def __call__(self) -> Floats:
        """V_{h=0}, shape (S,), within gamma residual/(1-gamma); the next call writes over it."""
        self.compare(self.where, 0.0, self._model.problem.ends, 0)
        return self._value

    @property
    def residual(self) -> float:
        """max |TV - V| of the last plan."""
        return float(self._known[2])


def _rule(
    model: Counts, optimism: TabularOptimism, tolerance: float, value_cap: float | None, ties: str | Sequence[int]
) -> Rule:
    known = model.problem
    reward = np.zeros((0, 0, 0)) if known.reward is None else known.reward
    return Rule(
        reward=np.require(reward, requirements=["C", "W"]),  # pointers are compiled for arrays that can be written
        parameters=optimism.parameters(known.states, known.actions),
        preference=preference_of(ties, known.actions),
        gamma=known.gamma,
        tolerance=positive("tolerance", tolerance),
        r_min=known.r_min,
        r_max=known.r_max,
        v_min=known.values.low,
        v_max=known.values.high,
        value_cap=np.inf if value_cap is None else number("value_cap", value_cap),
        freeze_at=model.freeze_at,
        random_action=float(optimism.random_action),
        reward_share=float(optimism.reward_share),
        asks_certainty=optimism.asks_certainty,
        draws=optimism.draws,
        ends=known.ends,
        prior=float(known.prior),
        lookahead=0 if optimism.lookahead is None else compile_lookahead(optimism.lookahead).address,
    )


def _with_ends(rule: Rule, model: Counts) -> Rule:
    """Episodes can end after all."""
    values = model.problem.values
    return rule._replace(ends=True, v_min=values.low, v_max=values.high)


def preference_of(ties: str | Sequence[int], actions: int) -> Ints:
    """The order in which ties are broken, (A,); (0,): drawn."""
    if isinstance(ties, str) and ties == "random":
        return np.zeros(0, dtype=np.int64)
    ok = isinstance(ties, Sequence | np.ndarray) and len(ties) == actions and all(a in ties for a in range(actions))
    require(ok, "ties", ties, f"'random', or every action from 0 to {actions - 1} in the order of preference")
    return np.array([whole("ties", a, 0) for a in ties], dtype=np.int64)


def _table(model: Counts, rule: Rule, scheduled: bool) -> Table:
    """The table before any plan."""
    states, actions = model.seen.total.shape
    blocks = -(-states * actions // 4)
    return Table(
        mean=np.zeros((blocks, states, 4)),
        gone=np.zeros(4 * blocks),
        parting=np.zeros(4 * blocks),
        reach=np.zeros(4 * blocks),
        base=np.zeros(4 * blocks),
        radius=np.zeros(4 * blocks),
        value=np.zeros(states),
        q=np.zeros(4 * blocks),
        order=np.arange(states, dtype=np.int64),
        target=np.zeros(states),
        matrix=np.zeros((states, states + 1)),
        constants=rule.parameters.copy(),
        certain=np.zeros(states),
        due=np.array([0.0 if scheduled else np.inf]),
    )
