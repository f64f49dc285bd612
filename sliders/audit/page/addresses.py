"""Where served audit pages stand."""

HOST = "127.0.0.1"
RUN = "/-/sliders/run"
"""Path of the page of a run."""
