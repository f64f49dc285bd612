"""The database in which a table is repaired: a script of SQL that runs as it
stands, now or years later.

`data` is the version before: its columns, `document`, `document_id`, `row_id`, `_sources`, and
`merged_into`, which names the row that a row goes into. A program over one group sees `rows`: that
group alone, taken from `data` and put back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing

from sliders.errors import RepairError
from sliders.extraction.cell import Scalar
from sliders.reconcile.repairs import Repair
from sliders.reconcile.statements import listed, quoted

SYSTEM = ("document", "document_id", "row_id", "_sources")
_CLOSING = (
    """UPDATE data SET _sources = m.ids FROM (SELECT target, json_group_array(row_id) AS ids
FROM (SELECT coalesce(merged_into, row_id) AS target, row_id FROM data ORDER BY rowid)
GROUP BY target HAVING count(*) > 1) AS m WHERE m.target = data.row_id""",
    "DELETE FROM data WHERE merged_into IS NOT NULL",
)


_ALLOWED = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_TRANSACTION,
    }
)


def _authorize(action: int, first: str | None, *_: str | None) -> int:
    """Nothing but reading and changing the two tables: a script may come out of a file that
    somebody else wrote.
    """
    system = action != sqlite3.SQLITE_READ and (first or "").startswith("sqlite_")
    return sqlite3.SQLITE_OK if action in _ALLOWED and not system else sqlite3.SQLITE_DENY


def script(repairs: Sequence[Repair], columns: Sequence[str]) -> str:
    """The SQL of all repairs in order, each under a line that says what it does and why.

    Args:
        columns: SQL names of the table's columns.
    """
    names = ", ".join(["merged_into", *map(quoted, columns)])
    back = (
        f"UPDATE data SET ({names}) = (SELECT {names} FROM rows WHERE rows.row_id = data.row_id) "
        "WHERE row_id IN (SELECT row_id FROM rows)"
    )
    parts = []
    for repair in repairs:
        told = " ".join(
            f"{repair.operation} {repair.column}, {repair.author}: {repair.reason}".split()
        )
        statements = list(repair.statements)
        if repair.scoped:
            taken = f"INSERT INTO rows SELECT * FROM data WHERE row_id IN {listed(repair.rows)}"
            statements = [taken, *statements, back, "DELETE FROM rows"]
        parts.append(f"-- {told}\n" + "".join(f"{statement}\n;\n" for statement in statements))
    return "".join(
        [
            *parts,
            "-- rows that were merged go into those that stay\n",
            *(f"{one};\n" for one in _CLOSING),
        ]
    )


def replay(
    columns: Sequence[tuple[str, str]],
    rows: Iterable[Sequence[Scalar]],
    sql: str,
    searched: Iterable[str] = (),
) -> list[tuple[Scalar, ...]]:
    """The rows of a table after a script: the same rows and the same script give the same result.

    Args:
        columns: SQL name and type of each column of the table.
        rows: values of `columns`, then `document`, `document_id`, `row_id` and `_sources`.
        searched: columns by whose values the script finds rows.

    Raises:
        RepairError: a statement does not run.
    """
    names = [quoted(name) for name, _ in columns]
    layout = ", ".join(
        [*(f"{quoted(name)} {kind}" for name, kind in columns), *SYSTEM, "merged_into TEXT"]
    )
    marks = ", ".join("?" * (len(names) + len(SYSTEM)))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute(f"CREATE TABLE data ({layout})")
        connection.execute(f"CREATE TABLE rows ({layout})")
        connection.execute("BEGIN")
        connection.executemany(f"INSERT INTO data VALUES ({marks}, NULL)", rows)
        connection.execute("CREATE UNIQUE INDEX by_row ON data (row_id)")
        connection.execute("CREATE INDEX by_target ON data (merged_into)")
        for number, name in enumerate(searched):
            connection.execute(f"CREATE INDEX by_value_{number} ON data ({quoted(name)})")
        connection.execute("COMMIT")
        connection.set_authorizer(_authorize)
        try:
            connection.executescript(sql)
        except sqlite3.Error as error:
            raise RepairError(
                f"the repairs do not run: {error}; nothing was changed, reconcile again"
            ) from error
        connection.set_authorizer(None)
        listing = ", ".join([*names, *SYSTEM])
        found: list[tuple[Scalar, ...]] = connection.execute(
            f"SELECT {listing} FROM data ORDER BY rowid"
        ).fetchall()
        return found
