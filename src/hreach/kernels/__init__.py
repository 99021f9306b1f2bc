"""The compiled step of every tabular agent: plan, act, observe.

An agent is optimistic: it plans with the best among the models that it holds possible. For each pair (s, a) its
*formula* turns what was seen there into three numbers, and the planner only ever sees those:

    reach  w       weight moved onto the best next state            (PAC-RMDP: w = h / (n + h), Equation (1))
    bonus  b       reward added for knowing little                  (MBIE-EB, VBE, BEB)
    radius e       L1 distance the model may be moved by            (MBIE)

With p the mean model, u(s') = R(s, a, s') + gamma V(s'), and B(p, e) the distributions within L1 distance e of p,

    Q(s, a) = b + (1 - w) max_{p' in B(p, e)} sum_s' p'(s') u(s') + w max_s' u(s'),     V(s) = max_a Q(s, a),

both capped at `value_cap`. A sample that ended the episode counts for an outcome of its own, the end, after which
nothing follows: u(end) = R(s, a, s'), which only `mean` and the best outcome see (optimistic.py, backup.py). A state
in which episodes ended and which nothing was ever seen to leave, or to enter and go on, is *closed*: it is worth 0.

This operator T is a gamma-contraction, so a value V with max |TV - V| <= tolerance is
within tolerance / (1 - gamma) of its fixed point. `plan` sweeps V <- TV; when the sweeps have cost as much as an
exact solve of the greedy model would (S^3 / 3 against A S^2), it solves that linear system instead (policy
iteration, that is Newton's method on V = TV), which is what makes large bonuses cheap.

Each file has one concern: state.py what is passed around; learning.py, ends.py what a sample changes; optimistic.py and
posterior.py what is planned with; schedule.py when that changes; lookahead.py, imagined.py, copies.py how it is chosen
by looking ahead; lanes.py, backup.py, solve.py, planning.py, plan.py the plan; acting.py; certainty.py the value
without optimism; run.py whole runs. What is compiled is kept on disk until one of the files it is made of changes
(`hreach.compiling.sources`). Arithmetic is plain IEEE (no `fastmath`), so results do not depend on the processor.
"""

from __future__ import annotations

from hreach.kernels.acting import act
from hreach.kernels.certainty import compare_at
from hreach.kernels.learning import learn
from hreach.kernels.optimistic import refresh_all
from hreach.kernels.plan import plan
from hreach.kernels.run import simulate
from hreach.kernels.state import NEWS, TIE, Rule, Seen, Table, World

__all__ = [
    "NEWS",
    "TIE",
    "Rule",
    "Seen",
    "Table",
    "World",
    "act",
    "compare_at",
    "learn",
    "plan",
    "refresh_all",
    "simulate",
]
