"""What one statement in the cage may use, and what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

FETCH_ROWS = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """What one statement may use: seconds, rows and bytes of its result, bytes of memory while it runs."""

    seconds: float = 10.0
    rows: int = 10_000
    result_bytes: int = 20_000_000
    memory_bytes: int = 512_000_000


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a statement; `truncated` says that a limit of rows or bytes cut them off."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False
    seconds: float = 0.0


def row_bytes(row: Sequence[Any]) -> int:
    """About how large a row of a result is."""
    return sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row)


def short(sql: str) -> str:
    """A statement on one line, cut for a message."""
    text = " ".join(sql.split())
    return text if len(text) <= 300 else f"{text[:300]} ..."
