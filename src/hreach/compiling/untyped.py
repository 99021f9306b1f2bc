"""The one name for what has no type: values of numba and llvmlite, whose packages do not tell any."""

from __future__ import annotations

from typing import Any

Untyped = Any  # numba and llvmlite have no types
