"""Formats by features: nothing that a file holds is lost in silence."""

from __future__ import annotations

import pytest

from benchmarks.files.__main__ import cells


@pytest.mark.slow
def test_no_feature_of_a_format_is_lost_in_silence() -> None:
    found = list(cells())
    assert len(found) >= 120
    assert [cell for cell in found if cell[2] == "silent"] == []
