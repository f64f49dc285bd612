"""Facts about the documents of a workspace: about all of them together, and about each."""

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
    """The facts about all documents together, and the cards and dates of single documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def criteria(self) -> tuple[str, ...]:
        """The user's criteria for the source that wins when two contradict each other, the
        strongest first.
        """
        (listed,) = self._get("criteria") or ("[]",)
        return tuple(codec.load(listed))

    def set_criteria(self, criteria: Sequence[str]) -> None:
        """Replaces the user's criteria."""
        self._set(criteria=codec.dump(criteria))

    def habit(self, documents: int) -> Habit | None:
        """Returns how the documents print dates and numbers; None when it was derived from another
        number of documents.
        """
        counted, day_first, decimal = self._get("counted day_first decimal") or (None, None, "")
        if counted != documents:
            return None
        return Habit(None if day_first is None else bool(day_first), decimal)

    def keep_habit(self, documents: int, habit: Habit) -> None:
        """Stores how that many documents print dates and numbers."""
        order = None if habit.day_first is None else int(habit.day_first)
        self._set(counted=documents, day_first=order, decimal=habit.decimal)

    def samples(self, among: Sequence[str], number: int) -> list[str] | None:
        """Returns the ids of `number` documents that were chosen as samples among these; None when
        they were chosen among other documents.
        """
        held, chosen = self._get("sampled_from samples") or ("[]", "[]")
        listed: list[str] = codec.load(chosen)
        return listed if codec.load(held) == list(among) and len(listed) == number else None

    def keep_samples(self, among: Sequence[str], chosen: Sequence[str]) -> None:
        """Stores the ids of the samples, and of the documents among which they were chosen."""
        self._set(sampled_from=codec.dump(list(among)), samples=codec.dump(list(chosen)))

    def card(self, document_id: str) -> str | None:
        """Returns the model's card of a document in one line; None when it was not asked for."""
        card: str | None = self._database.value(_CARD, {"document": document_id})
        return card

    def keep_card(self, document_id: str, card: str) -> None:
        """Stores the model's card of a document."""
        with self._database.transaction():
            self._name([document_id])
            self._database.execute(_SET_CARD, {"document": document_id, "told": card})

    def dates(self, day_first: bool | None) -> dict[str, str]:
        """Returns the dates of documents by id, as they were read with this order of day and month;
        "" for a document without a date.
        """
        return dict(self._database.query(_DATES, {"order": _order(day_first)}))

    def keep_dates(self, dates: Mapping[str, str], day_first: bool | None) -> None:
        """Stores the dates of documents, and the order of day and month with which they were
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
