"""A study as cells: one agent with one set of parameters on one domain, with an identity of its own.

A cell's seeds depend on the study's seed and on what the cell is, not on its place in the file or on how it is written,
and its results are found again by its id; two rows of a study that ask for the same thing are one cell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from hreach.agents import find_agent, find_part, kind_of
from hreach.agents.make import make_linear, make_tabular
from hreach.agents.parts import Parts, chosen_parts
from hreach.domains import find_domain, make_domain
from hreach.errors import InputError
from hreach.problems.spaces import size_of
from hreach.problems.truth import truth_of
from hreach.registry import Factory, Found, defaults_of, import_plugins, source_digest
from hreach.running.simulate import Setting
from hreach.studies.code import code_digest
from hreach.studies.identity import Data, digest, id_of, normal
from hreach.studies.results import MARKS, SCHEMA
from hreach.studies.spec import AgentSpec, Study


@dataclass(frozen=True)
class Cell:
    """What to simulate; `id` names its results, `entropy` seeds its runs together with the run's number.

    A run has `steps` steps, of which `marks` are kept, or `episodes` episodes of learning and then `final_episodes`
    without. `plugins` are modules to import first.
    """

    domain: str
    domain_params: Data
    agent: str
    params: Data
    steps: int | None
    seed: int
    episodes: int | None = None
    final_episodes: int = 0
    plugins: tuple[str, ...] = ()
    marks: int = MARKS

    @property
    def setting(self) -> Setting:
        """Its runs, as another process understands them."""
        what = (self.domain, self.domain_params, self.agent, self.params)
        return Setting(*what, self.steps, self.episodes, self.plugins)

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits; other code never finds the results of this one."""
        return id_of(self.identity)

    @cached_property
    def identity(self) -> Data:
        """Everything that the results depend on, as plain data in normal form.

        Of what is not hreach's own, `sources` has a digest of each module that is named.
        """
        names = ("domain", "domain_params", "agent", "params")
        length = {"steps": self.steps, "episodes": self.episodes, "final_episodes": self.final_episodes}
        own = {"seed": self.seed, "marks": self.marks, "schema": SCHEMA, "code": code_digest()}
        known = dict(zip(names, self._content, strict=True)) | length | own
        return known | ({"sources": self.sources} if self.sources else {})

    @property
    def code(self) -> str:
        """The code that decides its results, in this process: hreach's, and that of every module that is named."""
        here = replace(self)  # without what another process may have found
        return digest([code_digest(), here.sources])[:16]

    @cached_property
    def entropy(self) -> list[int]:
        """Seed of the cell: the study's seed and the cell's content.

        Runs of other lengths share a beginning, and a change of the code changes no seed.
        """
        words = digest(self._content)
        return [self.seed, *(int(words[i : i + 8], 16) for i in range(0, 32, 8))]

    @cached_property
    def _found(self) -> tuple[Found, Found]:
        """(domain, agent)."""
        import_plugins(self.plugins)
        return find_domain(self.domain), find_agent(self.agent)

    @cached_property
    def _parts(self) -> list[Found]:
        """The model and the planner, where they are named."""
        if kind_of(self._found[1]) == "env":
            return []
        named = [(kind, self.params.get(kind)) for kind in ("model", "planner")]
        return [find_part(kind, name) for kind, name in named if isinstance(name, str)]

    @cached_property
    def sources(self) -> dict[str, str]:
        """A digest of each module that is named and is not hreach's own."""
        modules = {*self.plugins, *(module for found in (*self._found, *self._parts) for module in found.modules)}
        return {module: source_digest(module) for module in sorted(modules)}

    @cached_property
    def _content(self) -> list[object]:
        """What is run, however it was written: a parameter with its default is left out, equal numbers are equal.

        Of a tabular agent the discount (where the domain tells it), the prior and the tolerance always stand there.
        """
        domain, agent = self._found
        kind = kind_of(agent)
        shared: Mapping[str, Factory] = {"problem": make_tabular, "task": make_linear}
        defaults = normal(defaults_of(agent.factory) if kind == "env" else _both(shared[kind], agent.factory))
        given = normal(self.params)
        if kind == "problem":
            given |= normal(self._parts_of(given)._asdict())
            defaults |= {"model": "counts", "planner": "local" if given["model"] == "sparse-counts" else "sweeps"}
        params = _without(given, defaults)
        if kind == "problem":
            params = {"tolerance": defaults["tolerance"], **params}
            gamma = None if "gamma" in params else _told(self.domain, self.domain_params)[0]
            params |= {} if gamma is None else {"gamma": normal(gamma)}
        return [
            self.domain,
            _without(normal(self.domain_params), normal(defaults_of(domain.factory))),
            self.agent,
            params,
        ]

    def _parts_of(self, given: Data) -> Parts:
        """Model, planner and prior, as they are or as they are chosen by the size of the domain."""
        _, states, actions = _told(self.domain, self.domain_params)
        named = given.get("model", "auto"), given.get("planner"), given.get("prior")
        return chosen_parts(states, actions, *named, given.get("successors") is not None)


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
        tuple(study.plugins),
        study.marks,
    )


def _told(domain: str, params: Data) -> tuple[float | None, int, int]:
    """What a domain tells: its discount, if it does, and how many states and actions it has (0: not finitely many)."""
    try:
        return _told_once(domain, json.dumps(params))
    except TypeError:  # a date, which TOML has and JSON has not
        return _told_by(make_domain(domain, **params))


@lru_cache(maxsize=1024)
def _told_once(domain: str, params: str) -> tuple[float | None, int, int]:
    """The same, once for all rows of a study."""
    return _told_by(make_domain(domain, **json.loads(params)))


def _told_by(env: object) -> tuple[float | None, int, int]:
    mdp = truth_of(env)
    if mdp is not None:
        return mdp.gamma, mdp.states, mdp.actions
    try:
        return None, size_of(env, "observation_space"), size_of(env, "action_space")
    except InputError:
        return None, 0, 0


def _both(shared: Factory, own: Factory) -> dict[str, object]:
    return {**defaults_of(shared), **defaults_of(own)}


def _without(given: Data, defaults: Mapping[str, object]) -> Data:
    """What was given without what is the default; a default that is no plain data is nobody's."""
    data = (bool, int, float, str, list, dict, type(None))
    plain = {key: value for key, value in defaults.items() if isinstance(value, data)}
    return {key: value for key, value in given.items() if key not in plain or value != plain[key]}
