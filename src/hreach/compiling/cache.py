"""Compiled code on disk, none of which is trusted and none of which is needed.

numba keeps the machine code of a function beside its source, or in the user's cache folder, or where NUMBA_CACHE_DIR
says. Here every such file ends in a checksum: a damaged one counts as absent, and what it held is compiled again.
Where no folder can be written the code goes to a temporary one that lives as long as the process and its workers; where
not even that can be had, nothing is kept.
"""

from __future__ import annotations

import atexit
import hashlib
import inspect
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO

from numba.core import caching

from hreach.compiling import sources, turns
from hreach.compiling.untyped import Untyped

_FOLDER = "HREACH_TEMPORARY_CACHE"  # tells workers the temporary folder of the process that started them; "": none


def kept(function: Callable[..., object], options: str = "") -> Untyped:
    """A cache for a Python function that is to be compiled with these options.

    What it holds counts while nothing has changed in the function's file, in what that imports of hreach, and in the
    options: numba itself would look at the file alone, and take what a changed callee was.
    """
    try:
        return _CheckedCache(function, options)
    except (RuntimeError, OSError):  # numba found no place, and there is no temporary one
        os.environ.setdefault(_FOLDER, "")
        return caching.NullCache()


def lost() -> bool:
    """Whether compiled code is lost at the end."""
    return _FOLDER in os.environ


class _CheckedFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """An index of compiled versions and a file for each, as numba writes and reads them, and the SHA-256 of it all.

    numba reads a file to the end of what it wrote, so what stands after that is ours.
    """

    def _load_index(self) -> Untyped:
        try:
            return super()._load_index() if _whole(self._index_path) else {}
        except (AttributeError, ImportError):  # of other code: it names types that this one does not have
            return {}

    def _load_data(self, name: str) -> Untyped:
        try:
            return super()._load_data(name) if _whole(self._data_path(name)) else None
        except (AttributeError, ImportError):
            return None

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[_Hashed]:
        with super()._open_for_write(path) as file:
            hashed = _Hashed(file)
            yield hashed
            file.write(hashed.digest())


class _Hashed:
    """A file to write to that remembers the checksum of what was written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._sha256 = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self._sha256.update(data)
        return int(self._file.write(data))

    def digest(self) -> bytes:
        return self._sha256.digest()


def _whole(path: str) -> bool:
    """Whether the file is there and ends in the checksum of the rest."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return False
    return data[-32:] == hashlib.sha256(data[:-32]).digest()


class _Temporary(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):  # type: ignore[misc]
    """The place of last resort."""

    def __init__(self, py_func: Callable[..., object], py_file: str) -> None:
        self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno
        self._cache_path = os.path.join(_temporary_folder(), self.get_suitable_cache_subpath(py_file))

    def get_cache_path(self) -> str:
        return self._cache_path


class _Places(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (*caching.CompileResultCacheImpl._locator_classes, _Temporary)


class _CheckedCache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _Places

    def __init__(self, py_func: Callable[..., object], options: str) -> None:
        super().__init__(py_func)
        stamp = sources.stamp(Path(inspect.getfile(py_func))), options
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Untyped, target_context: Untyped) -> Untyped:
        """What is kept; if nothing is, once more after whoever is compiling it now."""
        found = super().load_overload(sig, target_context)
        if found is None and turns.wait_for(Path(self._cache_file._index_path).with_suffix(".lock")):
            found = super().load_overload(sig, target_context)
        return found

    def save_overload(self, sig: Untyped, data: Untyped) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _say_once(f"hreach: compiled code cannot be kept in {self._cache_path} ({error.strerror}).")


def _temporary_folder() -> str:
    """A new private folder that is removed at the end, or that of the process which started this one."""
    if os.environ.get(_FOLDER) is None:
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="hreach-")
        atexit.register(shutil.rmtree, os.environ[_FOLDER], ignore_errors=True)
    if not os.environ[_FOLDER]:
        raise FileNotFoundError("no temporary folder")
    return os.environ[_FOLDER]


@cache
def _say_once(sentence: str) -> None:
    print(sentence, file=sys.stderr)
