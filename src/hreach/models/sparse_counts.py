"""Counting the transitions that were seen, and no others: memory for each visited pair, not for |S|^2 |A|.

    P^(s'|s, a) = n(s, a, s') / n(s, a)

as `hreach.models.counts` with prior = 0; a pair that was never tried is modelled as uniform. A prior would give every
pair a row over all states, so it is refused. States are whole numbers of the declared space; they get ids as they
appear (`hreach.kernels.local_state`). If the possible next states are known, all of them stand there from the start
with a count of 0: memory is for what is known then, and a transition to another one that is seen all the same counts
as possible from there on.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from operator import index

import numpy as np

from hreach.compiling import resolved
from hreach.errors import require
from hreach.kernels.local_learn import learn_sample
from hreach.kernels.local_state import (
    CLOSED,
    COUNT,
    EDGES,
    ENDED,
    FLAGS,
    FROM,
    INTO,
    KNOWN,
    NEXT_FROM,
    NEXT_INTO,
    OPEN,
    PAIR,
    SAMPLES,
    STATE,
    TIMES,
    TO,
    Arena,
)  # fmt: skip
from hreach.kernels.state import NEWS
from hreach.models.counts import RewardWarning
from hreach.models.saved_sparse_counts import check_arena
from hreach.problems.problem import Problem, Successors
from hreach.problems.spaces import index_of
from hreach.protocols import Arrays, Floats, Info, Ints, Outcomes, Pairs, State, Stream
from hreach.randomness.streams import generator

_ROOM = 256  # states and edges at first, and at least so many more at a time


class SparseCounts:
    """A model of `problem` by counting what was seen; a pair of `freeze_at` samples learns no more."""

    def __init__(self, problem: Problem, freeze_at: float = math.inf) -> None:
        require(problem.prior == 0, "prior", problem.prior, "0 with model='sparse-counts': a row holds what was seen")
        known = problem.reward is None or problem.reward.shape[2] == 1
        ways = "R(s, a) or learnt with model='sparse-counts'; model='counts' takes it as it is"
        require(known, "reward", "one for each next state", ways)
        require(problem.states < 1 << 31, "states", problem.states, "below 2**31")
        self.problem, self.freeze_at = problem, float(freeze_at)
        self.version = 0
        self._warned = False
        room = min(_ROOM, problem.states)
        self.arena = Arena(
            ids=np.zeros(problem.states, dtype=np.int32),
            node=np.zeros((room, 3), dtype=np.int32),
            tally=np.zeros((room * problem.actions, 2), dtype=np.int32),
            edge=np.zeros((_ROOM, 6 if problem.ends else 5), dtype=np.int32),
            paid=np.zeros(room * problem.actions if problem.reward is None else 0),
            size=np.zeros(3, dtype=np.int64),
            here=np.array([-1, -1], dtype=np.int64),
            news=np.zeros(1 + NEWS, dtype=np.int64),
        )
        if problem.successors is not None:
            self._begin_with(problem.successors)

    def _begin_with(self, successors: Successors) -> None:
        """All states are met, and every possible transition is an edge that was never seen."""
        first, to = successors
        states, pairs, edges = self.problem.states, self.problem.states * self.problem.actions, len(to)
        require(edges < 1 << 31, "successors", edges, "fewer than 2**31 transitions")
        self._resize(states, edges + _ROOM)
        arena, own = self.arena, np.arange(1, edges + 1, dtype=np.int32)
        arena.ids[:], arena.node[:, STATE] = np.arange(1, states + 1), np.arange(states)
        arena.size[KNOWN], arena.size[EDGES] = states, edges
        edge = arena.edge[:edges]
        edge[:, PAIR], edge[:, TO] = np.repeat(np.arange(pairs), np.diff(first)), to
        arena.tally[:, FROM] = first[1:]
        edge[:, NEXT_FROM] = own - 1
        edge[first[:-1], NEXT_FROM] = 0
        order = np.argsort(to, kind="stable")
        before = np.concatenate([[0], own[order][:-1]])
        edge[order, NEXT_INTO] = np.where(np.diff(to[order], prepend=-1) == 0, before, 0)
        arena.node[to[order], INTO] = own[order]

    @property
    def samples(self) -> int:
        """How many samples were learnt."""
        return int(self.arena.size[SAMPLES])

    @property
    def met(self) -> Ints:
        """States that were seen, in the order in which they appeared; all of them where successors are known."""
        return self.arena.node[: self.arena.size[KNOWN], STATE].astype(np.int64)

    def state(self, field: str, value: State) -> int:
        """A state as a whole number from 0 to |S| - 1."""
        try:
            number = index(value)
        except TypeError:
            return index_of(field, value, self.problem.states)
        return number if 0 <= number < self.problem.states else index_of(field, value, self.problem.states)

    def learn(
        self, state: State, action: int, reward: float, next_state: State, terminated: bool, info: Info | None = None
    ) -> None:
        """Learn from one transition; one that `terminated` the episode led to its end."""
        s, following, a = self.state("state", state), self.state("next_state", next_state), int(action)
        if not (0 <= a < self.problem.actions and a == action):
            index_of("action", action, self.problem.actions)
        paid = float(reward)
        if not (self.problem.r_min <= paid <= self.problem.r_max):
            self._outside(paid)
        if terminated and not self.problem.ends:
            self.expect_ends()
        self.make_room()
        if self._learn(
            self.arena, self.problem.actions, self.freeze_at, self.problem.ends, s, a, paid, following, bool(terminated)
        ):
            self.version += 1

    def make_room(self) -> None:
        """Room for one more sample: two states and an edge. Arrays grow in place, by an eighth."""
        arena, states = self.arena, self.arena.node.shape[0]
        if arena.size[KNOWN] + 2 > states and states < self.problem.states:
            self._resize(min(states + max(_ROOM, states // 8), self.problem.states), arena.edge.shape[0])
        if arena.size[EDGES] + 1 > arena.edge.shape[0]:
            self._resize(arena.node.shape[0], arena.edge.shape[0] + max(_ROOM, arena.edge.shape[0] // 8))

    def _resize(self, states: int, edges: int) -> None:
        arena, pairs = self.arena, states * self.problem.actions
        arena.node.resize((states, 3), refcheck=False)
        arena.tally.resize((pairs, 2), refcheck=False)
        arena.edge.resize((edges, arena.edge.shape[1]), refcheck=False)
        if self.problem.reward is None:
            arena.paid.resize(pairs, refcheck=False)

    def expect_ends(self) -> None:
        """Episodes can end after all: what was entered or left so far is open."""
        self.problem = replace(self.problem, ends=True)
        edge = np.zeros((self.arena.edge.shape[0], 6), dtype=np.int32)
        edge[:, :5] = self.arena.edge
        self.arena = self.arena._replace(edge=edge)
        self.arena.node[: self.arena.size[KNOWN], FLAGS] = OPEN
        self.arena.news[0] = -1
        self.version += 1

    def row(self, state: int, action: int) -> tuple[Ints, Ints, Ints]:
        """What was seen of a pair: (next states, counts, how many of these ended the episode)."""
        arena = self.arena
        own, found = int(arena.ids[state]), []
        e = int(arena.tally[(own - 1) * self.problem.actions + action, FROM]) if own else 0
        while e > 0:
            edge = arena.edge[e - 1]
            found += [(arena.node[edge[TO], STATE], edge[TIMES], edge[ENDED] if len(edge) > ENDED else 0)] * bool(
                edge[TIMES]
            )
            e = int(edge[NEXT_FROM])
        following, times, ended = np.array(sorted(found), dtype=np.int64).reshape(-1, 3).T
        return following, times, ended

    def possible(self, state: int, action: int) -> Ints:
        """The next states that are possible as far as is known: all, unless the agent was told which."""
        if self.problem.successors is None:
            return np.arange(self.problem.states)
        e, found = int(self.arena.tally[state * self.problem.actions + action, FROM]), []
        while e > 0:
            found.append(int(self.arena.edge[e - 1, TO]))
            e = int(self.arena.edge[e - 1, NEXT_FROM])
        return np.array(sorted(found), dtype=np.int64)

    def total(self, pairs: Pairs[Ints]) -> Floats:
        """n(s, a), (N,)."""
        own = self.arena.ids[pairs.states].astype(np.int64)
        counted = self.arena.tally[np.maximum(own - 1, 0) * self.problem.actions + pairs.actions, COUNT]
        return np.where(own > 0, counted, 0).astype(np.float64)

    def visits(self) -> Floats:
        """n(s, a) of all pairs, (S, A)."""
        found = np.zeros((self.problem.states, self.problem.actions))
        met = self.met
        found[met] = self.arena.tally[: met.size * self.problem.actions, COUNT].reshape(met.size, -1)
        return found

    def outcomes(self, pairs: Pairs[Ints], shift: Floats | None = None) -> Outcomes[Ints]:
        """What was seen to follow, once as what goes on and once as the end; all that is possible if nothing was."""
        require(shift is None, "shift", shift, "None: counts predict no numbers that could be moved")
        rows = [self._outcomes(int(s), int(a)) for s, a in zip(pairs.states, pairs.actions, strict=True)]
        first = np.concatenate([[0], np.cumsum([len(row[0]) for row in rows])])
        following, weight, reward, goes_on = (np.concatenate(column) for column in zip(*rows, strict=True))
        return Outcomes(first, following, weight, reward, goes_on)

    def _outcomes(self, s: int, a: int) -> tuple[Ints, Floats, Floats, np.ndarray]:
        following, times, ended = self.row(s, a)
        if not len(following):
            following = self.possible(s, a)
            times, ended = np.ones_like(following), np.zeros_like(following)
        following, times = np.tile(following, 2), np.concatenate([times - ended, ended])
        goes_on = np.repeat([True, False], len(ended)) & ~self.closed(following)
        seen = times > 0
        return following[seen], times[seen] / times.sum(), np.full(seen.sum(), self.paid(s, a)), goes_on[seen]

    def closed(self, states: Ints) -> np.ndarray:
        """Which of these states are worth 0: episodes ended there, and nothing was seen to go on."""
        own = self.arena.ids[states]
        return np.asarray((own > 0) & ((self.arena.node[np.maximum(own - 1, 0), FLAGS] & CLOSED) > 0))

    def paid(self, s: int, a: int) -> float:
        """The mean reward of a pair, as it is known or as it was learnt."""
        if self.problem.reward is not None:
            return float(self.problem.reward[s, a, 0])
        pair = (int(self.arena.ids[s]) - 1) * self.problem.actions + a
        if pair < 0 or self.arena.tally[pair, COUNT] == 0:
            return (self.problem.r_min + self.problem.r_max) / 2
        return float(self.arena.paid[pair] / self.arena.tally[pair, COUNT])

    def leverage(self, pairs: Pairs[Ints]) -> Floats:
        """1 / n, (N, 1); infinite where nothing was seen."""
        total = self.total(pairs)
        return np.asarray(np.divide(1.0, total, out=np.full(total.shape, np.inf), where=total > 0)[:, None])

    def error(self) -> Floats:
        """(1,) 0: frequencies are the mean of what was seen."""
        return np.zeros(1)

    def sample(self, stream: Stream) -> _Drawn:
        """A draw from the Dirichlet posterior of every row, made when a row is asked for."""
        return _Drawn(self, generator(stream))

    def state_dict(self) -> dict[str, np.ndarray]:
        """What was counted, without the room for more."""
        arena, known = self.arena, int(self.arena.size[KNOWN])
        pairs = known * self.problem.actions
        return {
            "node": arena.node[:known].copy(),
            "tally": arena.tally[:pairs].copy(),
            "edge": self._saved_edges(),
            "paid": arena.paid[:pairs].copy(),
            "size": arena.size.copy(),
            "here": arena.here.copy(),
            "news": arena.news.copy(),
            "ends": np.array(self.problem.ends),
            "version": np.array(self.version),
        }

    def _saved_edges(self) -> np.ndarray:
        """All columns, whether or not episodes can end: a state fits any agent that was made alike."""
        edge = np.zeros((int(self.arena.size[EDGES]), ENDED + 1), dtype=np.int32)
        edge[:, : self.arena.edge.shape[1]] = self.arena.edge[: len(edge)]
        return edge

    def check_state_dict(self, saved: Arrays) -> None:
        """Whether this can have been counted; `InputError` if not."""
        check_arena(self.problem, saved)

    def load_state_dict(self, saved: Arrays) -> None:
        """Go on from what was counted."""
        self.check_state_dict(saved)
        problem = replace(self.problem, ends=bool(saved["ends"]) or self.problem.ends)
        new = SparseCounts(problem, self.freeze_at)
        known, edges = int(saved["size"][KNOWN]), int(saved["size"][EDGES])
        new._resize(min(known + _ROOM, problem.states), edges + _ROOM)
        arena = new.arena
        arena.edge[:edges] = np.asarray(saved["edge"], dtype=np.int32)[:, : arena.edge.shape[1]]
        for own, theirs in ((arena.node, "node"), (arena.tally, "tally"), (arena.paid, "paid")):
            own[: len(saved[theirs])] = saved[theirs]
        for whole, theirs in ((arena.size, "size"), (arena.here, "here"), (arena.news, "news")):
            whole[...] = saved[theirs]
        new.arena.ids[new.met] = np.arange(1, known + 1, dtype=np.int32)
        self.problem, self.arena, self.version = problem, new.arena, int(saved["version"])

    def _outside(self, paid: float) -> None:
        require(math.isfinite(paid), "reward", paid, "a finite number")
        if self.problem.reward is None and not self._warned:
            self._warned = True
            low, high = self.problem.r_min, self.problem.r_max
            text = f"reward is {paid:g}, outside [r_min, r_max] = [{low:g}, {high:g}]: optimism relies on them."
            warnings.warn(text, RewardWarning, stacklevel=4)

    @cached_property
    def _learn(self) -> Callable[[Arena, int, float, bool, int, int, float, int, bool], bool]:
        return resolved(learn_sample, self.arena, 1, 0.0, False, 0, 0, 0.0, 0, False)


class _Drawn(SparseCounts):
    """Rows drawn from the posterior of another model, each once."""

    def __init__(self, model: SparseCounts, chance: np.random.Generator) -> None:
        super().__init__(model.problem, freeze_at=0.0)
        self._chance, self._rows = chance, dict[tuple[int, int], tuple[Ints, Floats, Floats, np.ndarray]]()
        self._model = model

    def _outcomes(self, s: int, a: int) -> tuple[Ints, Floats, Floats, np.ndarray]:
        if (s, a) not in self._rows:
            following, weight, reward, goes_on = self._model._outcomes(s, a)
            n = self._model.total(Pairs(np.array([s]), np.array([a])))[0]
            if n > 0:
                weight = self._chance.dirichlet(weight * n)
            self._rows[s, a] = following, weight, reward, goes_on
        return self._rows[s, a]
