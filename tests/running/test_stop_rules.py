"""Runs that a rule ends: at the same step, and for the same reason, whether they were interrupted or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hreach
from hreach.running.looking import next_look
from hreach.running.pace import Steps


def made() -> tuple[Any, Any]:
    env = hreach.make_domain("chain")
    return env, hreach.make_agent("pac-rmdp", env, h=8)


def test_a_run_says_why_it_was_ended_and_one_that_was_not_says_nothing() -> None:
    env, agent = made()
    rule = hreach.Certified(share=0.5)
    done = hreach.run(env, agent, steps=20_000, until=rule)
    assert rule.certificate is not None
    assert done.stopped == rule.certificate.sentence()
    env, agent = made()
    assert hreach.run(env, agent, steps=200, until=hreach.Certified(share=0.5)).stopped == ""


def test_it_stops_at_the_first_look_that_is_enough() -> None:
    """The oracle makes the run anew up to each look."""
    env, agent = made()
    steps = len(hreach.run(env, agent, steps=20_000, until=hreach.Certified(share=0.5)).rewards)
    looks = [next_look(0)]
    while looks[-1] < steps:
        looks.append(next_look(looks[-1]))
    assert looks[-1] == steps
    for look in looks[-4:]:
        env, again = made()
        found = again.certify(0.1, int(hreach.run(env, again, steps=look).last_state))
        assert found.reachable_gap is not None
        assert (found.reachable_gap <= found.lower) == (look == steps)


class KilledError(RuntimeError):
    pass


def test_a_run_from_a_checkpoint_stops_at_the_same_step(tmp_path: Path) -> None:
    env, agent = made()
    whole = hreach.run(env, agent, steps=20_000, until=hreach.Certified(share=0.5))
    file = tmp_path / "run.ckpt"

    def killed_at(step: int) -> Callable[[int], None]:
        left = [step]

        def tell(done: int) -> None:
            left[0] -= done
            if left[0] <= 0:
                raise KilledError

        return tell

    env, agent = made()
    kill = killed_at(len(whole.rewards) - 30)
    with pytest.raises(KilledError):
        hreach.run(
            env, agent, steps=20_000, until=hreach.Certified(share=0.5), checkpoint=file, every=Steps(50), progress=kill
        )
    assert file.exists()
    env, agent = made()
    again = hreach.run(env, agent, steps=20_000, until=hreach.Certified(share=0.5), checkpoint=file, every=Steps(50))
    assert not file.exists()
    assert again.stopped == whole.stopped
    assert (again.rewards == whole.rewards).all()


def test_a_run_that_was_stopped_and_saved_but_not_removed_stays_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KilledError between the last save and the removal of the file."""
    file = tmp_path / "run.ckpt"
    env, agent = made()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        first = hreach.run(
            env, agent, steps=20_000, until=hreach.Certified(share=0.5), checkpoint=file, every=Steps(50)
        )
    assert file.exists()
    env, agent = made()
    again = hreach.run(env, agent, steps=20_000, until=hreach.Certified(share=0.5), checkpoint=file, every=Steps(50))
    assert len(again.rewards) == len(first.rewards)
    assert again.stopped == first.stopped
