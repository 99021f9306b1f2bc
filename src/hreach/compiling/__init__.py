"""Compiling once: functions kept on disk, never stale, a word on the screen while it happens, formulas as pointers."""

from __future__ import annotations

from hreach.compiling.functions import (
    Array,
    announce_with,
    announced,
    announcing,
    at,
    compiled,
    inlined,
    inlined_too,
    inlined_with,
    inner,
    merged,
    resolved,
)
from hreach.compiling.pointers import (
    FORMULA,
    Formula,
    Pointer,
    Schedule,
    at_address,
    compile_formula,
    compile_pointer,
    compile_schedule,
    formula_at,
    schedule_at,
)
from hreach.compiling.untyped import Untyped

__all__ = [
    "FORMULA",
    "Array",
    "Formula",
    "Pointer",
    "Schedule",
    "Untyped",
    "announce_with",
    "announced",
    "announcing",
    "at",
    "at_address",
    "compile_formula",
    "compile_pointer",
    "compile_schedule",
    "compiled",
    "formula_at",
    "inlined",
    "inlined_too",
    "inlined_with",
    "inner",
    "merged",
    "resolved",
    "schedule_at",
]
