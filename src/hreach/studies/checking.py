"""What can be known of a study before its first run: names, parameters, lengths, claims.

The domain and every agent are built once, so that their own errors come first; of a grid every value once, not every
combination.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import islice

import gymnasium

from hreach.agents import find_agent, make_agent
from hreach.domains import find_domain, make_domain
from hreach.errors import InputError, require, unknown_name
from hreach.problems.truth import Draws, core_of, truth_of
from hreach.protocols import Environment
from hreach.registry import import_plugins
from hreach.studies import catalog
from hreach.studies.expanding import domains_of, one_at_a_time
from hreach.studies.spec import Claim, GridRow, Study, StudyFile, labels_of
from hreach.studies.stepped import Certain
from hreach.studies.until import check_until

Here = Callable[..., AbstractContextManager[None]]  # a place in the file, which errors raised inside are blamed on
_TRIED = 1000  # values of a grid that are tried before the first run


def check(file: StudyFile, studies: Sequence[Study], here: Here) -> None:
    """Refuse what cannot be run, in one sentence with its place."""
    _check_length(file, here)
    if file.printed is not None and file.printed not in (known := catalog.printed()):
        with here("printed"):
            raise unknown_name("printed", file.printed, known)
    _check_grids(file, here)
    with here("plugins"):
        import_plugins(file.plugins)
    for i, env in enumerate(_checked_domains(file, here)):
        for j, row in enumerate(file.agent):
            _check_agent(file, row, env, partial(here, "agent", j))
        _check_until(file, i, env, here)
    for i, claim in enumerate(file.claim):
        _check_claim(studies[0], claim, partial(here, "claim", i))


def _check_grids(file: StudyFile, here: Here) -> None:
    """Lists of at least one value each, of parameters that are not given already; several domains have no print."""
    several = [] if isinstance(file.domain, str) else file.domain
    with here("domain"):
        require(file.domain != [], "domain", file.domain, "at least one [[domain]] table")
    tables = [(("agent", i), row.grid, row.params) for i, row in enumerate(file.agent)]
    tables += [(("domain", i), row.grid, row.params) for i, row in enumerate(several)]
    for place, grid, params in tables:
        with here(*place, "grid"):
            for key, values in grid.items():
                require(len(values) > 0, f"grid.{key}", values, "a list of at least one value")
                require(key not in params, f"grid.{key}", values, "left out where params has it")
    if not isinstance(file.domain, str):
        for key in file.model_fields_set & {"domain_params", "printed"}:
            with here(key):
                raise InputError(f"{key} is given, but must be left out where domains are [[domain]] tables.")


def _check_length(study: StudyFile, here: Here) -> None:
    """Steps or episodes, and with steps nothing that only episodes have."""
    with here("episodes"):
        if study.steps is None and study.episodes is None:
            raise InputError("steps is missing, but must be given (or episodes).")
        ok = study.steps is None or study.episodes is None
        require(ok, "episodes", study.episodes, "left out where steps is given")
    if study.episodes is not None:
        with here("marks"):
            require("marks" not in study.model_fields_set, "marks", study.marks, "left out where episodes is given")
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


def _checked_domains(file: StudyFile, here: Here) -> Iterator[Environment]:
    """An environment of each domain, of a grid the first one; the others are made as well."""
    for i, row in enumerate(domains_of(file)):
        short = isinstance(file.domain, str)
        name = partial(here, "domain", *(() if short else (i, "domain")))
        with name():
            find_domain(row.domain)
        inside = ("domain_params" if row.params else "domain",) if short else ("domain", i, "params")
        envs: list[Environment] = []
        with here(*inside):
            for params in islice(one_at_a_time(row.grid), _TRIED):
                envs[1:] = [make_domain(row.domain, **{**row.params, **params})]
        with name():
            ok = file.episodes is None or all(map(_can_end, envs))
            require(ok, "domain", row.domain, "one whose episodes end (or give steps, not episodes)")
        yield envs[0]


def _can_end(env: Environment) -> bool:
    """Whether an episode may end, as far as an environment tells: by its rules, or for lack of time."""
    mdp = truth_of(env)
    limited = isinstance(env, gymnasium.Env) and env.spec is not None and env.spec.max_episode_steps is not None
    return limited or mdp is None or mdp.ends


def _check_agent(file: StudyFile, row: GridRow, env: Environment, here: Here) -> None:
    with here("agent"):
        find_agent(row.agent)
    with here("params"):
        for params in islice(one_at_a_time(row.grid), _TRIED):
            given = {**file.settings, **row.params, **params}
            if "seed" in given:
                raise InputError(f"parameter of agent {row.agent!r} is 'seed', which a study may not give.")
            agent = make_agent(row.agent, env, **given)
    with here("agent"):
        if file.final_episodes and not isinstance(agent, Certain):
            raise InputError(f"agent is {row.agent!r}, but must have a certainty-equivalent copy for final_episodes.")
    with here("picture"):
        drawn = file.final_episodes > 0 and isinstance(core_of(env), Draws)
        ok = drawn or not row.picture
        require(ok, "picture", row.picture, "left out without final_episodes and a domain that draws episodes")


def _check_until(file: StudyFile, number: int, env: Environment, here: Here) -> None:
    """`until` is one of the rules, and what it looks at has bounds."""
    own = None if isinstance(file.domain, str) else file.domain[number].bounds
    with here("bounds" if own is None else "domain", *(() if own is None else (number, "bounds"))):
        bounds = file.bounds if own is None else own
        if bounds is not None:
            ok = len(bounds) == 2 and all(map(math.isfinite, bounds)) and bounds[0] < bounds[-1]
            require(ok, "bounds", bounds, "two numbers, the lower one first")
            require(file.until is not None, "bounds", bounds, "left out without `until`")
    with here("until"):
        if file.until is not None:
            check_until(file.until)
            ok = bounds is not None or (file.steps is not None and truth_of(env) is not None)
            require(ok, "until", file.until, "given with `bounds`, [low, high] of what a run can be measured as")


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
