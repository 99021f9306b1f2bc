"""The folder of an exploration: tables (CSV), all that a program needs (JSON), the agent's state, pictures, one page.

index.html        everything to look at
explore.json      how it was made, what came out, the names of states and actions
policy.csv        state, action, value, visits, value with optimism        policy.json   the same for programs
values.csv        state, action, value, tried, mean reward: one row for each pair
transitions.csv   state, action, next_state, count, ended: what was counted; states and actions as numbers
rewards.csv       episode, last step, total reward, whether it ended by the rules
certificate.csv   samples, lower, upper, gap
agent.npz         the agent's state, as plain arrays
figures/          the pictures of the page, SVG and PNG
"""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import hreach
from hreach.errors import InputError
from hreach.exploring.exploring import Exploration
from hreach.exploring.folders import new_folder
from hreach.exploring.maps import map_of
from hreach.exploring.page import page
from hreach.exploring.pictures import certificate_picture, map_picture, reward_picture
from hreach.exploring.spaces import written
from hreach.files import write_bytes, write_text
from hreach.report.figures.svg import save as save_figure

FORMAT, RECORD, POLICY = 1, "explore.json", "policy.json"


def save(found: Exploration, folder: Path) -> None:
    """Write everything, or nothing."""
    with new_folder(folder) as inside:
        write_text(inside / RECORD, json.dumps(record(found), indent=1) + "\n")
        write_text(inside / POLICY, json.dumps(policy(found)) + "\n")
        for name, head, rows in _tables(found):
            write_text(inside / name, _csv(head, rows))
        arrays = io.BytesIO()
        np.savez_compressed(arrays, **found.agent.agent.state_dict())  # type: ignore[arg-type]
        write_bytes(inside / "agent.npz", arrays.getvalue())
        figures = inside / "figures"
        pictures = {"reward": save_figure(reward_picture(found), figures, "reward")}
        places = map_of(found.env.inner, found.source.edges, found.states)
        if places is not None:
            pictures["explored"] = save_figure(map_picture(found, places), figures, "explored")
        certain = certificate_picture(found)
        if certain is not None:
            pictures["certificate"] = save_figure(certain, figures, "certificate")
        write_text(inside / "index.html", page(found, summary(found), pictures))


def summary(found: Exploration) -> dict[str, object]:
    """What came out, as JSON can hold it."""
    low, high = found.agent.range
    sure = found.certificate
    return {
        "environment": found.source.label,
        "steps": len(found.run.rewards),
        "episodes": len(found.earned),
        "states": len(found.states),
        "value": found.value,
        "last_episodes": None if not len(found.earned) else float(_last(found.earned).mean()),
        "reward_range": {"low": low, "high": high, "given": found.range_kept},
        "certificate": None
        if sure is None
        else {
            "state": written(found.states[sure.state]),
            "delta": sure.delta,
            "lower": sure.lower,
            "upper": sure.upper,
            "optimality_gap": sure.optimality_gap,
            "safest": sure.safest.lower,
            "assumes": list(sure.assumes),
            "notes": list(sure.notes),
        },
        "stopped": found.run.stopped or None,
        "notes": list(found.notes),
    }


def record(found: Exploration) -> dict[str, object]:
    """How it was made, what came out, and what states and actions are called."""
    of = found.settings
    return {
        "format": FORMAT,
        "hreach": hreach.__version__,
        "python": platform.python_version(),
        "made_from": found.source.name,
        "set": dict(found.source.params),
        "bins": [list(edges) for edges in found.source.edges],
        "gamma": of.gamma,
        "h": of.h,
        "lifetime": of.lifetime,
        "r_min": of.r_min,
        "r_max": of.r_max,
        "v_max": of.v_max,
        "seed": of.seed,
        **summary(found),
        "state_names": list(found.states),
        "action_names": list(found.actions),
    }


def policy(found: Exploration) -> dict[str, object]:
    """The learnt action and value of every state."""
    return {
        "states": list(found.states),
        "actions": list(found.actions),
        "policy": found.policy.tolist(),
        "values": found.values.tolist(),
        "visits": found.tally.visits.tolist(),
    }


def _tables(found: Exploration) -> Iterable[tuple[str, Sequence[str], Iterable[Sequence[object]]]]:
    states, actions, tally = [written(name) for name in found.states], found.actions, found.tally
    chosen = [actions[a] if n else "" for a, n in zip(found.policy, tally.visits, strict=True)]
    rows = zip(states, chosen, found.values, tally.visits, found.optimistic_values, strict=True)
    yield "policy.csv", ("state", "action", "value", "visits", "optimistic_value"), rows
    pairs, mean = np.argwhere(tally.tried > 0), tally.paid / np.maximum(tally.tried, 1)
    q = found.learnt.action_values
    yield "values.csv", ("state", "action", "value", "tried", "mean_reward"), (
        (states[s], actions[a], q[s, a], tally.tried[s, a], mean[s, a]) for s, a in pairs
    )  # fmt: skip
    moves = zip(tally.state, tally.action, tally.following, tally.n, tally.ended, strict=True)
    yield "transitions.csv", ("state", "action", "next_state", "count", "ended"), moves
    run = found.run
    ends = zip(run.ended + 1, found.earned, run.terminated, strict=True)
    yield "rewards.csv", ("episode", "step", "reward", "terminated"), ((i, *end) for i, end in enumerate(ends))
    if found.certificate is not None:
        at = found.certificate.state
        yield "certificate.csv", ("samples", "lower", "upper", "optimality_gap", "safest"), (
            (look.samples, *(part[at] for part in (look.bounds.lower, look.bounds.upper, look.bounds.gap)),
             look.bounds.safest[at])
            for look in found.looks
        )  # fmt: skip


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(head)
    table.writerows([[_cell(value) for value in row] for row in rows])
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, np.bool_ | bool):
        return int(value)
    return value.item() if isinstance(value, np.generic) else value


def _last(earned: np.ndarray) -> np.ndarray:
    """The last tenth."""
    return earned[-max(1, len(earned) // 10) :]


def read_record(folder: Path) -> dict[str, object]:
    """What `record` wrote, and the policy; `InputError` if this is no such folder."""
    found: dict[str, object] = {}
    for name in (RECORD, POLICY):
        try:
            part = json.loads((folder / name).read_text("utf-8"))
        except (OSError, ValueError):
            raise InputError(
                f"folder is {str(folder)!r}, but must be one that `hreach explore --out` made: {name} cannot be read."
            ) from None
        found |= part if isinstance(part, dict) else {}
    if found.get("format") != FORMAT:
        raise InputError(f"{folder / RECORD} has the format {found.get('format')!r}, but must have {FORMAT}.")
    return found
