"""A study as cells: one agent with one set of parameters on one domain, with an identity of its own.

A cell's seeds depend on the study's seed and on what the cell is, not on its place in the file or on how it is written,
and its results are found again by its id; two rows of a study that ask for the same thing are one cell.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hreach.agents import AGENTS, LINEAR_AGENTS
from hreach.agents.make import make_linear, make_tabular
from hreach.domains import DOMAINS, make_domain
from hreach.registry import defaults_of, lookup
from hreach.studies.code import code_digest
from hreach.studies.spec import AgentSpec, Study


@dataclass(frozen=True)
class Cell:
    """What to simulate; `id` names its results, `entropy` seeds its runs together with the run's number.

    A run has `steps` steps, or `episodes` episodes of learning and then `final_episodes` without.
    """

    domain: str
    domain_params: dict[str, Any]
    agent: str
    params: dict[str, Any]
    steps: int | None
    seed: int
    episodes: int | None = None
    final_episodes: int = 0

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits; other code never finds the results of this one."""
        return _digest(self.identity)[:16]

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that the results depend on, as plain data in normal form."""
        names = ("domain", "domain_params", "agent", "params")
        length = {"steps": self.steps, "episodes": self.episodes, "final_episodes": self.final_episodes}
        return dict(zip(names, self._content, strict=True)) | length | {"seed": self.seed, "code": code_digest()}

    @cached_property
    def entropy(self) -> list[int]:
        """Seed of the cell: the study's seed and the cell's content.

        Runs of other lengths share a beginning, and a change of the code changes no seed.
        """
        digest = _digest(self._content)
        return [self.seed, *(int(digest[i : i + 8], 16) for i in range(0, 32, 8))]

    @cached_property
    def _content(self) -> list[Any]:
        """What is run, however it was written: a parameter with its default is left out, equal numbers are equal.

        Of a tabular agent the discount, the prior and the tolerance always stand there.
        """
        entry = lookup("agent", self.agent, AGENTS | LINEAR_AGENTS)
        make = make_tabular if self.agent in AGENTS else make_linear
        defaults = normal({**defaults_of(make), **defaults_of(entry.load())})
        params = _without(normal(self.params), defaults)
        if self.agent in AGENTS:
            params = {"prior": defaults["prior"], "tolerance": defaults["tolerance"], **params}
            params.setdefault("gamma", normal(self._own_discount()))
        domain_defaults = normal(defaults_of(lookup("domain", self.domain, DOMAINS).load()))
        return [self.domain, _without(normal(self.domain_params), domain_defaults), self.agent, params]

    def _own_discount(self) -> float:
        """The domain's, which a tabular agent takes unless it is given another."""
        return float(make_domain(self.domain, **self.domain_params).mdp().gamma)


def cell_of(study: Study, spec: AgentSpec) -> Cell:
    """The cell that a row of the study asks for."""
    params = {**study.settings, **spec.params}
    return Cell(
        study.domain,
        study.domain_params,
        spec.agent,
        params,
        study.steps,
        study.seed,
        spec.episodes or study.episodes,
        0 if spec.reference else study.final_episodes,
    )


_WHOLE = 10**6  # a whole number below this is an int in normal form, any other number a float


def normal(value: Any) -> Any:
    """A value in normal form: lists for tuples, and one way to write a number, whether it came as 1 or as 1.0."""
    if isinstance(value, Mapping):
        return {str(key): normal(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [normal(inner) for inner in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, float) or abs(value) <= 2**53:
        real = float(value)
        return int(real) if real.is_integer() and abs(real) < _WHOLE else real
    return value


def _without(given: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in defaults or value != defaults[key]}


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
