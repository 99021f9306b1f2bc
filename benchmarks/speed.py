"""Speed as ratios: two programs in one run on one machine. `make bench` prints it and writes benchmarks/RESULTS.md.

Each timing is the smallest of several processes, taken in turns, so that a busy moment or an unlucky place in memory
hits both programs alike.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE / "reference" / "build"
RUNS, STEPS, H = 1000, 3000, 8


def fastest(programs: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Seconds of each program: the smallest of `rounds` turns."""
    best = dict.fromkeys(programs, float("inf"))
    for _ in range(rounds):
        for name, program in programs.items():
            best[name] = min(best[name], program())
    return best


SIMULATE = """
import sys, time, hreach
def seconds():
    began = time.perf_counter()
    hreach.simulate("chain", "pac-rmdp", {"h": %d}, runs=%d, steps=%d, threads=int(sys.argv[1]))
    return time.perf_counter() - began
seconds()  # warm from here on
print(min(seconds() for _ in range(4)))
"""


def simulated(threads: int) -> float:
    """Seconds of the simulation in a process of its own, warm."""
    program = [sys.executable, "-c", SIMULATE % (H, RUNS, STEPS), str(threads)]
    return float(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def compile_reference(name: str, *flags: str) -> Path:
    BUILD.mkdir(exist_ok=True)
    program = BUILD / name
    source = str(HERE / "reference" / "chain.cpp")
    subprocess.run(["g++", "-O3", "-march=native", *flags, "-o", str(program), source], check=True)
    return program


def reference(program: Path) -> float:
    arguments = [str(program), str(RUNS), str(STEPS), str(H), "5"]
    out = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    return float(out.split()[0])


def numpy_seconds_per_step(runs: int = 2) -> float:
    from benchmarks.reference import numpy_agent

    import hreach

    env = hreach.make_domain("chain")
    began = time.perf_counter()
    for seed in range(runs):
        numpy_agent.run(env, H, STEPS, seed)
    return (time.perf_counter() - began) / (runs * STEPS)


def command(*arguments: str, cache: str | None = None) -> tuple[float, float]:
    """(seconds, peak memory in MB) of a hreach command in a process of its own."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    program = [sys.executable, "-c", "from hreach.cli import main; main()", *arguments]
    began = time.perf_counter()
    subprocess.run(program, check=True, capture_output=True, env=environment)
    seconds = time.perf_counter() - began
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    lines: list[tuple[str, str, str]] = []

    def say(what: str, measured: str, goal: str) -> None:
        lines.append((what, measured, goal))
        print(f"{what}: {measured} (goal: {goal})", flush=True)

    sys.path.insert(0, str(HERE.parent))
    cell = f"PAC-RMDP({H}), chain, {RUNS} runs x {STEPS} steps"
    if shutil.which("g++"):
        general, fixed = compile_reference("chain"), compile_reference("chain-fixed", "-DLENGTH=5")
        best = fastest(
            {"hreach": lambda: simulated(1), "c++": lambda: reference(general), "fixed": lambda: reference(fixed)}, 7
        )
        ours = best["hreach"]
        say(f"{cell}, one thread", f"{ours:.3f} s, {1e9 * ours / RUNS / STEPS:.0f} ns a step", "-")
        say("time / C++ -O3 -march=native, sizes at run time", f"{ours / best['c++']:.2f}", "at most 1.25")
        say("time / the same C++ with its sizes compiled in", f"{ours / best['fixed']:.2f}", "-")
    else:
        print("no g++ here: the comparison with C++ is left out")
    threads = fastest({"1": lambda: simulated(1), "2": lambda: simulated(2)}, 7)
    say("one thread / two threads", f"{threads['1'] / threads['2']:.2f}", "at least 1.8")
    slow = min(numpy_seconds_per_step() for _ in range(2))
    say("plain NumPy reference / hreach, one thread", f"{slow * RUNS * STEPS / threads['1']:.0f}", "at least 100")
    with tempfile.TemporaryDirectory() as folder:
        cold, _ = command("reproduce", "--runs", "2", "--out", f"{folder}/cold", cache=f"{folder}/cache")
        warm, _ = command("reproduce", "--runs", "2", "--out", f"{folder}/warm", cache=f"{folder}/cache")
        say("compiling on a new machine", f"{cold - warm:.1f} s", "at most 30 s")
        listed = min(command("list")[0] for _ in range(3))
        say("`hreach list`", f"{listed:.2f} s", "under 0.35 s")
        quick, _ = command("reproduce", "--quick", "--out", f"{folder}/quick", cache=f"{folder}/cache")
        say("`hreach reproduce --quick`", f"{quick:.1f} s", "under 10 s")
        full, memory = command("reproduce", "--out", f"{folder}/full", cache=f"{folder}/cache")
        say(f"both tables, 52 rows x {RUNS} runs, page included", f"{full:.1f} s", "under 60 s")
        say("peak memory of the largest of these", f"{memory:.0f} MB", "under 1000 MB")
    write(lines)


def write(lines: list[tuple[str, str, str]]) -> None:
    about = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    table = [f"| {what} | {measured} | {goal} |" for what, measured, goal in lines]
    head = ["Made by `make bench`.", "", f"Machine: {about}.", "", "| what | measured | goal |", "|---|---|---|"]
    (HERE / "RESULTS.md").write_text("\n".join([*head, *table]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
