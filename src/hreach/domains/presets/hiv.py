"""What suits the treatment of HIV.

A model of a day has 150 random Fourier features, and for each action a bias, the scaled state and the scaled amounts. A
model of a step has the paper's 21 features (6 states, 15 products, A7), for each action.
"""

from __future__ import annotations

from hreach.errors import require
from hreach.problems.task import Preset

# Middle and spread of log10 over what treatments lead to, and a large amount of each, for features near 1.
MIDDLE = (5.3, 2.8, 1.8, 1.0, 3.3, 3.0)
SPREAD = (0.8, 2.2, 1.8, 1.6, 2.6, 3.0)
LARGE = (6.0, 4.0, 3.5, 2.0, 5.0, 5.5)


def preset(daily: bool, share: bool, truncate: bool, days_per_step: int) -> Preset:
    """Features, and a search of 5, 10 and 10 days with a model of a day, of four decisions with one of a step.

    share      with a model of a day: all actions share the weights of the random features, so that a sample tells
               something about every action, and it learns sooner (benchmarks/HIV_DEEPER.md). False: every action has
               weights of its own for all 163 features, and may do what nothing else does.
    truncate   with a model of a day: it predicts no change of a day larger than those seen so far
    """
    require(isinstance(truncate, bool), "truncate", truncate, "true or false")
    require(isinstance(share, bool), "share", share, "true or false")
    return Preset(
        features=_features(daily, share),
        segments=tuple(k * days_per_step for k in ((1, 2, 2) if daily else (1, 1, 1, 1))),
        target="change" if daily else "next",
        truncate=daily and truncate,
    )


def _features(daily: bool, share: bool) -> dict[str, object]:
    identity = {"kind": "identity"}
    if not daily:
        return {"kind": "action-blocks", "map": {"kind": "concat", "maps": [identity, {"kind": "products"}]}}
    waves = {"kind": "random-fourier", "count": 150, "length_scale": 2.5, "amplitude": 0.4}
    smooth = {"kind": "scaled", "centre": list(MIDDLE), "scale": list(SPREAD), "map": waves}
    # ten times as large: the ridge hardly holds the linear part back, which is most of what a day does to T*, V
    linear = {"kind": "scaled", "centre": list(MIDDLE), "scale": [s / 10 for s in SPREAD], "map": identity}
    amounts = {"kind": "scaled", "centre": list(LARGE), "scale": 1.0, "map": {"kind": "power10"}}
    plain = [{"kind": "bias"}, linear, amounts]
    if share:
        own = {"kind": "action-blocks", "map": {"kind": "concat", "maps": plain}}
        return {"kind": "concat", "maps": [smooth, own]}
    return {"kind": "action-blocks", "map": {"kind": "concat", "maps": [smooth, *plain]}}
