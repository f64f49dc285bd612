"""The answer of a question: a value with its SQL, its rows, the words on the page behind it, and
what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from sliders.answer.doubts import Doubt, Gap, command_of, doubt_lines, named
from sliders.answer.range import AnswerRange
from sliders.answer.result_shape import headline, table_of
from sliders.answer.turns import SqlTurn, Value
from sliders.errors import StoreError
from sliders.extraction.cell import Scalar
from sliders.llm.model import Usage
from sliders.markup import PageFrame, folded, note, preformatted, table_html
from sliders.progress import counted

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["answered", "not_found", "incomplete", "failed"]


def frame_of(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Returns the rows of a result as a data frame. A column of whole numbers with gaps has type
    `Int64`.
    """
    import pandas as pd  # takes longer to import than everything else together

    kept = list(rows)
    frame = pd.DataFrame(kept, columns=list(columns) or None)
    for place in range(len(columns)):
        values = [row[place] for row in kept]
        if None in values and {type(value) for value in values} == {int, type(None)}:
            frame.isetitem(place, pd.array(values, dtype="Int64"))
    return frame


@dataclass(frozen=True, slots=True)
class Citation:
    """The words on a page behind one value. A value that rests on several places has several
    citations.

    Args:
        document: the document's name.
        quote: the words; `document text[start:end]`. "" for a decision, and for some judgements.
        page: the page, from 1; None for a document without pages.
        table: the table's name.
        column: the column's name.
        row_id: the row's id.
        value: the value.
        document_id: the document's id.
        start: where the words begin in the document's text; -1 without words.
        end: where they end; -1 without words.
        grounding: how the words were found.
        how: "stated", "computed", "judged", or "decided" (by a person).
        reason: the arithmetic, judgement, odds or decision.
        doubt: why the value is unverified; "" when it is verified.
        result_row: the row of the answer's `rows` (from 0) that the value supports; None when the
            answer has no rows, or when the value supports all.
    """

    document: str
    quote: str
    page: int | None
    table: str
    column: str
    row_id: str
    value: Scalar = None
    document_id: str = ""
    start: int = -1
    end: int = -1
    grounding: str = ""
    how: str = "stated"
    reason: str = ""
    doubt: str = ""
    result_row: int | None = None

    def __str__(self) -> str:
        where = self.document if self.page is None else f"{self.document}, page {self.page}"
        words = f'"{self.quote}"' if self.quote else f"{self.value!r}, without words of the text"
        made = f"{self.how}: {self.reason}" if self.reason and self.how != "stated" else self.how
        remarks = (
            self.column,
            "" if made == "stated" else made,
            self.doubt and f"unverified: {self.doubt}",
        )
        told = "; ".join(remark for remark in remarks if remark)
        return f"{where}: {words}" + (f" ({told})" if told else "")


