"""Of (eps, delta, h, t) whatever is not given follows from the rest."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from hreach import InputError
from hreach.guarantees.theory import Sizes, h_star, mbie_sample_complexity, promise, sample_complexity

SIZES = Sizes(5, 2, 0.95)


@pytest.mark.parametrize("h", [0.0, 1.0, 8.0, 1e4])
@pytest.mark.parametrize("eps", [0.01, 1.0, 15.0])
@pytest.mark.parametrize("form", ["printed", "proof", "corrected"])
def test_all_four_directions_agree(eps: float, h: float, form: Any) -> None:
    """From t back to each of the others; where a form is not monotone in h, the largest h is found."""
    first = promise(SIZES, eps=eps, delta=0.1, h=h, form=form)
    assert first.found == ("t",)
    assert first.t == float(sample_complexity(SIZES, eps, 0.1, h, form))
    error = promise(SIZES, delta=0.1, h=h, t=first.t, form=form)
    assert error.found == ("eps",)
    assert error.eps == pytest.approx(eps, rel=1e-9)
    afford = promise(SIZES, eps=eps, delta=0.1, t=first.t * (1 + 1e-9), form=form)  # a small h costs no more than none
    assert afford.found == ("h",)
    assert afford.h >= h * (1 - 1e-9)
    failure = promise(SIZES, eps=eps, h=h, t=first.t, form=form)
    assert failure.found == ("delta",)
    assert failure.delta <= 0.1 * (1 + 1e-6)


def test_eps_and_delta_alone_ask_for_h_star() -> None:
    found = promise(SIZES, eps=2.0, delta=0.1)
    assert found.found == ("h", "t")
    assert found.h == float(h_star(SIZES, 2.0, 0.1))
    assert found.t == float(sample_complexity(SIZES, 2.0, 0.1, found.h))


def test_the_sentence_says_when_nothing_is_promised() -> None:
    assert "except with probability 0.1" in promise(SIZES, eps=2.0, delta=0.1, h=8).sentence
    coarse = promise(SIZES, eps=25.0, delta=0.1, h=8)
    assert coarse.why
    assert "nothing is promised: epsilon is not below the range of values, 20" in coarse.sentence
    short = promise(SIZES, eps=2.0, delta=0.1, h=8, t=1000)
    assert "Theorem 1 needs 2.8e+11 steps" in short.sentence
    none = promise(SIZES, eps=2.0, delta=0.1, t=100)
    assert math.isnan(none.h)
    assert none.sentence.startswith("No h can be afforded in 1e+02 steps")


def test_the_rivals_stand_beside_it() -> None:
    lines = {line.name: line for line in promise(SIZES, eps=2.0, delta=0.1, h=8).lines}
    assert lines["MBIE, order of steps"].value == float(mbie_sample_complexity(SIZES, 2.0, 0.1))
    assert lines["h*(eps, delta)"].value == float(h_star(SIZES, 2.0, 0.1))


def test_a_program_can_read_it() -> None:
    told = json.loads(json.dumps(promise(Sizes(10**6, 4, 0.99), eps=10.0, delta=0.1, h=3).to_dict(), allow_nan=False))
    assert told["computed"] == ["t"]
    assert told["t"] > 1e20
    assert told["vacuous"] is False
    assert json.loads(json.dumps(promise(SIZES, eps=2.0, delta=0.1, t=100).to_dict(), allow_nan=False))["h"] is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "given is none of eps, delta, h, t, but must be three of them, or eps and delta."),
        ({"eps": 1.0}, "given is eps of eps, delta, h, t, but must be three of them, or eps and delta."),
        ({"h": 1.0, "t": 10.0}, "given is h, t of eps, delta, h, t, but must be three of them, or eps and delta."),
        ({"eps": 0.0, "delta": 0.1, "h": 1.0}, "epsilon is 0.0, but must be a finite number above 0."),
        ({"eps": 1.0, "delta": 1.5, "h": 1.0}, "delta is 1.5, but must be above 0 and below 1."),
        ({"eps": 1.0, "delta": 0.1, "h": -1.0}, "h is -1.0, but must be a finite number of at least 0."),
        ({"delta": 0.1, "h": 1.0, "t": 0.5}, "t is 0.5, but must be a finite number of at least 1."),
    ],
)
def test_bad_input_gets_one_sentence(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        promise(SIZES, **given)
    assert str(caught.value) == message
