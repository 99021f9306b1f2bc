"""What several commands read alike."""

from __future__ import annotations

import json

from hreach.errors import InputError, require
from hreach.registry import Params


def parameters(given: list[str]) -> Params:
    """name=value pairs; a value is read as JSON where it is some, else as text."""
    result = {}
    for entry in given:
        name, sign, text = entry.partition("=")
        require(bool(sign and name), "--param", entry, "name=value, such as h=8")
        try:
            result[name] = json.loads(text)
        except json.JSONDecodeError:
            result[name] = text
        if name in ("name", "env", "seed"):
            raise InputError(f"--param is {entry!r}, but must be a parameter of the agent.")
    return result
