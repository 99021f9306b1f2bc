"""One sample, counted in an arena; the same as `hreach.kernels.learning` and `hreach.kernels.ends` for tables."""

from __future__ import annotations

from hreach.compiling import compiled, inlined
from hreach.kernels.local_state import (
    CLOSED,
    COUNT,
    EDGES,
    ENDED,
    FLAGS,
    FROM,
    INTO,
    KNOWN,
    NEXT_FROM,
    NEXT_INTO,
    OPEN,
    PAIR,
    SAMPLES,
    STATE,
    TIMES,
    TO,
    Arena,
)  # fmt: skip


@inlined
def meet_state(arena: Arena, s: int) -> int:
    """The id of state s of the problem; the next free one if it was not met before."""
    known = arena.ids[s]
    if known > 0:
        return int(known - 1)
    number = arena.size[KNOWN]
    arena.size[KNOWN] = number + 1
    arena.ids[s] = number + 1
    arena.node[number, STATE] = s
    return int(number)


@inlined
def tell(arena: Arena, what: int) -> None:
    """A pair, or a state as -1 - id, is to be planned anew."""
    news = arena.news
    if news[0] == news.size - 1:
        news[0] = -1
    if news[0] >= 0:
        news[0] += 1
        news[news[0]] = what


@inlined
def _open(arena: Arena, i: int) -> bool:
    """Something goes on from state i; whether it was closed."""
    flags = arena.node[i, FLAGS]
    arena.node[i, FLAGS] = OPEN
    if flags & CLOSED:
        tell(arena, -1 - i)
        return True
    return False


@inlined
def _close(arena: Arena, i: int) -> bool:
    """An episode ended in state i; whether that closes it."""
    if arena.node[i, FLAGS] != 0:
        return False
    arena.node[i, FLAGS] = CLOSED
    tell(arena, -1 - i)
    return True


@inlined
def _edge_to(arena: Arena, pair: int, following: int) -> int:
    """The edge of this transition, made if there is none."""
    e = arena.tally[pair, FROM]
    while e > 0:
        if arena.edge[e - 1, TO] == following:
            return int(e - 1)
        e = arena.edge[e - 1, NEXT_FROM]
    e = arena.size[EDGES]
    arena.size[EDGES] = e + 1
    arena.edge[e, PAIR] = pair
    arena.edge[e, TO] = following
    arena.edge[e, NEXT_FROM] = arena.tally[pair, FROM]
    arena.edge[e, NEXT_INTO] = arena.node[following, INTO]
    arena.tally[pair, FROM] = e + 1
    arena.node[following, INTO] = e + 1
    return int(e)


@compiled
def learn_sample(
    arena: Arena, actions: int, freeze_at: float, ends: bool, s: int, a: int, paid: float, next_state: int,
    terminated: bool,
) -> bool:  # fmt: skip
    """Add one sample to (s, a); False if nothing changed. There must be room for two states and an edge."""
    if s != arena.here[0]:
        arena.here[1] = s
    arena.here[0] = -1 if terminated else next_state
    before = arena.size[KNOWN]
    i, j = meet_state(arena, s), meet_state(arena, next_state)
    changed = arena.size[KNOWN] != before
    if ends:
        changed = _open(arena, i) or changed
        if terminated:  # noqa: SIM108 (two inlined calls)
            changed = _close(arena, j) or changed
        else:
            changed = _open(arena, j) or changed
    pair = i * actions + a
    if arena.tally[pair, COUNT] >= freeze_at:
        return bool(changed)
    e = _edge_to(arena, pair, j)
    arena.edge[e, TIMES] += 1
    if ends and terminated:
        arena.edge[e, ENDED] += 1
    arena.tally[pair, COUNT] += 1
    if arena.paid.size > 0:
        arena.paid[pair] += paid
    arena.size[SAMPLES] += 1
    tell(arena, pair)
    return True
