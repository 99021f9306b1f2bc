"""Playing what was learnt: the greedy policy of a folder in its environment, shown or recorded if that is wanted."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from hreach.errors import InputError, require, whole
from hreach.exploring.folder import read_record
from hreach.exploring.making import Gym, made, place
from hreach.files import writable_file, write_whole
from hreach.protocols import Environment, Floats
from hreach.running.numbering import Name

Frame = NDArray[np.uint8]
ENDINGS = (".gif", ".mp4")
RATE, MOST_FRAMES = 6, 600  # frames in a second, and of a recording
DRAWS = 'it must have a render mode "rgb_array"'


@runtime_checkable
class Renders(Protocol):
    """An environment that draws itself."""

    def render(self) -> object: ...  # noqa: D102


@runtime_checkable
class Closes(Protocol):
    """An environment that has something to put away."""

    def close(self) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Played:
    """rewards: (episodes,) total, undiscounted; steps: (episodes,); ended: how many ended by the rules, not for lack of
    time; strange: steps in states that exploration never left, where the first action was taken.
    """

    rewards: Floats
    steps: NDArray[np.int64]
    ended: int
    strange: int

    def sentence(self) -> str:
        """What came out."""
        n, mean = len(self.rewards), float(self.rewards.mean())
        off = f" ± {1.96 * float(self.rewards.std(ddof=1)) / n**0.5:.2g}" if n > 1 else ""
        said = f"{n} episode{'s' * (n != 1)}: total reward {mean:.4g}{off} on average, {self.steps.mean():.4g} steps"
        ends = f", {self.ended} ended by the rules of the environment"
        lost = f"; {self.strange} steps in states that exploration never left" if self.strange else ""
        return said + ends + lost + "."

    def as_plain(self) -> dict[str, object]:
        """The same as JSON can hold it."""
        return {
            "episodes": len(self.rewards),
            "mean_reward": float(self.rewards.mean()),
            "rewards": self.rewards.tolist(),
            "steps": self.steps.tolist(),
            "ended": self.ended,
            "strange": self.strange,
        }


def play(
    folder: str | Path,
    env: Environment | None = None,
    *,
    episodes: int = 100,
    steps: int = 1000,
    render: bool = False,
    record: str | Path | None = None,
    seed: int = 0,
) -> Played:
    """Play the learnt policy of a folder that `hreach.explore(..., out=folder)` wrote.

    `env` is needed where it was explored as an object; otherwise it is made anew. An episode ends after `steps` steps
    at the latest. `record` is a file, .gif or .mp4, for the first episode.
    """
    whole("episodes", episodes, 1)
    whole("steps", steps, 1)
    whole("seed", seed, 0)
    saved = read_record(Path(folder).expanduser())
    target = None if record is None else writable_file("record", Path(record))
    if target is not None:
        require(target.suffix.lower() in ENDINGS, "record", str(target), f"a file that ends in {' or '.join(ENDINGS)}")
        _check_film(target)
        require(not render, "render", render, "left out where a file is recorded")
    with _opened(saved, env, "rgb_array" if target is not None else "human" if render else None) as inner:
        found, frames = _episodes(saved, inner, episodes, steps, seed, target is not None)
    if target is not None:
        write_whole(target, _film(target, frames))
    return found


@contextmanager
def _opened(saved: dict[str, object], env: Environment | None, mode: str | None) -> Iterator[Gym]:
    """The environment of a folder; one that was made here is closed in the end."""
    if env is not None:
        yield made(env, {})
        return
    name, given = saved["made_from"], saved["set"]
    if not isinstance(name, str) or not isinstance(given, dict):
        raise InputError(
            "This folder was explored with an environment given as an object: use hreach.play(folder, env)."
        )
    try:
        opened = made(name, given | ({} if mode is None else {"render_mode": mode}))
    except InputError as error:
        if mode is None:
            raise
        raise InputError(f"{name} cannot be shown ({str(error).rstrip('.')}): {DRAWS}.") from error
    try:
        yield opened
    finally:
        if isinstance(opened, Closes):
            opened.close()


def _episodes(
    saved: dict[str, object], inner: Gym, episodes: int, steps: int, seed: int, filmed: bool
) -> tuple[Played, list[Frame]]:
    edges, states, policy = saved["bins"], saved["states"], saved["policy"]
    assert isinstance(edges, list)
    assert isinstance(states, list)
    assert isinstance(policy, list)
    at = place(inner, None, seed, [tuple(each) for each in edges])
    visits = saved["visits"]
    assert isinstance(visits, list)
    actions = {_name(s): int(a) for s, a, n in zip(states, policy, visits, strict=True) if n > 0}
    rewards, lengths, ended, strange, frames = [], [], 0, 0, list[Frame]()
    for episode in range(episodes):
        name, _ = at.guarded.reset(seed=seed if episode == 0 else None)
        total, length, over = 0.0, 0, False
        film = filmed and episode == 0
        if film:
            frames.append(_frame(inner))
        while length < steps and not over:
            strange += name not in actions
            name, reward, terminated, truncated, _ = at.guarded.step(actions.get(name, 0))
            total, length, over = total + reward, length + 1, terminated or truncated
            ended += terminated
            if film and len(frames) < MOST_FRAMES:
                frames.append(_frame(inner))
        rewards.append(total)
        lengths.append(length)
    return Played(np.array(rewards), np.array(lengths, dtype=np.int64), ended, strange), frames


def _name(value: object) -> Name:
    """A name as it was before JSON made lists of its tuples."""
    if isinstance(value, list):
        return tuple(map(_name, value))
    assert value is None or isinstance(value, bool | int | float | str)
    return value


def _frame(env: Gym) -> Frame:
    drawn: object = None
    why = "it returned no picture"
    if isinstance(env, Renders):
        try:
            drawn = env.render()
        except DependencyNotInstalled as error:
            raise InputError(
                f"This environment cannot be recorded: {' '.join(str(error).split()).rstrip('.')}."
            ) from error
        except Exception as error:  # whatever its own code, or what that needs, comes upon
            why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    if not (isinstance(drawn, np.ndarray) and drawn.ndim == 3 and drawn.shape[2] == 3):
        raise InputError(f"This environment cannot be recorded ({why}): {DRAWS}.")
    return drawn.astype(np.uint8)


def _check_film(target: Path) -> None:
    if target.suffix.lower() == ".mp4":
        try:
            import imageio_ffmpeg  # noqa: F401
        except ImportError:
            raise InputError(
                f"record is {str(target)!r}, but must end in .gif: an MP4 needs the extra, pip install 'hreach[video]'."
            ) from None


def _film(target: Path, frames: list[Frame]) -> bytes:
    return _gif(frames) if target.suffix.lower() == ".gif" else _mp4(frames)


def _gif(frames: list[Frame]) -> bytes:
    from PIL import Image

    images = [Image.fromarray(frame) for frame in frames]
    film = io.BytesIO()
    images[0].save(film, "GIF", save_all=True, append_images=images[1:], duration=1000 // RATE, loop=0)
    return film.getvalue()


def _mp4(frames: list[Frame]) -> bytes:
    import tempfile

    import imageio_ffmpeg

    height, width = (side - side % 2 for side in frames[0].shape[:2])  # the format wants even sides
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "film.mp4"
        writer = imageio_ffmpeg.write_frames(str(place), (width, height), fps=RATE, macro_block_size=1)
        writer.send(None)
        for frame in frames:
            writer.send(np.ascontiguousarray(frame[:height, :width]))
        writer.close()
        return place.read_bytes()
