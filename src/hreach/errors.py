"""One sentence for bad input: which field, which value, what is allowed.

NumPy is imported where it is used: the command line needs these functions, and mostly no NumPy.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class InputError(ValueError):
    """Something a caller gave cannot be used; the message names the field, the value and what is allowed."""


class WorkerDiedError(RuntimeError):
    """Worker processes die, whatever they are given."""


class TaskFailedError(RuntimeError):
    """A task gave nothing: it raised an error, or each worker that tried it died; the message says which."""


def require(ok: bool, field: str, value: object, allowed: str) -> None:
    """Raise `InputError` unless `ok`."""
    if not ok:
        raise InputError(f"{field} is {shown(value)}, but must be {allowed}.")


def shown(value: object) -> str:
    """A value as it is repeated in a message: short, on one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def number(field: str, value: object) -> float:
    """`value` as a float; booleans, text and NaN are refused."""
    import numpy as np

    ok = not isinstance(value, bool | np.bool_ | str | bytes)
    try:
        result = float(value) if ok else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    require(not math.isnan(result), field, value, "a number")
    return result


def finite(field: str, value: object) -> float:
    """`value` as a finite float."""
    result = number(field, value)
    require(math.isfinite(result), field, value, "a finite number")
    return result


def array(field: str, value: object) -> NDArray[np.float64]:
    """`value` as a new array of floats."""
    import numpy as np

    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{field} is {shown(value)}, but must be an array of numbers.") from error


def at_least(field: str, value: object, low: float) -> float:
    """`value` as a finite float not below `low`."""
    result = number(field, value)
    require(low <= result < math.inf, field, value, f"a finite number of at least {low:g}")
    return result


def positive(field: str, value: object) -> float:
    """`value` as a finite float above zero."""
    result = number(field, value)
    require(0 < result < math.inf, field, value, "a finite number above 0")
    return result


def whole(field: str, value: object, low: int) -> int:
    """`value` as an int not below `low`."""
    result = number(field, value)
    ok = result == math.floor(result) and low <= result < math.inf if math.isfinite(result) else False
    require(ok, field, value, f"a whole number of at least {low}")
    return int(result)


def discount(gamma: object) -> float:
    """`gamma` as a float in [0, 1)."""
    result = number("gamma", gamma)
    require(0 <= result < 1, "gamma", gamma, "at least 0 and below 1")
    return result


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InputError:
    """The error for a name that is not registered, with the nearest one that is."""
    names = sorted(known)
    close = nearest(str(name), names)
    hint = f"did you mean {close!r}? " if close else ""
    return InputError(f"{kind} is {shown(name)}, which is not known; {hint}known: {', '.join(names)}.")


def nearest(name: str, names: list[str]) -> str | None:
    """The one of these names that is spelt most alike, if any is."""
    spelt = {other.lower(): other for other in names}
    close = _closest(name, names) or [spelt[other] for other in _closest(name.lower(), list(spelt))]
    return close[0] if close else None


def _closest(name: str, names: list[str]) -> list[str]:
    return difflib.get_close_matches(name, names, n=1, cutoff=0.5)


def one_of(**given: object) -> None:
    """Refuse two parameters of which one would be ignored."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise InputError(f"{names[1]} is {shown(given[names[1]])}, but must be left out where {names[0]} is given.")
