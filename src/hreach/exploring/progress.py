"""The line that tells how far an exploration is: steps per second, states, reward of the last episodes, certificate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from hreach.exploring.guarded import Course
from hreach.exploring.looking import Looks
from hreach.running.numbering import Numbered
from hreach.running.progress import Told

SECONDS, CALLS, LAST = 0.2, 32, 20  # between two updates; steps between two looks at the clock; episodes that count


@contextmanager
def line(shown: bool, steps: int, course: Course, states: Numbered, looks: Looks) -> Iterator[Told | None]:
    """Whom to tell each step; nobody if the line is not shown."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (BarColumn(bar_width=16), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    begun, done, last = time.monotonic(), 0, 0.0
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=steps)

        def told(more: int) -> None:
            nonlocal done, last
            done += more
            if done % CALLS == 0 and (now := time.monotonic()) - last >= SECONDS:
                last = now
                bar.update(task, completed=done, description=words(done / (now - begun), course, states, looks))

        yield told


def words(rate: float, course: Course, states: Numbered, looks: Looks) -> str:
    """What the line says, such as "31,000 steps/s, 64 states, last 20 episodes paid .45, certain .12 to .9"."""
    parts = [f"{rate:,.0f} steps/s", f"{len(states.names)} states"]
    if course.earned:
        recent = course.earned[-LAST:]
        parts.append(f"last {len(recent)} episodes paid {sum(recent) / len(recent):.3g}")
    if looks.last is not None:
        parts.append(f"certain: worth {looks.last.lower:.3g} to {looks.last.upper:.3g}")
    return ", ".join(parts)
