"""What a workspace says about itself: where values come from, what changed, what does not hold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sliders.audit.diff import Difference, difference
from sliders.audit.explanation import Explanation, why
from sliders.audit.export import export
from sliders.audit.gold import GoldCheck, check_gold, gold_frame
from sliders.audit.page import view_file
from sliders.audit.verify import check_audit
from sliders.engine.session import Session
from sliders.engine.table_checks import FailedCheck, failed_checks
from sliders.store.records import ExportFormat, Run

if TYPE_CHECKING:
    import pandas as pd


class WorkspaceAudit:
    """The audit methods of a `Workspace`."""

    session: Session
    path: str | Path

    def check(
        self,
        gold: pd.DataFrame | str | os.PathLike[str],
        table: str = "",
        on: Sequence[str] = (),
    ) -> GoldCheck:
        """Compare a table with rows that a person filled by hand: right values by column, and every
        difference with its words.

        Args:
            gold: a frame, or a CSV or Excel file, with columns named as in the table.
            table: the table's name; the only one with these columns when left out.
            on: the columns that say which rows belong together; `document` and the key when left
                out.

        Raises:
            SettingsError: no table fits, or gold cannot be read.
        """
        if isinstance(gold, str | os.PathLike):
            gold = gold_frame(Path(gold))
        return check_gold(self.session.catalog, gold, table, on)

    def failed_checks(self) -> list[FailedCheck]:
        """The checks of the pinned schema (`checks:`) that do not hold, with the rows that fail."""
        return failed_checks(self.session)

    def why(self, subject: str) -> Explanation:
        """Why a row is here, or why a document, chunk or table gave what it gave."""
        return why(self.session, subject)

    def diff(self, first: int | None = None, second: int | None = None) -> Difference:
        """What changed between two runs (their numbers, see `runs`), each change with its cause.

        Without numbers: the last run, and the one before it that asked the same.

        Raises:
            StoreError: there is no such run, or no two runs to compare.
        """
        return difference(self.session.catalog, first, second)

    def view(
        self,
        run: int | None = None,
        path: str | os.PathLike[str] = "audit.html",
        against: int | None = None,
    ) -> Path:
        """Write the audit page of a run (of the last one that answered): one HTML file that
        works offline; its path.

        `against`: another run; the page shows what changed between the two.

        Raises:
            StoreError: there is no such run, or the path is a file that is no audit page.
        """
        return view_file(self.path, path, run, against)

    def runs(self) -> list[Run]:
        """What was asked and done in this workspace, oldest first."""
        return self.session.catalog.journal.runs()

    def verify(self) -> list[str]:
        """What does not hold in this workspace, in sentences; empty when it is as `sliders` wrote
        it and every value walks back to its words.
        """
        return list(check_audit(self.path).problems)

    def export(
        self,
        path: str | os.PathLike[str],
        format: ExportFormat | None = None,
        sign: str | os.PathLike[str] | None = None,
    ) -> list[Path]:
        """Write the audit database (sqlite), or the data tables as csv or parquet files of a
        folder or an excel book.

        The format follows from the path's suffix when it is left out: .db, .sqlite, .xlsx. An
        audit database is signed with the key in the file `sign`, of 16 bytes or more.

        Raises:
            SettingsError: the format cannot be told or has no signature, or the key is too short.
            StoreError: a file cannot be written, or is there and no earlier export.
        """
        return export(self.session.catalog, Path(path), format, Path(sign) if sign else None)
