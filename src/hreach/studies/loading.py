"""A study from a TOML file: everything that can be known before the first run is checked, errors have file and line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hreach.errors import InputError, require, shown, unknown_name
from hreach.studies import catalog
from hreach.studies.checking import check
from hreach.studies.expanding import studies_of
from hreach.studies.lines import Place, line_of
from hreach.studies.spec import Claim, DomainRow, GridRow, Study, StudyFile

MAX_BYTES = 10**6  # of a file: reading a deeply nested one takes long before it fails
# A key of a hundred parts and more: reading it takes a time that grows with their square.
_PART = r"""(?:[\w-]++|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{100}}")


def load_catalog(name: str) -> Study:
    """A study that comes with hreach."""
    texts = catalog.texts()
    if name not in texts:
        raise unknown_name("study", name, texts)
    return _only(parse(texts[name], f"{name}.toml"))


def load(path: Path) -> Study:
    """The study in a TOML file that has one domain."""
    return _only(load_all(path))


def load_all(path: Path) -> list[Study]:
    """The studies in a TOML file, one for each of its domains."""
    return parse(read(path), path.name)


def read(path: Path) -> str:
    """The text of a study's file."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"study is {str(path)!r}, which cannot be read: {reason}.") from error
    require(len(data) <= MAX_BYTES, "study", str(path), f"a file of at most {MAX_BYTES} bytes")
    return text.replace("\r\n", "\n")


def parse(text: str, name: str) -> list[Study]:
    """The studies of a text, one for each of its domains; `name` is that of the file."""
    content = _content(text, name)
    try:
        file = StudyFile.model_validate(content)
    except ValidationError as error:
        # A misspelt key is also a missing one: the spelling is what helps.
        found = [_plain(e) for e in error.errors() if e["loc"] != ("domain", "str") or isinstance(e["input"], int)]
        first = min(found or error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        raise InputError(f"{line_of(text, name, first['loc'])}: {_sentence(first)}") from error
    here = partial(_blaming, file, text, name)
    with here("agent"):
        studies = studies_of(file)
    check(file, studies, here)
    return studies


def _content(text: str, name: str) -> dict[str, Any]:
    """What the text says, as TOML."""
    if _DEEP.search(text):
        raise InputError(f"{name}: keys are nested too deeply.")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{name}: brackets are nested too deeply.") from None
    except ValueError as error:  # no TOML, or a number of more digits than Python reads
        raise InputError(f"{name}: {str(error).rstrip('.')}.") from error


def _only(studies: list[Study]) -> Study:
    require(len(studies) == 1, "domain", [study.domain for study in studies], "one domain here")
    return studies[0]


@contextmanager
def _blaming(file: StudyFile, text: str, name: str, *place: str | int) -> Iterator[None]:
    """Say in which file and line the mistake is."""
    try:
        yield
    except (InputError, TypeError) as error:
        found = _shared(file, place, str(error)) or place
        raise InputError(f"{line_of(text, name, found)}: {error}") from error


def _shared(study: StudyFile, place: Place, message: str) -> Place | None:
    """Where the setting stands that the message about an agent speaks of, unless the agent gave its own."""
    if len(place) < 2 or place[0] != "agent":
        return None
    row = study.agent[int(place[1])]
    named = [k for k in study.settings if k not in {*row.params, *row.grid} and _speaks_of(k, message)]
    return ("settings", named[0]) if named else None


def _speaks_of(key: str, message: str) -> bool:
    return bool(re.search(rf"^{re.escape(key)} is |^parameter of .* is {re.escape(repr(key))}", message))


def _sentence(error: ErrorDetails) -> str:
    """A pydantic error in the words of this library."""
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error["loc"]).lstrip(".")
    if error["type"] == "extra_forbidden":
        inner: dict[int | str, type[BaseModel]] = {"agent": GridRow, "claim": Claim, "domain": DomainRow}
        model = inner.get(error["loc"][0], StudyFile) if len(error["loc"]) > 1 else StudyFile
        return str(unknown_name(f"key {where}", error["loc"][-1], model.model_fields))
    if error["type"] == "missing":
        return f"{where} is missing, but must be given."
    allowed = re.sub(r"^(Input|List) should ", "", error["msg"]).partition(" after validation")[0]
    return f"{where} is {shown(error['input'])}, but must {allowed}."


def _plain(error: ErrorDetails) -> ErrorDetails:
    """An error of a field that may be one thing or another, without the name of the other."""
    loc = error["loc"]
    return {**error, "loc": ("domain", *loc[2:])} if loc[:1] == ("domain",) and len(loc) > 1 else error
