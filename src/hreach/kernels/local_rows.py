"""The line of one pair, from its counts: Q = QA + QB x (`hreach.kernels.local_lines`)."""

from __future__ import annotations

import numpy as np

from hreach.compiling import Formula, inlined, merged
from hreach.kernels.local_state import (
    COUNT,
    ENDED,
    FROM,
    NEXT_FROM,
    OWN_X,
    QA,
    QB,
    STATE,
    TIMES,
    TO,
    A,
    Arena,
    B,
    G,
    Lines,
    LocalRule,
)  # fmt: skip


@inlined
def untried(formula: Formula, rule: LocalRule, lines: Lines, i: int, s: int) -> None:
    """The lines of a state in which nothing was tried: r + gamma x, or the most there is."""
    for a in range(rule.actions):
        row = lines.q[i * rule.actions + a]
        of = (int(s), int(a)) if rule.constants.shape[0] > 1 else (0, 0)
        _, bonus, _ = formula(lines.scratch[:0], 0.0, (rule.r_min + rule.r_max) / 2.0, rule.constants[of[0], of[1]])
        row[G] = 0.0
        if bonus == np.inf:
            row[QA], row[QB] = rule.v_max, 0.0
        else:
            row[QA] = rule.fresh + (rule.reward[s, a] if rule.reward.size > 0 else 0.0)
            row[QB] = rule.gamma


@inlined
def edge_weight(arena: Arena, e: int) -> float:
    """Samples of an edge that went on."""
    if arena.edge.shape[1] > ENDED:
        return float(arena.edge[e, TIMES] - arena.edge[e, ENDED])
    return float(arena.edge[e, TIMES])


@merged
def row_terms(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines, pair: int) -> tuple[float, float]:
    """(w, r with its bonus) of a pair, from its counts; r infinite: nothing is known here."""
    total = float(arena.tally[pair, COUNT])
    k = 0
    e = arena.tally[pair, FROM]
    while e > 0:
        lines.scratch[k] = arena.edge[e - 1, TIMES]
        k += 1
        e = arena.edge[e - 1, NEXT_FROM]
    s, a = arena.node[pair // rule.actions, STATE], pair % rule.actions
    paid = arena.paid[pair] / total if arena.paid.size > 0 and total > 0.0 else (rule.r_min + rule.r_max) / 2.0
    of = (int(s), int(a)) if rule.constants.shape[0] > 1 else (0, 0)
    w, bonus, _ = formula(lines.scratch[:k], total, paid, rule.constants[of[0], of[1]])
    if arena.paid.size > 0:
        of_best = rule.reward_share * w / (1.0 - w + rule.reward_share * w) if w < 1.0 else 1.0
        bonus += (1.0 - of_best) * paid + of_best * rule.r_max
    else:
        bonus += rule.reward[s, a]
    return w, bonus


@merged
def share_of_one(rule: LocalRule, arena: Arena, pair: int, w: float) -> float:
    """gamma (1 - w) / n; where nothing was seen of a pair that knows its next states, as if each was seen once."""
    n = arena.tally[pair, COUNT]
    if n == 0:
        e = arena.tally[pair, FROM]
        while e > 0:
            n += 1
            e = arena.edge[e - 1, NEXT_FROM]
    return float(rule.gamma * (1.0 - w) / max(n, 1))


@inlined
def sum_line(rule: LocalRule, arena: Arena, lines: Lines, pair: int) -> None:
    """Q of a pair, of which r stands in QA, gamma w in QB and what one more is worth in G, from its edges."""
    row = lines.q[pair]
    untried = arena.tally[pair, COUNT] == 0
    sum_a = sum_b = 0.0
    best = 0.0 if rule.ends else -np.inf
    e = arena.tally[pair, FROM]
    while e > 0:
        weight, j = 1.0 if untried else edge_weight(arena, e - 1), arena.edge[e - 1, TO]
        sum_a += weight * lines.value[j, A]
        sum_b += weight * lines.value[j, B]
        best = max(best, lines.value[j, A])
        e = arena.edge[e - 1, NEXT_FROM]
    row[QA] += row[G] * sum_a
    if rule.mode == OWN_X:
        row[QA] += row[QB] * best if row[QB] > 0.0 else 0.0
        row[QB] = 0.0
    else:
        row[QB] += row[G] * sum_b


@inlined
def begin_line(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines, pair: int) -> None:
    """r in QA, gamma w in QB, what one more is worth in G: what `sum_line` begins with."""
    row = lines.q[pair]
    w, reward = row_terms(formula, rule, arena, lines, pair)
    if reward == np.inf:
        row[QA], row[QB], row[G] = rule.v_max, 0.0, 0.0
    else:
        row[QA], row[QB], row[G] = reward, rule.gamma * w, share_of_one(rule, arena, pair, w)


@inlined
def refresh_row(formula: Formula, rule: LocalRule, arena: Arena, lines: Lines, pair: int) -> None:
    """The line of a pair that was tried, or that knows its next states, from its counts."""
    begin_line(formula, rule, arena, lines, pair)
    sum_line(rule, arena, lines, pair)
