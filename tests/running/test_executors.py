"""What every executor promises, whichever it is; and what those with worker processes promise of workers that die."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

import tasks
from hreach.errors import InputError, TaskFailedError, WorkerDiedError
from hreach.running.executors import NAMES, Executor, Failure, make_executor, processes, stopping, succeeded
from hreach.running.executors.cluster import Cluster
from hreach.running.executors.worker import ONE_THREAD

REMOTE = ("processes", "dask")
AT_LAST = 240.0  # seconds after which something hangs, on a machine however busy


@pytest.fixture(scope="module")
def opened() -> Iterator[dict[str, Executor]]:
    """One of each, with two workers where it has any."""
    several = {name: make_executor(name, None if name == "inline" else 2) for name in NAMES}
    yield several
    for executor in several.values():
        executor.__exit__(None, None, None)


@pytest.fixture(params=NAMES)
def executor(request: pytest.FixtureRequest, opened: dict[str, Executor]) -> Executor:
    return opened[request.param]


@pytest.fixture(params=REMOTE)
def remote(request: pytest.FixtureRequest, opened: dict[str, Executor]) -> Executor:
    return opened[request.param]


def numbers(count: int) -> list[tuple[int]]:
    return [(i,) for i in range(count)]


# --- all of them -------------------------------------------------------------


def test_every_task_gives_its_result_in_whatever_order_they_finish(executor: Executor) -> None:
    assert sorted(executor.run(tasks.later_first, [(i, 6) for i in range(6)])) == [(i, i) for i in range(6)]
    assert sorted(executor.run(tasks.square, numbers(30))) == [(i, i * i) for i in range(30)]
    assert list(executor.run(tasks.square, [])) == []


def test_several_tasks_finish_as_they_do(opened: dict[str, Executor]) -> None:
    """The twin of the test above: they do finish in another order."""
    for name in ("threads", "processes", "dask"):
        found = [i for i, _ in opened[name].run(tasks.later_first, [(0, 30), (29, 30), (30, 30)])]
        assert found != sorted(found), name


def test_tasks_are_taken_shortly_before_they_are_begun(executor: Executor) -> None:
    taken: list[int] = []
    results = executor.run(tasks.square, tasks.counted(list(range(100)), taken))
    assert taken == []
    for got in range(1, 6):
        next(results)
        assert got <= len(taken) <= got + 2 * executor.count
    assert len(list(results)) == 95
    assert taken == list(range(100))


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_workers_changes_nothing(name: str) -> None:
    found = []
    for count in (1,) if name == "inline" else (1, 2, 4):
        with make_executor(name, count) as executor:
            assert executor.count == count
            found.append(dict(executor.run(tasks.rewards, numbers(5))))
    assert found == [{i: tasks.rewards(i) for i in range(5)}] * len(found)
    assert len({str(value) for value in found[0].values()}) > 1


def test_a_task_that_raises_has_failed_and_the_others_have_not(executor: Executor) -> None:
    found = dict(executor.run(tasks.odd_only, numbers(8)))
    assert [found[i] for i in (1, 3, 5, 7)] == [1, 3, 5, 7]
    assert [found[i] for i in (0, 2, 4, 6)] == [Failure(f"ValueError: {i} is even", 1) for i in (0, 2, 4, 6)]


def test_an_error_that_cannot_be_sent_is_a_failure_too(executor: Executor) -> None:
    assert dict(executor.run(tasks.silent, numbers(2))) == dict.fromkeys(range(2), Failure("SilentError", 1))


def test_a_task_that_leaves_ends_nobody_else(executor: Executor) -> None:
    assert list(executor.run(tasks.leaves, numbers(1))) == [(0, Failure("SystemExit: left 0", 1))]


def test_what_cannot_be_sent_has_failed(remote: Executor) -> None:
    found: dict[int, Any] = dict(remote.run(tasks.identity, [(1,), (threading.Lock(),), (lambda: 0,), (2,)]))
    assert (found[0], found[3]) == (True, True)
    assert all(isinstance(found[i], Failure) and found[i].tries == 1 for i in (1, 2))
    (_, failed), *_ = remote.run(tasks.unsendable, numbers(1))
    assert isinstance(failed, Failure)
    assert "pickle" in failed.why


def test_more_than_a_pipe_holds_can_be_sent_both_ways(executor: Executor) -> None:
    ballast = bytes(3_000_000)
    found = dict(executor.run(tasks.big, [(i, ballast) for i in range(6)]))
    assert all(found[i] == ballast + bytes([i]) for i in range(6))


def listen_and_fail(executor: Executor) -> None:
    for _ in executor.run(tasks.square, numbers(50)):
        raise ZeroDivisionError


def test_whoever_stops_listening_can_ask_again(executor: Executor) -> None:
    results = executor.run(tasks.square, numbers(50))
    next(results)
    results.close()  # type: ignore[attr-defined]  # a generator
    with pytest.raises(ZeroDivisionError):
        listen_and_fail(executor)
    assert sorted(executor.run(tasks.square, numbers(3))) == [(0, 0), (1, 1), (2, 4)]


def test_an_error_in_the_tasks_themselves_is_that_error(executor: Executor) -> None:
    def broken() -> Iterator[tuple[int]]:
        yield (1,)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(executor.run(tasks.square, broken()))
    assert list(executor.run(tasks.square, [(3,)])) == [(0, 9)]


def test_a_failure_can_be_made_an_error() -> None:
    assert succeeded(3) == 3
    with pytest.raises(TaskFailedError, match=r"^ValueError: no$"):
        succeeded(Failure("ValueError: no", 1))


# --- what cannot be asked for ------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"name": "process"}, r"^executor is 'process', which is not known; did you mean 'processes'\?"),
        ({"name": "threads", "count": 0}, r"^count is 0, but must be a whole number of at least 1"),
        ({"name": "inline", "count": 2}, r"^count is 2, but must be 1 or left out for the executor 'inline'"),
        ({"name": "threads", "scheduler": "tcp://a:1"}, r"^scheduler is 'tcp://a:1', but must be left out for the"),
        ({"name": "dask", "scheduler": "tcp://a:1", "count": 2}, r"^count is 2, but must be left out where scheduler"),
        ({"name": "dask", "scheduler": "nonsense://"}, r"^scheduler is 'nonsense://', but must be the address of a"),
    ],
)
def test_what_cannot_be_had_is_refused_in_a_sentence(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_executor(**asked)


def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from hreach.running.executors import dask

    monkeypatch.setattr(dask, "_PATIENCE", 1)
    with pytest.raises(InputError, match=r"^scheduler is 'tcp://127.0.0.1:9', but must be .* answers within 1 s"):
        make_executor("dask", scheduler="tcp://127.0.0.1:9")


@pytest.mark.parametrize("scheduler", ["tcp://127.0.0.1:9", "nonsense://"])
def test_a_client_that_could_not_be_made_is_not_left_to_be_closed_at_any_time(
    scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    from hreach.running.executors import dask

    def clients() -> list[distributed.Client]:
        return [one for one in gc.get_objects() if isinstance(one, distributed.Client)]

    monkeypatch.setattr(dask, "_PATIENCE", 1)
    gc.disable()  # it would close them, in a test as anywhere
    try:
        others = clients()  # of other tests
        for _ in range(2):
            with pytest.raises(InputError, match=r"^scheduler is"):
                make_executor("dask", scheduler=scheduler)
        made = [one for one in clients() if not any(one is other for other in others)]
    finally:
        gc.enable()
    assert made
    assert {one.status for one in made} <= {"closed", "newly-created"}


def test_without_the_package_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ModuleNotFoundError('No module named distributed')")
    code = (
        "from hreach.running.executors import make_executor\nfrom hreach import InputError\n"
        "try: make_executor('dask')\nexcept InputError as error: print(error)"
    )
    given = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, timeout=240)
    assert done.stdout == "executor is 'dask', which needs a further package: pip install 'hreach[dask]'.\n"


# --- a cluster that runs already ---------------------------------------------


def test_a_cluster_that_runs_is_used_and_left_as_it_is() -> None:
    cluster = Cluster(2)
    for _ in range(2):
        with make_executor("dask", scheduler=cluster.address) as executor:
            assert executor.count == 2
            next(executor.run(tasks.process, [(0.05,)] * 20))
            assert sorted(executor.run(tasks.square, numbers(9))) == [(i, i * i) for i in range(9)]
    cluster.close()


def test_a_cluster_that_is_gone_is_an_error() -> None:
    cluster = Cluster(1)
    with make_executor("dask", scheduler=cluster.address) as executor:
        results = executor.run(tasks.process, [(0.05,)] * 1000)
        next(results)
        cluster.close()
        with pytest.raises(WorkerDiedError, match=r"^the Dask scheduler is gone"):
            list(results)


# --- threads -----------------------------------------------------------------


def test_threads_that_are_stopped_are_told(tmp_path: Path) -> None:
    with make_executor("threads", 2) as executor:
        listening = threading.Thread(target=lambda: next(executor.run(tasks.waits_for_a_flag, [(str(tmp_path),)] * 9)))
        listening.start()
        tasks.until(lambda: len(list(tmp_path.iterdir())) == 2)
    tasks.until(lambda: len(list(tmp_path.glob("stopped-*"))) == 2)
    assert len(list(tmp_path.glob("begun-*"))) == 2


def test_compiled_runs_that_are_stopped_are_not_taken_for_finished_ones(tmp_path: Path) -> None:
    with make_executor("threads", 1) as executor:
        listening = threading.Thread(target=lambda: next(executor.run(tasks.endless_runs, [(str(tmp_path),)])))
        listening.start()
        tasks.until(lambda: (tmp_path / "begun").exists())
    tasks.until(lambda: not any(thread.name.startswith("ThreadPoolExecutor") for thread in threading.enumerate()))
    assert [path.name for path in tmp_path.iterdir()] == ["begun"]


def test_a_flag_outside_of_an_executor_is_never_set_by_others(opened: dict[str, Executor]) -> None:
    flag = stopping()
    opened["threads"].run(tasks.square, numbers(3)).close()  # type: ignore[attr-defined]
    assert not flag[0]
    assert flag is not stopping()


# --- worker processes --------------------------------------------------------


@pytest.mark.parametrize("before", [None, "7"])
@pytest.mark.parametrize("name", REMOTE)
def test_workers_have_one_thread_and_the_environment_here_is_as_before(
    name: str, before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ONE_THREAD:
        monkeypatch.delenv(variable, raising=False)
        if before is not None:
            monkeypatch.setenv(variable, before)
    everything = dict(os.environ)
    with make_executor(name, 2) as executor:
        found = dict(executor.run(tasks.variable, [(variable,) for variable in ONE_THREAD * 2]))
    assert list(found.values()) == ["1"] * 8
    assert dict(os.environ) == everything


def test_workers_are_other_processes_and_are_kept(remote: Executor) -> None:
    pids = {pid for _ in range(2) for _, pid in remote.run(tasks.process, [(0.05,)] * 6)}
    assert os.getpid() not in pids
    assert len(pids) == 2


def test_a_worker_that_dies_is_replaced_and_its_task_is_tried_again(remote: Executor, tmp_path: Path) -> None:
    marker = tmp_path / "died"
    found = dict(remote.run(tasks.dies_once, [(i, 3, str(marker)) for i in range(8)]))
    assert marker.exists()
    assert found == {i: i for i in range(8)}
    # Dask's replacement takes a while to begin, on a busy machine longer than eight tasks.
    rounds = ({pid for _, pid in remote.run(tasks.process, [(0.1,)] * 8)} for _ in range(60))
    assert any(len(pids) == 2 for pids in rounds)


def test_without_further_tries_it_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The twin of the test above."""
    monkeypatch.setattr(processes, "TRIES", 1)
    with make_executor("processes", 2) as executor:
        found = dict(executor.run(tasks.dies_once, [(i, 3, str(tmp_path / "died")) for i in range(8)]))
    assert found == {i: i for i in range(8)} | {3: Failure("its worker process died (killed by signal 9)", 1)}


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", REMOTE)
def test_a_task_that_kills_its_worker_is_given_up_after_three_tries(name: str, count: int, tmp_path: Path) -> None:
    with make_executor(name, count) as executor:
        found = dict(executor.run(tasks.dies, [(i, 2, str(tmp_path)) for i in range(12)]))
    failed = found.pop(2)
    assert isinstance(failed, Failure)
    assert failed.tries == 3 == len(list(tmp_path.glob("2-*")))
    assert failed.why.startswith("its worker process died")
    assert found == {i: i for i in range(12) if i != 2}


