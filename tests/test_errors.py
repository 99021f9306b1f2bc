"""Messages for bad input: one sentence with the field, the value and what is allowed; nearest names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hreach.errors import (
    InputError,
    at_least,
    discount,
    number,
    positive,
    require,
    shown,
    unknown_name,
    whole,
)
from hreach.registry import check_parameters, parameters_of


def at_least_two(field: str, value: object) -> float:
    return at_least(field, value, 2)


def whole_from_two(field: str, value: object) -> float:
    return whole(field, value, 2)


def gamma(field: str, value: object) -> float:
    return discount(value)


Check = Callable[[str, object], float]
ACCEPTED: list[tuple[Check, Any, float]] = [
    (number, 3, 3.0),
    (number, -1.5, -1.5),
    (number, np.float32(0.5), 0.5),
    (number, np.int64(4), 4.0),
    (number, math.inf, math.inf),
    (at_least_two, 2, 2.0),
    (at_least_two, 2.5, 2.5),
    (positive, 1e-300, 1e-300),
    (whole_from_two, 2, 2),
    (whole_from_two, 7.0, 7),
    (whole_from_two, np.int32(9), 9),
    (gamma, 0, 0.0),
    (gamma, 0.999, 0.999),
]


@pytest.mark.parametrize(("check", "value", "result"), ACCEPTED)
def test_what_is_allowed_is_returned_as_a_number(check: Check, value: object, result: float) -> None:
    assert check("gamma", value) == result


def test_a_whole_number_comes_back_as_an_int_and_others_as_floats() -> None:
    assert type(whole("x", 3.0, 0)) is int
    assert type(number("x", np.int64(3))) is float
    assert type(at_least("x", 3, 0)) is float
    assert type(positive("x", 3)) is float
    assert type(discount(0)) is float


NO_NUMBERS: list[Any] = [math.nan, "1", b"1", None, True, False, np.True_, [1, 2], {}, 1j]
REFUSED: list[tuple[Check, Any, str]] = [
    *[
        (check, value, "a number")
        for check in (number, at_least_two, positive, whole_from_two, gamma)
        for value in NO_NUMBERS
    ],
    (at_least_two, 1.999, "a finite number of at least 2"),
    (at_least_two, math.inf, "a finite number of at least 2"),
    (at_least_two, -math.inf, "a finite number of at least 2"),
    (positive, 0, "a finite number above 0"),
    (positive, -1, "a finite number above 0"),
    (positive, math.inf, "a finite number above 0"),
    (whole_from_two, 1, "a whole number of at least 2"),
    (whole_from_two, 2.5, "a whole number of at least 2"),
    (whole_from_two, math.inf, "a whole number of at least 2"),
    (whole_from_two, -math.inf, "a whole number of at least 2"),
    (gamma, 1, "at least 0 and below 1"),
    (gamma, -1e-9, "at least 0 and below 1"),
    (gamma, math.inf, "at least 0 and below 1"),
]


@pytest.mark.parametrize(("check", "value", "allowed"), REFUSED)
def test_what_is_not_allowed_is_refused_by_field_value_and_what_is_allowed(
    check: Check, value: object, allowed: str
) -> None:
    with pytest.raises(InputError) as caught:
        check("gamma", value)
    assert str(caught.value) == f"gamma is {value!r}, but must be {allowed}."


@pytest.mark.parametrize("check", [number, at_least_two, positive, whole_from_two, gamma])
def test_an_int_too_large_for_a_float_is_refused_like_any_other_bad_number(check: Check) -> None:
    with pytest.raises(InputError, match=r"^gamma is 10{70,}\.\.\., but must be a number\.$"):
        check("gamma", 10**400)


def test_require_says_nothing_when_all_is_well() -> None:
    require(True, "x", 1, "anything")
    with pytest.raises(InputError, match=r"^x is 1, but must be something else\.$"):
        require(False, "x", 1, "something else")


def test_an_input_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"^gamma is 2, but must be at least 0 and below 1\.$"):
        discount(2)


@pytest.mark.parametrize("value", [list(range(1000)), np.zeros((50, 50)), "a\nb" * 100, "two\nlines"])
def test_a_shown_value_is_short_and_on_one_line(value: object) -> None:
    text = shown(value)
    assert len(text) <= 80
    assert "\n" not in text


def test_a_short_value_is_shown_whole_and_a_long_one_says_that_it_was_cut() -> None:
    assert shown([1, 2]) == "[1, 2]"
    assert shown("x" * 78) == repr("x" * 78)
    assert shown("x" * 79).endswith("...")


# --- nearest names --------------------------------------------------------------------------------------------

KNOWN = ["chain", "modified-chain", "mountain-car"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("chian", "chain"), ("modified_chain", "modified-chain"), ("mountaincar", "mountain-car"), ("CHAIN", "chain")],
)
def test_an_unknown_name_is_answered_with_the_nearest_known_one(wrong: str, right: str) -> None:
    text = str(unknown_name("domain", wrong, KNOWN))
    assert text == (
        f"domain is '{wrong}', which is not known; did you mean '{right}'? known: chain, modified-chain, mountain-car."
    )


def test_capitals_count_where_names_differ_by_nothing_else() -> None:
    assert "did you mean 'Delta'?" in str(unknown_name("parameter", "Delt", ["Delta", "delta"]))
    assert "did you mean 'pac-rmdp'?" in str(unknown_name("agent", "PAC-RMDP", ["mbie", "pac-rmdp"]))


@pytest.mark.parametrize("wrong", ["xyz", "", 7])
def test_a_name_like_no_other_gets_the_list_only(wrong: object) -> None:
    text = str(unknown_name("domain", wrong, reversed(KNOWN)))
    assert text == f"domain is {wrong!r}, which is not known; known: chain, modified-chain, mountain-car."


# --- the registry ---------------------------------------------------------------------------------------------


def made(first: int, second: int, third: int = 3) -> tuple[int, int, int]:
    return first, second, third


def test_parameters_that_fit_are_accepted() -> None:
    check_parameters("made", made, {"first": 1, "second": 2})
    check_parameters("made", made, {"second": 2, "third": 1}, given=1)


def test_an_unknown_parameter_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"^parameter of made is 'thrd', .*did you mean 'third'"):
        check_parameters("made", made, {"thrd": 1, "first": 1, "second": 2})


def test_a_parameter_that_is_given_by_position_cannot_be_given_by_name() -> None:
    with pytest.raises(InputError, match=r"^parameter of made is 'first', which is not known"):
        check_parameters("made", made, {"first": 1, "second": 2}, given=1)


def test_names_that_are_taken_elsewhere_are_suggested_too() -> None:
    with pytest.raises(InputError, match=r"^parameter of made is 'tolerence', .*did you mean 'tolerance'"):
        check_parameters("made", made, {"tolerence": 1, "first": 1, "second": 2}, also=["tolerance"])


def test_a_missing_parameter_is_named() -> None:
    with pytest.raises(InputError, match=r"^made needs the parameter 'second'\.$"):
        check_parameters("made", made, {"first": 1})


def test_parameters_of_lists_names_in_order() -> None:
    assert parameters_of(made) == ["first", "second", "third"]
