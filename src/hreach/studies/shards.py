"""One shard: a Parquet file of columns, with what they are about and a checksum over both in its metadata.

    hreach     JSON: the cell (its identity), the runs [first, end), the agent's constants, who computed, and more
    sha256     of that JSON and of every column: name, type, values

Parquet's own checksums cover the pages and not the footer, which says where the pages are and what they mean. The one
here is over what is read. And the name of a file ends in a digest of all its bytes, so that damage is found even where
it changes nothing that is read.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hreach.errors import InputError
from hreach.studies.contents import holds_results
from hreach.studies.identity import Data, Identified, id_of
from hreach.studies.maker import maker
from hreach.studies.results import Column, Columns

MAX_ROWS = 10**7  # more than any shard has, and no more than can be read in a moment


def encode_shard(cell: Identified, runs: tuple[int, int], columns: Columns, about: Data) -> tuple[bytes, Data]:
    """The file of the columns of the runs [first, end) of a cell and of what they are about, and that as it is read."""
    text = json.dumps({"cell": cell.identity, "runs": runs, "made": maker(), **about}, default=_as_data)
    arrays = {name: _array(values) for name, values in columns.items()}
    table = pa.table(arrays).replace_schema_metadata({"hreach": text, "sha256": _checksum(text, columns)})
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd", write_page_checksum=True)
    return file.getvalue(), json.loads(text)


def read_shard(path: Path, cell_id: str, runs: tuple[int, int]) -> tuple[Columns, Data]:
    """(columns, about) of a shard that must be whole and hold these runs of this cell."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"shard {str(path)!r} cannot be read: {error.strerror}.") from error
    if not path.stem.endswith(f"-{file_digest(data)}"):
        raise _damaged(path, "its bytes are not those that its name tells")
    try:
        columns, text, checksum = _parse(data)
    except Exception as error:  # whatever a reader of damaged files comes upon
        raise _damaged(path, "it cannot be read as Parquet") from error
    if checksum != _checksum(text, columns):
        raise _damaged(path, "its content does not fit its checksum")
    about = _about(text)
    if "cell" not in about or id_of(about["cell"]) != cell_id:
        raise _damaged(path, "it holds another cell")
    if about.get("runs") != list(runs):
        raise _damaged(path, "it holds other runs than its name says")
    if not holds_results(columns, about, runs):
        raise _damaged(path, "it holds no results of these runs")
    return columns, about


def _about(text: str) -> Data:
    """What the columns are about; nothing, if the text is not such."""
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return about if isinstance(about, dict) and isinstance(about.get("cell"), dict) else {}


def file_digest(data: bytes) -> str:
    """Sixteen hexadecimal digits of SHA-256 of a file."""
    return hashlib.sha256(data).hexdigest()[:16]


def _as_data(value: object) -> object:
    """What an agent of another project says of itself, as JSON has it."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def _damaged(path: Path, why: str) -> InputError:
    """The error for a shard that cannot be used."""
    return InputError(f"shard {str(path)!r} is damaged ({why}); delete it and run again.")


def _parse(data: bytes) -> tuple[Columns, str, str]:
    """(columns, text, checksum) as they stand in the file."""
    file = pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True)
    if file.metadata.num_rows > MAX_ROWS:
        raise ValueError(f"it has {file.metadata.num_rows} rows")
    table = file.read(use_threads=False)
    metadata = table.schema.metadata
    columns = {name: _values(table[name]) for name in table.column_names}
    return columns, metadata[b"hreach"].decode(), metadata[b"sha256"].decode()


# Arrays are handed over as bytes: `pa.array` and `to_numpy` import pandas where there is one, half a second a process.


def _array(values: Column) -> pa.Array:
    """A column for a file."""
    if values.dtype.kind == "U":
        return _texts(values)
    if values.dtype.kind == "b":
        return _array(values.view(np.uint8)).cast(pa.bool_())
    whole = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(whole.dtype), whole.size, [None, pa.py_buffer(whole)])


def _texts(values: Column) -> pa.Array:
    """Texts, which are few and often repeated, by way of their numbers."""
    texts, numbers = np.unique(values, return_inverse=True)
    encoded = [str(text).encode() for text in texts]
    ends = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(np.array([len(text) for text in encoded], dtype=np.int32)[numbers], out=ends[1:])
    letters = b"".join([encoded[i] for i in numbers])
    return pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(letters)])


def _values(column: pa.ChunkedArray) -> Column:
    """A column of a file; texts by way of their numbers, too."""
    whole = column.combine_chunks()
    if pa.types.is_string(whole.type):
        coded = whole.dictionary_encode()
        return np.asarray(np.array([text.as_py() for text in coded.dictionary])[np.from_dlpack(coded.indices)])
    if pa.types.is_boolean(whole.type):
        return np.from_dlpack(whole.cast(pa.uint8())).astype(bool)
    if not pa.types.is_primitive(whole.type):
        raise ValueError(f"a column is of {whole.type}")
    return np.array(np.from_dlpack(whole))


def _checksum(text: str, columns: Mapping[str, Column]) -> str:
    """SHA-256 of the text and of every column."""
    digest = hashlib.sha256(text.encode())
    for name, values in columns.items():
        digest.update(f"\n{name} {values.dtype.str} {values.shape}\n".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()
