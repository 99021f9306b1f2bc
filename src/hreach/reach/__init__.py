"""What h more samples of a pair could do to its model."""
