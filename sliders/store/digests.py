"""The digests of a workspace: for each table the number of its lines and the sum of their digests,
stored in the transaction that changes them. A change made without `sliders` makes them differ.

Digests do not show that somebody changed the file and computed them again. Against that, an export
can be signed with a key that the file does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sliders.store.database import Database
from sliders.store.engines import Sums
from sliders.store.file_watch import DEFINITIONS, MODULUS, total_of
from sliders.store.layout import digests
from sliders.store.layout_columns import METADATA

_PASSING = frozenset({"sl_claims"})
"""Tables whose lines only describe the moment: on a server, the documents that are being read."""
SINCE = "digests since"
"""The line of `sl_meta` with the time when digests were first taken."""


def watched(database: Database) -> list[str]:
    """The tables that are watched, in the layout's order."""
    passing = {digests.name, *(_PASSING if database.on_server else ())}
    own = ["sl_chunk_search"] if database.on_server else []
    return [t.name for t in METADATA.sorted_tables if t.name not in passing] + own


def held(database: Database) -> dict[str, Sums]:
    """The stored sums, by table."""
    lines = database.query("SELECT subject, rows, digest FROM sl_digests")
    return {subject: (rows, total_of(digest)) for subject, rows, digest in lines}


def taken(database: Database, also: Iterable[str] = ()) -> dict[str, Sums]:
    """Returns the sums of the watched tables, and of further ones, computed from their lines now; a
    missing table is left out.
    """
    engine, names = database.engine, database.names()
    versions = database.query("SELECT relation FROM sl_table_versions ORDER BY relation")
    listed = {*watched(database), *(relation for (relation,) in versions), *also}
    found = {name: engine.sums(database, name) for name in sorted(listed & names.keys())}
    definitions = engine.definitions(database)
    return found | ({DEFINITIONS: definitions} if definitions[0] else {})


def take(database: Database, before: dict[str, Sums], gaps: dict[str, Sums]) -> None:
    """Stores the sums of the tables after a migration.

    Args:
        before: the stored sums; {} in a workspace without any.
        gaps: the sums computed before the migration. A difference from the stored ones is kept.
    """
    lines = []
    for name, (rows, total) in taken(database).items():
        wrong = (0, 0)
        if before and name in gaps:
            written = before.get(name, (0, 0))
            wrong = gaps[name][0] - written[0], gaps[name][1] - written[1]
        lines.append((name, rows - wrong[0], str((total - wrong[1]) % MODULUS)))
    database.add_many(digests, lines, there="replace")


def tampered(database: Database) -> Iterator[str]:
    """Yields a sentence for each table that was changed without `sliders`."""
    written = held(database)
    found = taken(database, written)
    for name in sorted({*watched(database), *written, *found}):
        then, now = written.get(name, (0, 0)), found.get(name)
        if now is None:
            yield f"table {name!r} is gone"
        elif name == DEFINITIONS and now != then:
            yield "the definition of a table, a view or an index is not the one that sliders wrote"
        elif now[0] != then[0]:
            yield f"table {name!r}: it has {now[0]} lines, sliders wrote {then[0]}"
        elif (now[1] - then[1]) % MODULUS:
            yield f"table {name!r}: a line of it is not the one that sliders wrote"
