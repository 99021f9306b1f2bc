"""Models and planners that suit a domain: what an agent takes unless it is given something else."""
