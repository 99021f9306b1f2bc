"""What a page of a report may hold of scripts: its own one, and numbers as JSON."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from hreach.report.html import page as pages


class Scripts(HTMLParser):
    """(attributes, text) of every script of a page, as a browser would find them, and all attributes that run one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[dict[str, str | None], str]] = []
        self.handlers: list[str] = []
        self.inside = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.inside = tag == "script"
        if self.inside:
            self.found.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            attributes, text = self.found[-1]
            self.found[-1] = attributes, text + data


def foreign_scripts(page: str) -> list[str]:
    """Whatever a browser might run, or take for numbers, that does not come from hreach."""
    found = Scripts(page)
    return found.handlers + [text for attributes, text in found.found if not _ours(attributes, text)]


def _ours(attributes: dict[str, str | None], text: str) -> bool:
    if not attributes:
        return text == pages._script()
    if attributes != {"type": "application/json"}:
        return False
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
