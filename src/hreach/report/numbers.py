"""Numbers as the report writes them."""

from __future__ import annotations

import math
import re


def number(value: float | None, places: int = 3) -> str:
    """Write a number as the paper does (.357), with a true minus sign and never a negative zero."""
    if value is None or not math.isfinite(value):
        return "–"
    digits = f"{abs(value):.{places}f}"
    minus = "−" if value < 0 and float(digits) > 0 else ""
    return minus + digits.removeprefix("0")


def total(value: float | None) -> str:
    """Write a total reward of any size: −1783, −124.3, 1.51e11."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    digits = f"{size:.2e}".replace("e+", "e") if size >= 1e5 else f"{size:.0f}" if size >= 1e3 else f"{size:.4g}"
    minus = "−" if value < 0 and float(digits) > 0 else ""
    return minus + re.sub(r"e0*(?=\d)", "e", digits)


def span(low: int, high: int) -> str:
    """Write a range of counts; one number where both ends agree."""
    return str(low) if low == high else f"{low}–{high}"
