"""What was certain on the way: a certificate of the learnt policy whenever the steps have doubled, and a stop rule."""

from __future__ import annotations

from dataclasses import replace

from hreach.exploring.explorer import CERTIFIABLE, Explorer
from hreach.guarantees.certificate import Certificate
from hreach.guarantees.certificate_picture import Look
from hreach.guarantees.stopping import Aim, Certified
from hreach.protocols import Acts, State

FIRST, FACTOR, DELTA = 100, 2, 0.1


class Looks:
    """Asked by `hreach.run` between steps; it looks at the state in which the first episode began, state 0."""

    def __init__(self, rule: Certified | Aim | None) -> None:
        self.rule = rule
        if rule is not None:
            self.rule = replace(rule, state=0 if rule.state is None else rule.state)
        if isinstance(self.rule, Certified):
            self.rule.target = "optimum"  # where rewards are learnt, nothing else can be certified
        self.delta = DELTA if rule is None else rule.delta
        self.looks: list[Look] = []
        self.last: Certificate | None = None
        self._due = FIRST

    def met(self, agent: Acts, state: State) -> str | None:
        """Why to stop now, or None."""
        assert isinstance(agent, Explorer)
        if agent.agent.model.samples >= self._due:
            self.look(agent)
            while self._due <= agent.agent.model.samples:
                self._due *= FACTOR
        return None if self.rule is None else self.rule.met(agent, state)

    def look(self, agent: Explorer) -> Certificate | None:
        """A certificate now, unless there are too many states for one."""
        if agent.met**2 * agent.actions > CERTIFIABLE:
            self.last = None
            return None
        samples = agent.agent.model.samples
        if self.last is None or self.last.samples != samples:
            self.last = agent.certify(self.delta, 0)
            self.looks.append(Look(samples, self.last.bounds))
        return self.last
