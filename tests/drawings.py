"""What a path of an SVG draws, for tests of drawings."""

from __future__ import annotations

import re

Points = list[tuple[str, list[tuple[float, float]]]]


def points(path: str) -> Points:
    """The oracle: (command, points) of a path, absolute or relative, as a browser reads it."""
    found: Points = []
    here = start = (0.0, 0.0)
    for command, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [float(value) for value in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        base = here if command.islower() else (0.0, 0.0)
        reached = [(x + base[0], y + base[1]) for x, y in zip(values[::2], values[1::2], strict=True)]
        found.append((command.lower(), reached))
        here = reached[-1] if reached else here
        start = here if command in "Mm" else start
        here = start if command in "Zz" else here
    return found
