"""The addresses (URL paths) of served audit pages."""

RUN = "/-/sliders/run"
"""Path of the page of a run."""
