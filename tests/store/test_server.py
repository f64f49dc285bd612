"""A workspace on a server: several writers, and what goes wrong with servers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest
from postgres import new_place, server
from sqlalchemy import make_url

from sliders.errors import SettingsError, StoreError, WorkspaceMissing, WorkspaceTooNew
from sliders.store import LAYOUT, Catalog, Claims, Database, workspace_is_there

from .samples import DOCUMENT, SCHEMA, chunks_of, document, fill, rows_of


@pytest.fixture
def two() -> Iterator[tuple[Catalog, Catalog]]:
    """Two writers of one workspace."""
    place = new_place()
    with Database(place) as one, Database(place) as other:
        yield Catalog(one), Catalog(other)


def test_what_one_writer_does_the_other_sees(two: tuple[Catalog, Catalog]) -> None:
    one, other = two
    fill(one)
    assert other.documents.add(DOCUMENT).outcome == "same"
    assert other.schemas.save(SCHEMA) == 1
    other.extractions.save(rows_of(DOCUMENT))
    assert one.extractions.rows("orders") == rows_of(DOCUMENT)
    assert one.tables.materialise("orders") == other.tables.materialise("orders")


def test_a_document_is_worked_on_by_one(two: tuple[Catalog, Catalog]) -> None:
    one, other = two
    for number in range(3):
        source = document(f"d{number}", f"{number}.md")
        one.documents.add(source)
        one.chunks.save(source.id, chunks_of(source))
    assert [one.claims.take("d0"), other.claims.take("d1")] == [True, True]
    assert [one.claims.take("d1"), other.claims.take("d0"), one.claims.take("d0")] == [
        False,
        False,
        True,
    ]
    one.claims.free()
    assert other.claims.take("d0")


def test_the_claim_of_a_dead_process_lapses(two: tuple[Catalog, Catalog]) -> None:
    one, other = two
    fill(one)
    dead, alive = Claims(one.database, lease=0.0), Claims(one.database, lease=60.0)
    assert dead.take("doc-1") and other.claims.take("doc-1")
    other.claims.free()
    assert alive.take("doc-1") and not other.claims.take("doc-1")


def test_a_claim_ends_with_the_connection_that_made_it(two: tuple[Catalog, Catalog]) -> None:
    one, other = two
    fill(one)
    with Database(one.database.place) as third:
        dying = Claims(third, lease=3600.0)
        assert dying.take("doc-1") and not other.claims.take("doc-1")
    until = time.monotonic() + 30  # the server has to see the connection's end first
    while not other.claims.take("doc-1") and time.monotonic() < until:
        time.sleep(0.1)
    assert other.claims.take("doc-1") and not one.claims.take("doc-1")


async def test_claims_are_renewed_while_work_goes_on(two: tuple[Catalog, Catalog]) -> None:
    one, other = two
    fill(one)
    one.claims.lease = 1.0
    async with one.claims.kept():
        assert one.claims.take("doc-1")
        await asyncio.sleep(1.5)
        assert not other.claims.take("doc-1")
    assert other.claims.take("doc-1")


async def test_turns_are_taken(two: tuple[Catalog, Catalog]) -> None:
    order: list[str] = []

    async def work(catalog: Catalog, name: str) -> None:
        async with catalog.claims.turn("schema"):
            order.append(name)
            await asyncio.sleep(0.1)
            order.append(name)

    await asyncio.gather(work(two[0], "a"), work(two[1], "b"))
    assert order in (["a", "a", "b", "b"], ["b", "b", "a", "a"])


def test_a_newer_layout_and_other_peoples_tables_are_refused() -> None:
    place = new_place()
    with Database(place) as database:
        Catalog(database)
        database.execute("UPDATE sl_meta SET value = ? WHERE name = 'layout'", (str(LAYOUT + 1),))
        with pytest.raises(WorkspaceTooNew, match="upgrade with"):
            Catalog(database)
        database.execute("UPDATE sl_meta SET value = ? WHERE name = 'layout'", (str(LAYOUT - 1),))
        database.execute("DROP TABLE sl_claims")
        assert Catalog(database).claims.shared and "sl_claims" in database.names()
    with Database(new_place()) as database:
        database.engine.make(database)
        database.execute("CREATE TABLE precious (a TEXT)")
        with pytest.raises(StoreError, match="holds other tables"):
            Catalog(database)
        assert set(database.names()) == {"precious"}


def test_wrong_addresses_get_a_sentence() -> None:
    here = make_url(server())
    cases = [
        (
            str(here.set(host="", query={"host": "/nowhere"}).render_as_string(False)),
            StoreError,
            "cannot be reached",
        ),
        (
            here.set(database="nowhere").render_as_string(False),
            StoreError,
            "cannot be reached.*does not exist",
        ),
        ("mysql://somebody@host/database", SettingsError, "not 'mysql'"),
        ("postgresql+psycopg://", StoreError, "cannot be reached"),
    ]
    for place, kind, words in cases:
        with pytest.raises(kind, match=words):
            Database(place)
    with pytest.raises(WorkspaceMissing):
        Database(new_place(), write=False)
    assert not workspace_is_there(new_place())


def test_a_server_that_goes_away_gets_a_sentence_and_loses_nothing(
    two: tuple[Catalog, Catalog],
) -> None:
    one, other = two
    fill(one)
    with pytest.raises(StoreError, match="went away"), one.database.transaction():
        one.database.execute("UPDATE sl_documents SET title = 'Lost'")
        number = one.database.value("SELECT pg_backend_pid()")
        other.database.value("SELECT pg_terminate_backend(?)", (number,))
        one.database.execute("UPDATE sl_documents SET title = 'Lost again'")
    assert other.documents.get("doc-1") == DOCUMENT


def test_only_a_reader_is_kept_from_writing() -> None:
    place = new_place()
    with Database(place) as database:
        fill(Catalog(database))
    with Database(place, write=False) as database:
        assert Catalog(database).documents.count() == 1
        with pytest.raises(StoreError, match="reading only"):
            database.execute("DELETE FROM sl_documents")
