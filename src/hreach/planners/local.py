"""The local planner: after each sample, only what that sample changed is planned again. docs/local-planning.md.

Values are lines in x, which stands for max_s V(s) (PAC-RMDP, BOLT), or for the mean of V where an untried pair is
modelled as uniform (greedy, BEB); R-max, MBIE-EB and VBE need no x, nor does an agent that knows the possible next
states. An empty queue means max |TV - V| <= tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from hreach.compiling import compile_formula, compile_schedule, resolved
from hreach.errors import InputError, require, whole
from hreach.kernels.local_act import act_local
from hreach.kernels.local_plan import claimed, plan_local
from hreach.kernels.local_state import (
    KNOWN,
    MAX_X,
    NO_X,
    OWN_X,
    QA,
    QB,
    SKIPPED,
    A,
    Arena,
    B,
    Lines,
    LocalRule,
    X,
)  # fmt: skip
from hreach.models.sparse_counts import SparseCounts
from hreach.optimism.greedy import CERTAIN, certain
from hreach.optimism.tabular import TabularOptimism
from hreach.planners.local_parts import WAYS, lines_of, rule_of
from hreach.planners.saved_local import check_heap, check_lists
from hreach.protocols import Arrays, Comparison, Floats, Ints, State, Stream
from hreach.reach.weight import reach_formula

_SCRATCH = ("scratch", "action", "matrix")
_PREFIX = ("value", "link", "heap")  # of these, a row for each state that was met


class Local:
    """Values of the states that were met, kept within `tolerance` of a fixed point of T after every sample.

    budget   edges that one plan may touch (0: as many as it takes); what is left is done at the next one, and until
             then `residual` says how far it is
    way      "both": by a queue of what changed, or by sweeps over all that was met where these take less; "queue" or
             "sweeps": only so
    """

    slope = 0.0

    def __init__(
        self,
        model: SparseCounts,
        optimism: TabularOptimism,
        stream: Stream,
        *,
        tolerance: float = 0.01,
        value_cap: float | None = None,
        ties: str | Sequence[int] = "random",
        budget: int = 0,
        way: Literal["both", "queue", "sweeps"] = "both",
    ) -> None:
        if not isinstance(model, SparseCounts):
            raise InputError(f"model is {type(model).__name__!r}, but must be 'sparse-counts' with planner='local'.")
        self.model, self.optimism, self.stream = model, optimism, stream
        self.formula = compile_formula(optimism.formula)
        self.schedule = None if optimism.schedule is None else compile_schedule(optimism.schedule)
        self.rule = rule_of(model, optimism, tolerance, value_cap, ties, whole("budget", budget, 0), way)
        self._given = self.rule.constants.copy()
        self._begin()

    def _begin(self) -> None:
        """The plan before anything was met."""
        self.lines = lines_of(self.model, self.rule)
        self.due = np.inf if self.schedule is None else 0.0
        self.residual = np.inf
        self.finished = False

    def plan(self) -> None:
        """Bring the plan up to date with the model, or as far as the budget goes."""
        problem = self.model.problem
        if problem.ends and not self.rule.ends:
            self.rule = self.rule._replace(ends=True, v_max=problem.values.high)
            self._begin()
            self.model.arena.news[0] = -1
        met = int(self.model.arena.size[KNOWN])
        if problem.open and self.rule.states != met:
            self.rule = self.rule._replace(states=max(met, 1))
        self.make_room()
        self.revise()
        self.finished = self._plan(self.formula.address, self.rule, self.model.arena, self.lines)
        self.residual = self._claimed(self.rule, self.model.arena, self.lines)

    def revise(self) -> None:
        """Constants that grow, if it is time: every row anew."""
        if self.schedule is None or self.model.samples < self.due:
            return
        given, none = self._given, np.zeros((1, 1))
        self.due, _ = self.schedule(
            float(self.model.samples), given, none, none[0], none[0], self.rule.gamma, 0.0, self.rule.constants,
            self.stream,
        )  # fmt: skip
        self.model.arena.news[0] = -1

    def make_room(self) -> None:
        """As many rows as the model has."""
        states = self.model.arena.node.shape[0]
        lines = self.lines
        if lines.value.shape[0] < states:
            lines.value.resize((states, 5), refcheck=False)
            lines.link.resize((states, 8), refcheck=False)
            lines.heap.resize(states, refcheck=False)
            lines.q.resize((states * self.rule.actions, 3), refcheck=False)

    def best_action(self, state: State, stream: Stream) -> int:
        """The best action in a state under the last plan; ties by preference or drawn."""
        return self._act(self.rule, self.model.arena, self.lines, state, stream)

    def action_values(self, states: Ints | None = None) -> Floats:
        """Q~ of states, of all by default: (N, A)."""
        asked = np.arange(self.rule.states) if states is None else np.asarray(states)
        own = self.model.arena.ids[asked].astype(np.int64)
        own = np.where(own <= self.lines.tick[0], own, 0)
        q = self.lines.q.reshape(-1, self.rule.actions, 3)[np.maximum(own - 1, 0)]
        found = np.where(own[:, None] > 0, q[:, :, QA] + q[:, :, QB] * self.lines.number[X], self._untried(asked))
        found[self.model.closed(asked)] = 0.0
        return np.minimum(found, self.rule.value_cap)

    def internal_value(self, states: Ints | None = None) -> Floats:
        """max_a Q~ of states, of all by default: T of the stored V."""
        return np.asarray(self.action_values(states).max(axis=1))

    def stored_value(self) -> tuple[Ints, Floats]:
        """The states that were met and V as it is stored: what `residual` is about. Of the rest, `internal_value`."""
        known = int(self.lines.tick[0])
        return self.model.met[:known], self.lines.value[:known, A] + self.lines.value[:known, B] * self.lines.number[X]

    def _untried(self, states: Ints) -> Floats:
        if self.rule.mode in (NO_X, OWN_X):
            return np.full((len(states), self.rule.actions), self.rule.v_max)
        reward = self.rule.reward[states] if self.rule.reward.size else np.zeros((len(states), self.rule.actions))
        return np.asarray(self.rule.fresh + reward + self.rule.gamma * self.lines.number[X])

    def sequence(self, first: int) -> list[int]:
        """The first action only: the next state is not known."""
        return [first]

    def certainty_equivalent(self, stream: Stream) -> Local:
        """A planner for the same model as it is now, without optimism."""
        copy = SparseCounts(self.model.problem, self.model.freeze_at)
        copy.load_state_dict(self.model.state_dict())
        copy.arena.news[0] = -1
        ties: str | list[int] = self.rule.preference.tolist() or "random"
        return Local(copy, CERTAIN, stream, tolerance=self.rule.tolerance, ties=ties)

    def compare(self, state: State | None) -> Comparison:
        """V~ beside V_{h=0}, planned anew; state None: where they are furthest apart."""
        other = self.certainty_equivalent(self.stream.copy())
        other.plan()
        asked = np.arange(self.rule.states) if state is None else np.array([self.model.state("state", state)])
        internal, current = self.internal_value(asked), other.internal_value(asked)
        k = int(np.argmax(np.abs(internal - current)))
        off = self.rule.gamma * (self.residual + other.residual) / (1 - self.rule.gamma)
        return self.model.samples, int(asked[k]), float(internal[k]), float(current[k]), float(off)

    def reach(self) -> tuple[float, float] | None:
        """The least and the most h of any pair: of PAC-RMDP and BOLT; 0 without optimism; None of any other."""
        if self.optimism.random_action > 0 or self.optimism.formula not in (reach_formula, certain):
            return None
        h = self.rule.constants[:, :, 0] if self.optimism.formula is reach_formula else np.zeros(1)
        return float(h.min()), float(h.max())

    def unknown(self, state: State, action: int) -> bool:
        """False: optimism about tables is not selective."""
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
            "budget": self.rule.budget,
            "way": WAYS[self.rule.way],
        }

    def state_dict(self) -> dict[str, np.ndarray]:
        """The plan with its queue, calendar and heap: what follows is the same, bit for bit."""
        known = int(self.lines.tick[0])
        saved = {name: array.copy() for name, array in self.lines._asdict().items() if name not in _SCRATCH}
        saved |= {name: saved[name][:known] for name in _PREFIX}
        saved["q"] = saved["q"][: known * self.rule.actions]
        saved["line"], saved["action_line"] = saved.pop("value"), saved.pop("q")
        saved |= {"residual": np.array(self.residual), "finished": np.array(self.finished)}
        if self.schedule is not None:
            saved |= {"constants": self.rule.constants.copy(), "due": np.array(self.due)}
        return saved

    def check_state_dict(self, saved: Arrays) -> None:
        """Whether this can have been a plan; `InputError` if not."""
        known, pairs = len(saved["line"]), len(saved["line"]) * self.rule.actions
        ok = (
            int(saved["tick"][0]) == known == len(saved["link"]) == len(saved["heap"])
            and len(saved["action_line"]) == pairs
        )
        require(ok, "line", f"{known} rows", "as many as the rest of the plan has")
        for name in ("line", "action_line", "number"):
            require(bool(np.isfinite(saved[name]).all()), name, "nan or infinite", "finite everywhere")
        if self.schedule is not None:
            ok = bool((np.asarray(saved["constants"], dtype=np.float64) >= 0).all()) and float(saved["due"]) >= 0
            require(ok, "constants", saved["constants"], "at least 0, and so must the time of their change be")
        slopes = np.asarray(saved["line"], dtype=np.float64)[:, B]
        require(bool((slopes < 1).all()), "line", "another slope", "slopes below 1")
        count = np.asarray(saved["tick"], dtype=np.int64)
        require(bool((count >= 0).all()), "tick", count, "numbers of at least 0")
        check_lists(saved)
        if self.rule.mode == MAX_X:
            check_heap(saved)

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from a plan; the model has what it had then."""
        self.check_state_dict(saved)
        problem, met = self.model.problem, len(self.model.met)
        require(len(saved["line"]) <= met, "line", f"{len(saved['line'])} rows", f"at most the {met} states met")
        if problem.ends and not self.rule.ends:
            self.rule = self.rule._replace(ends=True, v_max=problem.values.high)
        self._begin()
        self.make_room()
        for name, array in self.lines._asdict().items():
            if name not in _SCRATCH:
                own = {"value": "line", "q": "action_line"}.get(name, name)
                array[: len(saved[own])] = saved[own]
        self.lines.tick[SKIPPED] = 0  # counted again: nothing that is saved leads beyond the last state
        self.residual, self.finished = float(saved["residual"]), bool(saved["finished"])
        if self.schedule is not None:
            self.rule.constants[...], self.due = saved["constants"], float(saved["due"])

    @cached_property
    def _plan(self) -> Callable[[int, LocalRule, Arena, Lines], bool]:
        return resolved(plan_local, self.formula.address, self.rule, self.model.arena, self.lines)

    @cached_property
    def _claimed(self) -> Callable[[LocalRule, Arena, Lines], float]:
        return resolved(claimed, self.rule, self.model.arena, self.lines)

    @cached_property
    def _act(self) -> Callable[[LocalRule, Arena, Lines, int, Stream], int]:
        return resolved(act_local, self.rule, self.model.arena, self.lines, 0, self.stream)
