"""How much each printed cell of the two discrete tables can tell. Writes benchmarks/INFORMATIVE.md (some minutes).

For each cell the settings around ours (one thing changed at a time) are run like ours, 1000 runs of 3000 steps, and
judged by the report's rule. A cell *excludes* a neighbour whose numbers are not the printed ones; it is *informative*
if it excludes more than half of its neighbours. A cell that excludes few says little about what was run.

Then every algorithm is run with one setting for both problems: the one that reproduces most of its cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hreach
from hreach.optimism.mbie import known_threshold
from hreach.optimism.mbie_eb import bonus_constant
from hreach.optimism.vbe import beta_theory
from hreach.report.tables import PRINTED_RUNS, Printed, load_printed, misses
from hreach.report.verdicts import AS_DEFINED, AS_PRINTED
from hreach.studies.grid import cell_of
from hreach.studies.loading import load_catalog
from hreach.studies.spec import AgentSpec

Array = NDArray[np.float64]
PROBLEMS = ("chain", "modified-chain")
MBIE = {"MBIE(0.01, 0.1)": (0.01, 0.1), "MBIE(20, 0.9)": (20.0, 0.9), "MBIE(1e4, 0.2)": (1e4, 0.2)}
VBE = {"VBE(0.1)": 0.1, "VBE(0.99)": 0.99, "VBE(1e3)": 1e3}
FAMILIES = ("PAC-RMDP", "MBIE", "VBE", "BEB", "BOLT")
RESET = [1, 0]  # ties to the reset action
CAP = 20.0


@dataclass(frozen=True)
class Cell:
    """A printed cell and the row that is meant to give it."""

    problem: str
    spec: AgentSpec
    printed: Printed

    @property
    def label(self) -> str:
        return self.spec.label

    @property
    def family(self) -> str:
        return self.label.split("(")[0]

    def with_(self, agent: str = "", **params: Any) -> AgentSpec:
        """Our setting with something changed; None takes a parameter away."""
        merged = {k: v for k, v in {**self.spec.params, **params}.items() if v is not None}
        return AgentSpec(agent=agent or self.spec.agent, params=merged)


def cells(variant: str) -> list[Cell]:
    found = []
    for problem in PROBLEMS:
        printed = load_printed(f"{problem}.csv")
        rows = load_catalog(problem).variants[variant]
        found += [Cell(problem, spec, printed[spec.label]) for spec in rows if spec.label in printed]
    return found


def average_rewards(problem: str, spec: AgentSpec) -> Array:
    """Those of 1000 runs, (runs,); a row of the study gives the numbers of the study."""
    return _average_rewards(problem, spec.model_dump_json())


@cache
def _average_rewards(problem: str, spec: str) -> Array:
    study = load_catalog(problem)
    cell = cell_of(study, AgentSpec.model_validate_json(spec))
    done = hreach.simulate(
        problem, cell.agent, cell.params, runs=PRINTED_RUNS, steps=study.steps or 1, seed=cell.entropy, threads=1
    )
    return np.asarray(done.average_reward)


def reproduced(problem: str, spec: AgentSpec | None, printed: Printed) -> bool:
    return spec is not None and not misses(average_rewards(problem, spec), printed)


def reproduced_wide(problem: str, spec: AgentSpec | None, printed: Printed) -> bool:
    """By a wide tolerance: 3 combined standard errors + .003 for the mean, .012 for quantiles."""
    if spec is None:
        return False
    values = average_rewards(problem, spec)
    ok = abs(values.mean() - printed.mean) <= 3 * values.std(ddof=1) * math.sqrt(2 / PRINTED_RUNS) + 0.003
    for p, theirs in ((0.1, printed.p10), (0.9, printed.p90)):
        ok = ok and (theirs is None or abs(np.quantile(values, p) - theirs) <= 0.012)
    return bool(ok)


# --- settings -----------------------------------------------------------------


def mbie_eb(label: str, actions: int) -> dict[str, Any] | None:
    """The constant as if there were so many actions; None where it is not real."""
    epsilon, delta = MBIE[label]
    beta = bonus_constant(5, actions, 0.95, known_threshold(5, actions, 0.95, epsilon, delta, 1), delta, 1)
    return None if math.isnan(beta) else {"beta": beta}


def vbe(label: str, actions: int) -> dict[str, Any]:
    return {"beta": beta_theory(5, actions, 0.95, VBE[label], 1)}


def neighbours(cell: Cell) -> dict[str, AgentSpec]:
    """The settings around ours, by name."""
    found = {f"prior {p}": cell.with_(prior=p) for p in (0, 1, 5) if p != cell.spec.params["prior"]}
    if cell.spec.params.get("ties") == RESET:
        found["ties at random"] = cell.with_(ties="random")
    else:
        found["ties to reset"] = cell.with_(ties=RESET)
    own = {"PAC-RMDP": "h", "BOLT": "eta"}.get(cell.family)
    if own is not None:
        value = cell.spec.params[own]
        found |= {f"{own} {value * k:g}": cell.with_(**{own: value * k}) for k in (0.5, 0.75, 1.5, 2)}
        return found
    params = {"MBIE": mbie_eb, "VBE": vbe}
    beta = cell.spec.params.get("beta") or vbe(cell.label, 2)["beta"]
    scaled = {"1/4": 0.25, "1/2": 0.5, "2": 2.0, "4": 4.0}
    found |= {f"β × {name}": cell.with_(beta=k * beta, delta=None) for name, k in scaled.items()}
    if cell.family in params:
        ours = 5 if math.isclose(beta, (params[cell.family](cell.label, 5) or {})["beta"]) else 2
        if other := params[cell.family](cell.label, 7 - ours):
            found[f"|A| = {7 - ours}"] = cell.with_(delta=None, **other)
    if cell.family == "MBIE":
        epsilon, delta = MBIE[cell.label]
        found["exact L1 ball"] = cell.with_("mbie", beta=None, epsilon=epsilon, delta=delta)
        found["values capped at 20"] = cell.with_(value_cap=CAP)
    return found


Setting = Callable[[Cell], AgentSpec | None]


def shared_settings(family: str) -> Iterator[tuple[str, Setting]]:
    """Settings that can be given to an algorithm once, for both problems."""
    priors, ties = (1, 0, 5), (("at random", "random"), ("to reset", RESET))
    if family == "MBIE":
        caps = (("no cap", None), ("cap 20", CAP))
        for actions, prior, (tie, order), (cap, value) in product((2, 5, None), priors, ties, caps):
            kind = "exact ball" if actions is None else f"MBIE-EB, |A| = {actions}"
            yield f"{kind}, prior {prior}, ties {tie}, {cap}", _mbie(actions, prior, order, value)
    elif family == "VBE":
        for actions, prior in product((2, 5), (1, 0, 2, 3, 5)):
            yield f"|A| = {actions}, prior {prior}", _vbe(actions, prior)
    else:
        for prior, (tie, order) in product(priors, ties):
            yield f"prior {prior}, ties {tie}", _changed(prior, order)


def _mbie(actions: int | None, prior: int, ties: Any, cap: float | None) -> Setting:
    shared = {"prior": prior, "ties": ties} | ({} if cap is None else {"value_cap": cap})

    def spec(cell: Cell) -> AgentSpec | None:
        if actions is None:
            epsilon, delta = MBIE[cell.label]
            return AgentSpec(agent="mbie", params={"epsilon": epsilon, "delta": delta, **shared})
        beta = mbie_eb(cell.label, actions)
        return None if beta is None else AgentSpec(agent="mbie-eb", params={**beta, **shared})

    return spec


def _vbe(actions: int, prior: int) -> Setting:
    return lambda cell: AgentSpec(agent="vbe", params={**vbe(cell.label, actions), "prior": prior})


def _changed(prior: int, ties: Any) -> Setting:
    return lambda cell: cell.with_(prior=prior, ties=ties)


# --- what came out --------------------------------------------------------------


def excluded(cell: Cell) -> dict[str, bool]:
    """For each neighbour whether the cell excludes it."""
    return {name: not reproduced(cell.problem, spec, cell.printed) for name, spec in neighbours(cell).items()}


def informative(cell: Cell) -> bool:
    found = excluded(cell).values()
    return 2 * sum(found) > len(found)


def best_shared(family: str, judge: Callable[..., bool]) -> tuple[str, list[Cell]]:
    """The setting that gives most of the family's cells on both problems, and which."""
    own = [cell for cell in cells(AS_PRINTED) if cell.family == family]
    tried = [
        (name, [c for c in own if judge(c.problem, setting(c), c.printed)]) for name, setting in shared_settings(family)
    ]
    return max(tried, key=lambda found: len(found[1]))


