"""The switch that keeps tests off the network and away from the embedded model."""

from __future__ import annotations

from sliders.errors import ModelUnavailable

ALLOW_REQUESTS: bool = True


def check_requests_allowed(target: str) -> None:
    """Checks that `target` may be reached.

    Raises:
        ModelUnavailable: `ALLOW_REQUESTS` is False.
    """
    if not ALLOW_REQUESTS:
        raise ModelUnavailable(
            f"a model request to {target} was stopped because "
            "sliders.llm.network_switch.ALLOW_REQUESTS is False; use a double of "
            "sliders.llm.testing, or mark the test 'embedded'"
        )
