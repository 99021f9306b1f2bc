"""From the results of studies to files: tables as CSV, figures as SVG and PNG, one page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from hreach.domains import make_domain
from hreach.errors import require
from hreach.files import write_text
from hreach.report import claims, promises
from hreach.report.claims import Judged, judge_all
from hreach.report.figures import Band, average_reward_figure, episodes_figure, save
from hreach.report.html.page import PROVENANCE, Section, render
from hreach.report.numbers import total
from hreach.report.rows import Row
from hreach.report.tables import EPISODE_COLUMNS, episode_rows, load_printed, rows, to_csv
from hreach.report.verdicts import ClaimShown, Outcome, claims_summary, summary
from hreach.studies.maker import maker as this_maker
from hreach.studies.spec import AgentSpec, Study
from hreach.studies.store import EpisodeResult, Result


@dataclass(frozen=True)
class Finished:
    """A study by steps with its results and the time they took."""

    name: str
    study: Study
    results: Sequence[tuple[AgentSpec, Result]]
    seconds: float

    @property
    def size(self) -> str:
        """How much was simulated."""
        return f"{self.runs} runs of {self.study.steps} steps"

    @property
    def runs(self) -> int:
        """Runs of each row."""
        return len(self.results[0][1].total)

    @property
    def summary(self) -> str:
        """What came out of the comparison with the paper, in one sentence."""
        return summary(self.rows())

    def rows(self) -> list[Row]:
        """The study's table."""
        return rows(self.results, load_printed(self.study.printed) if self.study.printed else {})

    def section(self, out: Path) -> Section:
        """Write table and figures; the study's part of the page."""
        table = self.rows()
        csv = f"tables/{self.name}.csv"
        write_text(out / csv, to_csv(table))
        names = _figure_names(self.name, self.study.variants)
        figures = [_figure(out, self, variant, name) for variant, name in names.items()]
        return Section(self.name, self.study.title, self.study.text, figures, table, csv)


@dataclass(frozen=True)
class FinishedEpisodes:
    """A study by episodes with its results and the time they took."""

    name: str
    study: Study
    results: Sequence[tuple[AgentSpec, EpisodeResult]]
    seconds: float

    @property
    def size(self) -> str:
        """How much was simulated."""
        final = f" (and {self.study.final_episodes} without exploration)" if self.study.final_episodes else ""
        return f"{self.results[0][1].runs} runs of {self.study.episodes} episodes{final}"

    @property
    def summary(self) -> str:
        """What came out of the paper's claims, in one sentence."""
        return claims_summary([_claim_shown(variants) for variants in self.judged])

    @cached_property
    def judged(self) -> list[list[Judged]]:
        """For each claim the verdict of each variant."""
        return judge_all(self.study, self.results)

    def section(self, out: Path) -> Section:
        """Write tables and figures; the study's part of the page."""
        table, csv = episode_rows(self.results), f"tables/{self.name}.csv"
        write_text(out / csv, to_csv(table, EPISODE_COLUMNS))
        claims_csv = f"tables/{self.name}-claims.csv" if self.judged else None
        if claims_csv is not None:
            write_text(out / claims_csv, claims.to_csv(j for variants in self.judged for j in variants))
        figures = [_episodes_figure(out, self), *_pictures(out, self)]
        shown = [_claim_shown(variants) for variants in self.judged]
        return Section(self.name, self.study.title, self.study.text, figures, table, csv, shown, claims_csv)


