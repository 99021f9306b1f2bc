"""Exploring any Gymnasium environment: finite spaces as they come, numbers in bins, and what was learnt in a folder."""
