"""Remarks 1 and 2, the constants of the experiments, and the printed tables with an error bar."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from hreach.optimism.bolt import horizon
from hreach.optimism.mbie import known_threshold, log_simplex, radius_constant
from hreach.optimism.mbie_eb import bonus_constant
from hreach.optimism.mbie_reach import h_mbie
from hreach.optimism.vbe import beta_theory
from hreach.report.tables import load_printed, verdict
from hreach.studies.loading import load_catalog
from hreach.studies.spec import AgentSpec, Study


def test_remark_2_bolt_behaves_as_pac_rmdp_with_a_dirichlet_model() -> None:
    """BOLT(eta) and PAC-RMDP(eta), same prior: the same actions for 3000 steps and 100 seeds.

    Rewards tell the actions apart: in this chain all four outcomes of a step pay differently.
    """
    P = hreach.make_domain("chain").mdp().transitions()
    reward = np.random.default_rng(0).random((5, 2, 5))
    mdp = hreach.TabularMDP(P, reward, 0.95)
    for eta in (1, 8, 148):
        bolt = hreach.simulate(mdp, "bolt", {"eta": eta}, runs=100, steps=3000)
        rmdp = hreach.simulate(mdp, "pac-rmdp", {"h": eta, "prior": 1}, runs=100, steps=3000)
        assert np.array_equal(bolt.reward, rmdp.reward)


def test_remark_2_needs_the_same_h_and_the_same_prior() -> None:
    """The twin of the test above: another h, or the bare sample mean, acts differently."""
    bolt = hreach.simulate("chain", "bolt", {"eta": 8}, runs=20, steps=500).reward
    for params in ({"h": 9, "prior": 1}, {"h": 8, "prior": 0}):
        assert not np.array_equal(bolt, hreach.simulate("chain", "pac-rmdp", params, runs=20, steps=500).reward)


@pytest.mark.parametrize("n", [1.0, 50.0, 400.0, 1e5])
def test_remark_1_h_star_gives_the_weight_z(n: float) -> None:
    z = 2 * math.sqrt(2 * (math.log(2**5 - 2) - math.log(0.1 / (2 * 5 * 2 * 30))) / n)
    h = h_mbie(n, 5, 2, m=30, delta=0.1)
    assert h == math.inf if z >= 1 else h / (n + h) == pytest.approx(z)


def test_remark_1_mixing_by_z_hopes_for_more_than_mbie() -> None:
    """z is four times the mass that MBIE moves, so V~ is never below MBIE's, and somewhere above it."""
    gaps = []
    for n in (40, 400, 4000):
        values = []
        for name in ("mbie-reach", "mbie"):
            agent = hreach.make_agent(name, hreach.make_domain("chain"), m=30.0, delta=0.1, tolerance=1e-9)
            for s in range(5):
                for a in range(2):
                    for k in range(n):
                        agent.observe(s, a, 0.0, min(s + 1, 4) if (k % 5 == 0) == (a == 1) else 0)
            values.append(agent.internal_value())
        gaps.append((values[0] - values[1]).max())
        assert (values[0] >= values[1] - 1e-6).all()
    assert max(gaps) > 0.1


def test_the_ball_of_many_states_does_not_overflow() -> None:
    assert log_simplex(10) == pytest.approx(math.log(2**10 - 2))
    assert log_simplex(10**6) == pytest.approx(10**6 * math.log(2))
    assert log_simplex(1) == -math.inf
    assert radius_constant(1, 2, 10.0, 0.1) == 0


def test_the_horizon_is_149_where_the_paper_prints_148() -> None:
    assert horizon(0.95, 0.01) == 149
    assert math.floor(math.log(0.01 * 0.05) / math.log(0.95)) == 148


@pytest.mark.parametrize(("epsilon", "delta", "m"), [(0.01, 0.1, 2.753e10), (20, 0.9, 2963), (1e4, 0.2, 0.004316)])
def test_the_known_threshold_of_remark_1(epsilon: float, delta: float, m: float) -> None:
    assert known_threshold(5, 2, 0.95, epsilon, delta, 1) == pytest.approx(m, rel=1e-3)


