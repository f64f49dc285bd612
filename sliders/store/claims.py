"""Claims: the documents and subjects that a run is working on, so that other runs of the process,
and other processes on a server, leave them alone.
"""

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
# An owner holds the advisory lock of its number as long as its connection lives:
# the server knows first which process died.
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


class _Process:
    """The claims of all runs of this process: documents with their run, the runs that read,
    subjects that are taken, and the terms under which data tables are settled (once for each run
    that needs them).
    """

    def __init__(self) -> None:
        self.documents: dict[str, Claims] = {}
        self.reading: list[Claims] = []
        self.turns: set[str] = set()
        self.terms: list[str] = []


class Claims:
    """The claims of one run. A claim ends when the server notices that its process died, or when it
    is not renewed.

    Args:
        beside: the claims of another run of this process.
    """

    def __init__(
        self, database: Database, lease: float | None = None, beside: Claims | None = None
    ) -> None:
        self._database = database
        self._owner, self._alive = secrets.randbits(63), False
        self._process: _Process = _Process() if beside is None else beside._process
        self._served = database.on_server and database.write
        self.shared = self._served
        """Whether others may read the same documents, too."""
        self.lease = LEASE_SECONDS if lease is None else lease

    def take(self, document_id: str) -> bool:
        """Claims a document. Returns False when another run or process works on it."""
        if self._process.documents.get(document_id, self) is not self:
            return False
        taken = not self._served or self._take(document_id)
        if taken:
            self._process.documents[document_id] = self
        return taken

    def _take(self, document_id: str) -> bool:
        if not self._alive:
            self._database.query("SELECT pg_advisory_lock(?)", (self._owner,))
            self._alive = True
        asked = {"document": document_id, "owner": str(self._owner), "lease": self.lease}
        return self._database.value(_TAKE, asked) is not None

    def renew(self) -> None:
        """Renews all claims."""
        self._database.execute(
            update(claims).where(claims.c.owner == str(self._owner)).values(until=_NOW + self.lease)
        )

    def give_back(self, document_id: str) -> None:
        """Ends the claim on a document."""
        if self._process.documents.pop(document_id, None) is not None and self._served:
            key = select(documents.c.key).where(documents.c.id == document_id).scalar_subquery()
            own = (claims.c.owner == str(self._owner), claims.c.document_key == key)
            self._database.execute(delete(claims).where(*own))

    def free(self) -> None:
        """Ends all claims."""
        for document_id in [
            known for known, owner in self._process.documents.items() if owner is self
        ]:
            del self._process.documents[document_id]
        if self._served:
            self._database.execute(delete(claims).where(claims.c.owner == str(self._owner)))
        if self._alive:
            self._database.query("SELECT pg_advisory_unlock(?)", (self._owner,))
            self._alive = False

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Renews the claims while the `with` block runs, and ends them at its end. Runs in such a
        block know each other's claims.
        """
        reading = self._process.reading
        reading.append(self)
        for each in reading if len(reading) > 1 else ():
            each.shared = True

        async def renewing() -> None:
            while True:
                await asyncio.sleep(self.lease / 4)
                self.renew()

        task = asyncio.create_task(renewing()) if self._served else None
        try:
            yield
        finally:
            if task is not None:
                task.cancel()
            reading.remove(self)
            self.free()

    @asynccontextmanager
    async def turn(self, subject: str) -> AsyncIterator[None]:
        """A block that no other run of the workspace enters at the same time for the same subject;
        the server frees it when a process dies.
        """
        name = (f"{self._database.engine.name}.{subject}",)
        while subject in self._process.turns:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        self._process.turns.add(subject)
        try:
            while self._served and not self._database.value(  # noqa: ASYNC110
                "SELECT pg_try_advisory_lock(hashtextextended(?, 1))", name
            ):
                await asyncio.sleep(_POLL_SECONDS)
            try:
                yield
            finally:
                if self._served:
                    self._database.value("SELECT pg_advisory_unlock(hashtextextended(?, 1))", name)
        finally:
            self._process.turns.discard(subject)

    @asynccontextmanager
    async def standing(self, terms: str) -> AsyncIterator[None]:
        """A block in which the data tables stay settled under these terms; runs of this process
        with other terms wait for its end.
        """
        standing = self._process.terms
        while standing and standing[0] != terms:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        standing.append(terms)
        try:
            yield
        finally:
            standing.remove(terms)
