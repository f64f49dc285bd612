"""What every driver returns, and how it becomes a suite folder."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class PaperDataError(Exception):
    """The data of a benchmark is not there or not in its published form; the message
    says what is missing.
    """


@dataclass(slots=True)
class Prepared:
    """Documents (a text, or a file to copy), gold entries as in `gold.json`, and gold
    tables as CSV files.
    """

    name: str
    documents: dict[str, str | Path] = field(default_factory=dict)
    gold: list[dict[str, Any]] = field(default_factory=list)
    tables: dict[str, Path] = field(default_factory=dict)
    scope: str = "question"

    def ask(
        self,
        id: str,
        question: str,
        answer: Any,
        kind: str,
        answer_type: str,
        docs: list[str] | str = "all",
        **more: Any,
    ) -> None:
        """Add one question."""
        entry = {
            "id": id,
            "question": question,
            "answer": answer,
            "kind": kind,
            "answer_type": answer_type,
            "docs": docs,
        }
        self.gold.append(entry | more)


def need(path: Path, *parts: str) -> Path:
    """The path of `parts` below `path`.

    Raises:
        PaperDataError: it does not exist.
    """
    wanted = path.joinpath(*parts)
    if not wanted.exists():
        raise PaperDataError(
            f"{wanted} is missing; download the benchmark from its publisher and give its folder"
        )
    return wanted


def need_keys(entry: Any, keys: Iterable[str], where: str) -> Any:
    """The entry, when it is an object that has these keys.

    Raises:
        PaperDataError: it is not, or has not.
    """
    missing = [key for key in keys if not isinstance(entry, dict) or key not in entry]
    if missing:
        raise PaperDataError(f"{where} has no {', '.join(missing)}; is this the published file?")
    return entry


def read_json(path: Path) -> Any:
    """A JSON file.

    Raises:
        PaperDataError: it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise PaperDataError(f"{path} is not JSON ({error}); download it again") from error


def read_lines(path: Path) -> Iterator[Any]:
    """Objects of a JSON-lines file, or of a JSON list.

    Raises:
        PaperDataError: a line is not JSON.
    """
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("["):
        yield from read_json(path)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise PaperDataError(f"{path}, line {number} is not JSON ({error})") from error


def first_file(source: Path, *patterns: str) -> Path:
    """The file itself, or the first file below a folder that fits a pattern.

    Raises:
        PaperDataError: there is none.
    """
    if source.is_file():
        return source
    for pattern in patterns:
        found = sorted(source.rglob(pattern)) if source.is_dir() else []
        if found:
            return found[0]
    raise PaperDataError(
        f"{source} holds none of {', '.join(patterns)}; give the file or its folder"
    )


def safe_name(text: str, suffix: str = ".md") -> str:
    """A file name out of a title."""
    return (re.sub(r"[^\w.-]+", "_", text).strip("_")[:120] or "untitled") + suffix


def number_or_text(answer: Any) -> tuple[Any, str]:
    """A printed answer with its answer type: a number where it is one, else a string."""
    from benchmarks.values import parse_number

    number = parse_number(answer)
    return (number, "number") if number is not None else (str(answer), "string")


def write_suite(prepared: Prepared, out: Path) -> Path:
    """Write `docs/`, `gold.json`, `tables/` and `suite.json` below `out`; returns the folder.

    Raises:
        PaperDataError: there is no question or no document.
    """
    if not prepared.gold or not prepared.documents:
        raise PaperDataError(
            f"{prepared.name}: no question with its documents was found; is the folder complete?"
        )
    folder = out / prepared.name
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    for name, content in prepared.documents.items():
        target = folder / "docs" / name
        if isinstance(content, Path):
            shutil.copyfile(content, target)
        else:
            target.write_text(content, encoding="utf-8")
    for name, path in prepared.tables.items():
        (folder / "tables").mkdir(exist_ok=True)
        shutil.copyfile(path, folder / "tables" / f"{name}.csv")
    (folder / "gold.json").write_text(
        json.dumps(prepared.gold, ensure_ascii=False, indent=1), encoding="utf-8"
    )
    (folder / "suite.json").write_text(
        json.dumps({"name": prepared.name, "scope": prepared.scope}), encoding="utf-8"
    )
    return folder