def run_all() -> None:
    """Everything that is asked for below, on all cores."""
    work: list[tuple[str, AgentSpec]] = []
    for cell in cells(AS_PRINTED):
        settings = [setting(cell) for _, setting in shared_settings(cell.family)]
        specs = [cell.spec, *neighbours(cell).values(), *(s for s in settings if s is not None)]
        work += [(cell.problem, spec) for spec in specs]
    work += [(cell.problem, cell.spec) for cell in cells(AS_DEFINED)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda job: average_rewards(*job), work))


def family_table(family: str) -> list[str]:
    lines = [
        f"*{family}*",
        "",
        "| cell | reproduced | excludes | does not exclude | informative |",
        "|---|---|---|---|---|",
    ]
    for cell in (c for c in cells(AS_PRINTED) if c.family == family):
        found = excluded(cell)
        sides = ["; ".join(_cell(n) for n, out in found.items() if out is side) or "–" for side in (True, False)]
        came_out = "yes" if reproduced(cell.problem, cell.spec, cell.printed) else "no"
        told = "yes" if informative(cell) else "no"
        lines.append(
            f"| {cell.label}, {cell.problem.replace('-', ' ')} | {came_out} | {sides[0]} | {sides[1]} | {told} |"
        )
    return [*lines, ""]


