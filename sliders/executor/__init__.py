"""Runs plans: the only room that calls the others."""
