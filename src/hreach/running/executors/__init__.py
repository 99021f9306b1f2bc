"""Where independent tasks are computed: in this thread, in threads, in worker processes, on a Dask cluster.

    with make_executor("processes", 4) as executor:
        for i, done in executor.run(function, tasks):
            ...  # function(*tasks[i]), or a Failure that says why there is none

What comes out does not depend on which executor it is, nor on how many tasks go on at once; their order does.
"""

from __future__ import annotations

from hreach.errors import InputError, one_of, require, unknown_name
from hreach.running.executors.base import Executor, Failure, succeeded
from hreach.running.executors.threads import stopping

__all__ = ["NAMES", "Executor", "Failure", "make_executor", "stopping", "succeeded"]

NAMES = ("inline", "threads", "processes", "dask")


def make_executor(name: str, count: int | None = None, scheduler: str | None = None) -> Executor:
    """The executor of this name with `count` tasks at once (default: one for each core).

    scheduler   address of a Dask scheduler, whose workers take the tasks; without it "dask" starts workers here
    """
    if name not in NAMES:
        raise unknown_name("executor", name, NAMES)
    if scheduler is not None and name != "dask":
        raise InputError(f"scheduler is {scheduler!r}, but must be left out for the executor {name!r}.")
    one_of(scheduler=scheduler, count=count)
    if name == "inline":
        from hreach.running.executors.inline import Inline

        require(count in (None, 1), "count", count, "1 or left out for the executor 'inline'")
        return Inline()
    if name == "threads":
        from hreach.running.executors.threads import Threads

        return Threads(count)
    if name == "processes":
        from hreach.running.executors.processes import Processes

        return Processes(count)
    from hreach.running.executors.dask import Dask

    return Dask(count, scheduler)
