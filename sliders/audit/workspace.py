"""The methods of a workspace that report about itself: where values come from, changes, and
checks.
"""

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
        """Compares a table with rows that a person filled by hand. Returns the right values by
        column, and every difference with its words.

        Args:
            gold: a frame, or a CSV or Excel file, with columns named as in the table.
            table: the table's name. When left out: the only table with these columns.
            on: the columns by which rows are matched. When left out: `document` and the key.

        Raises:
            SettingsError: no table fits, or gold cannot be read.
        """
        if isinstance(gold, str | os.PathLike):
            gold = gold_frame(Path(gold))
        return check_gold(self.session.catalog, gold, table, on)

    def failed_checks(self) -> list[FailedCheck]:
        """Returns the checks of the pinned schema (`checks:`) that fail, with the rows that fail
        them.
        """
        return failed_checks(self.session)

    def why(self, subject: str) -> Explanation:
        """Returns why a row is in its table, or what a document, chunk or table gave and why.

        Raises:
            StoreError: nothing in the workspace has this name, or several documents have it.
        """
        return why(self.session, subject)

    def diff(self, first: int | None = None, second: int | None = None) -> Difference:
        """Returns the changes between two runs (by number, see `runs`), each with its cause.
        Without numbers: between the last run and the one before it that asked the same.

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
        """Writes the audit page, one HTML file that works offline, and returns its path.

        Args:
            run: the number of the run; the last run that answered a question when left out.
            path: the file to write.
            against: the number of another run; the page then shows the changes between the two.

        Raises:
            StoreError: there is no such run, or the path is a file that is no audit page.
        """
        return view_file(self.path, path, run, against)

    def runs(self) -> list[Run]:
        """Returns the runs of this workspace (questions, queries, changes), oldest first."""
        return self.session.catalog.journal.runs()

    def verify(self) -> list[str]:
        """Returns a sentence for each fault of this workspace. The list is empty when the workspace
        is as `sliders` wrote it and every value leads back to its words.
        """
        return list(check_audit(self.path).problems)

    def export(
        self,
        path: str | os.PathLike[str],
        format: ExportFormat | None = None,
        sign: str | os.PathLike[str] | None = None,
    ) -> list[Path]:
        """Exports the workspace, and returns the paths of the files: an audit database (sqlite),
        CSV or Parquet files in a folder, or an Excel workbook.

        Args:
            path: the file or folder.
            format: the format; when left out, it follows from the suffix: .db, .sqlite, .xlsx.
                "datasette" is an audit database with Datasette's metadata beside it.
            sign: a file with a key of 16 bytes or more, which signs an audit database.

        Raises:
            SettingsError: the format is unclear or has no signature, or the key is too short.
            StoreError: a file cannot be written, or exists and is no earlier export.
        """
        return export(self.session.catalog, Path(path), format, Path(sign) if sign else None)
