"""An audit page as one HTML file that works offline: it contains all that it shows, fetches
nothing, and allows only its own scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import SqlLexer

from sliders.answer.doubts import MOST_SHOWN, Gap, incomplete
from sliders.answer.result_shape import ResultTable, headline, row_name, table_of
from sliders.audit.page.page_content import AuditPage, plain
from sliders.errors import StoreError
from sliders.llm.model import Usage

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("datatables.min.js", "page.js")
GENERATOR = '<meta name="generator" content="sliders audit page">'
_MOST_RESULT_ROWS = 200


def render(page: AuditPage, links: Mapping[str, str] | None = None) -> str:
    """Returns the page as HTML; every text of a document, name or model is escaped.

    Args:
        links: the addresses of whole tables by name, when they are served; "" is the address of the
            list of tables.
    """
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"sql": _sql, "figure": _figure, "result": _result}
    environment.filters |= {"headline": _headline, "row_name": row_name}
    return environment.get_template("page.html").render(
        page=page,
        policy=page_policy(),
        style=Markup(_asset("page.css")),
        scripts=[Markup(_asset(name)) for name in SCRIPTS],
        data=_data(page),
        generator=Markup(GENERATOR),
        most=_MOST_RESULT_ROWS,
        shown_doubts=MOST_SHOWN,
        bars=_bars(page.stages),
        links=links or {},
    )


def page_policy() -> str:
    """The content security policy of a page: its own scripts and style, by their hashes."""
    hashes = " ".join(f"'{hash_of(_asset(name))}'" for name in SCRIPTS)
    style = hash_of(_asset("page.css"))
    return (
        f"default-src 'none'; script-src {hashes}; style-src '{style}'; base-uri 'none'; "
        "form-action 'none'"
    )


def write_page(page: AuditPage, path: Path) -> Path:
    """Writes the page, and returns its path. It overwrites only an earlier audit page.

    Raises:
        StoreError: the file exists and is no audit page, or cannot be written.
    """
    try:
        if (
            path.exists()
            and GENERATOR not in path.read_text(encoding="utf-8", errors="replace")[:2_000]
        ):
            raise StoreError(
                f"{str(path)!r} exists and is no audit page; delete it, or choose another name"
            )
        path.write_bytes(render(page).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise StoreError(
            f"{str(path)!r} cannot be written: {error.strerror}; choose another place"
        ) from error
    return path


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """The hash of a script or style, in the form of a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(page: AuditPage) -> Markup:
    """The data for the page's script, as JSON that cannot end its HTML element."""
    kept = {
        "documents": page.documents,
        "tables": page.tables,
        "citations": tuple(answer.citations for answer in page.answers),
    }
    text = json.dumps(plain(kept), ensure_ascii=False, separators=(",", ":"), default=str)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _sql(text: str) -> Markup:
    return Markup(highlight(text, SqlLexer(stripnl=False), HtmlFormatter(nowrap=True)))


def _result(kept: Mapping[str, Any]) -> ResultTable:
    """The result of an answer as it is printed; answers of earlier versions have no units."""
    return table_of(kept["columns"], kept["rows"], kept.get("units", ()))


def _headline(kept: Mapping[str, Any]) -> str:
    """The answer in words, without the line about what is missing."""
    gaps = [Gap(g["kind"], g["thing"], tuple(g["documents"])) for g in kept.get("missing", ())]
    return headline(kept["text"], kept["rows"]).removesuffix(incomplete(gaps))


def _figure(value: Any) -> Any:
    """A value of a result as it is shown: whole numbers without ".0", "" for null."""
    if isinstance(value, list | tuple):
        return ", ".join(str(_figure(part)) for part in value)
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if whole else "" if value is None else value


def _bars(stages: Sequence[tuple[str, Usage]]) -> list[tuple[str, Usage, float, float]]:
    """Returns each stage with its usage, and the widths of its bars of prompt and generated tokens
    (at most 640).
    """
    most = max((usage.tokens for _, usage in stages), default=0) or 1
    return [
        (
            name,
            u,
            round(640 * u.prompt_tokens / most, 2),
            round(640 * u.completion_tokens / most, 2),
        )
        for name, u in stages
    ]
