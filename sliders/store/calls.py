"""The log of model calls, which is also the cache (contract 9: ask once, pay once)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from sliders.llm.cache import Call
from sliders.llm.model import Response, Usage
from sliders.store import codec
from sliders.store.claims import Claims
from sliders.store.database import Database
from sliders.store.journal import Journal
from sliders.store.layout import batches, calls
from sliders.store.layout_columns import among

_NAMES = tuple(field.name for field in fields(Call))
_FOUND: Select[Any] = (
    select(*(calls.c[name] for name in _NAMES))
    .where(calls.c.key == bindparam("key"), calls.c.cached == 0, calls.c.error == "")
    .order_by(calls.c.number.desc())
    .limit(1)
)
_REPEATED = {"prompt": None, "reply": None, "data": None, "token_logprobs": None}


class Calls:
    """All calls of a workspace, as the `CallLog` of the models."""

    def __init__(self, database: Database, journal: Journal, claims: Claims) -> None:
        self._database = database
        self._journal = journal
        self._claims, self.turn = claims, claims.turn

    def lookup(self, key: str) -> Response | None:
        """See `CallLog.lookup`."""
        row = self._database.one(_FOUND, {"key": key})
        if row is None:
            return None
        values: dict[str, Any] = dict(zip(_NAMES, row, strict=True))
        values |= {
            "data": codec.load(values["data"]),
            "salvaged": bool(values["salvaged"]),
            "cached": bool(values["cached"]),
            "token_logprobs": tuple(codec.load(values["token_logprobs"]) or ()),
        }
        return Call(**values).response()

    def asked_before(self, stage: str) -> bool:
        """See `CallLog.asked_before`."""
        first = select(calls.c.number).where(calls.c.stage == stage).limit(1)
        return self._claims.shared or self._database.value(first) is not None

    def batch_of(self, key: str) -> str:
        """See `BatchLog.batch_of`."""
        found = self._database.value(select(batches.c.batch).where(batches.c.key == key))
        return str(found or "")

    def note_batch(self, keys: list[str], batch: str) -> None:
        """See `BatchLog.note_batch`."""
        noted = [(key, batch, codec.now()) for key in keys]
        self._database.add_many(batches, noted, there="replace")

    def record(self, call: Call) -> None:
        """Stores one call: paid, cached or failed. It is on disk when this returns."""
        values: dict[str, Any] = {name: getattr(call, name) for name in _NAMES}
        values |= {
            "data": None if call.data is None else codec.dump(call.data),
            "salvaged": int(call.salvaged),
            "cached": int(call.cached),
            "token_logprobs": codec.dump(call.token_logprobs) if call.token_logprobs else None,
        }
        self._database.add(
            calls, run=self._journal.open_run, **(values | _REPEATED if call.cached else values)
        )

    def times(self, run: int) -> list[tuple[str, float, float, bool]]:
        """Returns for each call of a run, in order: its stage, its end (seconds since 1970), the
        seconds that it took, and whether the cache answered it.
        """
        listed = select(calls.c.stage, calls.c.created, calls.c.seconds, calls.c.cached).order_by(
            calls.c.number
        )
        rows = self._database.query(listed.where(calls.c.run == run))
        return [
            (stage, created, 0.0 if cached else seconds, bool(cached))
            for stage, created, seconds, cached in rows
        ]

    def runs(self, identifiers: Iterable[str]) -> dict[str, int]:
        """Returns the number of the run that paid for each of these calls, by call id."""
        first = select(calls.c.id, func.min(calls.c.run)).where(
            calls.c.run.is_not(None), among(calls.c.id, "calls")
        )
        return dict(
            self._database.query(
                first.group_by(calls.c.id), {"calls": codec.dump(sorted(set(identifiers)))}
            )
        )

    def usage(self, run: int | None = None) -> dict[str, Usage]:
        """Returns the usage of a run by stage; of all runs when left out."""
        paid = 1 - calls.c.cached
        sums = (
            calls.c.calls,
            calls.c.cached,
            calls.c.prompt_tokens * paid,
            calls.c.completion_tokens * paid,
            calls.c.seconds,
            calls.c.cost,
            calls.c.cached_tokens * paid,
        )
        statement = (
            select(calls.c.stage, *map(func.sum, sums))
            .group_by(calls.c.stage)
            .order_by(calls.c.stage)
        )
        rows = self._database.query(
            statement if run is None else statement.where(calls.c.run == run)
        )
        return {s: replace(Usage(*figures), cached_tokens=kept) for s, *figures, kept in rows}
