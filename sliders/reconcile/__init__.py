"""The same thing, told many times, becomes one row; nothing is lost."""
