"""Measurements of queries, from which later queries are planned; and the columns that questions
need.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, select

from sliders.store import codec
from sliders.store.database import Database
from sliders.store.fact_tables import query_figures, questions
from sliders.store.facts import Figure, QuestionColumns

_F = query_figures.c
_FIGURES = select(_F.kind, _F.subject, _F.hits, _F.trials, _F.ranks, _F.places, _F.scores).where(
    _F.table_name == bindparam("of"), _F.kind != "documents"
)
_DISTANCE = select(_F.distance).where(
    _F.table_name == bindparam("of"), _F.kind == "documents", _F.subject == bindparam("about")
)
_QUESTION = select(
    questions.c.columns, questions.c.uncovered, questions.c.draft, questions.c.hints
).where(questions.c.hash == bindparam("hash"))


class QueryFigures:
    """Measurements of filters and attributes by table, and the columns of questions by their
    hash.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, table: str) -> list[Figure]:
        """Returns the measurements of a table's filters and attributes."""
        return [
            Figure(
                kind,
                subject,
                hits,
                trials,
                tuple(codec.load(ranks)),
                tuple((start, end) for start, end in codec.load(places)),
                tuple(codec.load(scores)),
            )
            for kind, subject, hits, trials, ranks, places, scores in self._database.query(
                _FIGURES, {"of": table}
            )
        ]

    def keep(self, table: str, figures: Iterable[Figure]) -> None:
        """Stores measurements of a table; they replace the earlier ones."""
        self._database.add_many(
            query_figures,
            (
                (
                    table,
                    one.kind,
                    one.subject,
                    one.hits,
                    one.trials,
                    codec.dump(one.ranks),
                    codec.dump(one.places),
                    codec.dump(one.scores),
                    None,
                )
                for one in figures
            ),
            there="replace",
        )

    def distance(self, table: str, attributes: Sequence[str]) -> float:
        """Returns the largest distance to these attributes at which a document is read; 0 when it
        was not measured.
        """
        about = {"of": table, "about": codec.dump(sorted(attributes))}
        return float(self._database.value(_DISTANCE, about) or 0.0)

    def keep_distance(self, table: str, attributes: Sequence[str], distance: float) -> None:
        """Stores the largest distance to these attributes at which a document is read."""
        line = (table, "documents", codec.dump(sorted(attributes)), distance)
        names = ("table_name", "kind", "subject", "distance")
        self._database.add_many(query_figures, [line], names, there="replace")

    def question(self, hashed: str) -> QuestionColumns | None:
        """Returns the columns that a question needs, None when it was not asked before."""
        line = self._database.one(_QUESTION, {"hash": hashed})
        if line is None:
            return None
        columns = {table: tuple(names) for table, names in codec.load(line[0]).items()}
        hints = codec.decode_hints(line[3])
        return QuestionColumns(columns, line[1], line[2], hints)

    def keep_question(self, hashed: str, question: str, found: QuestionColumns) -> None:
        """Stores the columns that a question needs."""
        hints = codec.encode_hints(found.hints)
        line = (hashed, question, codec.dump(found.columns), found.uncovered, found.draft, hints)
        self._database.add_many(questions, [line], there="replace")