def _cell(text: str) -> str:
    """Text that may stand in a table."""
    return text.replace("|", "\\|")


def shared_table() -> list[str]:
    lines = ["| algorithm | the one setting that gives most | gives | of |", "|---|---|---|---|"]
    for family in FAMILIES:
        name, found = best_shared(family, reproduced)
        lines.append(
            f"| {family} | {_cell(name)} | {len(found)} | {sum(c.family == family for c in cells(AS_PRINTED))} |"
        )
    return [*lines, ""]


def count_table() -> list[str]:
    """Reproduced cells by how the settings were chosen."""
    telling = {(c.problem, c.label) for c in cells(AS_PRINTED) if informative(c)}

    def row(name: str, tight: list[Cell], wide: list[Cell]) -> str:
        told = sum((c.problem, c.label) in telling for c in tight)
        return f"| {name} | {len(tight)} of 22 | {told} of {len(telling)} | {len(wide)} of 22 |"

    def own(variant: str, judge: Callable[..., bool]) -> list[Cell]:
        return [c for c in cells(variant) if judge(c.problem, c.spec, c.printed)]

    def shared(judge: Callable[..., bool]) -> list[Cell]:
        return [cell for family in FAMILIES for cell in best_shared(family, judge)[1]]

    return [
        "| settings | cells reproduced | informative cells reproduced | by a wide tolerance |",
        "|---|---|---|---|",
        row("chosen for each problem", own(AS_PRINTED, reproduced), own(AS_PRINTED, reproduced_wide)),
        row("one for each algorithm", shared(reproduced), shared(reproduced_wide)),
        row("as defined", own(AS_DEFINED, reproduced), own(AS_DEFINED, reproduced_wide)),
        "",
    ]


def main() -> None:
    run_all()
    lines = ["Made by `python benchmarks/informative.py`: 1000 runs of 3000 steps for each setting.", ""]
    lines += [*count_table(), *shared_table()]
    for family in FAMILIES:
        lines += family_table(family)
    text = "\n".join(lines)
    print(text)
    (Path(__file__).parent / "INFORMATIVE.md").write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
