"""What an agent adds to its model, one file for each algorithm: its formula, its constants, whom to cite."""
