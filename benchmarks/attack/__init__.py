"""Attacks on what others may write: statements, files, repair programs. See `__main__`."""
