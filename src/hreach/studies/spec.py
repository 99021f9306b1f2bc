"""A study as data: a TOML file, checked field by field, every error with the file's name and line.

title  = "My study"
domain = "chain"               # a name of `hreach list`
domain_params = { length = 7 } # optional
steps  = 3000
runs   = 1000
seed   = 0

[settings]                     # optional: parameters that all agents share
gamma = 0.95

[[agent]]
agent  = "pac-rmdp"
params = { h = 8 }
algorithm = "PAC-RMDP(8)"      # optional: the label in tables and figures
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hreach.agents import AGENTS, make_agent
from hreach.domains import DOMAINS, make_domain
from hreach.errors import InputError, shown, unknown_name
from hreach.studies import catalog

Path_ = tuple[str | int, ...]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AgentSpec(_Strict):
    """One agent of a study; `variant` groups rows, `note` says what is special about this one."""

    agent: str
    params: dict[str, Any] = Field(default_factory=dict)
    algorithm: str = ""
    variant: str = ""
    note: str = ""

    @property
    def label(self) -> str:
        """What tables and figures call it."""
        inside = ", ".join(f"{k}={v}" for k, v in self.params.items())
        return self.algorithm or (f"{self.agent}({inside})" if inside else self.agent)


class Study(_Strict):
    """Agents on one domain. `printed` names the CSV of published numbers to compare with."""

    title: str
    domain: str
    domain_params: dict[str, Any] = Field(default_factory=dict)
    text: str = ""
    steps: int = Field(ge=1)
    runs: int = Field(ge=1)
    seed: int = Field(ge=0)
    printed: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    agent: list[AgentSpec] = Field(min_length=1)


def load_catalog(name: str) -> Study:
    """A study that comes with hreach."""
    texts = catalog.texts()
    if name not in texts:
        raise unknown_name("study", name, texts)
    return parse(texts[name], f"{name}.toml")


def load(path: Path) -> Study:
    """The study in a TOML file."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"study is {str(path)!r}, which cannot be read: {reason}.") from error
    return parse(text, path.name)


def parse(text: str, name: str) -> Study:
    """Check everything that can be known before the first run."""
    try:
        study = Study.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: {str(error).rstrip('.')}.") from error
    except ValidationError as error:
        # A misspelt key is also a missing one: the spelling is what helps.
        first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        raise InputError(f"{_where(text, name, first['loc'])}: {_sentence(first)}") from error
    _check_names(study, text, name)
    return study


def _check_names(study: Study, text: str, name: str) -> None:
    """Build the domain and every agent once, so that their own errors come before the first run."""
    place: Path_ = ("domain",)
    try:
        if study.printed is not None and study.printed not in (known := catalog.printed()):
            place = ("printed",)
            raise unknown_name("printed", study.printed, known)
        place = ("domain_params",) if study.domain in DOMAINS else ("domain",)
        env = make_domain(study.domain, **study.domain_params)
        if not hasattr(env, "mdp"):
            place = ("domain",)
            raise InputError(f"domain is {study.domain!r}, but must be one with finitely many states.")
        for i, spec in enumerate(study.agent):
            place = ("agent", i, "params") if spec.agent in AGENTS else ("agent", i, "agent")
            given = {**study.settings, **spec.params}
            for key in given.keys() & {"name", "env", "seed"}:
                raise InputError(f"parameter of agent {spec.agent!r} is {key!r}, which a study may not give.")
            make_agent(spec.agent, env, **given)
    except (InputError, TypeError) as error:
        place = _shared(study, place, str(error)) or place
        raise InputError(f"{_where(text, name, place)}: {error}") from error


def _shared(study: Study, place: Path_, message: str) -> Path_ | None:
    """Where the setting stands that the message about an agent speaks of, unless the agent gave its own."""
    own = study.agent[int(place[1])].params if place[0] == "agent" else study.settings
    named = [k for k in study.settings if k not in own and re.search(rf"^{k} is |^parameter of .* is '{k}'", message)]
    return ("settings", named[0]) if named else None


def _sentence(error: Any) -> str:
    """A pydantic error in the words of this library."""
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error["loc"]).lstrip(".")
    if error["type"] == "extra_forbidden":
        model = AgentSpec if error["loc"][0] == "agent" else Study
        return str(unknown_name(f"key {where}", error["loc"][-1], model.model_fields))
    if error["type"] == "missing":
        return f"{where} is missing, but must be given."
    allowed = re.sub(r"^(Input|List) should ", "", error["msg"]).partition(" after validation")[0]
    return f"{where} is {shown(error['input'])}, but must {allowed}."


def _where(text: str, name: str, path: Path_) -> str:
    """`study.toml, line 12`: the line of the longest part of `path` that the text spells out."""
    table: Path_ = ()
    here: Path_
    seen: dict[str, int] = {}
    best = (0, 0)
    blank = re.sub(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'', lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(blank.split("\n"), start=1):
        if header := re.match(r"\s*\[(\[)?\s*([^\]]+?)\s*\]", line):
            key = header[2]
            seen[key] = seen.get(key, -1) + 1
            table = here = (key, seen[key]) if header[1] else (key,)
        elif entry := re.match(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*=", line):
            here = (*table, entry[1])
        else:
            continue
        if here == path[: len(here)] and len(here) > best[0]:
            best = (len(here), number)
    return f"{name}, line {best[1]}" if best[1] else name