@dataclass(frozen=True, slots=True)
class Completeness:
    """Counts of what the tables behind an answer lack, and of values that are not verified.

    `missing` names everything that the answer lacks; an answer without it is complete. `documents`
    counts documents that can fill these tables; documents that fill only other tables are not
    counted. `silent` names documents without a row. `judged_cells` are judgements of the model,
    `unverified_cells` are values with a doubt. `not_read` names files that are no documents,
    `not_whole` names documents of which a part was not read, or not surely.
    """

    documents: int = 0
    documents_with_rows: int = 0
    chunks: int = 0
    failed_chunks: int = 0
    gated_chunks: int = 0
    ungrounded_cells: int = 0
    unparsed_cells: int = 0
    open_conflicts: int = 0
    judged_cells: int = 0
    unverified_cells: int = 0
    missing: tuple[Gap, ...] = ()
    silent: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()
    not_whole: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True when nothing is missing."""
        return not self.missing

    def __str__(self) -> str:
        none = f" (none: {named(self.silent)})" if self.silent else ""
        return "; ".join(
            [
                f"{self.documents_with_rows} of {counted(self.documents, 'document')} gave rows"
                + none,
                *self.remarks(),
                *self._files(),
            ]
        )

    def _files(self) -> list[str]:
        """Returns lines on files that were not read and on documents that were not read whole, each
        with the command that says why.
        """
        return [
            f"{files} ({named(names)}): {command_of('why', names[0])}"
            for names, one, several in (
                (self.not_read, "file was not read", "files were not read"),
                (self.not_whole, "document was not read whole", "documents were not read whole"),
            )
            for files in [counted(len(names), one, several)]
            if names
        ]

    def remarks(self) -> list[str]:
        """Returns lines about missing parts, then about values that were refused, are open or are
        not printed, each with a count.
        """
        parts = [str(gap) for gap in self.missing]
        for count, one, several in (
            (
                self.ungrounded_cells,
                "value was not found in the text",
                "values were not found in the text",
            ),
            (self.unparsed_cells, "value did not parse", "values did not parse"),
            (self.open_conflicts, "conflict is open", "conflicts are open"),
            (self.judged_cells, "value is judged, not printed", "values are judged, not printed"),
            (self.unverified_cells, "value is unverified", "values are unverified"),
        ):
            if count:
                parts.append(counted(count, one, several))
        return parts


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a question.

    Args:
        question: the question.
        status: "answered", "not_found", "incomplete" (see `completeness.missing`) or "failed".
        value: the bare number, text, list or table.
        text: the answer in words.
        sql: the statement that ran.
        columns: the columns of its result.
        rows: the rows of its result.
        citations: the words on pages behind the values.
        completeness: what is missing.
        usage: tokens and calls.
        reason: why there is no answer, or a remark on the answer.
        decisions: lines on what was switched off, stopped or left out.
        workflow: the name of the workflow that answered the question.
        range: the range of a numeric answer; None for other answers.
        doubts: doubts that would change the answer, those that change most first.
        run: the number of the run.
        units: the scale, unit and currency of each column ("million USD"; "yes/no" for 1 and 0); ""
            when there is none or it is not sure.
        viewer: writes the audit page; see `view`.
    """

    question: str
    status: Status
    value: Value = None
    text: str = ""
    sql: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Scalar, ...], ...] = ()
    citations: tuple[Citation, ...] = ()
    completeness: Completeness = field(default_factory=Completeness)
    usage: Usage = field(default_factory=Usage)
    reason: str = ""
    decisions: tuple[str, ...] = ()
    workflow: str = "extract_and_query"
    range: AnswerRange | None = None
    doubts: tuple[Doubt, ...] = ()
    run: int = 0
    units: tuple[str, ...] = ()
    viewer: Callable[[str | os.PathLike[str]], Path] | None = field(
        default=None, repr=False, compare=False
    )

    def view(self, path: str | os.PathLike[str] = "audit.html") -> Path:
        """Writes the audit page of this answer's run, one HTML file that works offline. Returns its
        path.

        Raises:
            StoreError: the workspace is gone, or the path is a file that is no audit page.
        """
        if self.viewer is None:
            raise StoreError(
                "this answer came from no workspace: ask with Workspace(...).ask or "
                "ask(..., workspace=...)"
            )
        return self.viewer(path)

    def show(self, height: int = 600) -> PageFrame:
        """Returns the audit page as a frame that a notebook shows under the cell.

        Args:
            height: the height of the frame, in pixels.

        Raises:
            StoreError: the workspace is gone.
        """
        with TemporaryDirectory() as folder:
            return PageFrame(self.view(Path(folder) / "audit.html").read_text("utf-8"), height)

    @property
    def complete(self) -> bool:
        """True when nothing is missing: the status is "answered" or "not_found"."""
        return self.status in ("answered", "not_found")

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for the reader beside the answer: ties, rows that a NULL leaves out, what was
        switched off or stopped.
        """
        said = [self.reason] if self.reason and self.reason not in self.text else []
        return tuple(dict.fromkeys([*said, *self.decisions]))

    @property
    def cited_rows(self) -> dict[int | None, tuple[Citation, ...]]:
        """The citations by the result row that they support; citations of the whole result under
        None.
        """
        rows = dict.fromkeys(citation.result_row for citation in self.citations)
        return {row: tuple(c for c in self.citations if c.result_row == row) for row in rows}

    @property
    def frame(self) -> pd.DataFrame:
        """The result rows as a data frame."""
        return frame_of(self.columns, self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Returns the answer as plain JSON, for `--json` and logs."""
        known = self.completeness
        plain = {
            name: getattr(self, name)
            for name in ("question", "status", "value", "text", "sql", "reason", "workflow")
        }
        return plain | {
            "columns": list(self.columns),
            "units": list(self.units),
            "rows": [list(row) for row in self.rows],
            "citations": [asdict(citation) for citation in self.citations],
            "range": self.range.to_dict() if self.range else None,
            "doubts": [doubt.to_dict() for doubt in self.doubts],
            "complete": self.complete,
            "silent": list(known.silent),
            "not_read": list(known.not_read),
            "not_whole": list(known.not_whole),
            "missing": [gap.to_dict() for gap in known.missing],
            "completeness": str(known),
            "judged_cells": known.judged_cells,
            "unverified_cells": known.unverified_cells,
            "decisions": list(self.decisions),
            "usage": asdict(self.usage) | {"seconds": round(self.usage.seconds, 3)},
            "run": self.run,
        }

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """Returns the answer as a notebook shows it; text of documents is escaped."""
        rows = ""
        if len(self.rows) > 1 or len(self.columns) > 1:
            table = table_of(self.columns, self.rows, self.units)
            rows = table_html(table.headers, table.cells)
        cited = table_html(
            ("result row", "document", "page", "words", "column", "read as"),
            (
                (
                    None if c.result_row is None else c.result_row + 1,
                    c.document,
                    c.page,
                    c.quote,
                    c.column,
                    f"{c.how}; {c.doubt}" if c.doubt else c.how,
                )
                for c in self.citations
            ),
        )
        cost = f"{counted(self.usage.calls, 'call')}, {counted(self.usage.tokens, 'token')}"
        return (
            f"<p><b>{escape(headline(self.text, self.rows))}</b></p>{rows}"
            + (note(f"range: {self.range}") if self.range and str(self.range) else "")
            + "".join(note(f"doubt: {line}") for line in doubt_lines(self.doubts))
            + note(self.completeness, *self.notes, cost)
            + (folded("SQL", preformatted(self.sql)) if self.sql else "")
            + (folded(counted(len(self.citations), "source"), cited) if self.citations else "")
        )


@dataclass(frozen=True, slots=True)
class SqlAnswer(Answer):
    """An answer with the turns of the model that led to it.

    `others` are the numbers that the model's other statements gave, `by_names` the numbers that
    this statement gives over canonical names.
    """

    attempts: tuple[SqlTurn, ...] = ()
    others: tuple[int | float, ...] = ()
    by_names: tuple[int | float, ...] = ()
