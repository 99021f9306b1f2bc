"""Where episodes begin and end, and which states are closed: they ended there, and nothing was seen to go on."""

from __future__ import annotations

from hreach.compiling import compiled
from hreach.kernels.state import Seen


@compiled
def follow(seen: Seen, s: int, next_state: int, terminated: bool) -> None:
    """Remember where the agent is; an episode began in s if the last sample did not lead there."""
    if s != seen.here[0]:
        seen.here[1] = s
    seen.here[0] = -1 if terminated else next_state


@compiled
def _open(seen: Seen, s: int) -> bool:
    """Something goes on from s; whether it was closed: all that ended there is then to be set apart."""
    seen.open[s] = True
    closed = seen.terminal[s]
    seen.terminal[s] = False
    return bool(closed)


@compiled
def meet(seen: Seen, s: int, next_state: int, terminated: bool) -> bool:
    """Learn from a sample which states are closed; whether that changed."""
    changed = not seen.open[s] and _open(seen, s)
    if not terminated:
        return (not seen.open[next_state] and _open(seen, next_state)) or changed
    if not seen.open[next_state] and not seen.terminal[next_state]:
        seen.terminal[next_state] = True
        return True
    return changed
