"""A verdict as HTML."""

from __future__ import annotations

from html import escape

from hreach.report.verdicts import CANNOT_FAIL, FAILS, HOLDS, NOT_REPRODUCED, REPRODUCED, UNDECIDED

# The class in page.css and the symbol of each verdict.
_SHOWN = {REPRODUCED: ("yes", "✓"), NOT_REPRODUCED: ("no", "✗"), UNDECIDED: ("none", "?")}
_SHOWN |= {HOLDS: ("yes", "✓"), FAILS: ("no", "✗"), CANNOT_FAIL: ("none", "○")}


def shown_verdict(verdict: str) -> str:
    """Show a verdict by symbol, word and colour, so that no reader depends on the colour."""
    css, symbol = _SHOWN.get(verdict, ("none", "–"))
    word = f"<i>{escape(verdict)}</i>" if verdict else '<i class="heard">not compared</i>'
    return f'<span class="verdict {css}"><span aria-hidden="true">{symbol}</span> {word}</span>'
