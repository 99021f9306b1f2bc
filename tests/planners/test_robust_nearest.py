"""The box that bounds V^{d*}_h: against a linear program, its definition, nearest models by search, and lived runs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import hreach
from hreach.guarantees.audit.certificates import broken
from hreach.guarantees.audit.lived import lived
from hreach.guarantees.audit.record import known_problem
from hreach.guarantees.evidence import Evidence
from hreach.guarantees.sets import confidence_sets
from hreach.kernels.robust_rooms import most_share
from hreach.planners import robust as planner
from hreach.planners.robust import Robust, Sets
from hreach.problems.ranges import ValueRange
from hreach.reach.nearest import NearestModels
from hreach.testing.reference import robust_values as reference

Array = NDArray[np.float64]


def random_row(rng: np.random.Generator) -> tuple[Array, Array, float, int, float]:
    """Counts, targets, a radius, h and the prior's weight."""
    size = int(rng.integers(2, 8))
    counts = rng.multinomial(rng.integers(1, 300), rng.dirichlet(np.full(size, 0.4))).astype(np.float64)
    return (
        counts,
        rng.normal(size=size),
        float(10 ** rng.uniform(-3, 0)),
        int(rng.integers(1, 100)),
        float(rng.choice([0, 1])),
    )


def test_the_largest_share_is_the_root_and_never_below_it() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        p, b = float(rng.choice([0.0, 1.0, rng.random(), 1e-6])), float(10 ** rng.uniform(-6, 1))
        exact = reference.most_share(p, b)
        assert most_share(p, b) == pytest.approx(exact, abs=1e-6)
        assert most_share(p, b) >= exact - 1e-12


def test_the_box_is_a_linear_program() -> None:
    rng = np.random.default_rng(1)
    solved = 0
    for _ in range(200):
        counts, u, budget, h, prior = random_row(rng)
        room, spare = reference.box_rooms(counts, budget, h, prior)
        seen = counts > 0
        found = linprog(
            -u, A_ub=[(~seen).astype(float)], b_ub=[spare], A_eq=[np.ones(u.size)], b_eq=[h],
            bounds=[(0, room[i] if seen[i] else None) for i in range(u.size)],
        )  # fmt: skip
        if found.status == 0:
            solved += 1
            exact = ((counts + prior / u.size) @ u - found.fun) / (counts.sum() + prior + h)
            assert reference.box_mean(counts, u, h, prior, room, spare) == pytest.approx(exact, abs=1e-8)
    assert solved > 150


def in_the_ball(rng: np.random.Generator, counts: Array, budget: float) -> Array:
    """A random row in the ball, near its edge: a random one, drawn towards p^ until it is inside."""
    p, q, share = counts / counts.sum(), rng.dirichlet(np.full(counts.size, 0.3)), 1.0
    seen = counts > 0
    while (p[seen] * np.log(p[seen] / ((1 - share) * p + share * q)[seen])).sum() > budget:
        share *= 0.9
    return np.asarray((1 - share) * p + share * q)


def test_no_nearest_model_of_a_row_in_the_set_is_worth_more() -> None:
    """The twin, the box of a set of a hundredth of the radius, is found out."""
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(1500):
        counts, u, budget, h, prior = random_row(rng)
        truth = in_the_ball(rng, counts, budget)
        worth = float(NearestModels((counts + prior / u.size)[None], h, truth[None]).toward(u[None])[0] @ u)
        assert worth <= reference.box_mean(counts, u, h, prior, *reference.box_rooms(counts, budget, h, prior)) + 1e-9
        narrow = reference.box_rooms(counts, 0.01 * budget, h, prior)
        wrong += worth > reference.box_mean(counts, u, h, prior, *narrow) + 1e-9
    assert wrong > 100


@pytest.mark.parametrize("prior", [0.0, 1.0])
@pytest.mark.parametrize("h", [1.0, 8.0, 64.0])
@pytest.mark.parametrize("per_transition", [False, True])
def test_compiled_box_is_the_defined_one(h: float, prior: float, per_transition: bool) -> None:
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.full(5, 0.2), size=(5, 2))
    counts = rng.multinomial(rng.integers(0, 2000, size=(5, 2)), rows).astype(np.float64)
    counts[0, 0] = 0
    reward = rng.uniform(-0.5, 1.0, size=(5, 2, 5 if per_transition else 1))
    evidence = Evidence(counts, None, reward, None, ValueRange(-0.5, 1.0, 0.9), np.zeros(5, dtype=np.bool_))
    sets = confidence_sets(evidence, 0.1)
    slow = reference.box_value(counts, reward, 0.9, sets.ceiling.reshape(5, 2), h, prior)
    robust = Robust(sets)
    optimistic = robust.reach(h, prior, np.zeros(5, dtype=np.int64))
    box = robust.box(h, prior, optimistic)[:-1]
    np.testing.assert_allclose(box, slow, atol=1e-6)
    assert (box >= slow - 1e-7).all()
    assert (box <= optimistic[:-1] + 1e-6).all()
    assert (robust.reachable(h, prior, optimistic)[:-1] <= box + 1e-9).all()


def false_runs(h: int) -> int:
    """Of 20 runs on the chain, after 300 steps: those whose certificate says something false."""
    env, found = hreach.make_domain("chain"), 0
    for seed in range(20):
        agent = hreach.make_agent("pac-rmdp", env, h=8, seed=seed)
        later = lived(agent, env.mdp(), 300, seed + 1000)
        found += bool(broken(later.certify(h=h), known_problem(env.mdp(), agent), later.model.seen.counts))
    return found


def test_a_box_around_the_frequencies_is_found_out_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert false_runs(1024) == 0
    original = planner._rooms

    def around_the_frequencies(sets: Sets, h: float, prior: float) -> tuple[Array, Array]:
        return original(sets._replace(ceiling=np.zeros(sets.ceiling.size)), h, prior)

    monkeypatch.setattr(planner, "_rooms", around_the_frequencies)
    assert false_runs(1024) > 2
