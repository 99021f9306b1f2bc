"""What comes with hreach, as plain data; nothing is imported that takes time."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hreach.agents import AGENTS, LINEAR_AGENTS
from hreach.domains import DOMAINS
from hreach.registry import Entry
from hreach.studies import catalog


def everything() -> dict[str, list[dict[str, str]]]:
    """Agents, domains and studies, each with name, description, parameters and citation."""
    return {
        "agents": [_line(name, entry, skip=1) for name, entry in (AGENTS | LINEAR_AGENTS).items()],
        "domains": [_line(name, entry) for name, entry in DOMAINS.items()],
        "studies": _studies(),
    }


def _line(name: str, entry: Entry, skip: int = 0) -> dict[str, str]:
    return {
        "name": name,
        "description": entry.description,
        "parameters": ", ".join(_parameters(entry)[skip:]),
        "citation": entry.citation,
    }


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
            "citation": f"Kawaguchi 2016, {'A7' if 'episodes' in study else 'A5'}",
        }
        for name, study in studies.items()
    ]


def _length(study: Mapping[str, Any]) -> str:
    return f" of {study['episodes']} episodes" if "episodes" in study else ""
