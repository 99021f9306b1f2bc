"""An agent's state as a file that any program can read: an npz file of plain arrays, with a text of JSON among them.

    about        JSON: format, hreach (the version that wrote it), constants, and the names of states and actions if any
    the rest     what `state_dict` returns; docs/in-and-out.md says what it is

A state is read whatever version wrote it, as long as its format is known here.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from hreach import __version__
from hreach.errors import InputError, require
from hreach.files import write_whole
from hreach.protocols import Agent, Arrays, Plain

FORMAT = 1


def save_agent(agent: Agent, path: str | Path, about: Mapping[str, object] | None = None) -> None:
    """Write the agent's state, whole or not at all; `about` is plain data to keep with it, such as names of states."""
    where = Path(path).expanduser()
    require(where.suffix.lower() == ".npz", "file", str(where), "one that ends in .npz")
    said = {"format": FORMAT, "hreach": __version__, "agent": agent.describe(), **(about or {})}
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(said)), **agent.state_dict())  # type: ignore[arg-type]
    write_whole(where, file.getvalue())


def load_agent(agent: Agent, path: str | Path) -> Plain:
    """Put a saved state into an agent that was made alike, and return what was kept with it."""
    arrays, about = read_agent(path)
    agent.load_state_dict(arrays)
    return about


def read_agent(path: str | Path) -> tuple[Arrays, Plain]:
    """The arrays of a saved state, and what was kept with it; one without `about` is of before there was any."""
    try:
        with np.load(io.BytesIO(Path(path).expanduser().read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about", np.array('{"format": 1}'))))
        version = about["format"]
    except (OSError, ValueError, EOFError, KeyError, TypeError, BadZipFile) as error:
        raise InputError(f"{path} cannot be read as the saved state of an agent.") from error
    ok = isinstance(version, int) and 1 <= version <= FORMAT
    require(ok, f"format of {path}", version, f"at most {FORMAT}, which this hreach knows")
    return arrays, about
