"""Damaged shards: none is used silently, whichever bit is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hreach import InputError
from hreach.studies.grid import Cell
from hreach.studies.maker import maker
from hreach.studies.results import Episode, Phase, Result
from hreach.studies.shards import _array, _values, file_digest
from hreach.studies.stepped import by_steps
from hreach.studies.store import Store

STEPS = Cell("chain", {}, "pac-rmdp", {"h": 8}, steps=30, seed=3)
EPISODES = Cell("mountain-car", {}, "linear-pac-rmdp", {"h": 1}, steps=None, seed=3, episodes=6, final_episodes=2)


def some_episodes(rng: np.random.Generator, count: int) -> Phase:
    shape = (1, count)
    return Phase(rng.normal(size=shape), rng.integers(1, 99, size=shape), rng.random(shape) < 0.5)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Four shards: two of a cell by steps, two of one by episodes."""
    rng, store = np.random.default_rng(0), Store(tmp_path)
    about = {"origin": "given", "constants": {"h": 8.0}}
    for first in (0, 3):
        store.write(STEPS, first, by_steps(rng.random((3, 30)), about))
    for number in (0, 1):
        last = Episode(rng.random((4, 2)), np.array([0, 1, 2]), rng.random(3))
        phases = some_episodes(rng, 6), some_episodes(rng, 2)
        store.write(EPISODES, number, Result("episodes", np.arange(1, 7), *phases, about, last))
    return store


Reader = Callable[[Store, int], list[str]]


def checked(store: Store, which: int) -> list[str]:
    """Everything that can be asked of one of the cells, to the last bit."""
    result = store.read(STEPS.id, 3) if which == 0 else store.read(EPISODES.id, 1)
    parts: list[Any] = [result, result.learning, result.final, *([result.last] if result.last else [])]
    others: list[Any] = [result.by, result.agent, result.makers]
    arrays = [value for part in parts for value in vars(part).values() if isinstance(value, np.ndarray)]
    return [f"{a.dtype} {a.shape} {a.tobytes().hex()}" for a in arrays] + [json.dumps(o) for o in others]


def trusting(store: Store, which: int) -> list[str]:
    """The same numbers by a reader without checksums."""
    table = pq.ParquetFile(first_shards(store)[which]).read()
    metadata = json.loads(table.schema.metadata[b"hreach"])
    return [str(table[name].to_pylist()) for name in table.column_names] + [str(metadata)]


def outcomes(store: Store, read: Reader, errors: type[Exception], flips: int) -> Counter[str]:
    """Of many single wrong bits, how many the reader found, how many changed nothing, and how many misled it."""
    files, rng = first_shards(store), np.random.default_rng(1)
    whole, sizes = [read(store, which) for which in (0, 1)], [path.stat().st_size for path in files]
    found: Counter[str] = Counter()
    for at in rng.integers(0, 8 * sum(sizes), size=flips).tolist():
        which, bit = (0, at) if at < 8 * sizes[0] else (1, at - 8 * sizes[0])
        flip(files[which], bit)
        try:
            found["harmless" if read(store, which) == whole[which] else "misled"] += 1
        except errors:
            found["found"] += 1
        flip(files[which], bit)
    assert [read(store, which) for which in (0, 1)] == whole
    return found


