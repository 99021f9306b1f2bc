"""What suits mountain car.

Appendix A7 says little, and features of the velocity alone could not represent gravity: the velocity is learnt from ten
bumps over the velocity for each action and the known shape of gravity.
"""

from __future__ import annotations

from hreach.problems.task import Preset


def preset(speed_limit: float) -> Preset:
    """Ten bumps for each action and cos(3 x); a grid of 30 times 30 points."""
    bumps = {"kind": "rbf-grid", "components": [1], "low": -speed_limit, "high": speed_limit, "count": 10}
    gravity = {"kind": "term", "function": "cos", "component": 0, "scale": 3.0}
    features = {"kind": "concat", "maps": [{"kind": "action-blocks", "map": bumps}, gravity]}
    return Preset(features=features, grid=(30, 30))