def publish(
    out: Path, title: str, lead: str, finished: Sequence[Finished | FinishedEpisodes], audited: Sequence[str] = ()
) -> Path:
    """Write DIR/tables/*.csv, DIR/figures/*.svg|png and the page; its path, DIR/report.html or as `_page`, is returned.

    Of the studies named in `audited`, some runs are held against the paper's promises.
    """
    for folder in ("tables", "figures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    sections = [done.section(out) for done in finished]
    facts = dict(provenance(finished))
    judged = [(d.name, d.study, d.runs) for d in finished if isinstance(d, Finished) and d.name in audited]
    if judged:
        sections.append(promises.section(out, judged))
        facts[promises.TITLE] = promises.settings(judged)
    page = _page(out, [done.name for done in finished])
    write_text(page, render(title, lead, sections, facts))
    return page


def check_folder(out: Path) -> None:
    """Refuse, before any work is done, a folder in which there is no room for what will be written."""
    for name in ("shards", "tables", "figures"):
        place = out / name
        require(place.is_dir() or not place.exists(), "out", str(out), f"a folder in which {name!r} is no file")


def _page(out: Path, studies: Sequence[str]) -> Path:
    """DIR/report.html, or DIR/report-STUDIES.html where that is the page of other studies."""
    page = out / "report.html"
    there = set(re.findall(r'<section id="([^"]+)">', page.read_text("utf-8"))) if page.is_file() else set()
    if not there or there - {PROVENANCE, promises.ANCHOR} == set(studies):
        return page
    return out / f"report-{'-'.join(studies)[:_LONGEST]}.html"


_LONGEST = 100  # letters of a name: with endings and temporary names, far below what file systems take


def file_name(text: str) -> str:
    """Any text as letters, digits, '-' and '_', not too many; it may come out empty."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", text)[:_LONGEST].strip("-_")


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


def _episodes_figure(out: Path, done: FinishedEpisodes) -> tuple[str, str]:
    """(caption, svg): a panel for each variant."""
    panels: dict[str, list[Band]] = {variant: [] for variant in done.study.variants}
    references: dict[str, dict[str, float]] = {variant: {} for variant in panels}
    for spec, result in done.results:
        if spec.reference:
            references[spec.variant][spec.label] = float(result.learning.total.mean())
        else:
            panels[spec.variant].append(_episode_band(spec, result))
    panels = {variant: bands for variant, bands in panels.items() if bands}
    title = f"{done.study.title}: total reward per episode"
    figure = episodes_figure(panels, references, title=title, log=done.study.scale == "log")
    runs = done.results[0][1].runs
    caption = f"{title}, {runs} runs. Line: mean over runs, not smoothed; band: 10 % to 90 % of runs."
    return caption, save(figure, out / "figures", done.name)


def _pictures(out: Path, done: FinishedEpisodes) -> list[tuple[str, str]]:
    """(caption, svg) of the last plain episode of run 0, for each row that asks for it, as the domain draws it."""
    asked = [(spec, result.last) for spec, result in done.results if spec.picture and result.last is not None]
    env = make_domain(done.study.domain, **done.study.domain_params)
    pictures = []
    for i, (spec, last) in enumerate(asked, start=1):
        name = f"{spec.label}, {spec.variant}" if spec.variant else spec.label
        caption = f"{done.study.title}: the last episode of the first run under the model that {name} learnt"
        earned = f"total reward {total(float(last.rewards.sum()))}"
        figure = env.episode_figure(last.states, last.actions)
        figure.set_label(f"{caption}; {earned}.")
        svg = save(figure, out / "figures", f"{done.name}-episode-{i}")
        pictures.append((f"{caption}, without exploration: {earned}.", svg))
    return pictures


def _claim_shown(variants: Sequence[Judged]) -> ClaimShown:
    claim = variants[0].claim
    outcomes = [Outcome(j.variant, j.verdict, j.evidence) for j in variants]
    return ClaimShown(claim.text, claim.source, claims.rule(claim), outcomes)


def _episode_band(spec: AgentSpec, result: EpisodeResult) -> Band:
    totals = result.learning.total
    low, high = np.quantile(totals, [0.1, 0.9], axis=0)
    return Band(spec.label, np.arange(1, totals.shape[1] + 1), totals.mean(axis=0), low, high)


def _optimal(study: Study) -> float:
    """Average reward of the optimal policy."""
    mdp = make_domain(study.domain, **study.domain_params).mdp()
    return float(mdp.average_reward(mdp.optimal_policy()))


def provenance(finished: Sequence[Finished | FinishedEpisodes]) -> Mapping[str, str]:
    """What one needs to make these numbers again: what computed them, and what drew them where that was another."""
    makers = [maker for done in finished for _, result in done.results for maker in result.makers]
    facts = {name: "\n".join(dict.fromkeys(m[name] for m in makers)) for name in this_maker() if makers}
    if any(maker != this_maker() for maker in makers):
        facts["Drawn by"] = "\n".join(f"{name} {value}" for name, value in this_maker().items())
    for done in finished:
        study = done.study
        shared = "".join(f"{k} = {v}, " for k, v in study.settings.items()).removesuffix(", ") or "no shared settings"
        facts[f"Study: {study.title}"] = (
            f"{done.size}, seed {study.seed}; "
            f"{shared}; time taken: {done.seconds:.1f} s\n" + "\n".join(_settings(*r) for r in done.results)
        )
    return facts


def _settings(spec: AgentSpec, result: Result | EpisodeResult) -> str:
    """One row's parameters, and whether its constants come from theory or were given by hand."""
    given = ", ".join(f"{k} = {v}" for k, v in spec.params.items())
    constants = ", ".join(f"{k} = {_short(v)}" for k, v in result.agent.get("constants", {}).items())
    variant = f" ({spec.variant})" if spec.variant else ""
    parts = [f"{spec.label}{variant}: {spec.agent}", f"with {given}" if given else ""]
    # What a linear agent estimates differs from run to run.
    origin = result.agent.get("origin", "")
    words = f"constants ({origin})" if isinstance(result, Result) else "at the end of the first run"
    parts.append(f"; {words}: {constants}" if constants else "")
    return " ".join(part for part in parts if part).replace(" ;", ";")


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "per pair"
