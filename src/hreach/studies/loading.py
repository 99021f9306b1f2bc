"""A study from a TOML file: everything that can be known before the first run is checked, errors have file and line."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import gymnasium
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hreach.agents import find_agent, make_agent
from hreach.domains import find_domain, make_domain
from hreach.errors import InputError, require, shown, unknown_name
from hreach.problems.truth import Draws, core_of, truth_of
from hreach.protocols import Environment
from hreach.registry import import_plugins
from hreach.studies import catalog
from hreach.studies.lines import Place, line_of
from hreach.studies.spec import AgentSpec, Claim, Study, labels_of
from hreach.studies.stepped import Certain

Here = Callable[..., AbstractContextManager[None]]  # a place in the file, which errors raised inside are blamed on


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
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
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
        raise InputError(f"{line_of(text, name, first['loc'])}: {_sentence(first)}") from error
    _check_names(study, text, name)
    return study


def _check_names(study: Study, text: str, name: str) -> None:
    """Build the domain and every agent once, so that their own errors come before the first run."""
    here = partial(_blaming, study, text, name)
    _check_length(study, here)
    if study.printed is not None and study.printed not in (known := catalog.printed()):
        with here("printed"):
            raise unknown_name("printed", study.printed, known)
    with here("plugins"):
        import_plugins(study.plugins)
    env = _checked_domain(study, here)
    for i, spec in enumerate(study.agent):
        _check_agent(study, spec, env, partial(here, "agent", i))
    for i, claim in enumerate(study.claim):
        _check_claim(study, claim, partial(here, "claim", i))


@contextmanager
def _blaming(study: Study, text: str, name: str, *place: str | int) -> Iterator[None]:
    """Say in which file and line the mistake is."""
    try:
        yield
    except (InputError, TypeError) as error:
        found = _shared(study, place, str(error)) or place
        raise InputError(f"{line_of(text, name, found)}: {error}") from error


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


def _checked_domain(study: Study, here: Here) -> Environment:
    with here("domain"):
        find_domain(study.domain)
    with here("domain_params" if study.domain_params else "domain"):
        env: Environment = make_domain(study.domain, **study.domain_params)
    with here("domain"):
        ok = study.episodes is None or _can_end(env)
        require(ok, "domain", study.domain, "one whose episodes end (or give steps, not episodes)")
    return env


def _can_end(env: Environment) -> bool:
    """Whether an episode may end, as far as an environment tells: by its rules, or for lack of time."""
    mdp = truth_of(env)
    limited = isinstance(env, gymnasium.Env) and env.spec is not None and env.spec.max_episode_steps is not None
    return limited or mdp is None or mdp.ends


def _check_agent(study: Study, spec: AgentSpec, env: Environment, here: Here) -> None:
    with here("agent"):
        find_agent(spec.agent)
    with here("params"):
        given = {**study.settings, **spec.params}
        if "seed" in given:
            raise InputError(f"parameter of agent {spec.agent!r} is 'seed', which a study may not give.")
        agent = make_agent(spec.agent, env, **given)
    with here("agent"):
        if study.final_episodes and not isinstance(agent, Certain):
            raise InputError(f"agent is {spec.agent!r}, but must have a certainty-equivalent copy for final_episodes.")
    with here("picture"):
        drawn = study.final_episodes > 0 and isinstance(core_of(env), Draws)
        ok = drawn or not spec.picture
        require(ok, "picture", spec.picture, "left out without final_episodes and a domain that draws episodes")


def _check_claim(study: Study, claim: Claim, here: Here) -> None:
    """Its labels are rows of one variant, and it compares with what its kind and statistic need."""
    known = {spec.label for spec in study.agent}
    for key, value in (("algorithm", claim.algorithm), ("than", claim.than)):
        with here(key):
            for label in labels_of(value):
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
        ok = ok or claim.statistic != "final"
        require(ok, "statistic", claim.statistic, "another one than 'final' where there are no final_episodes")


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


def _shared(study: Study, place: Place, message: str) -> Place | None:
    """Where the setting stands that the message about an agent speaks of, unless the agent gave its own."""
    own = study.agent[int(place[1])].params if place[0] == "agent" else study.settings
    named = [k for k in study.settings if k not in own and _speaks_of(k, message)]
    return ("settings", named[0]) if named else None


def _speaks_of(key: str, message: str) -> bool:
    return bool(re.search(rf"^{re.escape(key)} is |^parameter of .* is {re.escape(repr(key))}", message))


def _sentence(error: ErrorDetails) -> str:
    """A pydantic error in the words of this library."""
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error["loc"]).lstrip(".")
    if error["type"] == "extra_forbidden":
        inner: dict[int | str, type[BaseModel]] = {"agent": AgentSpec, "claim": Claim}
        model = inner.get(error["loc"][0], Study) if len(error["loc"]) > 1 else Study
        return str(unknown_name(f"key {where}", error["loc"][-1], model.model_fields))
    if error["type"] == "missing":
        return f"{where} is missing, but must be given."
    allowed = re.sub(r"^(Input|List) should ", "", error["msg"]).partition(" after validation")[0]
    return f"{where} is {shown(error['input'])}, but must {allowed}."
