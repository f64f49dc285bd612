"""Facts about the documents of a workspace: of all together, and of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select, update

from sliders.store import codec
from sliders.store.database import Database
from sliders.store.fact_tables import collection, document_facts
from sliders.store.facts import Habit

_LINE = 1
_ID = document_facts.c.document_id
_CARD = select(document_facts.c.card).where(bindparam("document") == _ID)
_SET_CARD = update(document_facts).where(bindparam("document") == _ID)
_SET_CARD = _SET_CARD.values(card=bindparam("told"))
_SET_DATE = update(document_facts).where(bindparam("document") == _ID)
_SET_DATE = _SET_DATE.values(date=bindparam("told"), day_first=bindparam("order"))
_DATES = select(_ID, document_facts.c.date).where(
    document_facts.c.date.is_not(None),
    document_facts.c.day_first.is_not_distinct_from(bindparam("order")),
)


class Collection:
    """What holds for all documents together, and cards and dates of single ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def criteria(self) -> tuple[str, ...]:
        """Which source wins where two contradict each other, the strongest criterion first."""
        (listed,) = self._get("criteria") or ("[]",)
        return tuple(codec.load(listed))

    def set_criteria(self, criteria: Sequence[str]) -> None:
        """Keep the user's criteria in the place of those before."""
        self._set(criteria=codec.dump(criteria))

    def habit(self, documents: int) -> Habit | None:
        """What the documents have in common in writing dates and numbers; None where it was
        read from another number of them.
        """
        counted, day_first, decimal = self._get("counted day_first decimal") or (None, None, "")
        if counted != documents:
            return None
        return Habit(None if day_first is None else bool(day_first), decimal)

    def keep_habit(self, documents: int, habit: Habit) -> None:
        """Keep what that many documents have in common."""
        order = None if habit.day_first is None else int(habit.day_first)
        self._set(counted=documents, day_first=order, decimal=habit.decimal)

    def samples(self, among: Sequence[str], number: int) -> list[str] | None:
        """The documents that were chosen as samples among these, as many as `number`; None
        where others were looked at.
        """
        held, chosen = self._get("sampled_from samples") or ("[]", "[]")
        listed: list[str] = codec.load(chosen)
        return listed if codec.load(held) == list(among) and len(listed) == number else None

    def keep_samples(self, among: Sequence[str], chosen: Sequence[str]) -> None:
        """Keep which documents were chosen as samples, and among which."""
        self._set(sampled_from=codec.dump(list(among)), samples=codec.dump(list(chosen)))

    def card(self, document_id: str) -> str | None:
        """What a model said of a document in one line, None where it was not asked."""
        card: str | None = self._database.value(_CARD, {"document": document_id})
        return card

    def keep_card(self, document_id: str, card: str) -> None:
        """Keep what a model said of a document."""
        with self._database.transaction():
            self._name([document_id])
            self._database.execute(_SET_CARD, {"document": document_id, "told": card})

    def dates(self, day_first: bool | None) -> dict[str, str]:
        """The dates of documents by their ids, as they were read under an order of day and
        month; "" where a document shows none.
        """
        return dict(self._database.query(_DATES, {"order": _order(day_first)}))

    def keep_dates(self, dates: Mapping[str, str], day_first: bool | None) -> None:
        """Keep the dates of documents with the order of day and month under which they were
        read.
        """
        with self._database.transaction():
            self._name(dates)
            self._database.insert_many(
                _SET_DATE, [(date, _order(day_first), document) for document, date in dates.items()]
            )

    def _name(self, documents: Sequence[str] | Mapping[str, str]) -> None:
        lines = [(document,) for document in documents]
        self._database.add_many(document_facts, lines, ("document_id",), there="skip")

    def _get(self, names: str) -> tuple[Any, ...] | None:
        return self._database.one(select(*(collection.c[name] for name in names.split())))

    def _set(self, **values: Any) -> None:
        with self._database.transaction():
            self._database.add_many(collection, [(_LINE,)], ("key",), there="skip")
            self._database.execute(update(collection).values(**values))


def _order(day_first: bool | None) -> int | None:
    return None if day_first is None else int(day_first)
