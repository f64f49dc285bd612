"""Examples of columns: words of a document, and the value that they show to readers of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sliders.engine.corrections import document_names, holding, typed_values
from sliders.engine.session import Session
from sliders.errors import SchemaError
from sliders.extraction.cell import Scalar
from sliders.reconcile.human_corrections import DOCUMENT
from sliders.schema.types import Example, Schema, Table


def refuse_known_words(session: Session, pinned: Schema) -> None:
    """Checks that no example gives away an answer: its words must not stand in a document of the
    workspace. An example that names its own document is not checked, because readers of that
    document never see it.

    Raises:
        SchemaError: the words of an example stand in a document.
    """
    listed = [
        (f"{table.name}.{column.name}", one)
        for table in pinned.tables
        for column in table.columns
        for one in column.examples
        if not one.document
    ]
    for document in session.catalog.documents.all() if listed else ():
        text = session.catalog.documents.text(document.id)
        for name, one in listed:
            if one.stands_in(text):
                raise SchemaError(
                    f"the example {one.words!r} of {name} stands in {document.name}, which is to be"
                    " read: take one from another document"
                )


def add_example(
    session: Session,
    table: str,
    column: str,
    value: Scalar,
    where: Mapping[str, Scalar],
    words: str,
) -> Example:
    """Adds a decision to its column as an example for readers of other documents, and stores the
    schema. It replaces an example with the same words. Returns the example.

    Args:
        value: the right value of the column.
        where: values of the rows that were decided; `document` and `document_id` count too.
        words: words of the rows' document that show the value.

    Raises:
        SchemaError: the table or column does not exist, the value is None or does not fit its
            column, or the words stand in no document of the rows.
    """
    known = session.schema.table(table)
    new = typed_values(known, {column: value})[column]
    if new is None:
        raise SchemaError(f"an example of {column} needs a value")
    example = Example(" ".join(words.split()), new)
    example = replace(example, document=_document_of(session, known, where, example))
    columns = tuple(
        replace(c, examples=(*(e for e in c.examples if e.words != example.words), example))
        if c.name == column
        else c
        for c in known.columns
    )
    schema = session.schema.with_table(replace(known, columns=columns))
    session.catalog.schemas.save(schema, "pinned")
    return example


def _document_of(
    session: Session, table: Table, where: Mapping[str, Scalar], example: Example
) -> str:
    """The name of the first document that has rows with these values and holds the words of the
    example.
    """
    wanted = typed_values(table, where, DOCUMENT)
    named = document_names(session.catalog)
    documents = {
        row.document_id
        for row in session.catalog.extractions.rows(table.name)
        if holding([{**named[row.document_id], **{c.column: c.value for c in row.cells}}], wanted)
    }
    for document in sorted(documents) if example.words else ():
        if example.stands_in(session.catalog.documents.text(document)):
            return str(named[document]["document"])
    raise SchemaError(f"{example.words!r} stands in no document of these rows; copy its words")
