"""Hooks of the documentation's site: links to files outside `docs/` become their names, the results
are those of `benchmarks/RESULTS.md`, and no page fetches anything from elsewhere. (The search works
where the site is served.)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_OUTSIDE = r"\[([^\]]+)\]\((?:{}|invoices/)[^)]*\)"
"""A link that leaves `docs/`, by what such a link begins with."""
_RESULTS = Path(__file__).parents[1] / "benchmarks" / "RESULTS.md"
_FETCHED = re.compile(r"<script src=\"?https?:[^>]*></script>")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page whose links all lead to pages."""
    if page.file.src_uri == "results.md":
        markdown = _RESULTS.read_text(encoding="utf-8").replace("](../docs/", "](")
    up = r"\.\./" * (1 + page.file.src_uri.count("/"))
    return re.sub(_OUTSIDE.format(up), r"\1", markdown)


def on_post_page(output: str, **_: Any) -> str:
    """The page without scripts from elsewhere."""
    return _FETCHED.sub("", output)


def on_post_template(output: str, **_: Any) -> str:
    """The same for pages that are made from a template alone."""
    return _FETCHED.sub("", output)
