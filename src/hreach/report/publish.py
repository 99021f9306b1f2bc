"""From a store to files: tables as CSV, figures as SVG and PNG, one page. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hreach.errors import require
from hreach.files import write_text
from hreach.report import promises
from hreach.report.finished import Finished
from hreach.report.html.page import PROVENANCE, render
from hreach.report.provenance import provenance
from hreach.studies.record import FOLDER

TITLE = "Bounded optimal exploration, reproduced"
_LONGEST = 100  # letters of a name: with endings and temporary names, far below what file systems take


def publish(out: Path, finished: Sequence[Finished]) -> Path:
    """Write DIR/tables/*.csv, DIR/figures/*.svg|png and the page, DIR/report.html or as `page_of`; return its path."""
    for folder in ("tables", "figures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    sections = [done.section(out) for done in finished]
    facts = dict(provenance(finished))
    judged = [(done.name, done.study, done.audits) for done in finished if done.audits]
    if judged:
        sections.append(promises.section(out, judged))
        facts[promises.TITLE] = promises.settings(judged)
    page = page_of(out, [done.name for done in finished])
    write_text(page, render(_title(finished), _lead(finished), sections, facts))
    return page


def check_folder(out: Path) -> None:
    """Refuse, before any work is done, a folder in which there is no room for what will be written."""
    for name in ("shards", "tables", "figures", FOLDER):
        place = out / name
        require(place.is_dir() or not place.exists(), "out", str(out), f"a folder in which {name!r} is no file")


def _title(finished: Sequence[Finished]) -> str:
    if all(done.record.paper for done in finished):
        return TITLE
    titles = [done.study.title for done in finished]
    of_file = {title.rpartition(": ")[0] for title in titles}  # those of one file have one title, and then their domain
    shared = of_file.pop() if len(of_file) == 1 and len(titles) > 1 else ""
    return shared or ", ".join(titles)


def _lead(finished: Sequence[Finished]) -> str:
    """What the page is about; of studies that are not the paper's, their own texts say it."""
    studies = [done.study for done in finished]
    if not all(done.record.paper for done in finished):
        return ""
    lead = "The experiments of “Bounded Optimal Exploration in MDP” (Kawaguchi, AAAI 2016), run again."
    if any(study.episodes is None for study in studies):
        lead += (
            " The discrete ones: our numbers beside the printed ones, and beside both what the algorithms do with the "
            "constants that their definitions ask for."
        )
    if any(study.episodes is not None for study in studies):
        lead += (
            " The continuous ones, of which the paper prints no numbers: what its text says, and whether it came out, "
            "as printed and without constants set by hand."
        )
    return lead


def page_of(out: Path, studies: Sequence[str]) -> Path:
    """Where the page of studies is, or goes: DIR/report.html, or DIR/report-STUDIES.html if that is of other ones."""
    page = out / "report.html"
    there = set(re.findall(r'<section id="([^"]+)">', page.read_text("utf-8"))) if page.is_file() else set()
    if not there or there - {PROVENANCE, promises.ANCHOR} == set(studies):
        return page
    return out / f"report-{'-'.join(studies)[:_LONGEST]}.html"
