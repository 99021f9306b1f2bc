"""`theory.regret` and `measured` against values that are known exactly, and the register of statements."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hreach
from hreach import InputError
from hreach.guarantees import theory
from hreach.guarantees.theory import STATEMENTS
from hreach.reach.weight import most_optimistic_model, reach_weight

Array = NDArray[np.float64]


def finite_values(mdp: hreach.TabularMDP, policy: NDArray[np.int64] | None, T: int) -> Array:
    """V(s, T - t + 1 steps) for t = 0, ..., T, shape (T+1, S): backward induction, optimal or of a policy."""
    value, result = np.zeros(mdp.states), []
    for _ in range(T + 1):
        q = mdp.backup(value)
        value = q.max(axis=1) if policy is None else q[np.arange(mdp.states), policy]
        result.append(value)
    return np.array(result[::-1])


def example(gamma: float = 0.9) -> hreach.TabularMDP:
    rng = np.random.default_rng(5)
    return hreach.TabularMDP(rng.dirichlet(np.ones(3), size=(3, 2)), rng.random((3, 2)), gamma)


def runs_of(mdp: hreach.TabularMDP, policy: NDArray[np.int64], T: int, runs: int) -> tuple[NDArray[np.int64], Array]:
    """States and rewards (runs, T+1) of a fixed policy."""
    rng = np.random.default_rng(0)
    cumulative = mdp.transitions().cumsum(axis=2)
    states, s = np.empty((runs, T + 1), dtype=np.int64), np.zeros(runs, dtype=np.int64)
    for t in range(T + 1):
        states[:, t] = s
        s = (rng.random((runs, 1)) > cumulative[s, policy[s]]).sum(axis=1).clip(max=mdp.states - 1)
    return states, mdp.expected_reward[states, policy[states]]


# --- Appendix A3 ----------------------------------------------------------------------------------------------------


def test_appendix_equation_1_the_mean_regret_is_the_difference_of_exact_values() -> None:
    mdp, T = example(), 12
    policy = np.argmin(mdp.backup(mdp.optimal_value()), axis=1)
    best, own = finite_values(mdp, None, T), finite_values(mdp, policy, T)
    _, rewards = runs_of(mdp, policy, T, 20_000)
    measured = theory.regret(best[0, 0], rewards, 0.9)
    assert measured.shape == (20_000,)
    error = measured.std() / math.sqrt(20_000)
    assert measured.mean() == pytest.approx(best[0, 0] - own[0, 0], abs=4 * error)
    wrong = theory.regret(best[0, 0], rewards, 0.8)  # the twin: another gamma
    assert abs(wrong.mean() - (best[0, 0] - own[0, 0])) > 20 * error


def test_appendix_equation_1_an_optimal_run_without_chance_has_no_regret() -> None:
    mdp = hreach.TabularMDP(np.eye(2)[[[0, 1], [1, 0]]], [[0.0, 0.0], [1.0, 0.0]], 0.5)
    rewards = [0.0, 1.0, 1.0, 1.0]  # to state 1, and stay
    best = finite_values(mdp, None, 3)
    assert float(theory.regret(best[0, 0], rewards, 0.5)) == pytest.approx(0)
    assert float(theory.regret(best[0, 0], [0.0, 0.0, 1.0, 1.0], 0.5)) == pytest.approx(0.5)


def test_appendix_equation_2_the_mean_loss_is_that_of_exact_values() -> None:
    mdp, T, runs = example(), 10, 20_000
    policy = np.argmin(mdp.backup(mdp.optimal_value()), axis=1)
    best, own = finite_values(mdp, None, T), finite_values(mdp, policy, T)
    states, rewards = runs_of(mdp, policy, T, runs)
    steps = np.arange(T + 1)
    hoped, achieved = best[steps, states], own[steps, states]
    for first in (0, 1):
        exact = theory.average_loss_from_values(hoped, achieved, first)
        np.testing.assert_allclose(exact, (hoped - achieved)[:, first:].mean(axis=1))
        drawn = theory.average_loss_of_run(hoped, rewards, 0.9, first)
        error = (drawn - exact).std() / math.sqrt(runs)
        assert drawn.mean() == pytest.approx(exact.mean(), abs=4 * error)


def test_appendix_equation_2_printed_and_corrected_divide_by_different_numbers() -> None:
    hoped, rewards = np.full(6, 3.0), np.ones(6)  # T = 5
    for first, terms in ((0, 6), (1, 5)):
        printed = float(theory.average_loss_of_run(hoped, rewards, 0.5, first, "printed"))
        corrected = float(theory.average_loss_of_run(hoped, rewards, 0.5, first))
        assert printed == pytest.approx(corrected * terms / 5)


def test_appendix_equation_2_returns_and_truncation() -> None:
    rewards = np.random.default_rng(1).random((2, 3, 7))
    G = theory.returns_to_go(rewards, 0.7)
    for t in range(7):
        np.testing.assert_allclose(G[..., t], (rewards[..., t:] * 0.7 ** np.arange(7 - t)).sum(axis=-1))
    mdp, T = example(), 9
    over_time, finite = mdp.optimal_value(), finite_values(mdp, None, T)
    spare = theory.truncation(T, 0.9, r_max=1.0)[:, None]
    assert np.all(finite <= over_time + 1e-12)
    assert np.all(finite >= over_time - spare)
    one = hreach.TabularMDP(np.ones((1, 1, 1)), [[1.0]], 0.9)  # equality: r_max at every step
    np.testing.assert_allclose(finite_values(one, None, T) + spare, 10)


def test_corollary_1_the_share_of_the_horizon_is_that_of_a_constant_reward() -> None:
    one = hreach.TabularMDP(np.ones((1, 1, 1)), [[1.0]], 0.8)
    share = theory.horizon_share(6, 0.8)
    np.testing.assert_allclose(share * 5, finite_values(one, None, 6)[1:, 0])


def test_bad_runs_are_refused() -> None:
    for bad, message in (
        (
            lambda: theory.regret(1.0, [], 0.9),
            "rewards shape is (0,), but must be (..., steps) with at least one step.",
        ),
        (lambda: theory.regret(1.0, [0.1, math.nan], 0.9), "rewards is 'nan or infinite', but must be finite numbers."),
        (lambda: theory.regret(1.0, [0.1], 1.0), "gamma is 1.0, but must be at least 0 and below 1."),
        (
            lambda: theory.regret([1.0, 2.0], [[0.1], [0.2], [0.3]], 0.9),
            "best shape is (2,), but must be that of the run, (3,).",
        ),
        (
            lambda: theory.average_loss_of_run([1.0], [0.1], 0.9),
            "achieved shape is (1,), but must be (..., T + 1) with T at least 1.",
        ),
        (lambda: theory.average_loss_of_run([1.0, 1.0], [0.1, 0.1], 0.9, first=2), "first is 2, but must be 0 or 1."),
        (
            lambda: theory.average_loss_of_run([1.0, 1.0], [0.1, 0.1], 0.9, form="proof"),
            "form is 'proof', but must be 'printed' or 'corrected'.",
        ),
        (
            lambda: theory.average_loss_of_run([1.0, 1.0, 1.0], [0.1, 0.1], 0.9),
            "best shape is (3,), but must be that of the run, (2,).",
        ),
        (lambda: theory.horizon_share(0, 0.9), "T is 0, but must be a whole number of at least 1."),
        (lambda: theory.truncation(3, 0.9, -1), "r_max is -1, but must be a finite number above 0."),
        (
            lambda: theory.bad_steps([1.0], [1.0, 2.0], 0.1),
            "achieved shape is (2,), but must be that of reachable, (1,).",
        ),
        (lambda: theory.bad_steps([1.0], [1.0], 0), "epsilon is 0.0, but must be a finite number above 0."),
        (
            lambda: theory.bad_steps(1.0, 1.0, 0.1),
            "reachable shape is (), but must be (..., steps) with at least one step.",
        ),
        (lambda: theory.optimism_slack([math.nan], [1.0]), "internal is 'nan', but must be numbers."),
        (lambda: theory.first_violation([[0.0]]), "slack shape is (1, 1), but must be (steps,), one run."),
        (
            lambda: theory.first_violation([0.0], tolerance=-1),
            "tolerance is -1, but must be a finite number of at least 0.",
        ),
    ):
        with pytest.raises(InputError) as raised:
            bad()
        assert str(raised.value) == message


# --- the definitions ------------------------------------------------------------------------------------------------


def test_definition_1_counts_steps_that_are_worse_by_more_than_epsilon() -> None:
    reachable, achieved = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), np.array([[1.0, 1.5, 1.0], [2.0, 0.0, 0.5]])
    assert theory.bad_steps(reachable, achieved, 0.5).tolist() == [1, 1]
    assert theory.bad_steps(reachable, achieved, [0.4, 0.4]).tolist() == [2, 2]


def test_definition_2_is_the_smallest_error_and_may_be_negative() -> None:
    error = theory.measured_anytime_error([1.0, 2.0], [1.5, 0.5])
    np.testing.assert_allclose(error, [-0.5, 1.5])


@pytest.mark.parametrize("seed", range(20))
def test_definition_3_is_the_smallest_step_after_which_all_is_quiet(seed: int) -> None:
    rng = np.random.default_rng(seed)
    internal, current = rng.random((2, 8)), rng.random((2, 8))
    for eps in (0.05, 0.5, 2.0):
        for a, b, tau in zip(
            internal, current, theory.measured_exploration_runtime(internal, current, eps), strict=True
        ):
            quiet = [bool(np.all(np.abs(a - b)[t:] <= eps)) for t in range(9)]  # t = 8: nothing left to look at
            assert tau == quiet.index(True)


def test_equation_1_the_register_s_functions_give_the_printed_sum() -> None:
    rng = np.random.default_rng(2)
    n, target, h = rng.integers(0, 5, size=(4, 3)).astype(float) + 1, rng.random((4, 3)), 2.0
    total = n.sum(axis=1)
    printed = (n * target).sum(axis=1) / (total + h) + h / (total + h) * target.max(axis=1)
    np.testing.assert_allclose((most_optimistic_model(n, h, target) * target).sum(axis=1), printed)
    np.testing.assert_allclose(reach_weight(total, h), h / (total + h))


# --- the register ---------------------------------------------------------------------------------------------------

CITED = re.compile(r"Paper:\s+((?:Appendix\s+)?Eq\.\s+\(\d+\)|[A-Z][a-z]+\s+\d+)")
MODULES = ["discrete", "exploration", "ingredients", "linear", "measured", "orders", "propositions", "regret"]


def public_functions() -> dict[str, Any]:
    """Every public function of the package, by "module:name"."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"hreach.guarantees.theory.{name}")
        for each, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not each.startswith("_"):
                found[f"{module.__name__}:{each}"] = function
    return found


