"""The figures of a study: (caption, SVG) of each, written as SVG and PNG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from hreach.domains import make_domain
from hreach.problems.truth import Draws, core_of
from hreach.registry import import_plugins
from hreach.report.figures import Band, average_reward_figure, episodes_figure, save
from hreach.report.numbers import total
from hreach.studies.record import Record
from hreach.studies.results import Result
from hreach.studies.spec import AgentSpec

Results = Sequence[tuple[AgentSpec, Result]]
_LONGEST = 100  # letters of a name: with endings and temporary names, far below what file systems take


def figures_of(record: Record, results: Results, folder: Path) -> list[tuple[str, str]]:
    """By steps a figure for each variant; by episodes one of all variants, and pictures of episodes."""
    if record.study.episodes is not None:
        return [_episodes(record, results, folder), *_pictures(record, results, folder)]
    names = _figure_names(record.name, record.study.variants)
    return [_average_reward(record, results, variant, folder, name) for variant, name in names.items()]


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


def _average_reward(record: Record, results: Results, variant: str, folder: Path, name: str) -> tuple[str, str]:
    """All algorithms of one variant."""
    bands = [_band(spec, result.at, result.average_reward) for spec, result in results if spec.variant == variant]
    title = f"{record.study.title}, {variant}" if variant else record.study.title
    figure = average_reward_figure(bands, title=title, optimal=record.optimum)
    caption = f"{title}: average reward per step so far, {record.runs} runs. Line: mean; band: 10 % to 90 % of runs."
    return caption, save(figure, folder, name)


def _episodes(record: Record, results: Results, folder: Path) -> tuple[str, str]:
    """A panel for each variant."""
    panels: dict[str, list[Band]] = {variant: [] for variant in record.study.variants}
    references: dict[str, dict[str, float]] = {variant: {} for variant in panels}
    for spec, result in results:
        if spec.reference:
            references[spec.variant][spec.label] = float(result.learning.total.mean())
        else:
            panels[spec.variant].append(_band(spec, result.at, result.learning.total))
    panels = {variant: bands for variant, bands in panels.items() if bands}
    title = f"{record.study.title}: total reward per episode"
    figure = episodes_figure(panels, references, title=title, log=record.study.scale == "log")
    caption = f"{title}, {record.runs} runs. Line: mean over runs, not smoothed; band: 10 % to 90 % of runs."
    return caption, save(figure, folder, record.name)


def _band(spec: AgentSpec, at: np.ndarray[tuple[int], np.dtype[np.int64]], values: np.ndarray) -> Band:
    """Mean and 10-90 % band of values (runs, marks)."""
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    return Band(spec.label, at, values.mean(axis=0), low, high)


def _pictures(record: Record, results: Results, folder: Path) -> list[tuple[str, str]]:
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
        pictures.append(
            (f"{caption}, without exploration: {earned}.", save(figure, folder, f"{record.name}-episode-{i}"))
        )
    return pictures
