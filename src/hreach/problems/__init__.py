"""What is asked: a Markov decision process, a continuous task, and what an environment tells of itself."""
