"""The removal of documents, with their rows, cells, chunks, vectors, page texts, calls, and
everything that quotes them. Lines that prove the history stay, without their content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, Text, delete, func, or_, select, update

from sliders.errors import StoreError
from sliders.progress import counted
from sliders.sql.quoting import quote_identifier
from sliders.store import codec
from sliders.store.catalog import Catalog
from sliders.store.chunks import index_signs
from sliders.store.data_tables import UNVERIFIED
from sliders.store.fact_tables import (
    collection,
    conflicts,
    document_facts,
    open_names,
    query_figures,
    questions,
    row_groups,
    settled,
    settlements,
)
from sliders.store.layout import (
    batches,
    calls,
    cells,
    chunks,
    columns,
    corrections,
    decision_rows,
    decisions,
    derivations,
    documents,
    meta,
    origins,
    rows,
    runs,
    tables,
    vectors,
    versions,
)
from sliders.store.layout_columns import METADATA, TypedValue, among
from sliders.store.records import Decision, StoredDocument
from sliders.store.traces import GONE, Traces, words_of

_UNFINISHED = "removal unfinished"
"""The line of `sl_meta` that is set while removed words may still stand in free pages."""
_HERE = among(documents.c.id, "ids")
_DOCUMENT = select(documents.c.key).where(_HERE)
_KEPT = documents.c.key.not_in(_DOCUMENT)
_CHUNK = select(chunks.c.id).where(chunks.c.document_key.in_(_DOCUMENT))
_OF_ROWS = rows.c.document_key.in_(_DOCUMENT)
_ROW = select(rows.c.id).where(_OF_ROWS)
_ELSEWHERE = cells.c.document_key.in_(_DOCUMENT)
"""Cells in rows of other documents whose words stand in a removed document."""
_PARTS = select(cells.c.row_key, cells.c.column_key, cells.c.parts).where(
    cells.c.parts.is_not(None)
)
_TOUCHED = (
    select(tables.c.key, tables.c.name, tables.c.relation)
    .where(
        or_(
            tables.c.key.in_(select(rows.c.table_key).where(_OF_ROWS)),
            tables.c.key.in_(select(rows.c.table_key).join_from(rows, cells).where(_ELSEWHERE)),
        )
    )
    .order_by(tables.c.key)
)
_SAID = select(cells.c.printed, cells.c.value).join_from(cells, rows).where(_OF_ROWS)
_CARDS = select(document_facts.c.card).where(among(document_facts.c.document_id, "ids"))
_SCHEMA_NAMES = select(tables.c.name, tables.c.relation, columns.c.name, columns.c.sql_name)
_SCHEMA_NAMES = _SCHEMA_NAMES.join_from(tables, columns)
_READ_BY = (
    select(origins.c.call_id)
    .distinct()
    .select_from(cells.join(rows, rows.c.key == cells.c.row_key))
    .join(origins, origins.c.key == cells.c.origin_key)
    .where(_OF_ROWS)
)
_ENDED = func.coalesce(runs.c.finished, runs.c.started)
_RUNS = select(runs.c.id, runs.c.question, runs.c.settings, runs.c.outcome, _ENDED)
_SAID_BY_CALLS = ("prompt", "reply", "data", "token_logprobs")
_FORGOTTEN = frozenset(
    table.name
    for table in (questions, query_figures, settlements, derivations, open_names, conflicts)
)
"""Tables whose lines are deleted when they quote a removed document, since they are made again."""
_OWN_WORDS = frozenset(
    "sl_documents sl_pages sl_elements sl_chunks sl_rows sl_cells sl_vectors sl_tasks sl_work "
    "sl_claims sl_digests sl_meta sl_calls sl_runs sl_document_facts sl_batches sl_origins".split()
)
"""Tables that are handled separately, or hold no words of documents."""
_NAMES = frozenset({"name", "relation", "sql_name", "table_name", "column_name"})
_WITHOUT_CONTENT: Mapping[str, Any] = {
    "value": None,
    "text": "",
    "rows": [],
    "citations": [],
    "doubts": [],
    "missing": [],
    "range": None,
}


@dataclass(frozen=True, slots=True)
class Removed:
    """The result of a removal: the names of the documents, the number of rows and calls, and of
    answers that were marked because they used a document.
    """

    documents: tuple[str, ...] = ()
    rows: int = 0
    calls: int = 0
    answers: int = 0

    def __str__(self) -> str:
        parts = (
            (len(self.documents), "document"),
            (self.rows, "row"),
            (self.calls, "call"),
            (self.answers, "marked answer"),
        )
        return ", ".join(counted(n, word) for n, word in parts)


class Removal:
    """The removal of documents from one workspace.

    Args:
        spared: texts whose words are never removed: the prompts of the package.
    """

    def __init__(self, catalog: Catalog, spared: Iterable[str] = ()) -> None:
        self._catalog, self._database = catalog, catalog.database
        self._spared = spared

    def remove(self, names: Sequence[str]) -> Removed:
        """Removes documents, with their earlier versions and attachments. When it is stopped half
        way, the documents are there or gone, and the same call finishes.

        Args:
            names: names, ids or sources of documents, or folders that they were read from.

        Raises:
            StoreError: there is no such document; nothing is removed.
        """
        found = self._meant(names)
        done = self._take_out(found) if found else Removed()
        self._database.purge()
        self._database.execute(delete(meta).where(meta.c.name == _UNFINISHED))
        return done

    def _meant(self, names: Sequence[str]) -> list[StoredDocument]:
        known = self._catalog.documents.all(superseded=True)
        chosen: dict[str, StoredDocument] = {}
        unfinished = self._database.value(select(meta.c.value).where(meta.c.name == _UNFINISHED))
        for name in names:
            folder = name.rstrip("/") + "/"
            meant = [
                one
                for one in known
                if name in (one.id, one.name, one.source)
                or (name and (one.name.startswith(folder) or one.source.startswith(folder)))
            ]
            if not meant and not unfinished:
                raise StoreError(
                    f"the workspace has no document {name!r}; list them with: sliders tables"
                )
            chosen |= {one.id: one for one in meant}
        size = -1
        while size != len(chosen):
            size = len(chosen)
            chosen |= {one.id: one for one in known if one.superseded_by in chosen}
        return list(chosen.values())

    def _take_out(self, found: Sequence[StoredDocument]) -> Removed:
        ids = {"ids": codec.dump([one.id for one in found])}
        database = self._database
        with database.transaction():
            database.exclusive("documents")
            traces = self._traces(found, ids)
            touched = database.query(_TOUCHED, ids)
            count = int(database.value(select(func.count()).select_from(rows).where(_OF_ROWS), ids))
            gone = self._forget_calls(traces, ids)
            since = min(one.added for one in found)
            marked = self._mark_answers(traces, [line[2] for line in touched], since)
            self._forget_decisions(traces, ids)
            unverified = [self._empty(key, name) for key, name, _ in touched]
            self._delete(ids)
            self._forget_quotes(traces)
            for (_, name, relation), shown in zip(touched, unverified, strict=True):
                self._show_again(name, relation, shown)
            told = f"{counted(len(found), 'document')}, {counted(count, 'row')}"
            self._catalog.journal.record(Decision("documents", "document", "removed", told))
            database.add_many(meta, [(_UNFINISHED, codec.now())], there="replace")
        return Removed(tuple(dict.fromkeys(one.name for one in found)), count, gone, marked)

    def _traces(self, found: Sequence[StoredDocument], ids: Mapping[str, str]) -> Traces:
        """Returns the words that only these documents have: without the words of other documents,
        of the schema's names and of the prompts.
        """
        database, texts = (
            self._database,
            [text for one in found for text in (one.name, one.title, one.source, *one.warnings)],
        )
        texts += (text for (text,) in database.query(select(documents.c.text).where(_HERE), ids))
        texts += (card for (card,) in database.query(_CARDS, ids) if card)
        for line in database.query(_SAID, ids):
            texts += (_plain(value) for value in line if value is not None)
        kept = database.query(select(documents.c.name, documents.c.title).where(_KEPT), ids)
        named = {name for one in found for name in (one.id, one.name)} - {name for name, _ in kept}
        traces = Traces(texts, named)
        for (text,) in database.stream(select(documents.c.text).where(_KEPT), ids):
            traces.spare(text)
        names = (" ".join(line) for line in [*kept, *database.query(_SCHEMA_NAMES)])
        for text in (*names, *self._spared):
            traces.spare(text)
        return traces

    def _forget_calls(self, traces: Traces, ids: Mapping[str, str]) -> int:
        """Takes the words out of the calls that read or quote these documents, also when they read
        others too. The line of a call stays, with its cost. Returns the number of calls.
        """
        database = self._database
        gone = {call for (call,) in database.query(_READ_BY, ids)}
        for line in database.stream(select(*(calls.c[name] for name in ("id", *_SAID_BY_CALLS)))):
            if line[0] not in gone and any(map(traces.within, line[1:])):
                gone.add(line[0])
        chosen = {"calls": codec.dump(sorted(gone))}
        of_calls = among(calls.c.id, "calls")
        kept = select(calls.c.key).where(of_calls, calls.c.key != "")
        database.execute(delete(batches).where(batches.c.key.in_(kept)), chosen)
        blank = dict.fromkeys(_SAID_BY_CALLS) | {"error": "", "key": ""}
        database.execute(update(calls).where(of_calls).values(**blank), chosen)
        words = [cells.c[name] for name in ("rationale", "detail", "doubt", "odds")]
        shared = select(cells.c.row_key, cells.c.column_key, *words).join_from(
            cells, origins, origins.c.key == cells.c.origin_key
        )
        for row, column, *said in database.query(
            shared.where(among(origins.c.call_id, "calls")), chosen
        ):
            if any(map(traces.within, said)):
                told = {w.name: traces.without(one) for w, one in zip(words, said, strict=True)}
                here = (cells.c.row_key == row, cells.c.column_key == column)
                database.execute(update(cells).where(*here).values(**told))
        return len(gone - {""})

    def _mark_answers(self, traces: Traces, relations: Sequence[str], since: str) -> int:
        """Marks the answers that used a removed document: by its words, its citations or a table
        that it had rows in. Returns their number.

        Args:
            since: when the first of the documents was added.
        """
        day, count = codec.now()[:10], 0
        for number, question, settings, outcome, ended in self._database.query(_RUNS):
            said = codec.load(outcome)
            for place, answer in enumerate(said.get("answers", ())):
                sql = words_of(str(answer.get("sql", "")))
                read = ended >= since and any(words_of(name) <= sql for name in relations)
                if (quotes := traces.within(answer)) or read:
                    said["answers"][place] = _marked(traces.without(answer), day, quotes)
                    count += 1
            told = {
                "question": traces.without(question),
                "settings": traces.without(settings),
                "outcome": codec.dump(traces.without(said)),
            }
            if told != {"question": question, "settings": settings, "outcome": outcome}:
                self._database.execute(update(runs).where(runs.c.id == number).values(**told))
        return count

    def _forget_decisions(self, traces: Traces, ids: Mapping[str, str]) -> None:
        """Takes the words out of decisions about these documents, their chunks and their rows."""
        named = {**ids, "names": codec.dump(sorted(traces.names))}
        about = or_(
            among(decisions.c.document, "names"),
            decisions.c.chunk_id.in_(_CHUNK),
            decisions.c.id.in_(
                select(decision_rows.c.decision).where(decision_rows.c.row_id.in_(_ROW))
            ),
        )
        blank = {"document": None, "chunk_id": None, "reason": GONE}
        self._database.execute(update(decisions).where(about).values(**blank), named)

    def _empty(self, key: int, table: str) -> bool:
        """Empties the versions of a table, and forgets its state of settling. Returns True when it
        shows unverified values.
        """
        database = self._database
        chain = self._catalog.tables.lineage(table)
        for (relation,) in database.query(
            select(versions.c.relation).where(versions.c.table_key == key)
        ):
            database.written(relation, -1)
            database.execute(f"DELETE FROM {quote_identifier(relation)}")
        blank = {"sql": "", "reason": GONE, "rows": 0}
        database.execute(update(versions).where(versions.c.table_key == key).values(**blank))
        database.execute(delete(derivations).where(derivations.c.table_key == key))
        for made in (conflicts, open_names, settled):
            database.execute(delete(made).where(made.c.table_name == table))
        undone = (row_groups.c.table_name == table, row_groups.c.kind != "undone")
        database.execute(delete(row_groups).where(*undone))
        revision = {"revision": tables.c.revision + 1}
        database.execute(update(tables).where(tables.c.key == key).values(**revision))
        return bool(chain) and chain[-1].operation == UNVERIFIED

    def _delete(self, ids: Mapping[str, str]) -> None:
        """Deletes the documents with all lines that belong to them."""
        database = self._database
        owners = or_(among(vectors.c.owner, "ids"), vectors.c.owner.in_(_CHUNK))
        database.execute(delete(vectors).where(owners), ids)
        database.execute(delete(row_groups).where(row_groups.c.row_id.in_(_ROW)), ids)
        database.execute(delete(decision_rows).where(decision_rows.c.row_id.in_(_ROW)), ids)
        database.execute(delete(cells).where(_ELSEWHERE), ids)
        for key, column, parts in database.query(_PARTS):
            if any(one in parts for one in codec.load(ids["ids"])):
                here = (cells.c.row_key == key, cells.c.column_key == column)
                database.execute(delete(cells).where(*here))
        database.execute(delete(rows).where(_OF_ROWS), ids)
        database.execute(delete(documents).where(_HERE), ids)
        if not database.on_server:
            database.execute("INSERT INTO sl_chunk_search (sl_chunk_search) VALUES ('rebuild')")
            index_signs(database)
        sampled = {"sampled_from": "[]", "samples": "[]"}
        database.execute(update(collection).values(**sampled))

    def _forget_quotes(self, traces: Traces) -> None:
        """Removes quotes from every stored text that is left."""
        for table in METADATA.sorted_tables:
            if table.name in _OWN_WORDS:
                continue
            key = list(table.primary_key)
            said = [c for c in table.c if c.name not in _NAMES and _holds_words(c)]
            if not said:
                continue
            lines = self._database.query(select(*key, *said))
            for line in lines:
                if any(map(traces.within, line)):
                    values = dict(zip((c.name for c in said), line[len(key) :], strict=True))
                    here = [c == value for c, value in zip(key, line, strict=False)]
                    self._forget_quote(table, here, values, traces)

    def _forget_quote(
        self, table: Table, here: Sequence[Any], values: Mapping[str, Any], traces: Traces
    ) -> None:
        if table.name in _FORGOTTEN:
            self._database.execute(delete(table).where(*here))
            return
        if table.name == corrections.name:  # it cannot be applied without its words
            told = {"subject": "{}", "value": "null", "reason": GONE, "revoked": codec.now()}
        else:
            own = (name for name in values if not table.c[name].primary_key)
            told = {name: traces.without(values[name]) for name in own}
        self._database.execute(update(table).where(*here).values(**told))

    def _show_again(self, table: str, relation: str, unverified: bool) -> None:
        """Makes the remaining rows the current version of a table of the schema."""
        if table in {one.name for one in self._catalog.schemas.relations()}:
            self._catalog.tables.materialise(table, unverified=unverified)
            return
        self._database.execute(f"DROP VIEW IF EXISTS {quote_identifier(relation)}")
        shown = update(tables).where(tables.c.name == table)
        self._database.execute(shown.values(current_version=None))


def _holds_words(column: Any) -> bool:
    return isinstance(column.type, Text | TypedValue)


def _plain(value: object) -> str:
    """A value as words: a whole number without its point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _marked(answer: dict[str, Any], day: str, quotes: bool) -> dict[str, Any]:
    """An answer with the mark that it used a removed document; without its content where it
    quotes one.
    """
    mark = f"documents that this answer used were removed on {day}"
    told = answer | (dict(_WITHOUT_CONTENT) if quotes else {}) | {"removed": day}
    reason = "" if quotes else str(answer.get("reason") or "")
    return told | {
        "reason": f"{mark}; {reason}" if reason else mark,
        "decisions": [mark, *([] if quotes else answer.get("decisions", []))],
    }
