"""Rows of a log, some at a time: CSV (also .csv.gz) and Parquet, never the whole file at once.

Of a CSV file all values are taken as bytes, so that nothing is guessed and a bad value spoils its own row only. Its
lines are numbered from 1, the header; rows of Parquet from 1 too.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from hreach.errors import InputError, require
from hreach.logs.columns import Columns
from hreach.protocols import Ints

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 20  # bytes of CSV at a time
_ROWS = 1 << 16  # rows of Parquet at a time
ENDINGS = (".csv", ".csv.gz", ".parquet")


class Bad(NamedTuple):
    """A row that cannot be used: its line, and why not."""

    line: int
    why: str


class Chunk(NamedTuple):
    """Some rows: their lines (N,), their columns as Arrow arrays (N,), rows that are none, and how far this leads."""

    lines: Ints
    columns: dict[str, pa.Array]
    broken: list[Bad]
    done: int


class Source(Protocol):
    """A log: chunk by chunk."""

    total: int  # what `done` leads to
    word: str  # what a row is called: "line" or "row"

    def chunks(self) -> Iterator[Chunk]:
        """All rows, in order."""


def source_of(path: Path, columns: Columns) -> Source:
    """The log of this name, opened, its columns checked."""
    name = path.name.lower()
    require(name.endswith(ENDINGS), "log", str(path), f"a file that ends in {', '.join(ENDINGS)}, or minari:ID")
    require(path.is_file(), "log", str(path), "a file that is there")
    return ParquetLog(path, columns) if name.endswith(".parquet") else CsvLog(path, columns)


class CsvLog:
    """A CSV file with a header."""

    word = "line"

    def __init__(self, path: Path, columns: Columns) -> None:
        self._path, self._columns = path, columns
        self.total = path.stat().st_size
        self._header = self._read_header()
        columns.check_there(path, self._header)

    def _stream(self, raw: pa.NativeFile) -> pa.NativeFile:
        import pyarrow as pa

        return pa.CompressedInputStream(raw, "gzip") if self._path.name.lower().endswith(".gz") else raw

    def _read_header(self) -> list[str]:
        import pyarrow as pa

        try:
            with pa.OSFile(str(self._path)) as raw, self._stream(raw) as stream:
                first = stream.read(1 << 16).split(b"\n", 1)[0]
            names = next(csv.reader([first.decode("utf-8-sig").rstrip("\r")]), [])
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{self._path} cannot be read as CSV with a header: {error}.") from error
        require(bool(names), "log", str(self._path), "a CSV file whose first line names the columns")
        return names

    def chunks(self) -> Iterator[Chunk]:
        """All rows, in order."""
        import pyarrow as pa
        import pyarrow.csv as pc

        skipped: dict[int, Bad] = {}

        def skip(row: pc.InvalidRow) -> str:
            found = "is empty" if row.actual_columns == 0 else _columns_there(row.actual_columns)
            skipped[row.number] = Bad(row.number, f"{found}, but the header has {row.expected_columns}")
            return "skip"

        wanted = self._columns.all
        raw = pa.OSFile(str(self._path))
        try:
            batches = pc.open_csv(
                self._stream(raw),
                pc.ReadOptions(use_threads=False, block_size=_BLOCK),
                pc.ParseOptions(invalid_row_handler=skip, ignore_empty_lines=False, newlines_in_values=True),
                pc.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.binary()),
                    include_columns=wanted,
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
            line = 2
            for batch in batches:
                lines, line = _lines(line, batch.num_rows, sorted(skipped))
                broken = [skipped.pop(number) for number in sorted(skipped) if number < line]
                yield Chunk(lines, dict(zip(wanted, batch.columns, strict=True)), broken, raw.tell())
            yield Chunk(np.empty(0, dtype=np.int64), {}, [skipped[n] for n in sorted(skipped)], self.total)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{self._path} cannot be read as CSV: {str(error).splitlines()[0]}.") from error
        finally:
            raw.close()


class ParquetLog:
    """A Parquet file."""

    word = "row"

    def __init__(self, path: Path, columns: Columns) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._path, self._columns = path, columns
        try:
            self._file = pq.ParquetFile(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}.") from error
        schema = self._file.schema_arrow
        columns.check_there(path, schema.names)
        for name in columns.all:
            kind = schema.field(name).type
            require(_flat(kind), f"column {name!r} of {path}", str(kind), "text, numbers, or true and false")
        self.total = int(self._file.metadata.num_rows)

    def chunks(self) -> Iterator[Chunk]:
        """All rows, in order."""
        import pyarrow as pa

        done = 0
        try:
            for batch in self._file.iter_batches(_ROWS, columns=self._columns.all):
                lines = np.arange(done + 1, done + 1 + batch.num_rows)
                done += batch.num_rows
                columns = {name: batch.column(batch.schema.get_field_index(name)) for name in self._columns.all}
                yield Chunk(lines, columns, [], done)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{self._path} cannot be read as Parquet: {str(error).splitlines()[0]}.") from error


def _columns_there(n: int) -> str:
    return "has 1 value" if n == 1 else f"has {n} values"


def _lines(first: int, rows: int, skipped: Sequence[int]) -> tuple[Ints, int]:
    """The numbers of so many rows from `first` on, where those in `skipped` are none; and the number after them."""
    numbers = np.arange(first, first + rows + len(skipped))
    numbers = numbers[~np.isin(numbers, skipped)][:rows]
    return numbers, first if rows == 0 else int(numbers[-1]) + 1


def _flat(kind: pa.DataType) -> bool:
    """Whether values of this type are texts, numbers or truths."""
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    asks = (
        pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string, pa.types.is_large_string,
        pa.types.is_binary, pa.types.is_large_binary, pa.types.is_decimal, pa.types.is_null,
    )  # fmt: skip
    return any(ask(inner) for ask in asks)
