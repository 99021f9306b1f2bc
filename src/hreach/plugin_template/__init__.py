"""A small package with an agent and a domain, to begin one's own with: its files, and how they are written."""

from __future__ import annotations

import keyword
import os
import re
import secrets
import shutil
from importlib.resources import files
from pathlib import Path
from string import Template

from hreach.errors import InputError, require

_FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "src/$module/__init__.py": "init.py.txt",
    "src/$module/agent.py": "agent.py.txt",
    "src/$module/domain.py": "domain.py.txt",
    "tests/test_$module.py": "test.py.txt",
}


def new_plugin(name: str, folder: Path) -> list[Path]:
    """Write the package `name` to the new folder `folder`/`name`, whole or not at all; its files are returned."""
    module = name.replace("-", "_")
    plain = re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) is not None
    usable = plain and not keyword.iskeyword(module) and module != "hreach"
    require(usable, "name", name, "lower-case letters and digits, with dashes between words, such as my-lab")
    where = folder.expanduser() / name
    require(where.parent.is_dir(), "folder", str(folder), "one that exists")
    require(not where.exists(), "folder", str(where), "a new one")
    words = {"name": name, "module": module}
    temporary = where.parent / f".{name}.{secrets.token_hex(4)}.tmp"
    written = []
    try:
        for target, source in _FILES.items():
            place = Template(target).substitute(words)
            text = files(__package__).joinpath(source).read_text("utf-8")
            path = temporary / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(text).substitute(words), encoding="utf-8")
            written.append(where / place)
        os.rename(temporary, where)
    except OSError as error:
        raise InputError(f"{where} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return written
