"""Whether a saved arena can have been counted: compiled code follows its links, so every one is checked."""

from __future__ import annotations

import numpy as np

from hreach.errors import require
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
    PAIR,
    SAMPLES,
    STATE,
    TIMES,
    TO,
)  # fmt: skip
from hreach.problems.problem import Problem
from hreach.protocols import Arrays


def check_arena(problem: Problem, saved: Arrays) -> None:
    """`InputError` if these arrays are not an arena of this problem."""
    node, tally, edge = (np.asarray(saved[name], dtype=np.int64) for name in ("node", "tally", "edge"))
    size = np.asarray(saved["size"], dtype=np.int64)
    known, edges = len(node), len(edge)
    fits = size[KNOWN] == known and size[EDGES] == edges and len(tally) == known * problem.actions
    require(bool(fits), "size", size, "that of the arrays")
    ended = edge[:, ENDED]
    none = not (ended.any() or (node[:, FLAGS] & CLOSED).any())
    require(bool(saved["ends"]) or none, "ends", bool(saved["ends"]), "true where ends are counted")
    require(bool(saved["ends"]) or not problem.ends, "ends", bool(saved["ends"]), "true where episodes can end")
    numbers = node[:, STATE]
    ok = np.unique(numbers).size == known and bool(((numbers >= 0) & (numbers < problem.states)).all())
    require(ok, "node", "another state", "states of the problem, each once")
    require(bool(np.isin(node[:, FLAGS], (0, 1, 2)).all()), "node", "other flags", "0, 1 or 2")
    pair, to, times = edge[:, PAIR], edge[:, TO], edge[:, TIMES]
    ok = bool(((pair >= 0) & (pair < len(tally)) & (to >= 0) & (to < known)).all())
    require(ok, "edge", "another pair", "pairs and states that were met")
    least = 0 if problem.successors is not None else 1
    ok = bool(((times >= least) & (ended >= 0) & (ended <= times)).all())
    require(ok, "edge", "another count", f"counts of at least {least}")
    _check_lists("tally", tally[:, FROM], edge[:, NEXT_FROM], pair)
    _check_lists("node", node[:, INTO], edge[:, NEXT_INTO], to)
    total = np.bincount(pair, weights=times, minlength=len(tally))
    require(bool((total == tally[:, COUNT]).all()), "tally", "not the sum of counts", "the sum of a pair's counts")
    require(int(size[SAMPLES]) == int(times.sum()), "size", size, "the number of samples")
    paid = np.asarray(saved["paid"], dtype=np.float64)
    expected = len(tally) if problem.reward is None else 0
    require(len(paid) == expected and bool(np.isfinite(paid).all()), "paid", "other numbers", "finite, one for a pair")
    news = np.asarray(saved["news"], dtype=np.int64)
    told = news[1 : 1 + max(int(news[0]), 0)]
    ok = -1 <= news[0] < news.size and bool(((told >= -known) & (told < len(tally))).all())
    require(ok, "news", news, "pairs or states that were met")
    here = np.asarray(saved["here"], dtype=np.int64)
    require(bool(((here >= -1) & (here < problem.states)).all()), "here", here, "states of the problem, or -1")


def _check_lists(name: str, head: np.ndarray, following: np.ndarray, owner: np.ndarray) -> None:
    """Edges are put in front, so links lead to lower edges, and each edge is in the list of its owner once."""
    edges = len(owner)
    before = np.arange(edges)
    inside = bool(((following >= 0) & (following <= before)).all() and ((head >= 0) & (head <= edges)).all())
    require(inside, name, "a link to elsewhere", "links to earlier edges")
    linked = following > 0
    same = bool((owner[following[linked] - 1] == owner[linked]).all())
    starts = head > 0
    same = same and bool((owner[head[starts] - 1] == np.flatnonzero(starts)).all())
    reached = np.bincount(np.concatenate([following[linked] - 1, head[starts] - 1]), minlength=edges)
    require(same and bool((reached == 1).all()), name, "a list of others' edges", "each edge in one list")
