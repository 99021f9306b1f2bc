"""Audits of a study: its own runs, the first ones of some rows, held against what the paper and certificates promise.

An audit is a cell of its own: what is audited, with which settings, and by which code. It is kept in the same store as
the runs, and found again there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from hreach.agents import make_agent
from hreach.agents.tables import TableAgent, is_table
from hreach.guarantees.audit import Audit, audit
from hreach.guarantees.audit.record import known_problem, sizes_of_problem
from hreach.problems.truth import truth_of
from hreach.protocols import Environment
from hreach.randomness.seeding import run_seeds
from hreach.running.executors import succeeded
from hreach.running.loop import run
from hreach.running.simulate import Setting
from hreach.studies.audited import AuditedRun, Counted, OverReach
from hreach.studies.code import AUDITING, PACKAGE, code_digest
from hreach.studies.grid import Cell, cell_of
from hreach.studies.identity import Data, id_of
from hreach.studies.record import AuditedRow
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Store
from hreach.studies.workers import Workers, here

PREFERRED = "as defined"  # the variant whose rows are audited, if the study has it
FAMILIES = ("PAC-RMDP(1)", "PAC-RMDP(8)", "PAC-RMDP(16)", "MBIE", "BOLT")
STUCK = "PAC-RMDP(1)"  # of which the other variants are audited too: with a first model of some weight it gets stuck
RUNS, CHECKPOINTS = 3, 30  # runs of a row at most: each takes half a second on a chain, stepped twice in Python
DELTA, PART_OF_TOP = 0.1, 0.1  # eps is this part of the range of values
REACH = 8  # by which an agent without an h of its own is judged


class AuditWatch(Protocol):
    """Receives progress."""

    def audits(self, left: int) -> Callable[[int], None]:
        """So many audits are still to come; the answer receives the number of those that are finished."""


@dataclass(frozen=True)
class AuditCell:
    """Audits of the runs of a cell; `h` is None for the agent's own."""

    cell: Cell
    h: int | None

    @cached_property
    def identity(self) -> Data:
        """What is audited, the settings, and the code that counts."""
        settings = {"h": self.h, "delta": DELTA, "part_of_top": PART_OF_TOP, "checkpoints": CHECKPOINTS}
        return {"audit": settings, "of": self.cell.identity, "code": code_digest(PACKAGE, AUDITING)}

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits."""
        return id_of(self.identity)


def audited_runs(runs: int) -> int:
    """How many runs of a row are audited: few of a study that was made small."""
    return min(RUNS, 1 + runs // 500)


def chosen(study: Study) -> list[AgentSpec]:
    """One row for each of `FAMILIES` that the study has, the first one, of the preferred variant if any row is; then
    those of other variants that get stuck."""
    specs = study.variants.get(PREFERRED, study.agent)
    firsts = (next((s for s in specs if s.label == f or s.label.startswith(f"{f}(")), None) for f in FAMILIES)
    others = [spec for spec in study.agent if spec.label == STUCK and PREFERRED in study.variants]
    return [*(spec for spec in firsts if spec is not None), *(s for s in others if s.variant != PREFERRED)]


def run_audits(
    study: Study,
    store: Store,
    runs: int | None = None,
    workers: Workers | None = None,
    watch: AuditWatch | None = None,
) -> list[AuditedRow]:
    """Audit the first runs of each chosen row of a study by steps; finished audits are not computed again."""
    many = audited_runs(study.runs if runs is None else runs)
    cells = [_audit_cell(cell_of(study, spec)) for spec in chosen(study)]
    lacking = [(each, number) for each in cells for number in store.lacking(each.id, many)]
    tasks = [(each.cell.setting, each.h, each.cell.entropy, number) for each, number in lacking]
    progress = watch.audits(len(tasks)) if watch else None
    for i, done in (workers or here()).stepped.run(audited, tasks):
        each, number = lacking[i]
        store.write(each, number, succeeded(done))
        if progress is not None:
            progress(1)
    rows = [study.agent.index(spec) for spec in chosen(study)]
    return [AuditedRow(row=row, cell=each.id, runs=many) for row, each in zip(rows, cells, strict=True)]


def audited(setting: Setting, h: int | None, entropy: Sequence[int], number: int) -> AuditedRun:
    """Run `number` of a cell, made again by `hreach.run` and audited."""
    env = setting.environment()
    env_seed, agent_seed = (int(s) for s in run_seeds(entropy, first=number, runs=1)[0])
    agent, mdp, steps = _agent(setting, env, agent_seed), truth_of(env), setting.steps
    assert mdp is not None
    assert steps is not None
    done = run(env, agent, steps=steps, seed=env_seed)
    eps = PART_OF_TOP * sizes_of_problem(known_problem(mdp, agent), agent).top
    at = np.unique(np.linspace(0, steps - 1, CHECKPOINTS).round().astype(int)).tolist()
    return _kept(audit(done, mdp, agent, eps=eps, delta=DELTA, h=h, checkpoints=at), own_reach=h is None)


def _audit_cell(cell: Cell) -> AuditCell:
    env = cell.setting.environment()
    own_reach = _agent(cell.setting, env, 0).planner.reach() is not None
    return AuditCell(cell, None if own_reach else REACH)


def _agent(setting: Setting, env: Environment, seed: int) -> TableAgent:
    agent = make_agent(setting.agent, env, seed=seed, **setting.params)
    assert is_table(agent)
    return agent


def _kept(found: Audit, own_reach: bool) -> AuditedRun:
    """What the report shows of an audit."""
    bad, exploring, certified = found.bad_steps, found.exploring_steps, found.certified
    curve = OverReach() if certified.curve is None else OverReach(*(tuple(part.tolist()) for part in certified.curve))
    return AuditedRun(
        h=int(found.h[-1]),
        own_reach=own_reach,
        eps=found.eps,
        delta=found.delta,
        steps=found.steps,
        largest=found.sizes.top,
        step=found.step,
        error=found.anytime_error,
        bound=found.anytime_bound,
        certified_gap=certified.reachable_gap,
        certified_error=certified.reachable_error,
        optimality_gap=certified.optimality_gap,
        optimality_error=certified.optimality_error,
        curve=curve,
        false=certified.violations,
        bad_steps=Counted(float(bad.measured), float(bad.bound), bad.why),
        exploring_steps=Counted(float(exploring.measured), float(exploring.bound), exploring.why),
        exploration_over=None if found.exploration_over is None else int(found.exploration_over),
        violations=found.violations,
        promised=found.promised,
        kept=None if found.kept is None else bool(found.kept),
        notes=tuple(found.notes),
    )
