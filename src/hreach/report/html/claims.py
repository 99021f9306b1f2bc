"""The list of claims as HTML: what is said, what decides it, what came out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hreach.report.html.verdict import shown_verdict
from hreach.report.verdicts import ClaimShown, Outcome


def claim_lists(claims: Sequence[ClaimShown]) -> str:
    """What the paper says, then what we say."""
    lists = (
        ("What the paper says, and what the data say", [claim for claim in claims if claim.source]),
        ("What we say, not the paper", [claim for claim in claims if not claim.source]),
    )
    return "\n".join(_claim_list(title, some) for title, some in lists if some)


def _claim_list(title: str, claims: Sequence[ClaimShown]) -> str:
    """Each claim, what decides it, and the verdict of each variant."""
    items = [
        f"<li>{_said(claim)}\n"
        f"<small>{escape(claim.rule)}</small>\n<ul>\n{''.join(_outcome(o) for o in claim.outcomes)}</ul></li>"
        for claim in claims
    ]
    inside = "\n".join(items)
    return f'<h3>{title}</h3>\n<ol class="claims">\n{inside}\n</ol>'


def _said(claim: ClaimShown) -> str:
    """The paper's words in quotation marks, with their place; ours without."""
    if not claim.source:
        return f"<b>{escape(claim.text)}</b>"
    return f"<q>{escape(claim.text)}</q> <small>{escape(claim.source)}</small>"


def _outcome(outcome: Outcome) -> str:
    variant = f"{escape(outcome.variant)}: " if outcome.variant else ""
    return f"<li>{variant}{shown_verdict(outcome.verdict)}; <span>{escape(outcome.evidence)}</span></li>\n"
