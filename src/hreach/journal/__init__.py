"""Ask and tell: experience of a process outside Python, kept in one file."""
