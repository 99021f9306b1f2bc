"""Certificates of counts, and of agents that count: `certify_counts`, `Agent.certify`."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from hreach.errors import InputError, at_least, require, whole
from hreach.guarantees.certificate import Bounds, Certificate, spread
from hreach.guarantees.confidence import chance
from hreach.guarantees.evidence import Evidence, evidence_of, paid_otherwise
from hreach.guarantees.merged import Places, Seen, merged_sets, seen_by, seen_in
from hreach.guarantees.sets import confidence_sets
from hreach.kernels.state import TIE
from hreach.models.counts import Counts
from hreach.models.sparse_counts import SparseCounts
from hreach.planners.robust import Robust, Sets
from hreach.problems.arrays import Sparse
from hreach.problems.spaces import index_of
from hreach.protocols import AnyModel, AnyPlanner, Floats, Ints, State

ALWAYS = (
    "what follows depends on the state and the action alone, in the same way at all times",
    "the policy is frozen as it is now; what would be learnt on the way does not count",
    "delta is for these data: of m agents that learnt from data of their own, the best needs delta/m",
)
NEVER_ENDS = "episodes never end"
MAY_END = "an episode may end, and nothing is paid after it; a state in which it did and which nothing left is its end"
KNOWN = "what is paid is the known reward"
LEARNT = "rewards lie in [{0:g}, {1:g}], and their mean depends on the state and the action alone"
POSSIBLE = "nothing follows but what was said to be possible"
WATCHED = "the policy was fixed before the first of these samples"
NOT_PAID = "the known reward counts: {2:.4g} in state {0} for action {1}, where {3:.4g} was paid on average of {4}"
NO_LEMMA = "reachable_gap: Lemma 1 takes the reward as known, and it is learnt"
NO_H = "reachable_gap: the agent has no h of its own; give one"


def certify_counts(
    counts: ArrayLike | Sparse,
    reward: ArrayLike,
    gamma: float,
    policy: ArrayLike | None = None,
    *,
    delta: float = 0.1,
    state: int | None = None,
    h: float | None = None,
    prior: float = 0.0,
    ended: ArrayLike | Sparse | None = None,
    possible: ArrayLike | None = None,
    r_min: float | None = None,
    r_max: float | None = None,
    watched: bool = False,
) -> Certificate:
    """What holds of a policy by counts (S, A, S) of transitions alone, rewards (S, A) or (S, A, S) known.

    Of many states counts (and `ended`) are scipy matrices (S A, S), row s A + a, and the reward is (S, A): what it
    costs grows with the pairs that were visited (`hreach.guarantees.merged`).

    policy     actions (S,); None: the best for the frequencies as they are
    state      where; None: the state with the largest optimality gap
    h          of the reachable gap: whole, at least 0, infinite: V*; None: none
    prior      samples of the uniform first model that V^{d*} is about; `counts` are without it
    ended      (S, A, S) those of the counts that ended the episode; None: episodes never end
    possible   (S, A, S) which next states can follow; None: any
    r_min, r_max   the range of rewards; default: that of the reward, and 0
    watched    whether the policy was fixed before the first of these samples: bounds are then tighter, but nothing is
               said of other policies but V* (the safest policy is this one, the optimality gap is upper - lower)

    >>> import numpy as np
    >>> counts = np.array([[[900, 100], [0, 1000]], [[500, 500], [10, 990]]])
    >>> found = certify_counts(counts, [[0.0, 0.0], [1.0, 0.5]], gamma=0.9, state=0)
    >>> found.policy.tolist(), round(found.lower, 2), round(found.upper, 2)
    ([1, 0], 5.95, 6.47)
    """
    require(policy is not None or not watched, "policy", policy, "given where it was watched")
    if sparse.issparse(counts):
        require(possible is None, "possible", "given", "left out with sparse counts")
        seen = seen_in(counts, ended, reward, gamma, r_min, r_max)
        return _certify_sparse_counts(seen, policy, delta, state, h, prior, watched)
    table, over = cast(ArrayLike, counts), cast("ArrayLike | None", ended)
    evidence = evidence_of(table, reward, gamma, over, possible, r_min, r_max)
    states, actions = evidence.counts.shape[:2]
    chosen = None if policy is None else _policy(policy, states, actions)
    sets = confidence_sets(evidence, chance(delta), chosen if watched else None)
    if chosen is None:
        chosen = _best_for_frequencies(sets)
    extra = None if h is None else check_reach(h)
    weight = at_least("prior", prior, 0)
    bounds = bounds_of(sets, chosen, extra, weight)
    notes = (WATCHED,) if watched else ()
    return _certificate(evidence, sets, bounds, chosen, delta, state, extra, weight, (), notes)


def _certify_sparse_counts(
    seen: Seen, policy: ArrayLike | None, delta: float, state: int | None, h: float | None, prior: float, watched: bool
) -> Certificate:
    """`certify_counts` of sparse tables."""
    chosen = None if policy is None else _policy(policy, seen.states, seen.actions)
    sets, places = merged_sets(seen, chance(delta), chosen, watched)
    rows = _best_for_frequencies(sets) if chosen is None else chosen[places.first]
    extra = None if h is None else check_reach(h)
    weight = at_least("prior", prior, 0)
    bounds = bounds_of(sets, rows, extra, weight)
    notes = (WATCHED,) if watched else ()
    return _certificate(seen, sets, bounds, rows, delta, state, extra, weight, (), notes, places)


def certify_agent(
    model: AnyModel, planner: AnyPlanner, delta: float, state: State | None, h: float | None
) -> Certificate:
    """`Agent.certify`, of a plan that is up to date."""
    if not isinstance(model, Counts | SparseCounts):
        raise InputError(f"certify is for agents that count transitions, but this one learns by {_kind(model)}.")
    notes = []
    if planner.optimism.random_action > 0:
        notes.append("the policy is the greedy one, without the agent's random actions")
    extra = None
    if model.problem.reward is None:
        require(h is None, "h", h, "left out where the reward is learnt")
    elif h is not None:
        extra = check_reach(h)
    else:
        reach = planner.reach()
        extra = None if reach is None else float(np.floor(reach[0]))
        notes += [NO_H] if reach is None else []
    if isinstance(model, SparseCounts):
        seen = seen_by(model)
        sets, places = merged_sets(seen, chance(delta), None)
        policy = greedy(planner.action_values(places.first))
        notes += [NO_LEMMA] if seen.reward is None else []
        bounds = bounds_of(sets, policy, extra, 0.0)
        return _certificate(seen, sets, bounds, policy, delta, state, extra, 0.0, tuple(notes), (), places)
    return certify_model(model, greedy(planner.action_values()), delta, state, extra, tuple(notes))


def certify_model(
    model: Counts,
    policy: Ints,
    delta: float,
    state: State | None = None,
    h: float | None = None,
    notes: tuple[str, ...] = (),
    assumes: tuple[str, ...] = (),
) -> Certificate:
    """What holds of any policy (S,) by what a model has counted; `assumes`, `notes`: what else there is to say."""
    problem, evidence = model.problem, evidence_in(model)
    sets = confidence_sets(evidence, chance(delta))
    if problem.reward is None:
        notes = (*notes, NO_LEMMA)
    elif (otherwise := paid_otherwise(evidence)) is not None:
        notes = (*notes, NOT_PAID.format(*otherwise))
    bounds = bounds_of(sets, policy, h, problem.prior)
    return _certificate(evidence, sets, bounds, policy, delta, state, h, problem.prior, notes, assumes)


def of_safest(sure: Certificate) -> Certificate:
    """The same certificate of its safest policy, by the same data and the same event, V^{d*} aside."""
    policy = sure.safest.policy
    return replace(sure, policy=policy, h=None, bounds=bounds_of(sure.sets, policy, None, sure.prior))


def evidence_in(model: Counts) -> Evidence:
    """What a model has counted, without its prior, and what it knows besides."""
    problem, seen = model.problem, model.seen
    return Evidence(
        counts=np.maximum(np.rint(seen.counts - problem.prior / problem.states), 0.0),
        ended=seen.ended if problem.ends else None,
        reward=problem.reward,
        reward_sum=seen.reward_sum - problem.prior * (problem.r_min + problem.r_max) / 2,
        values=problem.values,
        closed=seen.terminal.copy(),
    )


def greedy(q: Floats) -> Ints:
    """The best action of each state, (S,), of values (S, A); of those as good as equal, the lowest."""
    best = q.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(q >= best - TIE * np.maximum(1.0, np.abs(best)), axis=1), dtype=np.int64)


def check_reach(h: object) -> float:
    """h as a whole number of at least 0, or infinite."""
    return np.inf if h == np.inf else float(whole("h", h, 0))


def bounds_of(sets: Sets, policy: Ints, h: float | None, prior: float) -> Bounds:
    """All bounds over these sets; h None: none on V^{d*}."""
    robust = Robust(sets)
    plain = robust.plain(policy)
    lower = robust.lower(policy, plain)
    upper, upper_q = robust.upper(policy, plain)
    safest, chosen = robust.safest(policy, lower)
    gap = robust.gap(policy, lower, np.maximum(lower, safest), upper, upper_q)
    reachable = None
    if h is not None:
        optimistic = lower + gap if np.isinf(h) else robust.reach(h, prior, policy, plain)
        reachable = (optimistic if np.isinf(h) else robust.reachable(h, prior, optimistic))[:-1]
    highest = np.minimum(upper[:-1], sets.v_max)  # what is added for a search that stopped early may go past it
    return Bounds(lower[:-1], highest, np.minimum(gap[:-1], highest - lower[:-1]), safest[:-1], chosen, reachable)


def _certificate(
    evidence: Evidence | Seen,
    sets: Sets,
    bounds: Bounds,
    policy: Ints,
    delta: float,
    state: State | None,
    h: float | None,
    prior: float,
    notes: tuple[str, ...],
    more: tuple[str, ...],
    places: Places | None = None,
) -> Certificate:
    learnt, values = evidence.reward is None, evidence.values
    assumes = (
        *ALWAYS,
        LEARNT.format(values.r_min, values.r_max) if learnt else KNOWN,
        NEVER_ENDS if evidence.ended is None else MAY_END,
        *((POSSIBLE,) if evidence.possible is not None else ()),
        *more,
    )
    if places is not None:
        policy, bounds = policy[places.place], spread(bounds, places.place)
    where = int(np.argmax(bounds.gap)) if state is None else index_of("state", state, policy.size)
    return Certificate(evidence.samples, delta, where, h, policy, bounds, sets, prior, learnt, assumes, notes, places)


def _policy(policy: ArrayLike, states: int, actions: int) -> Ints:
    given = np.asarray(policy)
    require(given.shape == (states,), "policy shape", given.shape, f"({states},)")
    ok = given.dtype.kind in "iu" and bool(((given >= 0) & (given < actions)).all())
    require(ok, "policy", policy, f"actions from 0 to {actions - 1}")
    return np.ascontiguousarray(given, dtype=np.int64)


def _best_for_frequencies(sets: Sets) -> Ints:
    """The policy that is best for the frequencies as they are: of V~_h at h = 0."""
    robust = Robust(sets)
    policy = np.zeros(sets.rows.closed.size, dtype=np.int64)
    robust.reach(0.0, 0.0, policy)
    return greedy(robust.last_reach().reshape(policy.size, -1))


def _kind(model: object) -> str:
    return type(model).__name__
