"""Problems that stand in for one that is not known: named ones, and a family of random MDPs of a size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hreach.domains import make_domain
from hreach.errors import InputError, require, shown, whole
from hreach.guarantees.theory import Sizes
from hreach.problems.mdp import TabularMDP
from hreach.problems.truth import core_of, known_reward_of, truth_of
from hreach.protocols import Environment

_MOST_ENTRIES = 4_000_000  # of a random MDP's P: beyond that a simulation is no longer quick
Surrogate = str | Environment | TabularMDP
_TENTH = 0.1  # of the ordinary pairs pay something


def random_mdp(states: int, actions: int, gamma: float, seed: int | Sequence[int] = 0) -> TabularMDP:
    """A member of the family: an ordinary world and a treasure, easy to find in some members and hard in others.

    The states 0 .. S - 2 are ordinary, and 0 is the start. A pair there has min(3, S - 1) successors, drawn without
    replacement from the ordinary states, with probabilities from the flat Dirichlet; one action of every state has the
    next state (cyclically) among them, so that each can be reached from each. Rewards are known, R(s, a): a tenth of
    the ordinary pairs, and at least one, pay a number that is uniform on [0, .3], the others nothing.
    State S - 1 is the treasure. One ordinary pair leads there with a probability that is log-uniform on [.01, 1]. One
    action pays 1 there and stays with probability .9; the others, and the rest, lead to state 0.
    With one state only, one action pays 1 and the others nothing.
    """
    S, A = whole("sizes", states, 1), whole("sizes", actions, 1)
    require(S * A * S <= _MOST_ENTRIES, "sizes", (S, A), f"at most |S|^2 |A| = {_MOST_ENTRIES}, to be simulated")
    rng = np.random.default_rng(seed)
    ordinary = S - 1
    P, R = np.zeros((S, A, S)), np.zeros((S, A))
    for s in range(ordinary):
        onwards = int(rng.integers(A))
        for a in range(A):
            successors = rng.permutation(ordinary)[:3]
            if a == onwards and (s + 1) % ordinary not in successors:
                successors[0] = (s + 1) % ordinary
            P[s, a, successors] = rng.dirichlet(np.ones(len(successors)))
    if ordinary:
        pays = rng.permutation(ordinary * A)[: max(1, round(_TENTH * ordinary * A))]
        R[pays // A, pays % A] = 0.3 * rng.random(len(pays))
        door = int(rng.integers(ordinary)), int(rng.integers(A))
        opens = math.exp(rng.uniform(math.log(0.01), 0.0))
        P[door] *= 1 - opens
        P[door][-1] = opens
    prize = int(rng.integers(A))
    R[-1, prize] = 1.0
    P[-1, :, 0] = 1.0
    P[-1, prize] *= 0.1
    P[-1, prize, -1] += 0.9
    return TabularMDP(P / P.sum(axis=2, keepdims=True), R, gamma)


def best_pairs(mdp: TabularMDP) -> NDArray[np.bool_]:
    """The best-paying pairs that an optimal policy takes in the long run, (S, A): the set B of `choice.py`."""
    policy = mdp.optimal_policy()
    support = mdp.long_run_shares(policy) > 1e-9
    paid = mdp.expected_reward[np.arange(mdp.states), policy]
    best = support & (paid >= paid[support].max() - 1e-12)
    result = np.zeros((mdp.states, mdp.actions), dtype=np.bool_)
    result[best, policy[best]] = True
    return result


def listed(field: str, values: object) -> list[Any]:
    """`values` as a list with at least one entry."""
    entries = list(values) if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) else []
    require(len(entries) > 0, field, values, "a list with at least one entry")
    return entries


def family(sizes: object, gamma: float, members: int, seed: int) -> list[tuple[str, Environment | TabularMDP]]:
    """(name, MDP) of so many members of the random family of this size."""
    numbers = list(sizes) if isinstance(sizes, Sequence | np.ndarray) and not isinstance(sizes, str) else []
    require(len(numbers) == 2, "sizes", sizes, "two numbers, |S| and |A|")
    S, A = (whole("sizes", n, 1) for n in numbers)
    return [(f"random {S}x{A} #{i}", random_mdp(S, A, gamma, (seed, i))) for i in range(members)]


def given(surrogates: Surrogate | Sequence[Surrogate] | None) -> list[tuple[str, Environment | TabularMDP]]:
    """(name, environment or MDP) of what a user names: domains, environments, MDPs, or a sequence of them."""
    one = isinstance(surrogates, str) or not isinstance(surrogates, Sequence)
    result = []
    for i, each in enumerate([surrogates] if one else listed("surrogates", surrogates)):
        env = make_domain(each) if isinstance(each, str) else each
        if truth_of(env) is None:
            raise InputError(f"surrogates has {shown(each)}, but they must be tabular: their truth is needed.")
        result.append((each if isinstance(each, str) else f"{type(core_of(env)).__name__} #{i}", env))
    return result


def true_mdp(env: object, gamma: float | None) -> TabularMDP:
    """The surrogate's MDP, with this discount or its own."""
    mdp = truth_of(env)
    assert mdp is not None
    return mdp.with_(gamma=gamma)


def largest_sizes(problems: list[tuple[str, Environment | TabularMDP]], truths: list[TabularMDP]) -> Sizes:
    """What the bounds are computed for: the largest of the surrogates' sizes, discounts and ranges of rewards."""
    given = [known_reward_of(env) for _, env in problems]
    known = [t.reward_table() if r is None else r for r, t in zip(given, truths, strict=True)]
    return Sizes(
        max(t.states for t in truths),
        max(t.actions for t in truths),
        max(t.gamma for t in truths),
        max(float(r.max()) for r in known),
        any(r.ndim == 3 for r in known),
        min(0.0, *(float(r.min()) for r in known)),
        any(t.ends for t in truths),
    )
