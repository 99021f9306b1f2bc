"""Values that follow the samples one by one: those of a new certificate, on its safe side."""

from __future__ import annotations

import numpy as np
import pytest

from hreach import InputError
from hreach.guarantees.evidence import Evidence
from hreach.guarantees.following import COARSE, Following
from hreach.guarantees.sets import confidence_sets
from hreach.planners.robust import Robust
from hreach.problems.ranges import ValueRange


@pytest.mark.parametrize("states", [6, 60])
@pytest.mark.parametrize("ends", [False, True])
def test_each_sample_gives_what_a_certificate_would(states: int, ends: bool) -> None:
    rng = np.random.default_rng(states)
    P = rng.dirichlet(np.full(states, 0.1), size=(states, 2))
    counts, ended = np.zeros((states, 2, states)), np.zeros((states, 2, states))
    reward = rng.random((states, 2, 1))
    values, closed = ValueRange(0.0, 1.0, 0.9, ends), np.zeros(states, dtype=np.bool_)
    policy = rng.integers(0, 2, size=states)

    def evidence() -> Evidence:
        return Evidence(counts.copy(), ended.copy() if ends else None, reward, None, values, closed)

    sample = [(s, a, rng.choice(states, p=P[s, a])) for s in range(states) for a in range(2) for _ in range(3)]
    for s, a, j in sample:
        counts[s, a, j] += 1
    following = Following(confidence_sets(evidence(), 0.1), policy, 0.1)
    slack = COARSE * 10 * 0.9 / 0.1 + 1e-6
    grew = 0
    for step in range(64):
        s, a = int(rng.integers(states)), int(rng.integers(2))
        j, over = int(rng.choice(states, p=P[s, a])), bool(ends and rng.random() < 0.2)
        grew += counts[s, a, j] == 0
        counts[s, a, j] += 1
        ended[s, a, j] += over
        following.learn(s, a, states if over else j)
        if step % 8 == 7:
            robust = Robust(confidence_sets(evidence(), 0.1))
            lower, upper = robust.lower(policy)[:-1], robust.upper(policy)[0][:-1]
            assert (following.lower <= lower + 1e-7).all()
            assert (following.upper >= upper - 1e-7).all()
            assert np.abs(following.lower - lower).max() <= 2 * slack
            assert np.abs(following.upper - upper).max() <= 2 * slack
    assert grew > 0


def test_radii_of_one_vector_cannot_be_followed() -> None:
    counts = np.ones((2, 2, 2))
    evidence = Evidence(counts, None, np.zeros((2, 2, 1)), None, ValueRange(0.0, 1.0, 0.9), np.zeros(2, dtype=np.bool_))
    policy = np.zeros(2, dtype=np.int64)
    with pytest.raises(InputError, match=r"^sets is 'those of one vector'"):
        Following(confidence_sets(evidence, 0.1, policy), policy, 0.1)
