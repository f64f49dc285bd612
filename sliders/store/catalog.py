"""The catalog of a workspace: everything that it knows, by subject."""

from __future__ import annotations

from sliders.store.calls import Calls
from sliders.store.chunks import Chunks
from sliders.store.claims import Claims
from sliders.store.data_tables import Tables
from sliders.store.database import Database
from sliders.store.documents import Documents
from sliders.store.extractions import Extractions
from sliders.store.journal import Journal
from sliders.store.knowledge import Knowledge
from sliders.store.migrations import migrate
from sliders.store.schemas import Schemas


class Catalog:
    """The parts of a workspace over one database, which is migrated first.

    Attributes:
        documents: documents and their versions.
        chunks: chunks and full-text search.
        schemas: versions of the schema and SQL names.
        extractions: rows, cells and tasks.
        claims: who of several writers works on what.
        calls: the ledger of model calls (a `CallLog`).
        journal: runs, decisions, SQL attempts.
        tables: data tables and their versions.
        knowledge: vectors, statistics, corrections.

    Raises:
        WorkspaceTooNew: the file was written by a newer version of the package.
        StoreError: the file is another program's database.
    """

    def __init__(self, database: Database) -> None:
        migrate(database)
        self.database = database
        self.documents = Documents(database)
        self.chunks = Chunks(database)
        self.schemas = Schemas(database)
        self.journal = Journal(database)
        self.claims = Claims(database)
        self.calls = Calls(database, self.journal, self.claims)
        self.extractions = Extractions(database, self.journal)
        self.tables = Tables(database, self.schemas)
        self.knowledge = Knowledge(database)