def test_a_failure_says_what_killed_the_worker(opened: dict[str, Executor], tmp_path: Path) -> None:
    (_, failed), *_ = opened["processes"].run(tasks.dies, [(2, 2, str(tmp_path))])
    assert failed == Failure("its worker process died (killed by signal 9)", 3)


def test_a_worker_may_die_while_it_has_nothing_to_do(opened: dict[str, Executor]) -> None:
    executor = opened["processes"]
    pids = {succeeded(pid) for _, pid in executor.run(tasks.process, [(0.05,)] * 4)}
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    tasks.until(lambda: not pids & {child.pid for child in active_children()})  # nothing can be sent to them any more
    assert sorted(executor.run(tasks.square, numbers(4))) == [(0, 0), (1, 1), (2, 4), (3, 9)]


def test_workers_that_cannot_begin_are_not_replaced_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "serve", tasks.stillborn)
    with (
        make_executor("processes", 2) as executor,
        pytest.raises(WorkerDiedError, match=r"^worker processes die before they have begun \(exit code 7\)$"),
    ):
        list(executor.run(tasks.square, numbers(4)))


@pytest.mark.parametrize("kills", [2 * processes._STILLBORN, 99])
def test_workers_that_are_killed_before_they_begin_are_replaced_more_often(
    kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "serve", tasks.unlucky)
    monkeypatch.setattr(processes, "_KILLED", 8)
    monkeypatch.setenv("KILLS", str(tmp_path / "kills"))
    (tmp_path / "kills").write_text(str(kills))
    with make_executor("processes", 1) as executor:
        if kills < 8:
            assert sorted(executor.run(tasks.square, numbers(4))) == [(0, 0), (1, 1), (2, 4), (3, 9)]
        else:
            with pytest.raises(WorkerDiedError, match=r"die before they have begun \(killed by signal 9\)$"):
                list(executor.run(tasks.square, numbers(4)))
            assert int((tmp_path / "kills").read_text()) == kills - 8


