"""A small chat client and text splitting for the baselines. Standard library only."""

from __future__ import annotations

import json
import re
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

CHARACTERS_A_TOKEN = 3.6  # of English prose; only to decide what fits
_READABLE = {".txt", ".md", ".csv", ".json", ".html"}


class EndpointError(RuntimeError):
    """The endpoint refused a request; the message is its own."""


def chat(
    base_url: str,
    model: str,
    prompt: str,
    *,
    system: str = "",
    max_tokens: int = 512,
    schema: dict[str, Any] | None = None,
    timeout: float = 900.0,
) -> str:
    """One reply at temperature 0.

    Raises:
        EndpointError: the endpoint answered with an error.
    """
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": prompt})
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "temperature": 0,
        "max_tokens": max_tokens,
    }
    if schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": True},
        }
    request = urllib.request.Request(
        base_url.rstrip("/") + "/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer none"},
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return str(json.load(reply)["choices"][0]["message"]["content"] or "")
    except urllib.error.HTTPError as error:
        raise EndpointError(error.read().decode("utf-8", "replace")[:500]) from error


def read(path: Path) -> str:
    """The text of a document; PDF through `pypdfium2` where it is installed.

    Raises:
        ValueError: the format is not one that the baselines read.
    """
    if path.suffix.lower() == ".pdf":
        import pypdfium2

        pages = pypdfium2.PdfDocument(path)
        return "\n\n".join(page.get_textpage().get_text_bounded() for page in pages)
    if path.suffix.lower() not in _READABLE:
        raise ValueError(f"{path.name}: the baselines read {', '.join(sorted(_READABLE))} and .pdf")
    return path.read_text(encoding="utf-8", errors="replace")


def segments(text: str, characters: int = 1500) -> list[str]:
    """Pieces of about that size, cut at blank lines, else at lines or sentences."""
    pieces, current = list[str](), ""
    for part in re.split(r"(?<=\n)\s*\n|(?<=\n)|(?<=[.!?])\s+", text):
        if current and len(current) + len(part) > characters:
            pieces.append(current.strip())
            current = ""
        current += part + ("" if part.endswith("\n") else " ")
    return [p for p in [*pieces, current.strip()] if p]


def fits(text: str, context_tokens: int, reply_tokens: int = 512) -> bool:
    """Whether a prompt of that text leaves room for the reply."""
    return len(text) / CHARACTERS_A_TOKEN + reply_tokens < context_tokens


def lexical_rank(pieces: Sequence[str], question: str) -> list[int]:
    """Indexes of pieces by BM25 (SQLite FTS5, porter stemmer), best first;
    only pieces that share a word.
    """
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE piece USING fts5(body, tokenize='porter')")
    connection.executemany(
        "INSERT INTO piece(rowid, body) VALUES (?, ?)", enumerate(pieces, start=1)
    )
    terms = " OR ".join(f'"{w}"' for w in dict.fromkeys(re.findall(r"\w+", question.lower())))
    if not terms:
        return []
    found = connection.execute(
        "SELECT rowid FROM piece WHERE piece MATCH ? ORDER BY bm25(piece)", (terms,)
    ).fetchall()
    return [int(row[0]) - 1 for row in found]


def fuse(rankings: Iterable[Sequence[int]], constant: int = 60) -> list[int]:
    """Reciprocal rank fusion of rankings, best first."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, index in enumerate(ranking):
            scores[index] = scores.get(index, 0.0) + 1 / (constant + rank + 1)
    return sorted(scores, key=lambda index: (-scores[index], index))
