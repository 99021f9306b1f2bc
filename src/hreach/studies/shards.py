"""One shard: a Parquet file of columns, with what they are about and a checksum over both in its metadata.

    hreach     JSON: the cell (its identity), the runs [first, end), the agent's constants, who computed, and more
    sha256     of that JSON and of every column: name, type, values

Parquet's own checksums cover the pages and not the footer, which says where the pages are and what they mean. The one
here is over what was read, so damage anywhere in the file either changes nothing that is read or is found. A shard is
written under a temporary name and renamed: it is whole or absent.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hreach.errors import InputError
from hreach.files import whole_file
from hreach.protocols import Plain
from hreach.studies.identity import Identified, id_of
from hreach.studies.maker import maker
from hreach.studies.results import Columns


def write_shard(path: Path, cell: Identified, runs: tuple[int, int], columns: Columns, about: Plain) -> None:
    """Keep the columns of the runs [first, end) of a cell, and what they are about, in a file that is not there yet."""
    text = json.dumps({"cell": cell.identity, "runs": runs, "made": maker(), **about})
    table = pa.table(dict(columns)).replace_schema_metadata({"hreach": text, "sha256": _checksum(text, columns)})
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with whole_file(path) as temporary:
            pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def read_shard(path: Path, cell_id: str, runs: tuple[int, int]) -> tuple[Columns, Plain]:
    """(columns, about) of a shard that must be whole and hold these runs of this cell."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"shard {str(path)!r} cannot be read: {error.strerror}.") from error
    try:
        columns, text, checksum = _parse(data)
    except Exception as error:  # whatever a reader of damaged files comes upon
        raise _damaged(path, "it cannot be read as Parquet") from error
    if checksum != _checksum(text, columns):
        raise _damaged(path, "its content does not fit its checksum")
    about = json.loads(text)
    if id_of(about["cell"]) != cell_id:
        raise _damaged(path, "it holds another cell")
    if about["runs"] != list(runs):
        raise _damaged(path, "it holds other runs than its name says")
    return columns, about


def _damaged(path: Path, why: str) -> InputError:
    """The error for a shard that cannot be used."""
    return InputError(f"shard {str(path)!r} is damaged ({why}); delete it and run again.")


def _parse(data: bytes) -> tuple[Columns, str, str]:
    """(columns, text, checksum) as they stand in the file."""
    table = pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True).read(use_threads=False)
    metadata = table.schema.metadata
    columns = {name: _values(table[name]) for name in table.column_names}
    return columns, metadata[b"hreach"].decode(), metadata[b"sha256"].decode()


def _values(column: pa.ChunkedArray) -> NDArray[np.generic]:
    """A column; texts, which are few and often repeated, by way of their numbers."""
    if not pa.types.is_string(column.type):
        return np.asarray(column.to_numpy())
    coded = column.combine_chunks().dictionary_encode()
    return np.asarray(np.array(coded.dictionary.to_pylist())[coded.indices.to_numpy()])


def _checksum(text: str, columns: Columns) -> str:
    """SHA-256 of the text and of every column."""
    digest = hashlib.sha256(text.encode())
    for name, values in columns.items():
        digest.update(f"\n{name} {values.dtype.str} {values.shape}\n".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()
