"""How far the studies in a folder are, for people or for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hreach.cli.progress import row_name
from hreach.errors import require
from hreach.studies.record import names_in, read_record
from hreach.studies.status import RowStatus, damaged, rows_of
from hreach.studies.store import Store

Rows = Mapping[str, Sequence[RowStatus]]  # by the name of the study
Bad = Mapping[str, str]  # damaged shards: where, and what is wrong


def show(folder: Path, verify: bool, as_json: bool) -> bool:
    """Print how far studies are, and with `verify` whether their shards are whole; whether nothing is wrong."""
    store, names = Store(folder, writing=False), names_in(folder)
    require(bool(names), "DIR", str(folder), "a folder in which a study was begun")
    rows = {name: rows_of(store, read_record(folder, name)) for name in names}
    checked = list(damaged(store)) if verify else []
    bad = {str(path.relative_to(folder)): why for path, why in checked if why is not None}
    if as_json:
        print(_json(rows, len(checked), bad))
    else:
        print("\n".join(_lines(rows, len(checked) if verify else None, bad)))
    return not bad and not any(row.failed for each in rows.values() for row in each)


def _json(rows: Rows, checked: int, bad: Bad) -> str:
    studies = {name: [_data(row) for row in each] for name, each in rows.items()}
    return json.dumps({"studies": studies, "checked": checked, "damaged": bad}, indent=1)


def _data(row: RowStatus) -> dict[str, object]:
    return {
        "row": row.spec.label,
        "variant": row.spec.variant,
        "cell": row.cell,
        "done": row.done,
        "runs": row.runs,
        "failed": [str(each) for each in row.failed],
    }


def _lines(rows: Rows, checked: int | None, bad: Bad) -> list[str]:
    lines = []
    for name, each in rows.items():
        done, runs = sum(row.done for row in each), sum(row.runs for row in each)
        lines.append(f"{name}: {sum(row.whole for row in each)} of {len(each)} rows, {done} of {runs} runs")
        for row in each:
            if not row.whole:
                lines.append(f"  {row_name(row.spec):<34} {row.done} of {row.runs} runs")
                lines += [f"    failed, {failed}" for failed in row.failed]
    if checked is not None:
        lines.append(f"{checked} shards checked, {len(bad)} damaged")
    return [*lines, *(f"  {place}: {why}" for place, why in bad.items())]
