"""The layout of a workspace: made from the metadata, and brought up to date
from any earlier one.
"""

from __future__ import annotations

from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from sliders.errors import StoreError, WorkspaceTooNew
from sliders.store import codec, digests
from sliders.store.chunks import index_signs
from sliders.store.database import Database
from sliders.store.earlier_facts import carry_over
from sliders.store.layout import CELL_ABSENCE, LAYOUT, SEARCH, meta
from sliders.store.layout_columns import METADATA

# The changes to values of an earlier layout, beside the new tables, columns and indexes, by the
# layout that brought them.
_VALUES: dict[int, tuple[str, ...]] = {
    2: ("UPDATE sl_documents SET characters = length(text)",),
    3: (
        "UPDATE sl_columns SET type = 'category' WHERE type = 'enum'",
        "UPDATE sl_cells SET absence = 'ungrounded' WHERE absence IS NULL AND grounding = 'none'",
        "UPDATE sl_table_versions SET operation = 'extract with unverified values'"
        " WHERE operation = 'extract with ungrounded values'",
    ),
}

_SIGNS_APART = 11
"""The first layout that indexes each sign of scripts without blanks."""


def migrate(database: Database) -> int:
    """Brings a workspace to the newest layout, and returns its version number.

    Raises:
        WorkspaceTooNew: a newer version of the package wrote it.
        StoreError: it is another program's database, or is read-only and needs a migration.
    """
    version = database.engine.layout(database)
    if version > LAYOUT:
        raise WorkspaceTooNew(
            f"workspace {database.name!r} has layout {version}, this version of sliders knows "
            f"{LAYOUT}; upgrade with: pip install --upgrade sliders"
        )
    if version < LAYOUT and not database.write:
        raise StoreError(
            f"workspace {database.name!r} has an old layout ({version}); open it once for "
            "writing to migrate it"
        )
    if version < LAYOUT:
        with database.transaction():
            database.exclusive("layout")
            version = database.engine.layout(database)  # another writer may have been first
            if version < LAYOUT:
                _bring(database, version)
    return LAYOUT


def _bring(database: Database, version: int) -> None:
    """Creates everything in the metadata that the workspace lacks, then converts values of earlier
    layouts.
    """
    database.engine.make(database)
    known = database.names()
    digested = "sl_digests" in known
    before, gaps = (digests.held(database), digests.taken(database)) if digested else ({}, {})
    database.execute("DROP VIEW IF EXISTS cell_absence")
    for table in METADATA.sorted_tables:
        if table.name not in known:
            database.execute(CreateTable(table))
        for column in table.columns if table.name in known else ():
            if column.name not in known[table.name]:
                added = CreateColumn(column).compile(dialect=database.dialect)
                database.execute(f"ALTER TABLE {table.name} ADD COLUMN {added}")
        for index in table.indexes:
            if index.info.get("engine", database.dialect.name) == database.dialect.name:
                database.execute(CreateIndex(index, if_not_exists=True))
    if "sl_chunk_search" not in known:
        for statement in SEARCH[database.dialect.name]:
            database.execute(statement)
    elif version < _SIGNS_APART:
        index_signs(database)
    _renew_values(database, version)
    if "sl_statistics" in known:
        carry_over(database)
    database.execute(f"CREATE VIEW cell_absence AS {database.sql(CELL_ABSENCE)}")
    database.engine.expose(database, "cell_absence")
    database.add_many(meta, [(f"migration {LAYOUT}", codec.now())], there="replace")
    database.add_many(meta, [(digests.SINCE, codec.now())], there="skip")
    database.engine.set_layout(database, LAYOUT)
    database.engine.install(database, digests.watched(database))
    digests.take(database, before, gaps)


def _renew_values(database: Database, version: int) -> None:
    for number in range(max(version, 1) + 1, LAYOUT + 1) if version else ():
        for statement in _VALUES.get(number, ()):
            database.execute(statement)
