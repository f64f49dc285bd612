"""The database in which a table is repaired: a script of SQL that runs as it
stands, now or years later.

`data` is the version before: its columns, `document`, `document_id`, `row_id`, `_sources`, and
`merged_into`, which names the row that a row goes into. A program over one group sees `rows`: that
group alone, taken from `data` and put back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sliders.errors import RepairError
from sliders.extraction.cell import Scalar
from sliders.reconcile.repairs import Repair
from sliders.reconcile.statements import listed
from sliders.sql.limits import Limits, Rights
from sliders.sql.quoting import quote_identifier
from sliders.sql.sandbox import Sandbox, SandboxError

SYSTEM = ("document", "document_id", "row_id", "_sources")
_CLOSING = (
    """UPDATE data SET _sources = m.ids FROM (SELECT target, json_group_array(row_id) AS ids
FROM (SELECT coalesce(merged_into, row_id) AS target, row_id FROM data ORDER BY rowid)
GROUP BY target HAVING count(*) > 1) AS m WHERE m.target = data.row_id""",
    "DELETE FROM data WHERE merged_into IS NOT NULL",
)


# A script may come out of a file that somebody else wrote; one over a large table takes its time.
_RIGHTS = Rights(writes="rows", recursive=False)
_LIMITS = Limits(seconds=math.inf, memory_bytes=math.inf, engine=())


def script(repairs: Sequence[Repair], columns: Sequence[str]) -> str:
    """Returns the SQL of all repairs in order, each below a comment with its operation and reason.

    Args:
        columns: SQL names of the table's columns.
    """
    names = ", ".join(["merged_into", *map(quote_identifier, columns)])
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
    """Returns the rows of a table after a script; the same input always gives the same result.

    Args:
        columns: SQL name and type of each column of the table.
        rows: values of `columns`, then `document`, `document_id`, `row_id` and `_sources`.
        searched: columns by whose values the script finds rows.

    Raises:
        RepairError: a statement does not run.
    """
    types = dict(columns) | dict.fromkeys(SYSTEM, "") | {"merged_into": "TEXT"}
    with Sandbox() as sandbox:
        sandbox.add("data", types, ((*row, None) for row in rows))
        sandbox.add("rows", types)
        sandbox.execute("CREATE UNIQUE INDEX by_row ON data (row_id)")
        sandbox.execute("CREATE INDEX by_target ON data (merged_into)")
        for number, name in enumerate(searched):
            sandbox.execute(f"CREATE INDEX by_value_{number} ON data ({quote_identifier(name)})")
        try:
            sandbox.run_script(sql, _RIGHTS, _LIMITS)
        except SandboxError as error:
            raise RepairError(
                f"the repairs do not run: {error}; nothing was changed, reconcile again"
            ) from error
        listing = ", ".join(map(quote_identifier, [*dict(columns), *SYSTEM]))
        return sandbox.execute(f"SELECT {listing} FROM data ORDER BY rowid")
