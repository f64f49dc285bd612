"""Several writers on one server: who works on what. A file has one writer, who never waits."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import bindparam, delete, func, or_, select, text, update
from sqlalchemy.dialects import postgresql

from sliders.store.database import Database
from sliders.store.layout import claims, documents

LEASE_SECONDS = 60.0
_POLL_SECONDS = 0.05
_NOW = func.extract("epoch", func.clock_timestamp())
_UNTIL = _NOW + bindparam("lease")
_FREE = (
    select(documents.c.key, bindparam("owner"), _UNTIL)
    .where(documents.c.id == bindparam("document"))
    .with_for_update(skip_locked=True, key_share=True)
)
# An owner holds the advisory lock of its number as long as its connection lives: the server knows first who died.
_DEAD = text(
    "NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"
    " AND CAST((CAST(classid AS bigint) << 32) | CAST(objid AS bigint) AS text) = sl_claims.owner)"
)
# The condition is checked on the newest line, so that of two who ask at once only one gets it.
_TAKE = (
    postgresql.insert(claims)
    .from_select(["document_key", "owner", "until"], _FREE)
    .on_conflict_do_update(
        index_elements=["document_key"],
        set_={"owner": bindparam("owner"), "until": _UNTIL},
        where=or_(claims.c.until < _NOW, claims.c.owner == bindparam("owner"), _DEAD),
    )
    .returning(claims.c.document_key)
)


class Claims:
    """What this process works on. A claim lapses when the server sees its process die, or when it is not renewed."""

    def __init__(self, database: Database, lease: float | None = None) -> None:
        self._database = database
        self._owner, self._alive = secrets.randbits(63), False
        self._turns: set[str] = set()
        self.shared = database.on_server and database.write
        """Whether others may write, too."""
        self.lease = LEASE_SECONDS if lease is None else lease

    def take(self, document_id: str) -> bool:
        """Claim a document; False where another process works on it."""
        if not self.shared:
            return True
        if not self._alive:
            self._database.query("SELECT pg_advisory_lock(?)", (self._owner,))
            self._alive = True
        asked = {"document": document_id, "owner": str(self._owner), "lease": self.lease}
        return self._database.value(_TAKE, asked) is not None

    def renew(self) -> None:
        """Keep what is claimed for another while."""
        self._database.execute(update(claims).where(claims.c.owner == str(self._owner)).values(until=_NOW + self.lease))

    def free(self) -> None:
        """Give back everything."""
        if self.shared:
            self._database.execute(delete(claims).where(claims.c.owner == str(self._owner)))

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Claims are renewed as long as the block runs, and given back at its end."""

        async def renewing() -> None:
            while True:
                await asyncio.sleep(self.lease / 4)
                self.renew()

        task = asyncio.create_task(renewing()) if self.shared else None
        try:
            yield
        finally:
            if task is not None:
                task.cancel()
            self.free()

    @asynccontextmanager
    async def turn(self, subject: str) -> AsyncIterator[None]:
        """Nobody else of the workspace is in a block for the same subject; the server frees it when a process dies."""
        name = (f"{self._database.engine.name}.{subject}",)
        while subject in self._turns:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        self._turns.add(subject)
        try:
            while self.shared and not self._database.value("SELECT pg_try_advisory_lock(hashtextextended(?, 1))", name):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
            try:
                yield
            finally:
                if self.shared:
                    self._database.value("SELECT pg_advisory_unlock(hashtextextended(?, 1))", name)
        finally:
            self._turns.discard(subject)
