"""Compiling once: functions kept on disk, never stale, a word on the screen while it happens, formulas as pointers."""

from __future__ import annotations

from hreach.compiling.functions import (
    Array,
    Formula,
    announce_with,
    announced,
    announcing,
    at,
    compile_formula,
    compiled,
    formula_at,
    inlined,
    inlined_with,
    resolved,
)

__all__ = [
    "Array",
    "Formula",
    "announce_with",
    "announced",
    "announcing",
    "at",
    "compile_formula",
    "compiled",
    "formula_at",
    "inlined",
    "inlined_with",
    "resolved",
]
