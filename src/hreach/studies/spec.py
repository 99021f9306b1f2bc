"""A study as data: a TOML file, checked field by field, every error with the file's name and line.

title  = "My study"
domain = "chain"               # a name of `hreach list`
domain_params = { length = 7 } # optional
steps  = 3000                  # or, on any domain: episodes = 100
runs   = 1000
seed   = 0

[settings]                     # optional: parameters that all agents share
gamma = 0.95

[[agent]]
agent  = "pac-rmdp"
params = { h = 8 }
algorithm = "PAC-RMDP(8)"      # optional: the label in tables and figures

A study by `episodes` may also have

final_episodes = 5             # so many more at the end of each run, in which the model is acted on as it is
scale  = "log"                 # of the figure's totals; default "linear"

[[agent]]
reference = true               # a horizontal line with the mean total, not a curve
episodes  = 3                  # optional for a reference: fewer episodes than the curves have
picture   = true               # draw the last of run 0's final episodes

[[claim]]
text      = "PAC-RMDP(8) is better than greedy, and always gets there"
source    = "Section 5"        # where the paper says it; left out of a claim of your own
kind      = "greater"          # see `Claim`
statistic = "total"
algorithm = "PAC-RMDP(8)"
than      = "greedy"
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hreach.agents import AGENTS, LINEAR_AGENTS, make_agent
from hreach.domains import DOMAINS, make_domain
from hreach.errors import InputError, require, shown, unknown_name
from hreach.studies import catalog

# The rewards of a run are held in memory, 8 bytes each (.8 GB), as are the totals of all runs of a row.
MAX_STEPS, MAX_EPISODES, MAX_RUNS = 10**8, 10**6, 10**6
Path_ = tuple[str | int, ...]
Here = Callable[..., AbstractContextManager[None]]  # a place in the file, which errors raised inside are blamed on


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AgentSpec(_Strict):
    """One agent of a study; `variant` groups rows, `note` says what is special about this one.

    In a study by episodes, a `reference` is drawn as a line to compare with (it has no final episodes, and may have a
    number of `episodes` of its own: an agent with nothing to learn needs few), and `picture` asks for a picture of the
    last episode without exploration.
    """

    agent: str
    params: dict[str, Any] = Field(default_factory=dict)
    algorithm: str = ""
    variant: str = ""
    note: str = ""
    reference: bool = False
    episodes: int | None = Field(default=None, ge=1, le=MAX_EPISODES)
    picture: bool = False

    @property
    def label(self) -> str:
        """What tables and figures call it."""
        inside = ", ".join(f"{k}={v}" for k, v in self.params.items())
        return self.algorithm or (f"{self.agent}({inside})" if inside else self.agent)


class Claim(_Strict):
    """A statement about the runs, decided by the data of each variant on its own (`hreach.report.claims`).

    kind        "less", "greater"      the mean over runs of the statistic, against that of another algorithm
                                       (`times` its value) or against a number
                "best"                 "greater" than every other algorithm of the variant, or than those in `than`
                "at most", "at least"  the statistic of every single run, against a number
    statistic   of one run: "total", the mean total reward of its episodes; "last10", that of the last ten; "goals", how
                many episodes terminated; "plain", the mean total reward of the final episodes
    algorithm, than   labels; if there are several, the claim is about all of them
    source      where the paper says it, in these words; "" is a claim of one's own
    possible    [low, high] of the statistic of any run, `because` of something that holds whatever the agent does; a
                claim that is true of all of it cannot fail, and is shown as such
    """

    text: str
    source: str = ""
    kind: Literal["less", "greater", "best", "at most", "at least"]
    statistic: Literal["total", "last10", "goals", "plain"]
    algorithm: Any
    than: Any = None
    times: float = Field(default=1, gt=0, allow_inf_nan=False)
    possible: list[float] | None = None
    because: str = ""

    @property
    def ours(self) -> bool:
        """Whether it is no sentence of the paper."""
        return not self.source

    @property
    def cannot_fail(self) -> bool:
        """Whether it is true of every possible run."""
        if self.possible is None:
            return False
        low, high = self.possible
        if self.kind in ("at most", "less"):
            return bool(high < self.than or (high == self.than and self.kind == "at most"))
        return bool(low > self.than or (low == self.than and self.kind == "at least"))

    @property
    def algorithms(self) -> list[str]:
        """Labels of the rows that the claim is about."""
        return _labels(self.algorithm)

    @property
    def rivals(self) -> list[str]:
        """Labels of the rows that they are compared with; none for a number."""
        return _labels(self.than)


class Study(_Strict):
    """Agents on one domain, for `steps` steps or for `episodes` episodes.

    printed          the CSV of published numbers to compare with (of a study by steps)
    final_episodes   episodes after the last one of each run, in which the agent neither explores nor learns
    """

    title: str
    domain: str
    domain_params: dict[str, Any] = Field(default_factory=dict)
    text: str = ""
    steps: int | None = Field(default=None, ge=1, le=MAX_STEPS)
    episodes: int | None = Field(default=None, ge=1, le=MAX_EPISODES)
    final_episodes: int = Field(default=0, ge=0, le=MAX_EPISODES)
    runs: int = Field(ge=1, le=MAX_RUNS)
    seed: int = Field(ge=0)
    printed: str | None = None
    scale: Literal["linear", "log"] = "linear"
    settings: dict[str, Any] = Field(default_factory=dict)
    agent: list[AgentSpec] = Field(min_length=1)
    claim: list[Claim] = Field(default_factory=list)

    @property
    def variants(self) -> dict[str, list[AgentSpec]]:
        """The rows of each variant, in the order of the file."""
        names = dict.fromkeys(spec.variant for spec in self.agent)
        return {name: [spec for spec in self.agent if spec.variant == name] for name in names}

    def variants_with(self, claim: Claim) -> list[str]:
        """The variants that have all rows which a claim speaks of."""
        asked = {*claim.algorithms, *claim.rivals}
        return [name for name, rows in self.variants.items() if asked <= {spec.label for spec in rows}]

    def rivals_of(self, claim: Claim, variant: str) -> list[str]:
        """Labels of what a claim compares with: of "best", unless it says so itself, all rows but the references."""
        if claim.rivals or claim.kind != "best":
            return claim.rivals
        rows = [spec.label for spec in self.variants[variant] if not spec.reference]
        return [label for label in rows if label not in claim.algorithms]


def load_catalog(name: str) -> Study:
    """A study that comes with hreach."""
    texts = catalog.texts()
    if name not in texts:
        raise unknown_name("study", name, texts)
    return parse(texts[name], f"{name}.toml")


def load(path: Path) -> Study:
    """The study in a TOML file."""
    try:
        text = path.read_text("utf-8-sig")  # some editors begin a file with a byte order mark
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
    here = partial(_blaming, study, text, name)
    _check_length(study, here)
    if study.printed is not None and study.printed not in (known := catalog.printed()):
        with here("printed"):
            raise unknown_name("printed", study.printed, known)
    env = _checked_domain(study, here)
    for i, spec in enumerate(study.agent):
        with here("agent", i, "params" if spec.agent in AGENTS | LINEAR_AGENTS else "agent"):
            given = {**study.settings, **spec.params}
            for key in given.keys() & {"name", "env", "seed"}:
                raise InputError(f"parameter of agent {spec.agent!r} is {key!r}, which a study may not give.")
            agent = make_agent(spec.agent, env, **given)
        with here("agent", i, "agent"):
            if study.final_episodes and not hasattr(agent, "certainty_equivalent"):
                raise InputError(f"agent is {spec.agent!r}, but must have certainty_equivalent() for final_episodes.")
        with here("agent", i, "picture"):
            drawn = study.final_episodes > 0 and hasattr(env, "episode_figure")
            ok = drawn or not spec.picture
            require(ok, "picture", spec.picture, "left out without final_episodes and a domain that draws episodes")
    for i, claim in enumerate(study.claim):
        _check_claim(study, claim, partial(here, "claim", i))


@contextmanager
def _blaming(study: Study, text: str, name: str, *place: str | int) -> Iterator[None]:
    """Say in which file and line the mistake is."""
    try:
        yield
    except (InputError, TypeError) as error:
        found = _shared(study, place, str(error)) or place
        raise InputError(f"{_where(text, name, found)}: {error}") from error


def _check_length(study: Study, here: Here) -> None:
    """Steps or episodes, and with steps nothing that only episodes have."""
    with here("episodes"):
        if study.steps is None and study.episodes is None:
            raise InputError("steps is missing, but must be given (or episodes).")
        ok = study.steps is None or study.episodes is None
        require(ok, "episodes", study.episodes, "left out where steps is given")
    if study.episodes is not None:
        with here("printed"):
            require(study.printed is None, "printed", study.printed, "left out where episodes is given")
        for i, spec in enumerate(study.agent):
            with here("agent", i, "episodes"):
                ok = spec.reference or spec.episodes is None
                require(ok, "episodes", spec.episodes, "left out of an agent that is no reference")
        with here("agent", 0, "reference"):
            ok = not all(spec.reference for spec in study.agent)
            require(ok, "reference", True, "left out for at least one agent")
        return
    for key in study.model_fields_set & {"final_episodes", "scale", "claim"}:
        with here(key):
            raise InputError(f"{key} is given, but must be left out where steps is given (it is for episodes).")
    for i, spec in enumerate(study.agent):
        for key in spec.model_fields_set & {"reference", "picture", "episodes"}:
            with here("agent", i, key):
                raise InputError(f"{key} is given, but must be left out where steps is given (it is for episodes).")


def _checked_domain(study: Study, here: Here) -> Any:
    with here("domain_params" if study.domain in DOMAINS else "domain"):
        env = make_domain(study.domain, **study.domain_params)
    with here("domain"):
        finite = hasattr(env, "mdp")
        ok = finite or study.steps is None
        require(ok, "domain", study.domain, "one with finitely many states (or give episodes, not steps)")
        ok = not finite or study.episodes is None
        require(ok, "domain", study.domain, "one whose episodes end (or give steps, not episodes)")
    return env


def _check_claim(study: Study, claim: Claim, here: Here) -> None:
    """Its labels are rows of one variant, and it compares with what its kind and statistic need."""
    known = {spec.label for spec in study.agent}
    for key, value in (("algorithm", claim.algorithm), ("than", claim.than)):
        with here(key):
            for label in _labels(value):
                if label not in known:
                    raise unknown_name(key, label, known)
    with here("algorithm"):
        require(len(claim.algorithms) > 0, "algorithm", claim.algorithm, "a label or a list of labels")
        together = study.variants_with(claim)
        require(len(together) > 0, "algorithm", claim.algorithm, "in one variant, with all of `than`")
        rows = [spec.label for variant in together for spec in study.variants[variant]]
        for label in claim.algorithms + claim.rivals:
            once = rows.count(label) == len(together)
            require(once, "algorithm", claim.algorithm, f"about rows of its own, but {label!r} is the label of two")
    with here("than"):
        number = isinstance(claim.than, int | float) and not isinstance(claim.than, bool)
        numeric = number and math.isfinite(claim.than)
        if claim.kind in ("at most", "at least"):
            require(numeric, "than", claim.than, f"a number where kind is {claim.kind!r}")
        elif claim.kind == "best":
            require(claim.than is None or len(claim.rivals) > 0, "than", claim.than, "labels, or left out")
        else:
            require(numeric or len(claim.rivals) > 0, "than", claim.than, "a label, a list of labels or a number")
        overlap = set(claim.algorithms) & set(claim.rivals)
        require(not overlap, "than", claim.than, "other algorithms than `algorithm`")
        alone = claim.kind == "best" and any(not study.rivals_of(claim, variant) for variant in together)
        require(not alone, "than", claim.than, "given where `algorithm` is all there is to compare")
    with here("times"):
        ok = claim.times == 1 or claim.kind == "best" or len(claim.rivals) > 0
        require(ok, "times", claim.times, "left out where `than` is a number")
    _check_possible(claim, numeric, here)
    with here("statistic"):
        asked = {*claim.algorithms, *claim.rivals}
        ok = study.final_episodes > 0 and not any(s.reference and s.label in asked for s in study.agent)
        ok = ok or claim.statistic != "plain"
        require(ok, "statistic", claim.statistic, "another one than 'plain' where there are no final_episodes")


def _check_possible(claim: Claim, numeric: bool, here: Here) -> None:
    """A range with a reason, and only where a number can lie outside of it."""
    ends = claim.possible
    with here("because"):
        require(ends is not None or not claim.because, "because", claim.because, "left out without `possible`")
    if ends is None:
        return
    with here("possible"):
        ok = len(ends) == 2 and all(map(math.isfinite, ends)) and ends[0] <= ends[-1]
        require(ok, "possible", ends, "two numbers, the lowest and the highest, with the reason in `because`")
        require(numeric, "possible", ends, "left out where `than` is no number")
        require(claim.because != "", "because", claim.because, "given: the reason for `possible`")


def _shared(study: Study, place: Path_, message: str) -> Path_ | None:
    """Where the setting stands that the message about an agent speaks of, unless the agent gave its own."""
    own = study.agent[int(place[1])].params if place[0] == "agent" else study.settings
    named = [k for k in study.settings if k not in own and _speaks_of(k, message)]
    return ("settings", named[0]) if named else None


def _speaks_of(key: str, message: str) -> bool:
    return bool(re.search(rf"^{re.escape(key)} is |^parameter of .* is {re.escape(repr(key))}", message))


def _labels(value: Any) -> list[str]:
    """A label, or a list of them, as a list; of a number nothing."""
    return [str(v) for v in value] if isinstance(value, list) else [value] if isinstance(value, str) else []


def _sentence(error: Any) -> str:
    """A pydantic error in the words of this library."""
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error["loc"]).lstrip(".")
    if error["type"] == "extra_forbidden":
        inner: dict[Any, type[BaseModel]] = {"agent": AgentSpec, "claim": Claim}
        model = inner.get(error["loc"][0], Study) if len(error["loc"]) > 1 else Study
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
        elif entry := re.match(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*=""", line):
            here = (*table, entry[1] or entry[2] or entry[3])
        else:
            continue
        if here == path[: len(here)] and len(here) > best[0]:
            best = (len(here), number)
    return f"{name}, line {best[1]}" if best[1] else name
