"""The figures of a study, written as SVG and PNG, and as the page shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from hreach.domains import make_domain
from hreach.problems.truth import Draws, core_of
from hreach.registry import import_plugins
from hreach.report.claims import statistic
from hreach.report.figures import (
    Band,
    as_json,
    average_reward_chart,
    average_reward_figure,
    episodes_chart,
    episodes_figure,
    profile_bands,
    profiles_chart,
    profiles_figure,
    save,
)
from hreach.report.html.figure import FigureShown, figure_files
from hreach.report.numbers import total
from hreach.studies.record import Record
from hreach.studies.results import Result
from hreach.studies.spec import AgentSpec

Results = Sequence[tuple[AgentSpec, Result]]
_LONGEST = 100  # letters of a name: with endings and temporary names, far below what file systems take
SINGLE_RUNS = 30  # of each row, the first ones, that the page can show
PER_STEP, PER_EPISODE = "average reward per step of a run", "mean total reward of a run's episodes"


def figures_of(record: Record, results: Results, folder: Path) -> list[FigureShown]:
    """By steps a figure for each variant; by episodes one of all variants, and pictures of episodes; then profiles."""
    names = _figure_names(record.name, record.study.variants)
    curves = [(spec, result) for spec, result in results if not spec.reference]
    profiles = [
        _profiles(record, [(s, r) for s, r in curves if s.variant == variant], folder, f"{name}-profile")
        for variant, name in names.items()
        if any(spec.variant == variant for spec, _ in curves)
    ]
    if record.study.episodes is not None:
        return [_episodes(record, results, folder), *_pictures(record, results, folder), *profiles]
    main = [_average_reward(record, results, variant, folder, name) for variant, name in names.items()]
    return [shown for pair in zip(main, profiles, strict=True) for shown in pair]


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


def _average_reward(record: Record, results: Results, variant: str, folder: Path, name: str) -> FigureShown:
    """All algorithms of one variant."""
    of_variant = [(spec, result) for spec, result in results if spec.variant == variant]
    bands = [_band(spec, result.at, result.average_reward) for spec, result in of_variant]
    title = _titled(record, variant)
    svg = save(average_reward_figure(bands, title=title, optimal=record.optimum), folder, name)
    caption = f"{title}: average reward per step so far, {runs_of(of_variant)}. Line: mean; band: 10 % to 90 % of runs."
    numbers = as_json(average_reward_chart(bands, title=title, optimal=record.optimum))
    return FigureShown(caption, svg, numbers, figure_files(name))


def _episodes(record: Record, results: Results, folder: Path) -> FigureShown:
    """A panel for each variant."""
    panels: dict[str, list[Band]] = {variant: [] for variant in record.study.variants}
    references: dict[str, dict[str, float]] = {variant: {} for variant in panels}
    for spec, result in results:
        if spec.reference:
            references[spec.variant][spec.label] = float(result.learning.total.mean())
        else:
            panels[spec.variant].append(_band(spec, result.at, result.learning.total))
    panels = {variant: bands for variant, bands in panels.items() if bands}
    title, log = f"{record.study.title}: total reward per episode", record.study.scale == "log"
    svg = save(episodes_figure(panels, references, title=title, log=log), folder, record.name)
    caption = f"{title}, {runs_of(results)}. Line: mean over runs, not smoothed; band: 10 % to 90 % of runs."
    numbers = as_json(episodes_chart(panels, references, title=title, log=log))
    return FigureShown(caption, svg, numbers, figure_files(record.name))


def _profiles(record: Record, results: Results, folder: Path, name: str) -> FigureShown:
    """The performance profiles of the rows of one variant: their runs as they were at the end."""
    by_steps, variant = record.study.episodes is None, results[0][0].variant
    scores = [(s.label, r.average_reward[:, -1] if by_steps else statistic("total", r)) for s, r in results]
    bands, xlabel = profile_bands(scores), PER_STEP if by_steps else PER_EPISODE
    title = f"{_titled(record, variant)}: performance profiles"
    svg = save(profiles_figure(bands, title=title, xlabel=xlabel), folder, name)
    caption = (
        f"{title}, {runs_of(results)}. Line: the share of runs above x ({xlabel}); band: 95 %, simultaneous for the "
        "whole line (Dvoretzky, Kiefer and Wolfowitz)."
    )
    return FigureShown(caption, svg, as_json(profiles_chart(bands, title=title, xlabel=xlabel)), figure_files(name))


def _titled(record: Record, variant: str) -> str:
    return f"{record.study.title}, {variant}" if variant else record.study.title


def runs_of(results: Results) -> str:
    """How many runs the rows have, "100 to 1000" if not all have as many."""
    counts = sorted({result.runs for _, result in results})
    return f"{' to '.join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))} runs"


def _band(spec: AgentSpec, at: np.ndarray[tuple[int], np.dtype[np.int64]], values: np.ndarray) -> Band:
    """Mean, 10-90 % band, median and the first runs of values (runs, marks)."""
    low, median, high = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
    return Band(spec.label, at, values.mean(axis=0), low, high, median, values[:SINGLE_RUNS])


def _pictures(record: Record, results: Results, folder: Path) -> list[FigureShown]:
    """The last of the final episodes of run 0, for each row that asks for it, as the domain draws it."""
    asked = [(spec, result.last) for spec, result in results if spec.picture and result.last is not None]
    if not asked:
        return []
    study = record.study
    import_plugins(study.plugins)
    env = core_of(make_domain(study.domain, **study.domain_params))
    assert isinstance(env, Draws)  # checked when the study was loaded
    pictures = []
    for i, (spec, last) in enumerate(asked, start=1):
        name = f"{spec.label}, {spec.variant}" if spec.variant else spec.label
        caption = f"{study.title}: the last episode of the first run under the model that {name} learnt"
        earned = f"total reward {total(float(last.rewards.sum()))}"
        figure = env.episode_figure(last.states, last.actions)
        figure.set_label(f"{caption}; {earned}.")
        file = f"{record.name}-episode-{i}"
        shown = f"{caption}, without exploration: {earned}."
        pictures.append(FigureShown(shown, save(figure, folder, file), files=figure_files(file)))
    return pictures
