"""The catalog of a workspace: access to all that it stores, by subject."""

from __future__ import annotations

from copy import copy

from sliders.store import digests
from sliders.store.calls import Calls
from sliders.store.chunks import Chunks
from sliders.store.claims import Claims
from sliders.store.collection import Collection
from sliders.store.data_tables import Tables
from sliders.store.database import Database
from sliders.store.documents import Documents
from sliders.store.extractions import Extractions
from sliders.store.journal import Journal
from sliders.store.knowledge import Knowledge
from sliders.store.migrations import migrate
from sliders.store.open_questions import OpenQuestions
from sliders.store.query_figures import QueryFigures
from sliders.store.schemas import Schemas
from sliders.store.settled_tables import SettledTables


class Catalog:
    """The stores of a workspace, one for each subject (see their classes), over one database, which
    is migrated first.

    Raises:
        WorkspaceTooNew: the file was written by a newer version of the package.
        StoreError: the file is another program's database.
    """

    def __init__(self, database: Database) -> None:
        migrate(database)
        database.watched(digests.watched(database))
        self.database = database
        self.documents = Documents(database)
        self.chunks = Chunks(database)
        self.schemas = Schemas(database)
        self.tables = Tables(database, self.schemas)
        self.knowledge = Knowledge(database)
        self.open_questions = OpenQuestions(database)
        self.settled = SettledTables(database)
        self.collection = Collection(database)
        self.figures = QueryFigures(database)
        self._keep_under(Journal(database), Claims(database))

    def for_run(self) -> Catalog:
        """Returns a catalog of the same workspace for one run, with calls, decisions and claims of
        its own.
        """
        catalog = copy(self)
        catalog._keep_under(
            Journal(self.database, self.journal),
            Claims(self.database, self.claims.lease, self.claims),
        )
        return catalog

    def _keep_under(self, journal: Journal, claims: Claims) -> None:
        self.journal, self.claims = journal, claims
        self.calls = Calls(self.database, journal, claims)
        self.extractions = Extractions(self.database, journal)
