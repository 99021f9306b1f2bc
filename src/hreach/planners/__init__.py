"""The value of the most hopeful model. The compiled planner is `hreach.kernels.plan`."""
