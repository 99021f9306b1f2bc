"""What several commands read alike."""

from __future__ import annotations

import json
import math

from hreach.errors import InputError, require
from hreach.registry import Params


def parameters(given: list[str]) -> Params:
    """Parameters of an agent, as name=value."""
    result = pairs("--param", given, "h=8")
    for name in ("name", "env", "seed"):
        if name in result:
            raise InputError(f"--param is {f'{name}={result[name]}'!r}, but must be a parameter of the agent.")
    return result


def pairs(option: str, given: list[str], example: str = "map_name=8x8") -> Params:
    """name=value pairs; a value is read as JSON where it is some, else as text."""
    result = {}
    for entry in given:
        name, sign, text = entry.partition("=")
        require(bool(sign and name), option, entry, f"name=value, such as {example}")
        try:
            result[name] = json.loads(text)
        except json.JSONDecodeError:
            result[name] = text
    return result


def gap_or_share(option: str, text: str) -> tuple[str, float]:
    """("share", 0.2) of 20%, ("gap", 0.2) of 0.2."""
    text = text.strip()
    digits = text.removesuffix("%")
    try:
        size = float(digits)
    except ValueError:
        size = math.nan
    require(0 < size < math.inf, option, digits, "a number above 0, or a share such as 20%")
    require(not text.endswith("%") or size < 100, option, text, "below 100%, where it is a share")
    return ("share", size / 100) if text.endswith("%") else ("gap", size)
