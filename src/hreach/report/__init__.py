"""Figures, tables and the page that show what a study found."""
