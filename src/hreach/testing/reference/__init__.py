"""Slow and plain: the definitions themselves, against which what is fast is tested."""
