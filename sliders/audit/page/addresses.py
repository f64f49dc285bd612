"""Where served audit pages stand."""

RUN = "/-/sliders/run"
"""Path of the page of a run."""
