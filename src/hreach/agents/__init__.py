"""Agents by name. An agent is one file (its formula, its constants, whom to cite) and one line in `AGENTS`.

One of another project is named by "module:name" or by an entry point of the group `hreach.agents`, or given as an
object. It is a factory, called as `factory(env, seed=seed, **params)`, which returns something with `act` and
`observe`; or a compiled formula, a function whose first parameter is called `problem` (for tables: it returns the
optimism of a tabular agent) or `task` (for continuous problems), like those of the entries here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hreach.errors import InputError, unknown_name
from hreach.registry import Entry, Found, Params, Thing, check_parameters, find, offered, parameters_of, takes

if TYPE_CHECKING:
    from hreach.protocols import Acts

GROUP = "hreach.agents"

AGENTS = {
    "pac-rmdp": Entry(
        "hreach.optimism.pac_rmdp:build",
        "optimism for what h more samples of each pair could show (Algorithm 1)",
        "Kawaguchi 2016",
    ),
    "bolt": Entry(
        "hreach.optimism.bolt:build",
        "pretend eta more observations of the best transition",
        "Araya-Lopez, Thomas & Buffet 2012",
    ),
    "mbie": Entry(
        "hreach.optimism.mbie:build",
        "best model in an L1 ball around the sample mean",
        "Strehl & Littman 2008",
    ),
    "mbie-eb": Entry(
        "hreach.optimism.mbie_eb:build",
        "mean model with the bonus beta / sqrt(n)",
        "Strehl & Littman 2008",
    ),
    "mbie-reach": Entry(
        "hreach.optimism.mbie_reach:build",
        "Algorithm 1 with the h*(s, a) that Remark 1 relates to MBIE",
        "Kawaguchi 2016, Remark 1",
    ),
    "vbe": Entry(
        "hreach.optimism.vbe:build",
        "mean model with a bonus for posterior standard deviation",
        "Sorg, Singh & Lewis 2010",
    ),
    "beb": Entry(
        "hreach.optimism.beb:build",
        "mean model with the bonus beta / (1 + n)",
        "Kolter & Ng 2009",
    ),
    "r-max": Entry(
        "hreach.optimism.r_max:build",
        "what was tried fewer than m times is worth the most there is",
        "Brafman & Tennenholtz 2002",
    ),
    "posterior-sampling": Entry(
        "hreach.optimism.posterior_sampling:build",
        "act for a while as is best in a model drawn from the posterior (PSRL)",
        "Strens 2000; Osband, Russo & Van Roy 2013",
    ),
    "greedy": Entry(
        "hreach.optimism.greedy:greedy",
        "mean model, no exploration (h = 0)",
        "certainty equivalence",
    ),
    "epsilon-greedy": Entry(
        "hreach.optimism.greedy:epsilon_greedy",
        "mean model, a random action with probability epsilon",
        "Sutton & Barto 1998",
    ),
}

LINEAR_AGENTS = {
    "linear-pac-rmdp": Entry(
        "hreach.optimism.linear_pac_rmdp:build",
        "bonus for what h more samples could do to a linear model (Algorithm 2)",
        "Kawaguchi 2016",
    ),
    "linear-pac-mdp": Entry(
        "hreach.optimism.kwik:build",
        "what a linear model does not know well is worth the most there is (KWIK-Rmax)",
        "Strehl & Littman 2007; Li, Littman, Walsh & Strehl 2011",
    ),
    "linear-epsilon-greedy": Entry(
        "hreach.optimism.linear_greedy:build",
        "linear model as it is, a random action with probability epsilon",
        "Sutton & Barto 1998",
    ),
    "linear-true-model": Entry(
        "hreach.optimism.linear_greedy:true_model",
        "the true model with the same planner: what is left when nothing has to be learnt",
        "certainty",
    ),
}


# Agents of tables that Python steps: factories, as those of other projects are.
STEPPED_AGENTS = {
    "certify": Entry(
        "hreach.agents.upper:make",
        "greedy on the most that any policy can be worth: explores to certify the optimum",
        "as KL-UCRL: Filippi, Cappe & Garivier 2010",
    ),
}


# What agents are made of, for `model=` and `planner=`; others' come as "module:name", entry points or objects.
MODELS = {
    "counts": Entry("hreach.models.counts:Counts", "frequencies, or a Dirichlet posterior", "Kawaguchi 2016"),
    "sparse-counts": Entry(
        "hreach.models.sparse_counts:SparseCounts", "frequencies of what was seen", "Kawaguchi 2016"
    ),
    "least-squares": Entry("hreach.models.regression:Regression", "linear in features", "Kawaguchi 2016"),
}
PLANNERS = {
    "sweeps": Entry("hreach.planners.sweeps:Sweeps", "compiled sweeps and solves over a table", "Bellman 1957"),
    "local": Entry(
        "hreach.planners.local:Local", "only what a sample changed, of sparse counts", "Moore & Atkeson 1993"
    ),
    "grid": Entry("hreach.planners.on_grid:OnGrid", "fitted value iteration on a grid", "Gordon 1995"),
    "tree": Entry("hreach.planners.on_tree:OnTree", "all sequences of actions, a tree", "Adams et al. 2004"),
}


def find_part(kind: str, thing: Thing) -> Found:
    """What a model's or a planner's name stands for, or an error that suggests the nearest name."""
    entries, group = (MODELS, "hreach.models") if kind == "model" else (PLANNERS, "hreach.planners")
    found = find(kind, thing, entries, group)
    if found is None:
        raise unknown_name(kind, thing, {*entries, *offered(group)})
    return found


def find_agent(agent: Thing) -> Found:
    """What an agent's name stands for, or an error that suggests the nearest name."""
    found = find("agent", agent, AGENTS | LINEAR_AGENTS | STEPPED_AGENTS, GROUP)
    if found is None:
        raise unknown_name("agent", agent, {*AGENTS, *LINEAR_AGENTS, *STEPPED_AGENTS, *offered(GROUP)})
    return found


