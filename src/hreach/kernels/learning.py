"""One sample, counted."""

from __future__ import annotations

from hreach.compiling import compiled
from hreach.kernels.ends import follow, meet
from hreach.kernels.state import Seen


@compiled
def learn(
    seen: Seen, freeze_at: float, ends: bool, s: int, a: int, paid: float, next_state: int, terminated: bool
) -> bool:
    """Add one sample to (s, a); False if nothing changed, for the pair is frozen."""
    news = seen.news
    follow(seen, s, next_state, terminated)
    changed = ends and meet(seen, s, next_state, terminated)
    if changed:
        news[0] = -1
    if seen.total[s, a] >= freeze_at:
        return changed
    seen.counts[s, a, next_state] += 1.0
    seen.ended[s, a, next_state] += terminated
    seen.total[s, a] += 1.0
    seen.reward_sum[s, a] += paid
    seen.samples[0] += 1.0
    if news[0] == news.size - 1:
        news[0] = -1
    if news[0] >= 0:
        news[0] += 1
        news[news[0]] = s * seen.total.shape[1] + a
    return True
