"""The audit page: the answers of a run, and the way from every value to its words, as one HTML
file.
"""

from __future__ import annotations

import os
from pathlib import Path

from sliders.audit.page.page import render, write_page
from sliders.audit.page.run_content import collect
from sliders.store.catalog import Catalog
from sliders.store.database import Database, place_of

__all__ = ["collect", "render", "view_file", "write_page"]


def view_file(
    workspace: str | os.PathLike[str],
    target: str | os.PathLike[str],
    run: int | None = None,
    against: int | None = None,
) -> Path:
    """Writes the audit page of a run, and returns its path.

    Args:
        workspace: the workspace.
        target: the file to write.
        run: the number of the run; None for the last run that answered a question.
        against: the number of another run; the page then shows the changes between the two.

    Raises:
        StoreError: there is no such workspace or run, or the target is no audit page or cannot be
            written.
    """
    with Database(place_of(workspace), write=False) as database:
        return write_page(collect(Catalog(database), run, against), Path(target))
