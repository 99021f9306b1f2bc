"""What a worker process is: how it is started, what it does first, and how it answers.

It has one thread for linear algebra (two workers with two threads each would wait for each other), does not hear
Ctrl-C (the parent does, and stops it), runs nothing of the parent's script, and ends when its parent is gone.

Tasks and answers are pickled, as multiprocessing does it, between processes of one user; none is kept.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from threading import Event, Lock, Thread, current_thread, main_thread
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

from hreach import compiling
from hreach.running.executors.base import Failure, Task, attempt, failure

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
READY = b""  # what a worker says first
_STARTING = Lock()


def serve(connection: Connection, announced: Synchronized[int]) -> None:
    """The life of a worker: it answers until its parent has no more tasks, or is no more."""
    compiling.announce_with(announced)
    ignore_interrupts()
    tasks: SimpleQueue[bytes | None] = SimpleQueue()
    busy = Event()
    connection.send_bytes(READY)
    Thread(target=_receive, args=(connection, tasks, busy), daemon=True).start()
    while (task := tasks.get()) is not None:
        busy.set()
        connection.send_bytes(answer(task))
        busy.clear()


def ignore_interrupts() -> None:
    """Ctrl-C is the parent's affair; see `_deaf`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _receive(connection: Connection, tasks: SimpleQueue[bytes | None], busy: Event) -> None:
    """Take tasks as they come: a parent that sends is never kept waiting by a worker that sends.

    Without the parent a busy worker ends at once, since nobody wants what it does; any other has a second to end.
    """
    try:
        while True:
            tasks.put(connection.recv_bytes())
    except (EOFError, OSError):
        if busy.is_set():
            os._exit(1)
        tasks.put(None)
        time.sleep(1)
        os._exit(1)


def pack(function: Callable[..., object], task: Task) -> bytes | Failure:
    """A task as it is sent to a worker."""
    try:
        return bytes(ForkingPickler.dumps((function, task)))
    except Exception as error:
        return failure(error)


def answer(packed: bytes, folders: Sequence[str] = ()) -> bytes:
    """What comes of a task, as it is sent back: errors too, in words, since not every error can be sent.

    folders   where to look for modules too, as far as they exist here
    """
    sys.path += [folder for folder in folders if folder not in sys.path and os.path.isdir(folder)]
    try:
        function, task = ForkingPickler.loads(packed)
        return bytes(ForkingPickler.dumps(attempt(function, task)))
    except Exception as error:
        return bytes(ForkingPickler.dumps(failure(error)))


def unpack(answered: bytes) -> object:
    """What came of a task."""
    try:
        return ForkingPickler.loads(answered)
    except Exception as error:
        return failure(error)


@contextmanager
def starting() -> Iterator[None]:
    """Processes that are started now begin as workers should; one at a time, since all of this belongs to everybody."""
    with _STARTING, _one_thread(), _no_script(), _deaf():
        yield


@contextmanager
def _no_script() -> Iterator[None]:
    """Workers need nothing of the script that is being run; without a guard they would run it once more each."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _one_thread() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C waits until a process is started as a whole, and does not reach one that is too young to ignore it."""
    if sys.platform == "win32" or current_thread() is not main_thread():
        yield
        return
    resource_tracker.ensure_running()  # else the first process starts it, and hears again afterwards
    heard: list[tuple[int, FrameType | None]] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which the process inherits
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
    if heard and callable(handler):
        handler(*heard[0])
