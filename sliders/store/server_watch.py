"""The changes of a session on a PostgreSQL server: triggers add up the rows that are added and
removed, in a setting that lasts as long as the transaction. Only `ServerWatch.fold` stores it; the
sums of another program's changes are lost with its transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sliders.store.engines import Connection, Sums

SUMS = "count(*), coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint), 0)"
"""The SQL for the sums of the rows `t`."""
_FUNCTION = f"""CREATE OR REPLACE FUNCTION sl_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changes jsonb := coalesce(nullif(current_setting('sliders.changes', true), ''), '{{}}')::jsonb;
    came bigint := coalesce((changes -> TG_TABLE_NAME ->> 0)::bigint, 0);
    total numeric := coalesce((changes -> TG_TABLE_NAME ->> 1)::numeric, 0);
    rows bigint;
    digests numeric;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        SELECT {SUMS} INTO rows, digests FROM new_rows t;
        came := came + rows;
        total := total + digests;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        SELECT {SUMS} INTO rows, digests FROM old_rows t;
        came := came - rows;
        total := total - digests;
    END IF;
    PERFORM set_config('sliders.changes', jsonb_set(changes, ARRAY[TG_TABLE_NAME::text],
        jsonb_build_array(came, total::text))::text, true);
    RETURN NULL;
END $$"""
_SIDES = {
    "INSERT": "NEW TABLE AS new_rows",
    "DELETE": "OLD TABLE AS old_rows",
    "UPDATE": "OLD TABLE AS old_rows NEW TABLE AS new_rows",
}
_ADD = """ON CONFLICT (subject) DO UPDATE SET rows = sl_digests.rows + excluded.rows,
    digest = (sl_digests.digest::numeric + excluded.digest::numeric)::text"""
# In one order, so that two writers wait for each other and never both.
_FOLD = f"""INSERT INTO sl_digests (subject, rows, digest)
    SELECT key, (value ->> 0)::bigint, value ->> 1 FROM jsonb_each(
        coalesce(nullif(current_setting('sliders.changes', true), ''), '{{}}')::jsonb)
    ORDER BY key {_ADD}"""
_ONE = f"INSERT INTO sl_digests (subject, rows, digest) VALUES (?, ?, ?) {_ADD}"


def install(database: Connection, tables: Sequence[str]) -> None:
    """Creates the triggers of these tables."""
    database.execute(_FUNCTION)
    for table in tables:
        for event, sides in _SIDES.items():
            database.execute(
                f"CREATE OR REPLACE TRIGGER sl_{event.lower()} AFTER {event} ON {table} "
                f"REFERENCING {sides} FOR EACH STATEMENT EXECUTE FUNCTION sl_changed()"
            )


class ServerWatch:
    """See `TableWatch`; undoing a savepoint also undoes the setting."""

    def __init__(self, database: Connection) -> None:
        self._database = database
        self._added: list[tuple[str, Sums]] = []

    def mark(self) -> Any:
        return list(self._added)

    def back(self, mark: Any) -> None:
        self._added = mark or []

    def defining(self) -> None: ...

    def add(self, subject: str, sums: Sums) -> None:
        self._added.append((subject, sums))

    def fold(self) -> None:
        for subject, (rows, total) in self._added:
            self._database.execute(_ONE, (subject, rows, str(total)))
        self._added = []
        self._database.execute(_FOLD)
