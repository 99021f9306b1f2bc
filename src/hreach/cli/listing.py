"""What can be named, as plain data; nothing is imported that takes time, and nothing of other projects."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hreach.agents import AGENTS, LINEAR_AGENTS, STEPPED_AGENTS
from hreach.agents import GROUP as AGENT_GROUP
from hreach.domains import DOMAINS
from hreach.domains import GROUP as DOMAIN_GROUP
from hreach.registry import Entry, offered
from hreach.studies import catalog

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OURS = "hreach"


def everything() -> dict[str, list[dict[str, str]]]:
    """Agents, domains and studies, each with name, description, parameters, citation and where it comes from."""
    agents = AGENTS | LINEAR_AGENTS | STEPPED_AGENTS
    return {
        "agents": [_line(name, entry, skip=1) for name, entry in agents.items()] + _offered(AGENT_GROUP, agents),
        "domains": [_line(name, entry) for name, entry in DOMAINS.items()] + _offered(DOMAIN_GROUP, DOMAINS),
        "studies": _studies(),
    }


def _line(name: str, entry: Entry, skip: int = 0) -> dict[str, str]:
    return {
        "name": name,
        "description": entry.description,
        "parameters": ", ".join(_parameters(entry)[skip:]),
        "citation": entry.citation,
        "from": OURS,
    }


def _offered(group: str, ours: Mapping[str, Entry]) -> list[dict[str, str]]:
    """What installed distributions offer; a name of ours is ours."""
    return [
        {"name": name, "description": point.value, "from": _distribution(point)}
        for name, point in sorted(offered(group).items())
        if name not in ours
    ]


def _distribution(point: EntryPoint) -> str:
    """Name and version of the distribution that offers an entry point."""
    return "unknown" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _parameters(entry: Entry) -> list[str]:
    """Parameters with their defaults, read from the source: importing it would import numba."""
    module, name = entry.target.split(":")
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == name)
    if isinstance(node, ast.ClassDef):
        node = next(n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    names = [a.arg for a in node.args.args if a.arg != "self"]
    constants = {ast.unparse(n.targets[0]): n.value for n in tree.body if isinstance(n, ast.Assign)}
    defaults = [f"={ast.unparse(constants.get(ast.unparse(d), d))}" for d in node.args.defaults]
    padded = [""] * (len(names) - len(defaults)) + defaults
    return [n + d for n, d in zip(names, padded, strict=True)]


def _studies() -> list[dict[str, str]]:
    studies = {name: tomllib.loads(text) for name, text in catalog.texts().items()}
    return [
        {
            "name": name,
            "description": f"{study['title']}: {len(study['agent'])} rows, {study['runs']} runs{_length(study)} each",
            "citation": study["citation"],
            "from": OURS,
        }
        for name, study in studies.items()
    ]


def _length(study: Mapping[str, object]) -> str:
    return f" of {study['episodes']} episodes" if "episodes" in study else ""
