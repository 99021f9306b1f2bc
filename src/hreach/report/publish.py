"""From the results of studies to files: tables as CSV, figures as SVG and PNG, one page."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from hreach._version import __version__
from hreach.domains import make_domain
from hreach.report.figures import Band, average_reward_figure, save
from hreach.report.page import Row, Section, render, write
from hreach.report.tables import load_printed, rows, to_csv
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import Result


@dataclass(frozen=True)
class Finished:
    """A study with its results and the time they took."""

    name: str
    study: Study
    results: Sequence[tuple[AgentSpec, Result]]
    seconds: float

    def rows(self) -> list[Row]:
        """The study's table."""
        return rows(self.results, load_printed(self.study.printed) if self.study.printed else {})


def publish(out: Path, title: str, lead: str, finished: Sequence[Finished]) -> Path:
    """Write DIR/tables/*.csv, DIR/figures/*.svg|png and DIR/report.html; the page's path is returned."""
    for folder in ("tables", "figures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    sections = [_section(out, done) for done in finished]
    page = out / "report.html"
    write(page, render(title, lead, sections, provenance(finished)))
    return page


def _section(out: Path, done: Finished) -> Section:
    table = done.rows()
    csv = f"tables/{done.name}.csv"
    write(out / csv, to_csv(table))
    variants = dict.fromkeys(spec.variant for spec, _ in done.results)
    figures = [_figure(out, done, variant, name) for variant, name in _figure_names(done.name, variants).items()]
    return Section(done.name, done.study.title, done.study.text, figures, table, csv)


def file_name(text: str) -> str:
    """Any text as letters, digits, '-' and '_'; it may come out empty."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", text).strip("-_")


def _figure_names(study: str, variants: Iterable[str]) -> dict[str, str]:
    """A file name for each variant, no two alike."""
    names: dict[str, str] = {}
    for variant in variants:
        name = f"{study}-{file_name(variant)}".rstrip("-")
        names[variant] = name if name not in names.values() else f"{name}-{len(names)}"
    return names


def _figure(out: Path, done: Finished, variant: str, name: str) -> tuple[str, str]:
    """(caption, svg) of all algorithms of one variant."""
    bands = [_band(spec, result) for spec, result in done.results if spec.variant == variant]
    title = f"{done.study.title}, {variant}" if variant else done.study.title
    figure = average_reward_figure(bands, title=title, optimal=_optimal(done.study))
    runs = len(done.results[0][1].total)
    caption = f"{title}: average reward per step so far, {runs} runs. Line: mean; band: 10 % to 90 % of runs."
    return caption, save(figure, out / "figures", name)


def _band(spec: AgentSpec, result: Result) -> Band:
    average = result.average_reward
    low, high = np.quantile(average, [0.1, 0.9], axis=0)
    return Band(spec.label, result.steps, average.mean(axis=0), low, high)


def _optimal(study: Study) -> float:
    """Average reward of the optimal policy."""
    mdp = make_domain(study.domain, **study.domain_params).mdp()
    return float(mdp.average_reward(mdp.optimal_policy()))


def provenance(finished: Sequence[Finished]) -> Mapping[str, str]:
    """What one needs to make these numbers again."""
    parts = ("numpy", "scipy", "numba", "gymnasium")
    facts = {
        "hreach": __version__,
        "Python": f"{platform.python_version()}, " + ", ".join(f"{p} {version(p)}" for p in parts),
        "Machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    for done in finished:
        study = done.study
        shared = ", ".join(f"{k} = {v}" for k, v in study.settings.items())
        facts[f"Study: {study.title}"] = (
            f"{len(done.results[0][1].total)} runs of {study.steps} steps, seed {study.seed}; "
            f"{shared}; time taken: {done.seconds:.1f} s\n" + "\n".join(_settings(*r) for r in done.results)
        )
    return facts


def _settings(spec: AgentSpec, result: Result) -> str:
    """One row's parameters, and whether its constants come from theory or were given by hand."""
    given = ", ".join(f"{k} = {v}" for k, v in spec.params.items())
    constants = ", ".join(f"{k} = {_short(v)}" for k, v in result.agent.get("constants", {}).items())
    variant = f" ({spec.variant})" if spec.variant else ""
    parts = [f"{spec.label}{variant}: {spec.agent}", f"with {given}" if given else ""]
    parts.append(f"; constants ({result.agent['origin']}): {constants}" if constants else "")
    return " ".join(part for part in parts if part).replace(" ;", ";")


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "per pair"
