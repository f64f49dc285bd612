"""Exit codes are those of one table, which the documentation shows; every error says what to do."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from sliders import errors
from sliders.cli import run

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
KINDS = [
    kind
    for kind in vars(errors).values()
    if inspect.isclass(kind) and issubclass(kind, errors.SlidersError)
]


def test_the_page_lists_the_codes_of_the_table() -> None:
    listed = {
        int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    }
    assert listed == {0, *errors.EXIT_CODES.values()}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_says_what_a_user_does_next(kind: type[errors.SlidersError]) -> None:
    assert "Next: " in (kind.__doc__ or "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--version"], 0),
        (["tables", "-w", "missing.db"], 1),
        (["no-such-command"], 2),
        (["tables", "--no-such-option"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_codes_of_commands(
    words: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words) == code
