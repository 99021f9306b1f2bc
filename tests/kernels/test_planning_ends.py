"""Planning always ends, also where doubles cannot meet the tolerance, and it can be interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest

import hreach
from hreach import TabularMDP

HARD = {
    "large rewards": """
env = hreach.make_domain("chain", length=20, small=1e12, large=1e13)
print(hreach.simulate(env, "pac-rmdp", {"h": 8}, runs=2, steps=300, threads=1).mean > 1e11)
agent = hreach.make_agent("pac-rmdp", env, h=8)
print(hreach.run(env, agent, 300).average_reward > 1e11)
""",
    "no tolerance": """
for name, params in [("mbie", {"epsilon": 20.0}), ("pac-rmdp", {"h": 8}), ("pac-rmdp", {"h": "adaptive"})]:
    runs = hreach.simulate("chain", name, {**params, "tolerance": 1e-300, "prior": 0}, runs=2, steps=300, threads=1)
    print(runs.mean > 0.1)
""",
    "gamma near one": """
env = hreach.make_domain("chain", length=20, small=1e12, large=1e13)
runs = hreach.simulate(env, "mbie-eb", {"beta": 1e14, "gamma": 1 - 1e-9}, runs=1, steps=200, threads=1)
print(runs.mean > 0)
""",
}


@pytest.mark.parametrize("what", HARD)
def test_planning_ends_where_doubles_cannot_meet_the_tolerance(what: str) -> None:
    """In a process of its own, for a planner that does not end could not be stopped here."""
    program = f"import hreach\n{HARD[what]}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"True"}


def test_a_residual_that_cannot_be_met_is_reported_as_it_is() -> None:
    env = hreach.make_domain("chain", length=20, small=1e12, large=1e13)
    agent = hreach.make_agent("pac-rmdp", env, h=8, tolerance=1e-9)
    hreach.run(env, agent, 50)
    agent.plan()
    assert 1e-9 < agent.planner.residual < 1e-3 * 1e13


# It says that it has begun while it is at work, not before: Python may drop an interrupt in the middle of an import.
LONG = """
import signal, threading, numpy as np, hreach
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
from hreach import TabularMDP
rng = np.random.default_rng(0)
mdp = TabularMDP(rng.dirichlet(np.ones(400), (400, 4)), rng.random((400, 4)), 0.9999)
params = {"beta": 50.0, "tolerance": 1e-9}
hreach.simulate(mdp, "mbie-eb", params, runs=1, steps=1)
agent = hreach.make_agent("mbie-eb", mdp, **params)
agent.act(0)
threading.Timer(1.0, print, ("begun",), {"flush": True}).start()
CALL
"""
CALLS = {
    "simulate": 'hreach.simulate(mdp, "mbie-eb", params, runs=4, steps=10**6)',
    "plan": "for t in range(10**6): agent.observe(t % 400, 0, 0.0, t % 7); agent.act(0)",
}


@pytest.mark.parametrize("what", CALLS)
def test_compiled_work_hears_an_interrupt(what: str) -> None:
    program = LONG.replace("CALL", CALLS[what])
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=240)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in errors


def test_a_long_plan_comes_back_in_pieces() -> None:
    """What is found in pieces is what would be found at once."""
    rng = np.random.default_rng(0)
    mdp = TabularMDP(rng.dirichlet(np.ones(30), (30, 2)), rng.random((30, 2)), 0.999)
    agent = hreach.make_agent("greedy", mdp, prior=0, tolerance=1e-8)
    for s in range(30):
        for a in range(2):
            for following in rng.choice(30, 20, p=mdp.transitions()[s, a]):
                agent.observe(s, a, 0.0, int(following))
    model = agent.model.seen.counts / agent.model.seen.counts.sum(axis=2, keepdims=True)
    exact = TabularMDP(model, mdp.reward_table(), 0.999).optimal_value()
    np.testing.assert_allclose(agent.internal_value(), exact, atol=1e-4)
