"""Who computes a study, and which part of it."""

from __future__ import annotations

import os

import pytest

from hreach import InputError
from hreach.running.executors.inline import Inline
from hreach.running.executors.processes import Processes
from hreach.running.executors.threads import Threads
from hreach.studies.workers import Workers, here, make_workers

SHARDS = [(f"{cell:016x}", first) for cell in range(20) for first in range(0, 5000, 100)]


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_parts_are_disjoint_and_together_everything(n: int) -> None:
    crews = [make_workers("inline", part=(k, n)) for k in range(1, n + 1)]
    takers = [[crew.part[0] for crew in crews if crew.take(*shard)] for shard in SHARDS]
    assert all(len(each) == 1 for each in takers)
    sizes = [takers.count([k]) for k in range(1, n + 1)]
    assert sum(sizes) == len(SHARDS)
    assert min(sizes) > len(SHARDS) / n / 2


def test_every_cell_is_shared_out() -> None:
    """Parts are of shards, not of cells: the longest cell has no machine to itself."""
    crew = make_workers("inline", part=(1, 2))
    for cell in {cell for cell, _ in SHARDS}:
        taken = [crew.take(cell, first) for _, first in SHARDS[:50]]
        assert 0 < sum(taken) < len(taken)


def test_by_default_compiled_rows_have_threads_and_others_processes() -> None:
    crew = make_workers()
    assert (type(crew.compiled), crew.local) == (Threads, True)
    assert crew.count == os.cpu_count()
    crew = make_workers(jobs=3)
    assert (type(crew.compiled), type(crew.stepped), crew.count) == (Threads, Processes, 3)
    crew = make_workers(jobs=1)
    assert (type(crew.stepped), crew.count) == (Inline, 1)


@pytest.mark.parametrize(("name", "kind"), [("inline", Inline), ("threads", Threads), ("processes", Processes)])
def test_an_executor_that_is_named_computes_all_rows(name: str, kind: type) -> None:
    crew = make_workers(name)
    assert type(crew.compiled) is kind
    assert crew.compiled is crew.stepped


def test_an_executor_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match=r"^executor is 'thread', which is not known; did you mean 'threads'\?"):
        make_workers("thread")
    with pytest.raises(InputError, match=r"^scheduler is 'tcp://x:1', but must be left out for the executor 'threads'"):
        make_workers("threads", scheduler="tcp://x:1")


class Doors(Inline):
    """Counts how often it is opened and closed."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    def __enter__(self) -> Doors:
        self.opened += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.closed += 1


def test_an_executor_is_opened_and_closed_once_even_if_it_does_both() -> None:
    one, two = Doors(), Doors()
    for compiled, stepped in ((one, one), (two, Doors())):
        with pytest.raises(ZeroDivisionError), Workers(compiled, stepped):
            raise ZeroDivisionError
    assert [(door.opened, door.closed) for door in (one, two)] == [(1, 1), (1, 1)]


def test_without_workers_everything_is_here() -> None:
    assert (here().count, here().part) == (1, (1, 1))
