"""Matplotlib's SVG with the same picture in fewer letters, and without style sheets, which a strict page refuses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

PLACES = 1  # of a coordinate: a twentieth of a point to either side is not seen
_COMMAND = re.compile(r"([MLQCz])([^MLQCz]*)")  # all that matplotlib writes
_NUMBER = re.compile(r"-?\d+\.\d+")
_STYLE_OF_ALL = re.compile(r"<defs>\s*<style[^>]*>\*\{(.*?)\}</style>\s*</defs>\s*", re.DOTALL)


def compact(svg: str, kept: str) -> str:
    """The `<svg>` element of a file of matplotlib's; of the ids those that are referred to remain, as
    numbers, and `kept`.

    Style attributes become presentation attributes. The style that matplotlib gives to every element is one of the
    root, from which the others inherit it.
    """
    found = _STYLE_OF_ALL.search(svg)
    if found is not None:
        svg = svg.replace(found[0], "").replace("<svg ", f"<svg {_attributes(found[1])} ", 1)
    svg = re.sub(r'style="([^"]*)"', lambda m: _attributes(m[1]), svg)
    svg = re.sub(r' d="([^"]*)"', lambda m: f' d="{_path(m[1])}"', svg)
    svg = re.sub(r' (?:x|y)="[^"]*"|translate\([^)]*\)', lambda m: _rounded(m[0]), svg)
    return re.sub(r">\s+<", "><", _with_short_ids(svg, kept))


def _attributes(style: str) -> str:
    pairs = (part.split(":", 1) for part in style.split(";") if part.strip())
    return " ".join(f'{name.strip()}="{value.strip()}"' for name, value in pairs)


def _path(commands: str) -> str:
    """A path with its points relative to where the pen is: of neighbours the differences are short.

    Differences are of the rounded points, so that errors do not add up.
    """
    here, start, parts = (0, 0), (0, 0), []
    for command, text in _COMMAND.findall(commands):
        values = [round(float(value) * 10**PLACES) for value in text.split()]
        points = list(zip(values[::2], values[1::2], strict=True))
        parts.append(command.lower() + _joined(n for x, y in points for n in (x - here[0], y - here[1])))
        if points:
            here = points[-1]
        start = here if command == "M" else start
        here = start if command in "zZ" else here
    # The first move is from nowhere, so it stays what it was even where a path is appended to another.
    return "".join(parts).replace("m", "M", 1)


def _joined(tenths: Iterable[int]) -> str:
    """Numbers one after the other, a blank only where the next one has no sign."""
    return " ".join(map(_word, tenths)).replace(" -", "-")


@lru_cache(1 << 16)
def _word(n: int) -> str:
    """A number of tenths; most come again and again."""
    word = f"{n / 10**PLACES:.{PLACES}f}".rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", word) if word != "-0" else "0"


def _rounded(text: str) -> str:
    return _NUMBER.sub(lambda m: f"{float(m[0]):.{PLACES}f}".rstrip("0").rstrip("."), text)


def _with_short_ids(svg: str, kept: str) -> str:
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    short = {kept: kept, **{name: str(i) for i, name in enumerate(used)}}
    svg = re.sub(r'(href="#|url\(#)([^")]+)', lambda m: m[1] + short[m[2]], svg)
    return re.sub(r' id="([^"]*)"', lambda m: f' id="{short[m[1]]}"' if m[1] in short else "", svg)
