"""Whether a study is still the one that was begun under its name in this folder.

More runs, more rows, another title, text or claim go on with what is there. Everything else that decides what the rows
are is a change, and is refused with its difference: a table must not mix two definitions without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from hreach.errors import InputError
from hreach.studies.spec import AgentSpec, Study

SAME = ("domain", "domain_params", "steps", "episodes", "final_episodes", "seed", "settings", "plugins", "marks")


def check_definition(name: str, before: Study, now: Study) -> None:
    """Refuse a study that is not `before` or more of it."""
    found = list(differences(before, now))
    if found:
        shown = "; ".join(found[:5]) + (f"; and {len(found) - 5} more" if len(found) > 5 else "")
        raise InputError(
            f"study {name!r} was begun in this folder with another definition: {shown}. "
            "Take another folder or file name, or --replace to go on with the new definition."
        )


def differences(before: Study, now: Study) -> Iterator[str]:
    """What is not as it was, one by one: `seed was 5, is 6`."""
    for key in SAME:
        was, is_ = dict(before)[key], dict(now)[key]
        if was != is_:
            yield f"{key} was {_shown(was)}, is {_shown(is_)}"
    rows = {_name(spec): spec for spec in now.agent}
    for spec in before.agent:
        other = rows.get(_name(spec))
        if other is None:
            yield f"the row {_name(spec)!r} is gone"
        else:
            for key in ("agent", "params", "episodes", "reference"):
                was, is_ = dict(spec)[key], dict(other)[key]
                if was != is_:
                    yield f"{key} of {_name(spec)!r} was {_shown(was)}, is {_shown(is_)}"


def _name(spec: AgentSpec) -> str:
    return f"{spec.label}, {spec.variant}" if spec.variant else spec.label


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
