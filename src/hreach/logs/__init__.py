"""Learning from logs: rows that somebody else's behaviour left, counted in one pass."""
