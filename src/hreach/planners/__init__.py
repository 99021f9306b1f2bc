"""From a model and an optimism to values: sweeps over a table, a grid of states, a tree of actions."""