def test_the_constants_of_the_study_files_are_the_formulas_with_the_named_slip() -> None:
    """|A| = 5 instead of 2 gives the betas in the files to every digit; |A| = 2 does not."""
    for name in ("chain", "modified-chain"):
        rows = {spec.label: spec for spec in load_catalog(name).agent if spec.variant == "as printed"}
        for epsilon, delta, label in ((0.01, 0.1, "0.01, 0.1"), (20.0, 0.9, "20, 0.9"), (1e4, 0.2, "1e4, 0.2")):
            m = known_threshold(5, 5, 0.95, epsilon, delta, 1)
            assert rows[f"MBIE({label})"].params["beta"] == pytest.approx(bonus_constant(5, 5, 0.95, m, delta, 1))
    for delta, label in ((0.1, "0.1"), (0.99, "0.99"), (1e3, "1e3")):
        assert rows[f"VBE({label})"].params["beta"] == pytest.approx(beta_theory(5, 5, 0.95, delta, 1))
        assert beta_theory(5, 2, 0.95, delta, 1) == pytest.approx(beta_theory(5, 5, 0.95, delta, 1) / 2.5)
    m = known_threshold(5, 2, 0.95, 1e4, 0.2, 1)
    assert math.isnan(bonus_constant(5, 2, 0.95, m, 0.2, 1))


def cells() -> list[tuple[str, AgentSpec]]:
    return [
        (name, spec)
        for name in ("chain", "modified-chain")
        for spec in load_catalog(name).variants["as printed"]
        if spec.label in load_printed(f"{name}.csv")
    ]


def test_there_are_twenty_two_of_them() -> None:
    assert len(cells()) == 22


def earned(study: Study, spec: AgentSpec, runs: int, **other: Any) -> NDArray[np.float64]:
    assert study.steps is not None
    params = {**study.settings, **spec.params, **other}
    result = hreach.simulate(study.domain, spec.agent, params, runs=runs, steps=study.steps, seed=1)
    return np.asarray(result.average_reward)


# Cells that our settings miss with any seed, and those so near the limit that the seed decides.
MISSED = {("chain", "MBIE(1e4, 0.2)"), ("chain", "VBE(0.1)"), ("chain", "VBE(0.99)")}
NEAR = {
    ("chain", "VBE(1e3)"),
    ("chain", "BOLT(148)"),
    ("modified-chain", "VBE(1e3)"),
    ("modified-chain", "MBIE(0.01, 0.1)"),
}


@pytest.mark.parametrize(
    ("name", "spec"),
    [(name, spec) for name, spec in cells() if (name, spec.label) not in NEAR],
    ids=lambda x: x if isinstance(x, str) else x.label,
)
def test_a_printed_cell_comes_out_or_is_known_not_to(name: str, spec: AgentSpec) -> None:
    """Other seeds than the report's, 1000 runs, the report's own criterion."""
    study = load_catalog(name)
    printed = load_printed(f"{name}.csv")[spec.label]
    word = "not reproduced" if (name, spec.label) in MISSED else "reproduced"
    assert verdict(earned(study, spec, runs=1000), printed) == word


@pytest.mark.parametrize(
    ("name", "label", "wrong"),
    [
        ("modified-chain", "PAC-RMDP(1)", {"prior": 0}),
        ("modified-chain", "PAC-RMDP(8)", {"h": 16}),
        ("modified-chain", "VBE(1e3)", {"beta": beta_theory(5, 2, 0.95, 1e3, 1)}),
        ("chain", "MBIE(0.01, 0.1)", {"ties": "random"}),
        ("chain", "MBIE(1e4, 0.2)", {"value_cap": 20.0}),
        ("chain", "BOLT(148)", {"eta": 100}),
    ],
)
def test_a_wrong_setting_is_not_reproduced(name: str, label: str, wrong: dict[str, Any]) -> None:
    """The twins of the test above: the criterion tells settings apart."""
    study = load_catalog(name)
    spec = next(s for s in study.agent if s.label == label)
    printed = load_printed(f"{name}.csv")[label]
    assert verdict(earned(study, spec, 1000, **wrong), printed) == "not reproduced"
