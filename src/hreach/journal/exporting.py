"""The rows of a journal as a CSV or Parquet file, for other programs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from hreach.errors import require
from hreach.files import writable_file, write_whole
from hreach.journal.entries import Entry
from hreach.journal.journal import Journal


def export(journal: Journal, path: Path) -> int:
    """Write all rows; the ending of the name says how. How many there are is returned."""
    require(path.suffix.lower() in (".csv", ".parquet"), "file", str(path), "one that ends in .csv or .parquet")
    where = writable_file("file", path)
    assert where is not None
    rows = list(journal.entries())
    write_whole(where, _as_csv(rows) if where.suffix.lower() == ".csv" else _as_parquet(rows))
    return len(rows)


def _as_csv(rows: list[Entry]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(Entry._fields)
    writer.writerows(["" if x is None else int(x) if isinstance(x, bool) else x for x in row] for row in rows)
    return file.getvalue().encode("utf-8")


def _as_parquet(rows: list[Entry]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, flag = pa.string(), pa.bool_()
    kinds = (pa.int64(), text, text, text, flag, text, text, pa.float64(), text, flag, text)
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    file = io.BytesIO()
    pq.write_table(pa.table(arrays, names=list(Entry._fields)), file)
    return file.getvalue()
