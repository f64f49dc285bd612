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
    """The parts of a workspace over one database, which is migrated first; the class of each says what it holds.

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
