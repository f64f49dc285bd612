"""Cases out of YAML files: documents, what a reader says of them, questions, and what is right;
README.md tells the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlglot
import yaml
from sqlglot import exp

from benchmarks.fidelity.words import places

FOLDER = Path(__file__).with_name("cases")
_STEPS = (
    "ask",
    "query",
    "add",
    "undo",
    "together",
    "tables",
    "command",
    "set_value",
    "merge",
    "split",
)


LOOK = "LOOK "
"""What stands before a statement that only looks something up."""


class CaseError(Exception):
    """A case that cannot be used; the message names file, case and what to mend."""


@dataclass(frozen=True, slots=True)
class Said:
    """One cell as the reader gives it.

    `again` is what it says when the cell is sent back, None for the same once more.
    """

    value: Any
    words: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    again: Said | None = None

    def reply(self) -> dict[str, Any]:
        """The cell in a reply."""
        return {"value": self.value, "words": list(self.words), **self.more}


@dataclass(frozen=True, slots=True)
class SaidRow:
    """One row as the reader gives it; `absent` are columns that do not apply to it."""

    table: str
    cells: Mapping[str, Said]
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a document that is read by itself, and its rows."""

    text: str
    rows: tuple[SaidRow, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """A document. `later` ones are added by a step."""

    name: str
    parts: tuple[Part, ...]
    later: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n\n".join(part.text for part in self.parts) + "\n"


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    A `guard` was passed by the version before these cases too, and is counted apart; `tables` are
    table name to row, key, scope and columns (name to options); `steps` are what is done, in order.
    """

    name: str
    kind: str
    control: bool
    papers: tuple[Paper, ...]
    tables: Mapping[str, Mapping[str, Any]]
    steps: tuple[Mapping[str, Any], ...]
    agent: tuple[Mapping[str, Any], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    fails: Mapping[str, str] = field(default_factory=dict)
    guard: bool = False

    @property
    def questions(self) -> Iterator[Mapping[str, Any]]:
        """Every question with its SQL."""
        for step in self.steps:
            if "ask" in step:
                yield step
            yield from step.get("together", ())
            yield from step.get("questions", ())


def load(folder: Path = FOLDER, only: str = "") -> list[Case]:
    """All cases of a folder (or of one file), those whose name or kind holds `only`.

    Raises:
        CaseError: a case is not well formed, or a name stands twice.
    """
    files = sorted(folder.glob("*.yaml")) if folder.is_dir() else [folder]
    cases = []
    for file in files:
        try:
            listed = yaml.safe_load(file.read_text(encoding="utf-8")) or ()
        except yaml.YAMLError as error:
            raise CaseError(
                f"{file.name} is no YAML: {error}; between {{ }} put questions and SQL in quotes"
            ) from error
        for said in listed:
            try:
                cases.append(_case(said, file.stem))
            except (KeyError, TypeError, ValueError, AttributeError, sqlglot.ParseError) as error:
                raise CaseError(
                    f"{file.name}, case {said.get('case', '?')!r}: {type(error).__name__}: {error}"
                ) from error
    names = [case.name for case in cases]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise CaseError(f"two cases are called {', '.join(twice)}; give each a name of its own")
    return [case for case in cases if only in case.name or only in case.kind]


_KNOWN = {
    "case",
    "kind",
    "control",
    "guard",
    "docs",
    "tables",
    "ask",
    "then",
    "agent",
    "settings",
    "fails",
    "about",
}


def _case(said: Mapping[str, Any], kind: str) -> Case:
    if odd := set(said) - _KNOWN:
        raise ValueError(
            f"it has {', '.join(sorted(odd))}, which no case has; the names are "
            f"{', '.join(sorted(_KNOWN))}"
        )
    tables = {name: _table(table) for name, table in said["tables"].items()}
    papers = tuple(_paper(name, paper, tables) for name, paper in said["docs"].items())
    asked = said.get("ask") or []
    first = [asked] if isinstance(asked, Mapping) else list(asked)
    steps = [*({"ask": q["question"], **q} for q in first), *map(_step, said.get("then") or [])]
    if not steps:
        raise ValueError("it asks nothing; give it `ask`")
    agent = tuple(said.get("agent") or ())
    case = Case(
        str(said["case"]),
        str(said.get("kind", kind)),
        bool(said.get("control", False)),
        papers,
        tables,
        tuple(steps),
        agent,
        said.get("settings") or {},
        said.get("fails") or {},
        bool(said.get("guard")),
    )
    for question in case.questions:
        columns_of(case, question)
    return case


def _step(said: Mapping[str, Any]) -> Mapping[str, Any]:
    if "question" in said:
        said = {"ask": said["question"], **said}
    if not set(said) & set(_STEPS):
        raise ValueError(f"the step {dict(said)} is none of {', '.join(_STEPS)}")
    return said


def _table(said: Mapping[str, Any]) -> dict[str, Any]:
    columns = {
        name: {"type": o} if isinstance(o, str) else dict(o) for name, o in said["columns"].items()
    }
    key = said.get("key") or []
    return {
        "row": "",
        "one_row": False,
        "scope": "",
        **said,
        "columns": columns,
        "key": [key] if isinstance(key, str) else key,
    }


def _paper(name: str, said: Any, tables: Mapping[str, Any]) -> Paper:
    parts = said if isinstance(said, list) else [said]
    later = any(isinstance(part, Mapping) and part.get("later") for part in parts)
    return Paper(name, tuple(_part(part, tables) for part in parts), later)


def _part(said: Any, tables: Mapping[str, Any]) -> Part:
    if isinstance(said, str):
        return Part(said.strip("\n"), ())
    text, rows = str(said["text"]).strip("\n"), said.get("rows") or []
    by_table = rows if isinstance(rows, Mapping) else {next(iter(tables)): rows}
    return Part(
        text,
        tuple(
            _row(table, row, text, tables[table]) for table, its in by_table.items() for row in its
        ),
    )


def _row(table: str, said: Mapping[str, Any], text: str, known: Mapping[str, Any]) -> SaidRow:
    if unknown := set(said) - set(known["columns"]) - {"does_not_apply"}:
        raise ValueError(f"table {table} has no column {', '.join(sorted(unknown))}")
    told = {
        column: value
        for column, value in said.items()
        if column != "does_not_apply" and value is not None
    }
    return SaidRow(
        table, {c: _said(v, text) for c, v in told.items()}, tuple(said.get("does_not_apply") or ())
    )


def _said(said: Any, text: str) -> Said:
    """A cell: a value that the text prints, [value, words], or a mapping."""
    if isinstance(said, Mapping):
        more = {k: said[k] for k in ("how", "why", "sure") if k in said}
        words = said.get("words", _printed(said["value"], text) if "words" not in said else [])
        return Said(
            _plain(said["value"]),
            _words(words, text),
            more,
            _said(said["again"], text) if "again" in said else None,
        )
    if isinstance(said, list):
        value, words = said
        return Said(_plain(value), _words(words, text))
    return Said(_plain(said), _words(_printed(said, text), text))


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _printed(value: Any, text: str) -> str:
    value = _plain(value)
    spots = [] if isinstance(value, bool) else places(text, value)
    if not spots:
        if isinstance(value, str) and value in text:
            return value
        raise ValueError(
            f'the value {value!r} is not printed in its part; write [{value!r}, "the '
            'words it rests on"]'
        )
    return text[spots[0][0] : spots[0][1]]


def _words(words: str | Sequence[str], text: str) -> tuple[str, ...]:
    listed = (words,) if isinstance(words, str) else tuple(words)
    if missing := [one for one in listed if one not in text]:
        raise ValueError(
            f"the words {missing[0]!r} do not stand in their part, character by character"
        )
    return listed


def columns_of(case: Case, question: Mapping[str, Any]) -> list[str]:
    """The "table.column" names that a question's statements read, and the keys of its tables."""
    if "columns" in question:
        return list(question["columns"])
    trees = [
        sqlglot.parse_one(sql.removeprefix(LOOK), dialect="sqlite")
        for sql in statements_of(question)
    ]
    read, used = (
        {n.name for tree in trees for n in tree.find_all(kind)} for kind in (exp.Table, exp.Column)
    )
    out = []
    for name, table in case.tables.items():
        if name in read:
            wanted = [c for c in table["columns"] if c in used or c in table["key"]]
            out += [f"{name}.{column}" for column in wanted or table["columns"]]
    return out


def statements_of(question: Mapping[str, Any]) -> list[str]:
    """What the reader writes, one statement a turn; the last one is kept."""
    said = question.get("sql", "SELECT NULL")
    return [said] if isinstance(said, str) else list(said)
