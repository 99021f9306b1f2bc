"""Where in a TOML file something stands."""

from __future__ import annotations

import re

Place = tuple[str | int, ...]  # keys and numbers of tables, such as ("agent", 2, "params")


def line_of(text: str, name: str, path: Place) -> str:
    """`study.toml, line 12`: the line of the longest part of `path` that the text spells out."""
    table: Place = ()
    here: Place
    seen: dict[str, int] = {}
    best = (0, 0)
    blank = re.sub(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'', lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(blank.split("\n"), start=1):
        if header := re.match(r"\s*\[(\[)?\s*([^\]]+?)\s*\]", line):
            key = header[2]
            seen[key] = seen.get(key, -1) + 1
            table = here = (key, seen[key]) if header[1] else (key,)
        elif entry := re.match(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*=""", line):
            here = (*table, entry[1] or entry[2] or entry[3])
        else:
            continue
        if here == path[: len(here)] and len(here) > best[0]:
            best = (len(here), number)
    return f"{name}, line {best[1]}" if best[1] else name