def test_two_runs_at_once_are_refused(opened: dict[str, Executor]) -> None:
    for name in ("threads", "processes"):
        first = opened[name].run(tasks.square, numbers(50))
        next(first)
        with pytest.raises(RuntimeError, match="while another one is under way"):
            list(opened[name].run(tasks.square, numbers(3)))
        assert len(list(first)) == 49


INTERRUPTED = """\
import signal
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
import tasks
from hreach.running.executors import make_executor
with make_executor({name!r}, 2) as executor:
    (Path({folder!r}) / "0").touch()
    list(executor.run(tasks.waits, [({folder!r},)] * 5))
"""
NEVER_CLOSED = """\
import tasks
from hreach.running.executors import make_executor
executor = make_executor({name!r}, 2)
print(sorted(executor.run(tasks.square, [(2,), (3,)])))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("name", ["threads", *REMOTE])
def test_whoever_is_interrupted_leaves_nobody_behind(name: str, how: signal.Signals, tmp_path: Path) -> None:
    """The whole group is, as by Ctrl-C on a terminal; or the parent alone is killed. The script has no guard."""
    folder = tmp_path / "begun"
    folder.mkdir()
    parent = script(tmp_path, INTERRUPTED.format(name=name, folder=str(folder)))
    tasks.until(lambda: len(list(folder.iterdir())) == 1 + (1 if name == "threads" else 2))
    if how == signal.SIGINT:
        os.killpg(parent.pid, how)
    else:
        os.kill(parent.pid, how)
    said = parent.communicate(timeout=AT_LAST)[1]
    assert parent.returncode == -how
    assert said.count("Traceback") == (how == signal.SIGINT)
    pids = [int(path.name) for path in folder.iterdir() if path.name != "0"]
    tasks.until(lambda: not any(alive(pid) for pid in pids))


@pytest.mark.parametrize("pause", [0.0, 0.2])
@pytest.mark.parametrize("name", REMOTE)
def test_workers_that_are_only_just_started_say_nothing_of_ctrl_c(name: str, pause: float, tmp_path: Path) -> None:
    folder = tmp_path / "begun"
    folder.mkdir()
    parent = script(tmp_path, INTERRUPTED.format(name=name, folder=str(folder)))
    tasks.until(lambda: (folder / "0").exists())
    time.sleep(pause)
    os.killpg(parent.pid, signal.SIGINT)
    said = parent.communicate(timeout=AT_LAST)[1]
    assert said.count("Traceback") == said.count("KeyboardInterrupt") == 1
    assert parent.returncode == -signal.SIGINT


@pytest.mark.parametrize("name", ["threads", *REMOTE])
def test_an_executor_that_nobody_closes_keeps_nobody_from_ending(name: str, tmp_path: Path) -> None:
    out, said = script(tmp_path, NEVER_CLOSED.format(name=name)).communicate(timeout=AT_LAST)
    assert (out, said) == ("[(0, 4), (1, 9)]\n", "")


def script(folder: Path, text: str) -> subprocess.Popen[str]:
    """A program without a guard, in a group of its own."""
    (folder / "script.py").write_text(text, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(folder / "script.py")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_cluster_that_is_interrupted_before_it_starts_says_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from hreach.running.executors import cluster

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "starting", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cluster.Cluster(1)
