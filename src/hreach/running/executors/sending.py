"""Tasks on their way to worker processes, and what the parent knows of a worker."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from hreach.running.executors.base import Failure, Task
from hreach.running.executors.worker import READY, pack

_SHORT = 0.2  # seconds: a task is put in line behind one that takes less, so that nobody waits long at the end


@dataclass
class Sent:
    """A task: its number, what is sent of it, and how many workers have died of it."""

    number: int
    packed: bytes
    deaths: int = 0


class Coming:
    """The tasks that are still to be begun: those sent in vain, the rest in its order, those whose worker died.

    A task whose worker died waits for the others: the worker that is started in its place is the likeliest to be hit
    again while it begins, and a task must not use up its tries on that.
    """

    def __init__(self, function: Callable[..., object], tasks: Iterable[Task]) -> None:
        self.again: list[Sent] = []
        self._function, self._tasks = function, enumerate(tasks)

    def take(self) -> Sent | tuple[int, Failure] | None:
        """The next one, or its number and why it cannot be sent; None at the end."""
        for i in reversed(range(len(self.again))):
            if self.again[i].deaths == 0:
                return self.again.pop(i)
        for number, task in self._tasks:
            packed = pack(self._function, task)
            return (number, packed) if isinstance(packed, Failure) else Sent(number, packed)
        return self.again.pop(0) if self.again else None


@dataclass
class Worker:
    """A worker process, the pipe to it, whether it has begun, and the tasks that it has not answered, in order."""

    process: SpawnProcess
    pipe: Connection
    ready: bool = False
    tasks: deque[Sent] = field(default_factory=deque)
    _line: int = 1  # tasks that it may have
    _since: float = 0.0  # when the first of them was begun

    @property
    def room(self) -> int:
        """How many more tasks it may have."""
        return self._line - len(self.tasks)

    def give(self, task: Sent) -> bool:
        """Send a task; False if nobody is there to take it."""
        try:
            self.pipe.send_bytes(task.packed)
        except OSError:
            return False
        if not self.tasks:
            self._since = time.monotonic()
        self.tasks.append(task)
        return True

    def hear(self) -> tuple[list[tuple[int, bytes]], bool]:
        """((number, answer) of every task that was answered, whether more may follow)."""
        answers: list[tuple[int, bytes]] = []
        try:
            while self.pipe.poll():
                said = self.pipe.recv_bytes()
                if said == READY:
                    self.ready = True
                else:
                    answers.append((self.tasks.popleft().number, said))
                    now = time.monotonic()
                    self._line, self._since = 1 + (now - self._since < _SHORT), now
        except (EOFError, OSError):
            return answers, False
        return answers, True

    def dismiss(self) -> None:
        """A busy worker is stopped, any other sees that its pipe is closed."""
        if self.tasks or not self.ready:
            self.process.terminate()
        self.pipe.close()

    def end(self, patience: float) -> str:
        """Wait for its end, for so many seconds, and then kill it; how it ended."""
        self.pipe.close()
        self.process.join(patience)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code = self.process.exitcode
        assert code is not None
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
