"""One process compiles, the others wait for it and take what it kept.

Workers that start together lack the same functions. Whoever is first to find one missing locks a file beside the place
where it will be kept; the others wait for that lock, and then look again. The system gives up a lock when its process
ends, however that ends. Where no lock can be had everybody compiles, as if alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numba.core.compiler_lock import global_compiler_lock

PATIENCE = 300.0  # seconds that another process may compile one function: ten times what the slowest takes
_PAUSE = 0.02  # seconds between two looks at a lock
_begun = 0  # compilations of this process, each inside of the one before; `global_compiler_lock` guards these two
_held: int | None = None  # file descriptor


@contextmanager
def compiling() -> Iterator[None]:
    """Around all compiling: what `wait_for` locks is unlocked at the end of the outermost one."""
    global _begun, _held
    with global_compiler_lock:
        _begun += 1
        try:
            yield
        finally:
            _begun -= 1
            if _begun == 0 and _held is not None:
                os.close(_held)
                _held = None


def wait_for(path: Path) -> bool:
    """Lock a file, unless this process holds one already or does not compile; whether somebody may have been faster.

    With one lock at a time for a process, no two can wait for each other.
    """
    global _held
    if _begun == 0 or _held is not None:
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return False
    try:
        locked = _lock_in_time(file)
    except BaseException:
        os.close(file)
        raise
    if locked:
        _held = file
    else:
        os.close(file)
    return True


def _lock_in_time(file: int) -> bool:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            _lock(file)
        except (BlockingIOError, PermissionError):  # somebody else has it
            if time.monotonic() > until:
                return False
            time.sleep(_PAUSE)
        except OSError:  # a file system without locks
            return False
        else:
            return True


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
