"""A study as cells: one agent with one set of parameters on one domain, with an identity of its own.

A cell's seeds depend on the study's seed and on what the cell is, not on its place in the file, and its results
are found again by its id; two rows of a study that ask for the same thing are one cell.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from hreach._version import __version__
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

    @property
    def id(self) -> str:
        """Sixteen hexadecimal digits; another version of hreach never finds this version's results."""
        length = self.steps if self.steps is not None else {"episodes": [self.episodes, self.final_episodes]}
        return _digest([self._content(), length, self.seed, __version__])[:16]

    @property
    def entropy(self) -> list[int]:
        """Seed of the cell: the study's seed and the cell's content (runs of other lengths share a beginning)."""
        digest = _digest(self._content())
        return [self.seed, *(int(digest[i : i + 8], 16) for i in range(0, 32, 8))]

    def _content(self) -> list[Any]:
        return [self.domain, self.domain_params, self.agent, self.params]


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


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
