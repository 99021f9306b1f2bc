"""Which h fits a lifetime: bounds and simulations of problems like yours, side by side."""

from __future__ import annotations

from hreach.guarantees.choose_h.candidates import HS
from hreach.guarantees.choose_h.choice import Choice, choose_h
from hreach.guarantees.choose_h.drawing import picture
from hreach.guarantees.choose_h.option import Option

__all__ = ["HS", "Choice", "Option", "choose_h", "picture"]