def kind_of(found: Found) -> str:
    """What its first parameter makes it: "problem" or "task" for a compiled formula, "env" for a factory."""
    first = next(iter(parameters_of(found.factory)), "env")
    return first if first in ("problem", "task") else "env"


def make_agent(agent: Thing, env: object, /, *, seed: int = 0, **params: Any) -> Any:
    """The agent of this name for an environment; `hreach list` names the agents and their own parameters.

    A tabular agent is for a Gymnasium environment with discrete spaces, or for a `TabularMDP`; what all of them take:
    `make_tabular`. A linear one is for a continuous domain that brings what it has to be told: `make_linear`.

    `agent` may also be "module:name", the name of an entry point, or the factory or formula itself.

    >>> import hreach
    >>> agent = hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), h=8)
    >>> agent.act(0) in (0, 1)
    True
    """
    found = find_agent(agent)
    kind = kind_of(found)
    if kind == "env":
        return _made(found, env, seed, params)
    from hreach.agents.make import make_linear, make_tabular

    make = make_tabular if kind == "problem" else make_linear
    return make(found.factory, found.label, env, seed=seed, **params)


def _made(found: Found, env: object, seed: int, params: Params) -> Acts:
    """What a factory makes, if it is an agent."""
    from hreach.protocols import Acts

    what = f"agent {found.label}"
    if not takes(found.factory, "seed"):
        raise InputError(f"{what} takes no seed, but must be called as factory(env, seed=seed, **params).")
    check_parameters(what, found.factory, {"seed": seed, **params}, given=1)
    made = found.factory(env, seed=seed, **params)
    if not isinstance(made, Acts):
        raise InputError(f"{what} made {type(made).__name__!r}, but must make something with act and observe.")
    return made