def cited(function: Any) -> set[str]:
    return {re.sub(r"\s+", " ", name) for name in CITED.findall(function.__doc__ or "")}


def test_the_register_has_the_statements_of_the_paper_in_the_order_of_print() -> None:
    """Main text first, then what only the appendix has; numbers without gaps within each kind."""
    numbers: dict[str, list[int]] = {}
    for name in STATEMENTS:
        kind, number = re.fullmatch(r"(.+) \(?(\d+)\)?", name).groups()  # type: ignore[union-attr]
        numbers.setdefault(kind, []).append(int(number))
    assert {kind: sorted(found) for kind, found in numbers.items()} == {
        "Definition": [1, 2, 3],
        "Proposition": [1, 2],
        "Eq.": [1],
        "Theorem": [1, 2],
        "Corollary": [1, 2, 3, 4],
        "Remark": [1, 2],
        "Assumption": [1],
        "Lemma": [1, 2, 3],
        "Appendix Eq.": [1, 2],
    }


# The numbered environments of the paper's source in their order, and where it sets a counter: what LaTeX numbers by.
SOURCE = """
    defn proposition proposition equation theorem defn corollary remark remark defn corollary assumption lemma=2 lemma
    theorem corollary corollary theorem=0 equation=0 lemma=0 proposition=0 corollary=0 defn=0 remark=0 assumption=0
    APPENDIX proposition proposition equation equation lemma theorem corollary corollary lemma lemma theorem corollary
    corollary=5 corollary
"""


