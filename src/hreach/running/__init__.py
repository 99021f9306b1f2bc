"""Running agents: one in one environment, or many at once, and who is told how far they are."""
