"""The systems under measurement; each runs in an environment of its own and speaks JSON lines."""
