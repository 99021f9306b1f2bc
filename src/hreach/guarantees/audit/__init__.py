"""Whether a run kept the promise: what the paper's statements speak of, measured beside their bounds.

>>> import hreach
>>> from hreach.guarantees.audit import audit
>>> env = hreach.make_domain("chain")
>>> agent = hreach.make_agent("pac-rmdp", env, h=8)
>>> result = audit(hreach.run(env, agent, steps=200), env.mdp(), agent, eps=1, checkpoints=10)
>>> result.violations, bool((result.internal >= result.reachable - result.shortfall).all())
(0, True)
"""

from __future__ import annotations

from hreach.guarantees.audit.checkpoint import LemmaError
from hreach.guarantees.audit.measure import audit
from hreach.guarantees.audit.picture import picture
from hreach.guarantees.audit.result import Audit

__all__ = ["Audit", "LemmaError", "audit", "picture"]
