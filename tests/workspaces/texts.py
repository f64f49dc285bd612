"""The texts that the kept workspaces give, stored beside them.

`python -m tests.workspaces.texts` writes them anew from what the package says now: only where a
difference is meant, and then it is a line of the changelog.
"""

from __future__ import annotations

import difflib
import lzma
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from sliders.llm.testing import requests_allowed
from tests.workspaces import kept, told

KINDS: Mapping[str, Callable[[str, Path], str]] = {
    "looked": told.looked,
    "pages": told.pages,
    "asked": lambda place, _: told.asked(place),
}
"""In this order, since questions change a workspace."""
_SHOWN = 60


def stored(name: str, kind: str) -> Path:
    """Where the text of a workspace is; what pages show is long, and compressed."""
    return kept.HERE / f"{name}.{kind}.txt{'.xz' if kind == 'pages' else ''}"


def difference(name: str, kind: str, text: str) -> str:
    """The first lines in which a text is not the stored one, empty where it is."""
    path = stored(name, kind)
    before = (
        lzma.decompress(path.read_bytes()).decode()
        if path.suffix == ".xz"
        else path.read_text("utf-8")
    )
    if before == text:
        return ""
    lines = difflib.unified_diff(
        before.splitlines(), text.splitlines(), path.name, "now", lineterm=""
    )
    return "\n".join([line[:400] for line in lines][:_SHOWN])


def write() -> None:
    """Write all texts."""
    for name in kept.NAMES:
        with tempfile.TemporaryDirectory() as folder:
            place = kept.migrated(name, Path(folder))
            for kind, text in ((kind, tell(place, Path(folder))) for kind, tell in KINDS.items()):
                path = stored(name, kind)
                path.write_bytes(
                    lzma.compress(text.encode(), preset=9)
                    if path.suffix == ".xz"
                    else text.encode()
                )


if __name__ == "__main__":
    for variable in [
        v
        for v in os.environ
        if v.startswith(("SLIDERS_", "OPENAI_")) and v != "SLIDERS_TEST_POSTGRES"
    ]:
        del os.environ[variable]
    with requests_allowed(False):
        write()
