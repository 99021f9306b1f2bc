"""Datasets of Minari that are on this machine, as a log: `minari:ID`.

Columns are called observation, action, reward, next_observation and terminated; observations that are arrays have one
column for each component, observation_0, observation_1 and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from hreach.errors import InputError, require, shown
from hreach.logs.columns import Columns
from hreach.logs.reading import Chunk

if TYPE_CHECKING:
    import pyarrow as pa

PREFIX = "minari:"
_ROWS = 1 << 16


class Episode(Protocol):
    """What is used of an episode of Minari; T steps, and T + 1 observations."""

    observations: NDArray[np.generic]
    actions: NDArray[np.generic]
    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]


class Dataset(Protocol):
    """What is used of a dataset of Minari."""

    total_steps: int

    def iterate_episodes(self) -> Iterator[Episode]: ...  # noqa: D102


class MinariLog:
    """A dataset, episode by episode; rows are numbered from 1."""

    word = "row"

    def __init__(self, name: str, columns: Columns, dataset: Dataset | None = None) -> None:
        self._name = name
        self._dataset = _loaded(name.removeprefix(PREFIX)) if dataset is None else dataset
        self.total = int(self._dataset.total_steps)
        first = next(iter(self._dataset.iterate_episodes()), None)
        require(first is not None, "log", name, "a dataset with an episode")
        assert first is not None
        columns.check_there(name, list(_columns(name, first)))

    def chunks(self) -> Iterator[Chunk]:
        """All rows, in order: whole episodes, some hundred thousand rows at a time."""
        waiting: list[dict[str, NDArray[np.generic]]] = []
        rows = done = 0
        for episode in self._dataset.iterate_episodes():
            waiting.append(_columns(self._name, episode))
            rows += len(waiting[-1]["reward"])
            if rows >= _ROWS:
                yield _chunk(waiting, done, rows)
                waiting, done, rows = [], done + rows, 0
        if waiting:
            yield _chunk(waiting, done, rows)


def _chunk(parts: Sequence[dict[str, NDArray[np.generic]]], before: int, rows: int) -> Chunk:
    import pyarrow as pa

    columns: dict[str, pa.Array] = {name: pa.array(np.concatenate([part[name] for part in parts])) for name in parts[0]}
    return Chunk(np.arange(before + 1, before + rows + 1), columns, [], before + rows)


def _columns(name: str, episode: Episode) -> dict[str, NDArray[np.generic]]:
    """The columns of an episode."""
    seen, actions = episode.observations, np.asarray(episode.actions)
    if not isinstance(seen, np.ndarray):
        raise InputError(f"observations of {name} are {type(seen).__name__}, but must be numbers or arrays of them.")
    flat = seen.reshape(len(seen), -1)
    single = seen.ndim == 1
    whole = actions.dtype.kind in "iu" and actions.ndim == 1
    require(whole, f"actions of {name}", shown(actions[:1]), "whole numbers: continuous actions are not for tables")
    columns = {
        f"{kind}{'' if single else f'_{i}'}": np.ascontiguousarray(part[:, i])
        for kind, part in (("observation", flat[:-1]), ("next_observation", flat[1:]))
        for i in range(flat.shape[1])
    }
    return {
        **columns,
        "action": actions,
        "reward": np.asarray(episode.rewards, dtype=np.float64),
        "terminated": np.asarray(episode.terminations, dtype=np.bool_),
    }


def _loaded(name: str) -> Dataset:
    """A local dataset; nothing is downloaded."""
    try:
        import minari
    except ImportError as error:
        raise InputError(f"log is 'minari:{name}', for which hreach[minari] must be installed ({error}).") from error
    known = sorted(minari.list_local_datasets())
    if name not in known:
        there, how = ", ".join(known) if known else "none", f"`minari download {name}` gets it"
        raise InputError(f"log is 'minari:{name}', but must be a dataset of this machine: {there}; {how}.")
    dataset: Dataset = minari.load_dataset(name)
    return dataset
