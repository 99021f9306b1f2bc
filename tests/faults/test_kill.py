"""A study that is killed: what was finished is whole, and the next run completes it as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from hreach.cli.app import app

RUNS, CELLS = 200, 6
STUDY = f"""\
title = "To be killed"
domain = "chain"
steps = 3000
runs = {RUNS}
seed = 5
""" + "".join(f'\n[[agent]]\nagent = "pac-rmdp"\nparams = {{ h = {h} }}\n' for h in range(1, CELLS + 1))

# Ctrl-C is ignored by what a shell has started in the background, these tests included.
COMMAND = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom hreach.cli import main; main()"
STOPPED = "hreach: stopped; what was finished is kept and not computed again. Go on with:"
# The second shard is written by half, and then the process is gone.
DIES_WHILE_WRITING = """
import os, signal
from pathlib import Path
whole, written = Path.write_bytes, []
def write_bytes(path, data):
    written.extend([path] if ".parquet" in path.name else [])
    if len(written) < 2:
        return whole(path, data)
    whole(path, data[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
Path.write_bytes = write_bytes
"""


def start(code: str, study: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, "run", str(study), "--out", str(out), "--jobs", "1"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for_shards(process: subprocess.Popen[str], out: Path, count: int) -> None:
    """Return as soon as so many shards are there; a process that ends before is a mistake of this test."""
    while len(list(out.rglob("*.parquet"))) < count:
        assert process.poll() is None
        time.sleep(0.002)


def stop(process: subprocess.Popen[str], how: signal.Signals) -> str:
    """Send the signal and return what the process still had to say."""
    process.send_signal(how)
    return process.communicate(timeout=240)[1]


def complete(study: Path, out: Path) -> bytes:
    """Run the study to its end; the table it writes."""
    result = CliRunner().invoke(app, ["run", str(study), "--out", str(out)])
    assert result.exit_code == 0
    return (out / "tables" / f"{study.stem}.csv").read_bytes()


def assert_all_shards_are_whole(out: Path) -> None:
    for path in out.rglob("*.parquet"):
        assert pq.read_table(path).num_rows == 100 * RUNS


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "killed.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def undisturbed(study: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a run that nobody kills."""
    return complete(study, tmp_path_factory.mktemp("undisturbed"))


def test_a_study_killed_between_two_rows_is_completed_as_if_nothing_had_happened(
    study: Path, undisturbed: bytes, tmp_path: Path
) -> None:
    process = start(COMMAND, study, tmp_path)
    wait_for_shards(process, tmp_path, 1)
    stop(process, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert 1 <= len(list(tmp_path.rglob("*.parquet"))) < CELLS
    assert_all_shards_are_whole(tmp_path)
    assert not (tmp_path / "tables").exists()
    assert complete(study, tmp_path) == undisturbed
    assert len(list(tmp_path.rglob("*.parquet"))) == CELLS


def test_a_study_killed_in_the_middle_of_a_shard_is_completed_as_if_nothing_had_happened(
    study: Path, undisturbed: bytes, tmp_path: Path
) -> None:
    process = start(DIES_WHILE_WRITING + COMMAND, study, tmp_path)
    process.communicate(timeout=240)
    assert process.returncode == -signal.SIGKILL
    (kept,) = tmp_path.rglob("*.parquet")
    (half,) = tmp_path.rglob("*.tmp")
    assert_all_shards_are_whole(tmp_path)
    before = kept.stat().st_mtime_ns, kept.read_bytes()
    assert complete(study, tmp_path) == undisturbed
    assert_all_shards_are_whole(tmp_path)
    assert (kept.stat().st_mtime_ns, kept.read_bytes()) == before
    assert not half.exists()


def test_a_study_that_the_user_stops_says_that_what_is_finished_is_kept(study: Path, tmp_path: Path) -> None:
    process = start(COMMAND, study, tmp_path)
    wait_for_shards(process, tmp_path, 1)
    said = stop(process, signal.SIGINT)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert_all_shards_are_whole(tmp_path)
    assert said.strip().splitlines()[-1] == f"{STOPPED} hreach run {study} --out {tmp_path} --jobs 1"


# --- by episodes, in processes -----------------------------------------------

EPISODES = """\
title = "To be killed"
domain = "mountain-car"
domain_params = { max_steps = 400 }
episodes = 2
runs = 4
seed = 5

[settings]
grid = [8, 8]

[[agent]]
agent = "linear-epsilon-greedy"
"""


@pytest.fixture(scope="module")
def by_episodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("episodes") / "killed.toml"
    path.write_text(EPISODES, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def undisturbed_episodes(by_episodes: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return complete(by_episodes, tmp_path_factory.mktemp("undisturbed"))


def start_two(study: Path, out: Path) -> subprocess.Popen[str]:
    """A study with two workers, of so many runs that it does not end by itself."""
    options = ["run", str(study), "--out", str(out), "--jobs", "2", "--runs", "5000"]
    command = [sys.executable, "-c", COMMAND, *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def workers(process: subprocess.Popen[str]) -> list[int]:
    """Processes that the study started to do its work, by their id."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    lines = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
    return [pid for pid, line in lines.items() if b"spawn_main" in line]


def gone(pids: list[int]) -> bool:
    """Whether all of them end within a few seconds."""
    for _ in range(500):
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def assert_all_runs_are_whole(out: Path) -> None:
    for path in out.rglob("*.parquet"):
        assert pq.read_table(path).num_rows == 2


linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes through /proc")


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_study_by_episodes_that_is_stopped_leaves_whole_runs_and_no_workers(
    how: signal.Signals, by_episodes: Path, undisturbed_episodes: bytes, tmp_path: Path
) -> None:
    process = start_two(by_episodes, tmp_path)
    wait_for_shards(process, tmp_path, 2)
    pids = workers(process)
    assert len(pids) == 2
    said = stop(process, how)
    assert process.returncode == {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130}[how]
    assert gone(pids)
    assert_all_runs_are_whole(tmp_path)
    assert complete(by_episodes, tmp_path) == undisturbed_episodes
    assert not list(tmp_path.rglob("*.tmp"))
    if how == signal.SIGINT:
        again = f"hreach run {by_episodes} --out {tmp_path} --jobs 2 --runs 5000"
        assert said.strip().splitlines()[-1] == f"{STOPPED} {again}"
        assert "Traceback" not in said


@linux
def test_a_killed_worker_is_replaced_and_the_study_goes_on(
    by_episodes: Path, undisturbed_episodes: bytes, tmp_path: Path
) -> None:
    process = start_two(by_episodes, tmp_path)
    wait_for_shards(process, tmp_path, 2)
    first, second = workers(process)
    os.kill(first, signal.SIGKILL)
    wait_for_shards(process, tmp_path, len(list(tmp_path.rglob("*.parquet"))) + 20)
    third = set(workers(process)) - {first, second}
    assert len(third) == 1
    stop(process, signal.SIGKILL)
    assert gone([first, second, *third])
    assert_all_runs_are_whole(tmp_path)
    assert complete(by_episodes, tmp_path) == undisturbed_episodes
