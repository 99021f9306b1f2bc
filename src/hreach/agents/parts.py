"""Which model and planner a tabular agent gets where it does not say: by the size of its table."""

from __future__ import annotations

from typing import NamedTuple

from hreach.registry import Thing

LARGE = 10**6  # |S|^2 |A| above which a dense table is no longer the default: it takes 24 MB, a sweep .2 ms
FEW = 2_000  # below which sweeps over a dense table are faster than a local plan (benchmarks/LOCAL.md)


class Parts(NamedTuple):
    """A model, a planner, and the weight of the prior."""

    model: Thing
    planner: Thing
    prior: float


def chosen_parts(
    states: int, actions: int, model: Thing = "auto", planner: Thing | None = None, prior: float | None = None,
    told: bool = False,
) -> Parts:  # fmt: skip
    """What is asked for, and what goes with it; `told`: the possible next states are known.

    >>> chosen_parts(5, 2), chosen_parts(10_000, 4)
    (Parts(model='counts', planner='sweeps', prior=1.0), Parts(model='sparse-counts', planner='local', prior=0.0))
    """
    fastest = planner == "auto"
    if model == "auto":
        large = states * states * actions > (FEW if fastest else LARGE)
        sparse = planner == "local" or (planner in (None, "auto") and (told or (large and not prior)))
        model = "sparse-counts" if sparse else "counts"
        weight = 0.0 if sparse or fastest else 1.0
    else:
        weight = 0.0 if model == "sparse-counts" else 1.0
    usual = "local" if model == "sparse-counts" else "sweeps"
    return Parts(model, usual if planner in (None, "auto") else planner, weight if prior is None else prior)
