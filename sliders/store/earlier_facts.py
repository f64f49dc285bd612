"""The migration of facts from layouts 1 to 5 of the database, which stored open questions,
settlements, cards and counts as JSON texts in `sl_statistics`, and subjects of decisions as
sentences. Layout 6 has tables and columns for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from sliders.store import codec
from sliders.store.collection import Collection
from sliders.store.database import Database
from sliders.store.facts import (
    ConflictSide,
    Figure,
    Habit,
    OpenConflict,
    OpenNames,
    Program,
    QuestionColumns,
    Settled,
    Settlement,
    Terms,
    UnreadLine,
    Unsettled,
)
from sliders.store.open_questions import OpenQuestions
from sliders.store.query_figures import QueryFigures
from sliders.store.settled_tables import SettledTables

_Kept = Mapping[str, Any]
"""The facts of one family (such as "conflicts") by the rest of their key: a table's name, a
document's id ...
"""
_PROGRAMS = 4
"""The number of parts in a settlement of the layouts that stored its programs."""

_OF_ANOTHER_TABLE = """INSERT INTO sl_decisions (run, stage, kind, chunk_id, table_name, verdict,
    reason, tokens, at) SELECT run, stage, kind, ?, ?, verdict, reason, tokens, at
    FROM sl_decisions WHERE id = ?"""


def carry_over(database: Database) -> None:
    """Moves the facts of earlier layouts from `sl_statistics` into the tables of layout 6, and
    drops `sl_statistics`.
    """
    lines = database.query("SELECT key, value FROM sl_statistics")
    kept = {key: codec.load(value) for key, value in lines}

    def family(name: str) -> dict[str, Any]:
        found = (key for key in kept if key.startswith(f"{name}:"))
        return {key[len(name) + 1 :]: kept[key] for key in found}

    _carry_open(database, family)
    _carry_settled(database, family("settled"), family("reconciled"))
    _carry_collection(database, kept, family("card"))
    _carry_figures(database, family("optimizer"))
    for level, spans in family("segments").items():
        size, _, document = level.partition(":")
        places = np.array(spans, "<i8").tobytes()
        database.execute(
            "UPDATE sl_vectors SET places = ? WHERE level = ? AND owner = ?",
            (places, f"segments:{size}", document),
        )
    figures = QueryFigures(database)
    for hashed, need in family("needs").items():
        columns = {table: tuple(names) for table, names in need["columns"].items()}
        found = QuestionColumns(columns, need["uncovered"], need.get("draft", ""))
        figures.keep_question(hashed, "", found)
    database.execute("DROP TABLE sl_statistics")
    _carry_decisions(database)
    _carry_corrections(database)


def _carry_open(database: Database, family: Callable[[str], _Kept]) -> None:
    questions = OpenQuestions(database)
    conflicts, names = family("conflicts"), family("names")
    left_open, merges = family("left open"), family("unsure merges")
    for table in {*conflicts, *names, *left_open, *merges}:
        left = Unsettled(
            tuple(_conflict(table, one) for one in conflicts.get(table, ())),
            tuple(
                OpenNames(
                    one["column"],
                    tuple(map(tuple, one["sides"])),
                    one["reason"],
                    one.get("joined", False),
                    tuple(map(tuple, one.get("rows", ()))),
                )
                for one in names.get(table, ())
            ),
            tuple(map(tuple, left_open.get(table, ()))),
            tuple(tuple(map(tuple, apart)) for apart in merges.get(table, ())),
        )
        questions.keep(table, left)
    for table, rows in family("undone").items():
        questions.keep_undone(table, rows)
    there = {chunk for (chunk,) in database.query("SELECT id FROM sl_chunks")}
    for table, lines in family("unread").items():
        for chunk in dict.fromkeys(one["chunk"] for one in lines if one["chunk"] in there):
            of_chunk = [
                UnreadLine(chunk, one["finding"], tuple(one["values"].items()))
                for one in lines
                if one["chunk"] == chunk
            ]
            questions.keep_unread(table, chunk, of_chunk)


def _conflict(table: str, one: Mapping[str, Any]) -> OpenConflict:
    sides = tuple(
        ConflictSide(
            side["value"],
            tuple(side.get("rows", ())),
            side["document"],
            side.get("quote", ""),
            side.get("page"),
        )
        for side in one["candidates"]
    )
    return OpenConflict(table, one["column"], tuple(one["key"]), one["reason"], sides)


def _carry_settled(database: Database, settled: _Kept, reconciled: _Kept) -> None:
    tables = SettledTables(database)
    for table in {*settled, *reconciled}:
        fingerprint, by_model = settled.get(table, ("0::", False))
        version, corrections, applied = fingerprint.split(":", 2)
        numbers = tuple(int(number) for number in corrections.split("+") if number)
        memory = reconciled.get(table, {"settled": (), "documents": ()})
        now = Settled(
            Terms(int(version), numbers, applied), by_model, frozenset(memory["documents"])
        )
        decided = (one for one in memory["settled"] if len(one) == _PROGRAMS)
        tables.keep(table, now, [_settlement(*one) for one in decided])


def _settlement(signature: str, verdict: Any, reason: str, programs: Any) -> Settlement:
    made = tuple(Program(o, c, tuple(s), r) for o, c, s, r in programs)
    if signature.startswith("key:"):
        return Settlement(signature, verdict, "", made, tuple(filter(None, reason.split(","))))
    return Settlement(signature, verdict, reason, made)


def _carry_collection(database: Database, kept: _Kept, cards: _Kept) -> None:
    collection = Collection(database)
    if "criteria" in kept:
        collection.set_criteria(kept["criteria"])
    if isinstance(habit := kept.get("habit"), dict):
        held = Habit(habit["day_first"], habit["decimal"])
        collection.keep_habit(habit["documents"], held)
    if "of" in (samples := kept.get("samples") or {}):
        collection.keep_samples(samples["of"], samples["chosen"])
    there = {document for (document,) in database.query("SELECT id FROM sl_documents")}
    for document in cards.keys() & there:
        collection.keep_card(document, cards[document])
    if dates := kept.get("document dates"):
        dated = {one: date for one, date in dates["dates"].items() if one in there}
        collection.keep_dates(dated, dates["day_first"])


def _carry_figures(database: Database, optimizer: _Kept) -> None:
    figures = QueryFigures(database)
    for name, one in optimizer.items():
        if not isinstance(one, dict):
            _, table, attributes = name.split(":", 2)
            figures.keep_distance(table, attributes.split(","), one)
            continue
        figures.keep(name, _figures(one))


def _figures(one: Mapping[str, Any]) -> Iterator[Figure]:
    for condition, (hits, trials) in one.get("filters", {}).items():
        yield Figure("filter", condition, hits, trials)
    stated, depths = one.get("stated", {}), one.get("depths", {})
    layouts = one.get("layouts", {})
    for name in {*stated, *depths, *layouts}:
        places, scores = layouts.get(name, ((), ()))
        hits, trials = stated.get(name, (0.0, 0.0))
        yield Figure(
            "attribute",
            name,
            hits,
            trials,
            tuple(depths.get(name, ((),))[0]),
            tuple((start, end) for start, end in places),
            tuple(scores),
        )


def _carry_decisions(database: Database) -> None:
    """Splits the subject of each decision ("document:NAME", "column:TABLE.NAME" ...)
    into columns.
    """
    tables = {table for (table,) in database.query("SELECT name FROM sl_tables")}
    lines = database.query("SELECT id, stage, subject, reason FROM sl_decisions")
    more: list[tuple[str, str, int]] = []
    for number, stage, subject, reason in lines:
        about = _about(subject, tables)
        rows = about.pop("rows", "")
        if stage == "audit":  # it named its tables as its reason
            about["table_name"], *others = reason.split(", ")
            more += [(about["chunk_id"], other, number) for other in others]
        names = ", ".join(f"{name} = ?" for name in about)
        database.execute(f"UPDATE sl_decisions SET {names} WHERE id = ?", (*about.values(), number))
        database.insert_many(
            "INSERT INTO sl_decision_rows (decision, row_id) VALUES (?, ?)",
            [(number, row) for row in dict.fromkeys(filter(None, rows.split(", ")))],
        )
    database.execute("DROP INDEX IF EXISTS sl_decisions_subject")
    database.execute("ALTER TABLE sl_decisions DROP COLUMN subject")
    database.insert_many(_OF_ANOTHER_TABLE, more)


def _about(subject: str, tables: set[str]) -> dict[str, str]:
    """Returns the columns of a decision for such a subject."""
    kind, mark, name = subject.partition(":")
    if mark and kind in ("document", "table"):
        return {"kind": kind, f"{kind}_name" if kind == "table" else kind: name}
    if mark and kind in ("chunk", "column", "rows"):
        table, _, column = name.partition(".")
        return {
            "chunk": {"kind": kind, "chunk_id": name},
            "column": {"kind": kind, "table_name": table, "column_name": column},
            "rows": {"kind": kind, "rows": name},
        }[kind]
    if subject.startswith("key of "):
        return {"kind": "key", "table_name": subject.removeprefix("key of ")}
    for table in tables:
        if subject.startswith(f"{table}."):
            column = subject.removeprefix(f"{table}.")
            return {"kind": "column", "table_name": table, "column_name": column}
        if subject == table or subject.startswith(f"{table} "):
            return {"kind": "rows", "table_name": table, "rows": subject[len(table) + 1 :]}
    return {"kind": subject}


def _carry_corrections(database: Database) -> None:
    """Links corrections to their decisions. Earlier corrections did not name the decision: it is
    the last one about the value.
    """
    decided = {
        (table, column, codec.load(value)): number
        for number, table, column, value in database.query(
            "SELECT id, table_name, column_name, value FROM sl_corrections"
            " WHERE kind = 'set_value' AND revoked IS NULL ORDER BY id"
        )
    }
    lines = database.query(
        "SELECT d.key, t.name, d.column_name, d.value FROM sl_derivations d"
        " JOIN sl_tables t ON t.key = d.table_key WHERE d.kind = 'correction'"
    )
    database.insert_many(
        "UPDATE sl_derivations SET correction = ? WHERE key = ?",
        [(decided[about], key) for key, *rest in lines if (about := tuple(rest)) in decided],
    )
