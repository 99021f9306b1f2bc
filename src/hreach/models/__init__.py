"""Learning methods L = (M, f): what is remembered of the samples, and how a sample changes it."""
