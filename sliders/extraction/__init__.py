"""Rows out of text: asked for, checked, and walked back to their words."""
