"""How far studies are: bars and lines for people, or one line of JSON for each thing that happens, for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from hreach.errors import shown

if TYPE_CHECKING:
    from rich.console import Console

    from hreach.studies.results import Result
    from hreach.studies.spec import AgentSpec, Study


def row_name(spec: AgentSpec) -> str:
    """A row, in words."""
    return f"{spec.label}, {spec.variant}" if spec.variant else spec.label


class Bars:
    """A bar for all runs of a study, with rate and time left, and a line for each row that is complete or failed.

    Lines of complete rows come in the order of the rows, whichever was complete first.
    """

    def __init__(self, console: Console, study: Study) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description:<34}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=console, transient=True)
        self._runs = self._progress.add_task(study.title, total=0, rate="")
        self._rows: list[int] = []  # those that are neither complete nor failed, or wait for one before them
        self._waiting: dict[int, str] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for row in self._rows:
            if row in self._waiting:
                self._say(self._waiting[row])
        self._progress.stop()

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        """So many runs more."""
        task = self._progress.tasks[self._runs]
        self._progress.update(self._runs, total=(task.total or 0) + runs)
        self._rows.append(id(spec))
        return self._advance

    def _advance(self, runs: int) -> None:
        task = self._progress.tasks[self._runs]
        self._progress.advance(self._runs, runs)
        self._progress.update(self._runs, rate=f"{task.speed:.3g} runs/s" if task.speed else "")

    def end(self, spec: AgentSpec, result: Result) -> None:
        """A line for the row, and for those that waited for it."""
        self._waiting[id(spec)] = (
            f"{row_name(spec):<34} {result.headline} ({result.runs} run{'s' * (result.runs != 1)})"
        )
        while self._rows and self._rows[0] in self._waiting:
            self._say(self._waiting.pop(self._rows.pop(0)))

    def failed(self, spec: AgentSpec, runs: tuple[int, int], why: str) -> None:
        """A line for the failure."""
        self._say(f"{row_name(spec):<34} runs {runs[0]} to {runs[1] - 1} failed: {why}")
        if id(spec) in self._rows:
            self._rows.remove(id(spec))

    def note(self, spec: AgentSpec, text: str) -> None:
        """A line for the note."""
        self._say(f"{row_name(spec):<34} {text}")

    def audits(self, left: int) -> Callable[[int], None]:
        """A bar of their own."""
        task = self._progress.add_task("audits", total=left, rate="")
        return lambda done: self._progress.advance(task, done)

    def _say(self, line: str) -> None:
        self._progress.console.print(line, markup=False, emoji=False)


class Lines:
    """One JSON object a line, on standard output: event, study, row, and what there is to say."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._say("stopped", why=shown(str(error)) if str(error) else type(error).__name__)

    def begin(self, spec: AgentSpec, runs: int) -> Callable[[int], None]:
        """{"event": "begin", "runs": those to come}, and "runs" as they finish."""
        self._say("begin", spec, runs=runs)
        left = runs

        def told(more: int) -> None:
            nonlocal left
            left -= more
            self._say("runs", spec, done=more, left=left)

        return told

    def end(self, spec: AgentSpec, result: Result) -> None:
        """{"event": "row", "runs": of the row, "mean": its number}."""
        self._say("row", spec, runs=result.runs, mean=float(result.headline))

    def failed(self, spec: AgentSpec, runs: tuple[int, int], why: str) -> None:
        """{"event": "failed", "first": , "end": , "why": }."""
        self._say("failed", spec, first=runs[0], end=runs[1], why=why)

    def note(self, spec: AgentSpec, text: str) -> None:
        """{"event": "note", "text": }."""
        self._say("note", spec, text=text)

    def audits(self, left: int) -> Callable[[int], None]:
        """{"event": "audits", "left": }."""
        self._say("audits", left=left)
        return lambda done: None

    def _say(self, event: str, spec: AgentSpec | None = None, **more: object) -> None:
        row = {} if spec is None else {"row": spec.label, "variant": spec.variant}
        print(json.dumps({"event": event, "study": self._name, **row, **more}), flush=True)
