"""Dask workers on this machine: a process that is the scheduler, and looks after `count` workers of one thread each.

It is a process of its own so that nothing Dask does to its process is done to ours, nor to the script that is being
run: workers that are replaced later begin as the first ones did. It ends with its parent, and the workers with it.
"""

from __future__ import annotations

import atexit
import logging
import os
import tempfile
from contextlib import suppress
from multiprocessing import active_children, get_context, util
from multiprocessing.connection import Connection

from hreach.errors import WorkerDiedError
from hreach.running.executors.worker import ignore_interrupts, starting

_CONFIG = {"distributed.scheduler.allowed-failures": 0}  # tries are counted by `Dask`
_PATIENCE = 3.0  # seconds that it has to end


class Cluster:
    """A scheduler at `address`, ready when this is made."""

    def __init__(self, count: int) -> None:
        context = get_context("spawn")
        self._folder = tempfile.TemporaryDirectory(prefix="hreach-dask-", ignore_cleanup_errors=True)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, count, self._folder.name))
        atexit.register(self.close)  # multiprocessing waits at the end for processes that nobody stopped
        try:
            with starting():
                self._process.start()
            theirs.close()
            self.address = self._pipe.recv_bytes().decode()
        except BaseException as error:
            self.close()
            if isinstance(error, EOFError | OSError):
                raise WorkerDiedError("the workers of Dask cannot be started") from error
            raise

    def close(self) -> None:
        """End it, with its workers."""
        self._pipe.close()
        if self._process.pid is not None:  # Ctrl-C may come before it was started
            self._process.join(_PATIENCE)
            self._process.kill()
            self._process.join()
        self._folder.cleanup()
        atexit.unregister(self.close)


def _serve(pipe: Connection, count: int, folder: str) -> None:
    import dask
    import distributed

    ignore_interrupts()  # workers inherit it
    with dask.config.set(_CONFIG):
        cluster = distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        )
    with suppress(EOFError, OSError):
        pipe.send_bytes(cluster.scheduler_address.encode())
        pipe.recv_bytes()
    cluster.loop.add_callback(cluster.loop.stop)  # nobody is replaced any more; Dask itself would wait for busy workers
    for worker in active_children():
        worker.kill()
    util._run_finalizers()  # type: ignore[attr-defined]  # semaphores, which outlive a process
    os._exit(0)
