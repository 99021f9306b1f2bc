"""Random numbers: one tree of seeds, and streams that compiled code and NumPy step alike."""
