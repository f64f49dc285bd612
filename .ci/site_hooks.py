"""Hooks of the documentation's site: links to files outside `docs/` become their names, and no page
fetches anything from elsewhere. (The search works where the site is served.)
"""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./|invoices/)[^)]*\)")
_FETCHED = re.compile(r"<script src=\"?https?:[^>]*></script>")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The text of a page whose links all lead to pages."""
    return _OUTSIDE.sub(r"\1", markdown)


def on_post_page(output: str, **_: Any) -> str:
    """The page without scripts from elsewhere."""
    return _FETCHED.sub("", output)


def on_post_template(output: str, **_: Any) -> str:
    """The same for pages that are made from a template alone."""
    return _FETCHED.sub("", output)
