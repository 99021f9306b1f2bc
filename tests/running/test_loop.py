"""`hreach.run`: what is kept when something goes wrong, progress, and environments that break Gymnasium's rules."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import hreach
from hreach.domains.tabular import TabularEnv


class Failing(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Raises in its step number `at`, counted from 0."""

    def __init__(self, env: Any, at: int, error: BaseException) -> None:
        super().__init__(env)
        self.left, self.error = at, error

    def step(self, action: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise self.error
        return self.env.step(action)


class Returning(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Changes what reset or step returns."""

    def __init__(self, env: Any, reset: Any = None, step: Any = None) -> None:
        super().__init__(env)
        self.after_reset, self.after_step = reset, step

    def reset(self, **options: Any) -> Any:
        outcome = self.env.reset(**options)
        return outcome if self.after_reset is None else self.after_reset(*outcome)

    def step(self, action: Any) -> Any:
        outcome = self.env.step(action)
        return outcome if self.after_step is None else self.after_step(*outcome)


def lake() -> Any:
    return gymnasium.make("FrozenLake-v1")


def agent_for(env: Any) -> Any:
    return hreach.make_agent("pac-rmdp", env, h=4, gamma=0.99, reward="learn", r_max=1)


def same(one: hreach.Run, other: hreach.Run, steps: int) -> bool:
    ended = other.ended < steps
    pairs = [(getattr(one, n), getattr(other, n)[:steps]) for n in ("rewards", "states", "actions", "next_states")]
    pairs += [(one.ended, other.ended[ended]), (one.terminated, other.terminated[ended])]
    return all(np.array_equal(a, b) for a, b in pairs)


# ------------------------------------------------------------------------------------------------------ what is kept


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("at", [0, 1, 137])
def test_what_was_recorded_reaches_the_caller(kind: type[BaseException], at: int) -> None:
    """The same exception, with the steps of an undisturbed run with the same seeds."""
    error = kind("the machine is off")
    whole = hreach.run(lake(), agent_for(lake()), steps=200, seed=3)
    with pytest.raises(kind) as raised:
        hreach.run(Failing(lake(), at, error), agent_for(lake()), steps=200, seed=3)
    assert raised.value is error
    kept = raised.value.run  # type: ignore[attr-defined]
    assert isinstance(kept, hreach.Run)
    assert len(kept.rewards) == at
    assert same(kept, whole, at)
    if at > 100:  # other seeds are another run
        assert not same(kept, hreach.run(lake(), agent_for(lake()), steps=200, seed=4), at)
    assert f"{at} steps were finished" in raised.value.__notes__[0]


def test_a_mistake_of_the_agent_keeps_the_run_as_well() -> None:
    env = lake()
    agent = agent_for(env)
    act, left = agent.act, [50]

    def forgetful(state: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("no idea")
        return int(act(state))

    agent.act = forgetful
    with pytest.raises(RuntimeError, match="no idea") as raised:
        hreach.run(env, agent, steps=200)
    assert len(raised.value.run.actions) == 50  # type: ignore[attr-defined]


def test_an_interruption_in_the_middle_of_a_step_leaves_whole_steps() -> None:
    """Ctrl-C can come between any two lines; here it comes after the reward was recorded, before the action was."""
    from hreach.running.record import Record

    record = Record([0.0, 1.0], [0, 1], [1], [0], [0, 1], [True])
    run = record.run()
    assert run.rewards.tolist() == [0.0]
    assert run.states.tolist() == [0]
    assert run.next_states.tolist() == [1]
    assert run.ended.tolist() == [0]
    assert run.terminated.tolist() == [True]


def test_the_agent_goes_on_after_an_interruption() -> None:
    """What was learnt stays: two parts of a run are one run, if the environment is left as it was."""
    env = hreach.make_domain("riverswim")
    agent = hreach.make_agent("pac-rmdp", env, h=4)
    with pytest.raises(KeyboardInterrupt) as raised:
        hreach.run(Failing(env, 100, KeyboardInterrupt()), agent, steps=200, seed=1)
    steps = len(raised.value.run.rewards)  # type: ignore[attr-defined]
    assert agent.model.seen.counts.sum() - hreach.make_agent(
        "pac-rmdp", env, h=4
    ).model.seen.counts.sum() == pytest.approx(steps)


# ---------------------------------------------------------------------------------------------------------- progress


def test_steps_are_told_one_by_one_and_episodes_where_only_they_are_asked_for() -> None:
    env = lake()
    told: list[int] = []
    run = hreach.run(env, agent_for(env), steps=120, progress=told.append)
    assert told == [1] * 120
    told.clear()
    run = hreach.run(env, agent_for(env), episodes=7, progress=told.append)
    assert told == [1] * 7
    assert len(run.rewards) > 7


def test_runs_are_told_as_they_finish() -> None:
    told: list[int] = []
    hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=30, steps=10_000, progress=told.append)
    assert sum(told) == 30
    assert len(told) > 1


@pytest.mark.parametrize("call", ["run", "simulate"])
def test_a_bar_goes_to_the_error_stream_and_changes_nothing(call: str, capfd: pytest.CaptureFixture[str]) -> None:
    def result(progress: Any) -> Any:
        if call == "simulate":
            return hreach.simulate("chain", "pac-rmdp", {"h": 8}, runs=5, steps=100, progress=progress).reward
        env = hreach.make_domain("chain")
        return hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), steps=300, progress=progress).rewards

    quiet = result(None)
    capfd.readouterr()
    assert np.array_equal(result(True), quiet)
    shown = capfd.readouterr()
    assert ("steps" if call == "run" else "runs") in shown.err
    assert ("300/300" if call == "run" else "5/5") in shown.err
    assert shown.out == ""
    assert np.array_equal(result(False), quiet)
    assert capfd.readouterr().err == ""


def test_progress_that_cannot_be_told_is_one_sentence() -> None:
    env = hreach.make_domain("chain")
    with pytest.raises(hreach.InputError, match="progress is 'yes', but must be a callable that takes a number, True"):
        hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), steps=3, progress="yes")  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------- environments that break the rules


STEPS = {
    "four": (lambda o, r, t, c, i: (o, r, t or c, i), "env.step returned (", "(observation, reward, terminated, trunc"),
    "none": (lambda *_: None, "env.step returned None", "older gym"),
    "no reward": (lambda o, r, t, c, i: (o, None, t, c, i), "reward, returned by env.step, is None", "a number"),
    "text": (lambda o, r, t, c, i: (o, "1", t, c, i), "reward, returned by env.step, is '1'", "a number"),
    "nan": (lambda o, r, t, c, i: (o, float("nan"), t, c, i), "reward, returned by env.step, is nan", "a number"),
    "endless": (lambda o, r, t, c, i: (o, float("inf"), t, c, i), "reward, returned by env.step, is inf", "a finite"),
    "ended": (lambda o, r, t, c, i: (o, r, None, c, i), "terminated, returned by env.step, is None", "True or False"),
    "cut": (lambda o, r, t, c, i: (o, r, t, {}, i), "truncated, returned by env.step, is {}", "True or False"),
}


@pytest.mark.parametrize("case", STEPS)
def test_what_step_should_return_is_one_sentence(case: str) -> None:
    change, names, fix = STEPS[case]
    env = Returning(hreach.make_domain("chain"), step=change)
    with pytest.raises(hreach.InputError) as raised:
        hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), steps=5)
    assert names in str(raised.value)
    assert fix in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda o, i: o, "env.reset returned"),
        (lambda o, i: (o, i, False), "env.reset returned"),
        (lambda o, i: (o, 0.0), "env.reset returned"),
        (lambda o, i: np.array([0.5, 0.0]), "env.reset returned array([0.5, 0. ])"),  # which could be unpacked
    ],
)
def test_what_reset_should_return_is_one_sentence(change: Any, names: str) -> None:
    env = Returning(hreach.make_domain("chain"), reset=change)
    with pytest.raises(hreach.InputError) as raised:
        hreach.run(env, hreach.make_agent("pac-rmdp", env, h=8), steps=5)
    assert names in str(raised.value)
    assert "must return (observation, info)" in str(raised.value)


def test_a_reset_without_a_seed_is_one_sentence_and_other_mistakes_stay_what_they_are() -> None:
    class Old(TabularEnv):
        def reset(self) -> Any:  # type: ignore[override]
            return super().reset()

    class Broken(TabularEnv):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return len(5)  # type: ignore[arg-type]

    mdp = hreach.make_domain("chain").mdp()
    agent = hreach.make_agent("pac-rmdp", mdp, h=8)
    with pytest.raises(hreach.InputError, match=r"env.reset takes no seed, but must be reset\(self, \*, seed=None"):
        hreach.run(Old(mdp, None), agent, steps=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="has no len"):
        hreach.run(Broken(mdp, None), agent, steps=5)


def test_other_kinds_of_numbers_and_booleans_are_taken() -> None:
    def numpy_s(o: Any, r: Any, t: Any, c: Any, i: Any) -> Any:
        return o, np.float32(r), np.bool_(t), np.bool_(c), i

    expected = hreach.run(lake(), agent_for(lake()), steps=300)
    got = hreach.run(Returning(lake(), step=numpy_s), agent_for(lake()), steps=300)
    assert same(got, expected, 300)


def test_an_agent_that_learns_from_info_says_what_is_missing() -> None:
    env = Returning(hreach.make_domain("hiv", episode_days=20), step=lambda o, r, t, c, i: (o, r, t, c, {}))
    agent = hreach.make_agent("linear-pac-rmdp", env, h=1)
    with pytest.raises(hreach.InputError, match=r"info\['day_after'\] is None, but must be given"):
        hreach.run(env, agent, steps=2)
