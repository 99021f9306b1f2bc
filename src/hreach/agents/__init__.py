"""Agents by name. An agent is one file (its formula, its constants, whom to cite) and one line in `AGENTS`."""

from __future__ import annotations

from typing import Any

from hreach.registry import Entry, lookup

AGENTS = {
    "pac-rmdp": Entry(
        "hreach.optimism.pac_rmdp:build",
        "hope for what h more samples of each pair could show (Algorithm 1)",
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


def make_agent(name: str, env: Any, *, seed: int = 0, **params: Any) -> Any:
    """The agent `name` for an environment; `hreach list` names the agents and their own parameters.

    A tabular agent is for a Gymnasium environment with discrete spaces, or for a `TabularMDP`; what all of them take:
    `make_tabular`. A linear one is for a continuous domain that brings what it has to be told: `make_linear`.

    >>> import hreach
    >>> agent = hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), h=8)
    >>> agent.act(0) in (0, 1)
    True
    """
    lookup("agent", name, AGENTS | LINEAR_AGENTS)
    from hreach.agents.make import make_linear, make_tabular

    make = make_tabular if name in AGENTS else make_linear
    return make(name, env, seed=seed, **params)
