"""What a run does, for TensorBoard: a `progress` that looks at the record (extra `hreach[tensorboard]`)."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from hreach.agents.agent import Agent
from hreach.errors import InputError, whole
from hreach.protocols import Acts, AnyPlanner
from hreach.running.record import Record


class TensorBoard:
    """Writes curves into a folder: `hreach.run(env, agent, steps, progress=TensorBoard("board"))`.

    reward/average    of each `every` steps, and reward/total so far
    episode/return, episode/length   of each episode, at the step in which it ended
    agent/residual    of agents of hreach: what planning may be off by; agent/samples: how many samples were learnt

    One board serves one run; `tensorboard --logdir board` shows it.
    """

    def __init__(self, folder: str | Path, every: int = 100) -> None:
        self._every = whole("every", every, 1)
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise InputError(f"TensorBoard needs hreach[tensorboard] to be installed ({error}).") from error
        self._writer = SummaryWriter(str(Path(folder).expanduser()))
        self._agent: Acts | None = None
        self._record = Record()
        self._steps = self._episodes = self._begun = 0
        self._total = 0.0

    def begin(self, agent: Acts, record: Record) -> None:
        """A run begins, or goes on from a checkpoint: what it has done is in the record."""
        self._agent, self._record = agent, record

    def __call__(self, more: int) -> None:
        """Some steps or episodes more were finished."""
        record = self._record
        while self._episodes < len(record.ended):
            last = record.ended[self._episodes]
            rewards = record.rewards[self._begun : last + 1]
            self._writer.add_scalar("episode/return", sum(rewards), last + 1)
            self._writer.add_scalar("episode/length", len(rewards), last + 1)
            self._begun, self._episodes = last + 1, self._episodes + 1
        while self._steps + self._every <= len(record.rewards):
            part = record.rewards[self._steps : self._steps + self._every]
            self._steps += self._every
            self._total += sum(part)
            self._writer.add_scalar("reward/average", sum(part) / self._every, self._steps)
            self._writer.add_scalar("reward/total", self._total, self._steps)
            self._look()

    def _look(self) -> None:
        """What the agent says of itself now."""
        agent = self._agent
        if isinstance(agent, Agent):
            planner: AnyPlanner = agent.planner
            self._writer.add_scalar("agent/residual", planner.residual, self._steps)
            self._writer.add_scalar("agent/samples", agent.model.samples, self._steps)

    def close(self) -> None:
        """Write what is left."""
        self(0)
        self._writer.close()

    def __enter__(self) -> TensorBoard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
