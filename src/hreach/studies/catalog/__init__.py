"""The paper's studies: one TOML file each. Adding a file here adds a study to `hreach list` and `reproduce`."""

from __future__ import annotations

import csv
import io
from importlib import resources


def texts() -> dict[str, str]:
    """TOML of every study, by name, in alphabetical order."""
    files = sorted(resources.files(__name__).iterdir(), key=lambda f: f.name)
    return {f.name.removesuffix(".toml"): f.read_text("utf-8") for f in files if f.name.endswith(".toml")}


def printed() -> dict[str, list[dict[str, str]]]:
    """Published numbers: the rows of every CSV in `studies/printed`, by file name."""
    files = resources.files("hreach.studies").joinpath("printed").iterdir()
    texts = {f.name: f.read_text("utf-8") for f in files if f.name.endswith(".csv")}
    return {name: list(csv.DictReader(io.StringIO(text))) for name, text in texts.items()}
