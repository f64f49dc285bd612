"""The removal of documents from a workspace that is open."""

from __future__ import annotations

import os
from collections.abc import Iterable

from sliders.engine.session import Session
from sliders.sentences import prompt_dir
from sliders.store.removal import Removal, Removed

Names = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def remove_documents(session: Session, documents: Names) -> Removed:
    """Removes documents from the workspace, with all that was read from them; see `Removal.remove`.

    Raises:
        StoreError: there is no such document.
        WorkspaceLocked: another program reads the file.
    """
    listed = [documents] if isinstance(documents, (str, os.PathLike)) else list(documents)
    prompts = (path.read_text("utf-8") for path in sorted(prompt_dir().rglob("*.md")))
    removed = Removal(session.catalog, prompts).remove([os.fspath(one) for one in listed])
    session.indexes.clear()
    return removed
