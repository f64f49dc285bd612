"""Lines of fifteen languages: right values stand without a finding, wrong ones are found."""

from __future__ import annotations

import pytest

from benchmarks.languages.__main__ import lines, measure

LINES = lines()


@pytest.mark.parametrize("language", LINES)
def test_right_values_stand_and_wrong_ones_are_found(language: str) -> None:
    tally = measure(LINES[language])
    assert tally.failed == () and tally.right_without_finding == tally.wrong_found == 10
