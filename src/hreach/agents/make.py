"""From an environment and parameters to an agent: what it knows of the problem, its model, optimism and planner."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hreach.agents import find_part
from hreach.agents.agent import Agent, Design
from hreach.agents.replan import Replan, replan_rule
from hreach.agents.tables import TableAgent
from hreach.errors import InputError, at_least, discount, finite, require
from hreach.models.counts import Counts
from hreach.models.features import from_settings
from hreach.models.regression import Regression
from hreach.optimism.linear import LinearOptimism, plain
from hreach.optimism.tabular import TabularOptimism, digest
from hreach.planners.grid import Interpolation
from hreach.planners.on_grid import GridSettings, OnGrid
from hreach.planners.on_tree import OnTree
from hreach.planners.sweeps import Sweeps
from hreach.problems.mdp import TabularMDP
from hreach.problems.problem import Problem
from hreach.problems.spaces import size_of
from hreach.problems.task import Task, task_of
from hreach.problems.truth import known_reward_of, truth_of
from hreach.protocols import Stream
from hreach.registry import Factory, Params, Thing, check_parameters, parameters_of

Reward = str | NDArray[np.float64]
LinearAgent = Agent[Regression, LinearOptimism, OnGrid | OnTree]


def make_linear(
    build: Factory,
    label: str,
    env: object,
    /,
    *,
    seed: int = 0,
    task: Task | Params | None = None,
    features: Params | None = None,
    target: Literal["next", "change"] | None = None,
    truncate: bool | None = None,
    sigma: ArrayLike | None = None,
    ridge: float = 0.1,
    grid: GridSettings = None,
    interpolation: Interpolation = "multilinear",
    quadrature: int = 3,
    tolerance: float = 0.05,
    segments: Sequence[int] | None = None,
    commit: Literal["first", "all"] = "first",
    slope: float | str = "paper",
    reward: Literal["known", "learn"] = "known",
    replan: Replan | Params | None = None,
    model: Thing = "least-squares",
    planner: Thing | None = None,
    **params: object,
) -> LinearAgent:
    """A linear agent with the optimism that `build(task, **params)` returns; what is not given is the domain's own.

    task            a `hreach.Task`, or a table for the domain's `task()` and `preset()`, e.g. {"model": "step"} for HIV
    features        settings of `hreach.models.features.from_settings`
    target          the model regresses the "next" value of a component or its "change"
    truncate        of changes: predict none that is larger than those seen so far
    sigma           standard deviation of the noise of the learnt components, as the agent believes
    ridge           weight of the ridge in least squares
    grid            points of the planner in each dimension, or a table of shape, low and high
    interpolation   "multilinear", "rbf", or "projection" (least squares on radial functions, which may diverge)
    quadrature      nodes of the integration over the noise (1: plan with the mean)
    tolerance       the planner stops when max |TV - V| is at most this
    segments        instead of a grid: a tree search, and how long each of its actions is held
    commit          after a search: the "first" decision, or "all" of them, is carried out before the next search
    slope           L: "paper", the largest slope of the value between any two points of the grid (of a tree: between
                    the root's children); "axis", between neighbours along one axis, up to sqrt(n_S) less; or by hand
    reward          "known": as the task tells it; "learn": linear in the same features
    replan          when to plan again, as a table of `Replan`, e.g. {"episode": true, "growth": 0.05}
    model           what learns, called as `Regression` is
    planner         instead of a grid or a tree: what plans, called as planner(model, optimism, stream)
    """
    check_parameters(f"agent {label}", build, params, given=1, also=LINEAR_SHARED)
    known, preset = task_of(env, task)
    if sigma is not None:
        known = replace(known, sigma=sigma)  # type: ignore[arg-type]  # the task makes an array of it
    given: Params = {"features": features, "grid": grid, "segments": segments, "target": target, "truncate": truncate}
    chosen = replace(preset, **{name: value for name, value in given.items() if value is not None})
    require(chosen.features is not None, "features", None, "given: what the model is linear in")
    linear_in = chosen.features or {}
    require(reward in ("known", "learn"), "reward", reward, "'known' or 'learn'")
    require(commit in ("first", "all"), "commit", commit, "'first' or 'all'")
    optimism: LinearOptimism = build(known, **params)
    on_tree = segments is not None or (grid is None and preset.segments is not None)
    models = find_part("model", model)

    def make(own_seed: int, stream: Stream) -> tuple[Regression, OnGrid | OnTree]:
        maps = from_settings(linear_in, known.width, known.actions, own_seed)
        nodes = 1 if on_tree else quadrature
        learnt = models.factory(
            known,
            maps,
            target=chosen.target,
            truncate=chosen.truncate,
            ridge=ridge,
            learns_reward=reward == "learn",
            quadrature=nodes,
            truth=optimism.truth,
        )
        if planner is not None:
            return learnt, find_part("planner", planner).factory(learnt, optimism, stream)
        if on_tree:
            return learnt, OnTree(learnt, optimism, segments=chosen.segments or (), slope=slope)
        return learnt, OnGrid(
            learnt, optimism, grid=chosen.grid, interpolation=interpolation, tolerance=tolerance, slope=slope
        )

    # a tree is searched in every state anyway, so the search may as well know the last sample
    rule = replan_rule(replan) or (Replan(steps=1) if on_tree else Replan())
    settings = {
        "model": models.label,
        "gamma": known.gamma,
        "features": plain(chosen.features),
        "ridge": ridge,
        "sigma": known.sigma.tolist(),
        "reward": reward,
        "target": chosen.target,
        "truncate": chosen.truncate,
        "commit": commit,
        "replan": asdict(rule),
    }
    return Agent(Design(optimism, known.actions, make, settings, rule, commit), seed)


def make_tabular(
    build: Factory,
    label: str,
    env: object,
    /,
    *,
    seed: int = 0,
    gamma: float | None = None,
    reward: Reward = "known",
    r_max: float | None = None,
    r_min: float | None = None,
    prior: float | None = None,
    tolerance: float = 0.01,
    value_cap: float | None = None,
    ties: str | Sequence[int] = "random",
    model: Thing = "counts",
    planner: Thing | None = None,
    **params: object,
) -> TableAgent:
    """A tabular agent with the optimism that `build(problem, **params)` returns.

    gamma    discount; default: the domain's own, or .95
    reward   "known": what the domain tells; "learn": from the rewards that are paid; or an array (S, A), (S, A, S)
    r_max    upper bound of the reward; default: the largest known reward
    r_min    lower bound of the reward; default: the least known reward, or 0 if that is above 0 or unknown
    prior    weight, in samples, of the uniform first model (0: the bare sample mean); default 1, of sparse counts 0
    tolerance   the planner stops when max |TV - V| is at most this
    value_cap   values above it are cut off (None: no cap)
    ties     "random", or all actions in the order of preference
    model    what learns, called as model(problem, freeze_at)
    planner  what plans, called as planner(model, optimism, stream, tolerance=, value_cap=, ties=); default: "sweeps",
             of sparse counts "local"
    The rest are the agent's own parameters.
    """
    check_parameters(f"agent {label}", build, params, given=1, also=SHARED)
    sparse, usual = model == "sparse-counts", usual_with(model)
    weight = usual["prior"] if prior is None else prior
    problem = problem_of(env, gamma=gamma, reward=reward, r_max=r_max, r_min=r_min, prior=weight, dense=not sparse)
    optimism: TabularOptimism = build(problem, **params)

    models, planners = find_part("model", model), find_part("planner", planner or usual["planner"])
    require(not (sparse and planner == "sweeps"), "planner", planner, "'local' with model='sparse-counts'")

    def make(own_seed: int, stream: Stream) -> tuple[Counts, Sweeps]:
        counts = models.factory(problem, optimism.freeze_at)
        return counts, planners.factory(counts, optimism, stream, tolerance=tolerance, value_cap=value_cap, ties=ties)

    settings = made_of(
        problem, None if problem.reward is None else digest(problem.reward), models.label, planners.label
    )
    return Agent(Design(optimism, problem.actions, make, settings), seed)


def made_of(
    problem: Problem, reward: float | str | None, model: str = "'counts'", planner: str = "'sweeps'"
) -> dict[str, object]:
    """What a tabular agent was made with, as plain data; `reward` is a digest of the known one."""
    return {
        "model": model,
        "planner": planner,
        "gamma": problem.gamma,
        "prior": problem.prior,
        "reward": reward,
        "r_min": problem.r_min,
        "r_max": problem.r_max,
    }


class Usual(TypedDict):
    """What goes with a model."""

    prior: float
    planner: str


def usual_with(model: object) -> Usual:
    """The prior and the planner of a tabular agent with this model, unless others are asked for."""
    return {"prior": 0.0, "planner": "local"} if model == "sparse-counts" else {"prior": 1.0, "planner": "sweeps"}


def problem_of(
    env: object,
    *,
    gamma: float | None = None,
    reward: Reward = "known",
    r_max: float | None = None,
    r_min: float | None = None,
    prior: float = 1,
    dense: bool = True,
) -> Problem:
    """What an agent knows of a table before it has seen anything; the parameters are those of `make_tabular`."""
    space = _known(env)
    if dense:
        _check_memory(space.states, space.actions)
    table = _known_reward(reward, space.reward, space.states, space.actions)
    low, high = _reward_range(r_min, r_max, table)
    return Problem(
        space.states,
        space.actions,
        discount(space.gamma if gamma is None else gamma),
        None if isinstance(reward, str) and reward == "learn" else table,
        high,
        at_least("prior", prior, 0),
        low,
        space.ends,
    )


SHARED = frozenset(parameters_of(make_tabular)) - {"build", "label", "env", "params"}
LINEAR_SHARED = frozenset(parameters_of(make_linear)) - {"build", "label", "env", "params"}


class _Known(NamedTuple):
    """What an environment or an MDP tells an agent; reward None: nothing."""

    states: int
    actions: int
    gamma: float
    reward: NDArray[np.float64] | None
    ends: bool


def _known(env: object) -> _Known:
    """An environment that does not tell its MDP may end its episodes."""
    if isinstance(env, TabularMDP):
        states, actions = env.states, env.actions
    else:
        states, actions = size_of(env, "observation_space"), size_of(env, "action_space")
    mdp = truth_of(env)
    gamma, ends = (0.95, True) if mdp is None else (mdp.gamma, mdp.ends)
    return _Known(states, actions, gamma, known_reward_of(env), ends)


def _check_memory(states: int, actions: int) -> None:
    """Refuse tables that cannot fit: a tabular agent keeps three of |S|^2 |A| numbers and one of |S|^2."""
    needed = 8 * (3 * states**2 * actions + states**2)
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        there = 1 << 36
    if needed > there:
        raise InputError(
            f"states is {states} and actions is {actions}, whose tables need {needed / 2**30:.3g} GiB, but must fit "
            f"into the {there / 2**30:.3g} GiB of this machine."
        )


def _known_reward(
    reward: Reward, known: NDArray[np.float64] | None, states: int, actions: int
) -> NDArray[np.float64] | None:
    """The reward as (S, A, 1) or (S, A, S), or None where nothing is known."""
    if isinstance(reward, str):
        require(reward in ("known", "learn"), "reward", reward, "'known', 'learn' or an array")
        if known is None and reward == "known":
            raise InputError("reward is 'known', but this environment tells none; use 'learn' or give an array.")
        table = known
    else:
        table = np.asarray(reward, dtype=np.float64)
    if table is None:
        return None
    shapes = ((states, actions), (states, actions, states))
    require(table.shape in shapes, "reward shape", table.shape, f"{shapes[0]} or {shapes[1]}")
    require(bool(np.isfinite(table).all()), "reward", table, "finite everywhere")
    return table.reshape(states, actions, -1)


def _reward_range(r_min: float | None, r_max: float | None, known: NDArray[np.float64] | None) -> tuple[float, float]:
    """(r_min, r_max) as given, or those of the known reward; 0 is in the range unless r_min is given."""
    if r_max is None and known is None:
        raise InputError("r_max is not given, but must be: the largest reward, since rewards are to be learnt.")
    high = float(known.max()) if r_max is None and known is not None else finite("r_max", r_max)
    if r_min is None and known is None and high <= 0:
        raise InputError(f"r_min is not given, but must be where r_max is {high:g}: the least reward.")
    low = finite("r_min", r_min) if r_min is not None else min(0.0, float(known.min()) if known is not None else 0.0)
    require(low <= high, "r_min", low, f"at most r_max, {high:g}")
    return low, high