def flip(path: Path, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(bit // 8)
        (byte,) = file.read(1)
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def test_every_wrong_bit_of_3000_is_found(store: Store) -> None:
    assert outcomes(store, checked, InputError, 3000) == {"found": 3000}


def test_without_its_name_no_wrong_bit_of_a_shard_misleads(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: the checksum over what is read is enough for that, but does not find all of them."""
    names = {path.read_bytes(): path.stem.rpartition("-")[2] for path in first_shards(store)}
    monkeypatch.setattr("hreach.studies.shards.file_digest", lambda data: nearest(data, names))
    found = outcomes(store, checked, InputError, 1000)
    assert found["misled"] == 0
    assert found["found"] > 500
    assert found["harmless"] > 25


def nearest(data: bytes, names: dict[bytes, str]) -> str:
    """The digest of the file that this one was, of the same length."""
    return next(name for whole, name in names.items() if len(whole) == len(data))


def test_a_reader_that_trusts_its_files_is_misled(store: Store) -> None:
    """The twin: the first of the same bits, without the checksums."""
    assert outcomes(store, trusting, Exception, 500)["misled"] > 25


def first_shards(store: Store) -> list[Path]:
    return [shard(store, STEPS, "0-3"), shard(store, EPISODES, "0-1")]


def shard(store: Store, cell: Cell, runs: str) -> Path:
    (found,) = (store.folder / "shards" / cell.id).glob(f"{runs}-*.parquet")
    return found


def replaced(path: Path, data: bytes, runs: str | None = None) -> Path:
    """The shard with other content, and a name that fits it: as somebody would do it who knows how names are made."""
    path.unlink(missing_ok=True)
    runs = path.stem.rpartition("-")[0] if runs is None else runs
    new = path.with_name(f"{runs}-{file_digest(data)}.parquet")
    new.write_bytes(data)
    return new


@pytest.mark.parametrize("length", [0, 4, 100, -1])
def test_a_shard_that_was_cut_is_refused(length: int, store: Store) -> None:
    path = shard(store, STEPS, "0-3")
    cut = path.read_bytes()[:length]
    path.write_bytes(cut)
    with pytest.raises(InputError, match=r"damaged \(its bytes are not those that its name tells\); delete it"):
        store.read(STEPS.id, 6)
    replaced(path, cut)
    with pytest.raises(InputError, match=r"damaged \(it cannot be read as Parquet\); delete it and run again\.$"):
        store.read(STEPS.id, 6)


def test_a_shard_of_another_cell_is_refused(store: Store) -> None:
    other = replace(STEPS, seed=4)
    path = shard(store, STEPS, "0-3")
    (store.shards / other.id).mkdir()
    shutil.copy(path, store.shards / other.id / path.name)
    with pytest.raises(InputError, match=r"damaged \(it holds another cell\); delete it and run again\.$"):
        store.read(other.id, 3)


@pytest.mark.parametrize(("cell", "first", "second"), [(STEPS, "0-3", "3-6"), (EPISODES, "0-1", "1-2")])
def test_a_shard_of_other_runs_is_refused(cell: Cell, first: str, second: str, store: Store) -> None:
    data = shard(store, cell, second).read_bytes()
    replaced(shard(store, cell, first), data, first)
    with pytest.raises(InputError, match=r"damaged \(it holds other runs than its name says\)"):
        store.read(cell.id, 2)


def test_a_shard_whose_numbers_were_edited_is_refused(store: Store) -> None:
    """As by another program: a whole Parquet file with all its metadata, but one number."""
    path = shard(store, STEPS, "0-3")
    table = pq.read_table(path)
    values = table["total_reward"].to_numpy().copy()
    values[7] += 1e-9
    pq.write_table(table.set_column(3, "total_reward", [values]), path)
    with pytest.raises(InputError, match=r"damaged \(its bytes are not those that its name tells\)"):
        store.read(STEPS.id, 6)
    replaced(path, path.read_bytes())
    with pytest.raises(InputError, match=r"damaged \(its content does not fit its checksum\)"):
        store.read(STEPS.id, 6)


def test_a_shard_that_cannot_be_opened_is_said_in_one_sentence(store: Store) -> None:
    path = shard(store, STEPS, "0-3")
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match=r"^shard '.*0-3-\w{16}\.parquet' cannot be read: Is a directory\.$"):
        store.read(STEPS.id, 6)


def test_what_was_damaged_and_deleted_is_missing(store: Store) -> None:
    shard(store, STEPS, "0-3").unlink()
    assert store.missing(STEPS.id, 6) == [(0, 3)]


def test_a_result_tells_who_computed_it(store: Store) -> None:
    assert store.read(STEPS.id, 6).makers == [maker()]
    assert set(maker()) == {"hreach", "Python", "Machine"}


COLUMNS = {
    "of numbers": np.array([1.5, -0.0, np.nan]),
    "of every other number": np.arange(8, dtype=np.int32)[::2],
    "of truths": np.array([True, False, True]),
    "of texts": np.array(["chain", "", "Gérard", "chain"]),
    "of one text": np.array(["x", "x"]),
    "without rows": np.zeros(0),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_what_pyarrow_makes_of_it(name: str) -> None:
    values = COLUMNS[name]
    found = _array(values)
    found.validate(full=True)
    assert found.equals(pa.array(values)) or np.isnan(values).any()
    back = _values(pa.chunked_array([found]))
    assert (back.dtype, back.tobytes()) == (values.dtype, values.tobytes())


def test_shards_are_written_and_read_without_pandas(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
import numpy as np
from hreach.studies.grid import Cell
from hreach.studies.stepped import by_steps
from hreach.studies.store import Store
cell = Cell("chain", {{}}, "pac-rmdp", {{"h": 8}}, steps=30, seed=3)
store = Store(Path({str(tmp_path)!r}))
store.write(cell, 0, by_steps(np.ones((3, 30)), {{"origin": "given", "constants": {{"h": 8.0}}}}))
assert store.read(cell.id, 3) is not None
print("pandas" in sys.modules)
import pyarrow
pyarrow.array(np.zeros(1))
print("pandas" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert said.split() == ["False", "True"]