def test_the_register_has_the_numbers_that_latex_prints() -> None:
    """Count the environments as LaTeX does, \\setcounter included."""
    kinds = {"defn": "Definition", "theorem": "Theorem", "lemma": "Lemma", "proposition": "Proposition"}
    kinds |= {"corollary": "Corollary", "remark": "Remark", "assumption": "Assumption", "equation": "Eq."}
    counter, appendix, printed = dict.fromkeys(kinds, 0), False, set()
    for token in SOURCE.split():
        kind, sets, value = token.partition("=")
        if token == "APPENDIX":
            appendix = True
        elif sets:
            counter[kind] = int(value)
        else:
            counter[kind] += 1
            prefix = "Appendix " if appendix and kind == "equation" else ""
            number = f"({counter[kind]})" if kind == "equation" else str(counter[kind])
            printed.add(f"{prefix}{kinds[kind]} {number}")
    assert printed - set(STATEMENTS) == {"Corollary 6"}  # what A6 calls Corollary 4
    assert set(STATEMENTS) <= printed
    assert "Corollary 6" in STATEMENTS["Corollary 4"].note


def test_every_statement_has_functions_that_exist_and_those_of_this_package_cite_it() -> None:
    for statement in STATEMENTS.values():
        assert statement.functions
        for target, function in zip(statement.functions, statement.load(), strict=True):
            assert callable(function)
            if target.startswith("hreach.guarantees.theory"):
                assert statement.name in cited(function), (statement.name, target)


def test_every_function_cites_statements_that_exist_and_is_registered_under_each() -> None:
    functions = public_functions()
    assert len(functions) > 35
    for target, function in functions.items():
        names = cited(function)
        assert names, f"{target} cites no statement"
        for name in names:
            assert name in STATEMENTS, f"{target} cites {name}, which does not exist"
            assert target in STATEMENTS[name].functions, f"{target} is not registered under {name}"
        assert target.split(":")[1] in theory.__all__


def test_every_statement_has_a_test_named_after_it() -> None:
    here = Path(__file__).parent
    text = "".join(path.read_text() for path in sorted(here.glob("test_*.py")))
    for statement in STATEMENTS.values():
        assert re.search(rf"^def test_{statement.slug}_\w+\(", text, re.MULTILINE), statement.slug


def test_the_slug_is_part_of_a_name() -> None:
    assert STATEMENTS["Appendix Eq. (2)"].slug == "appendix_equation_2"
    assert STATEMENTS["Theorem 1"].slug == "theorem_1"
