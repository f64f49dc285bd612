"""OpenDocument files and e-books: zip files whose parts are XML, written out as HTML."""

from __future__ import annotations

import html
import io
import posixpath
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from sliders.documents import sniff
from sliders.documents.builder import DocumentBuilder
from sliders.documents.decode import declared_encoding, decode
from sliders.documents.document import Document
from sliders.documents.mail import Attachment, attachments
from sliders.documents.partition import add_html
from sliders.documents.rewritten import LeftOut, xml_of
from sliders.errors import DocumentError

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_MOST_REPEATED = 1_000
_TAGS = {
    _TEXT + "p": "p",
    _TEXT + "list": "ul",
    _TEXT + "list-item": "li",
    _TEXT + "section": "div",
    _TABLE + "table": "table",
    _TABLE + "table-row": "tr",
    _DRAW + "page": "div",
    _DRAW + "frame": "div",
    _DRAW + "text-box": "div",
}
OFFICE = (".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm")
_MEDIA = ("word/media/", "ppt/media/", "xl/media/")
_GONE = (_TEXT + "tracked-changes", _OFFICE + "forms", _TEXT + "sequence-decls")


@lru_cache(maxsize=1)
def carried(raw: bytes) -> tuple[Attachment, ...]:
    """Returns the files inside a file, by order: the attachments of a message, the pictures of an
    office file. They are asked for one after the other.

    Raises:
        DocumentError: the office file is damaged, or unpacks to too much.
    """
    if not raw.startswith(b"PK\x03\x04"):
        return attachments(raw)
    sniff.sniff(raw, "the file")
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        media = (name for name in parts.namelist() if name.startswith(_MEDIA))
        return tuple(
            Attachment(posixpath.basename(name), parts.read(name))
            for name in media
            if sniff.SUFFIXES.get(posixpath.splitext(name)[1].lower()) == sniff.PICTURE
        )


def read_opendocument(raw: bytes, name: str) -> Document:
    """A document out of an OpenDocument text, sheet or presentation; changes are accepted.

    Raises:
        DocumentError: the file is damaged or encrypted, or holds no text.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as parts:
            root = xml_of(parts.read("content.xml"))
    except (zipfile.BadZipFile, KeyError, ValueError, SyntaxError, RuntimeError) as error:
        raise DocumentError(
            f"{name}: the file is damaged or encrypted ({type(error).__name__}); save it again"
        ) from error
    tags = {style.get(_STYLE + "name", ""): _tag_of(style) for style in root.iter(_STYLE + "style")}
    for span in root.iter(_TEXT + "span"):
        span.set("tag", tags.get(span.get(_TEXT + "style-name"), ""))
    left = LeftOut()
    body = root.find(f".//{_OFFICE}body")
    page = "".join(_written(body, left)) if body is not None else ""
    return _built([page], raw, name, sniff.OPENDOCUMENT, left.warnings())


def _tag_of(style: Any) -> str:
    """The tag of HTML for words of a style: hidden, struck out or raised."""
    told = style.find(_STYLE + "text-properties")
    if told is None:
        return ""
    if told.get(_TEXT + "display") == "none":
        return "hidden"
    if told.get(_STYLE + "text-line-through-style", "none") != "none":
        return "s"
    place = told.get(_STYLE + "text-position", "")
    return "sup" if place.startswith("super") or place[:1] in {*"123456789"} else ""


def _written(element: Any, left: LeftOut) -> Iterator[str]:
    """An element as HTML."""
    kind = element.tag
    if kind in _GONE:
        return
    if kind == _TEXT + "note":
        yield f" [{html.escape(' '.join(''.join(_inner(element, left)).split()))}]"
        return
    if kind == _TEXT + "hidden-text" or element.get("tag") == "hidden":
        left.add("hidden text", "".join(element.itertext()))
        return
    if kind == _TABLE + "table" and element.get(_TABLE + "name"):
        yield f"<p>{html.escape(element.get(_TABLE + 'name'))}</p>"
    if kind in (_TEXT + "s", _TEXT + "tab", _TEXT + "line-break"):
        yield "<br>" if kind == _TEXT + "line-break" else " "
        return
    tag = _TAGS.get(kind, "") or element.get("tag", "")
    if kind == _TEXT + "h":
        tag = f"h{min(int(element.get(_TEXT + 'outline-level') or 1), 6)}"
    inner = "".join(_inner(element, left))
    if kind == _TABLE + "table-cell":
        spans = "".join(
            f' {name}="{element.get(_TABLE + told)}"'
            for name, told in (
                ("colspan", "number-columns-spanned"),
                ("rowspan", "number-rows-spanned"),
            )
            if element.get(_TABLE + told)
        )
        yield f"<td{spans}>{inner}</td>" * _times(element, "number-columns-repeated", inner)
    elif kind == _TABLE + "table-row":
        filled = any(text.strip() for text in element.itertext())
        yield f"<tr>{inner}</tr>" * _times(element, "number-rows-repeated", filled)
    else:
        yield f"<{tag}>{inner}</{tag}>" if tag else inner


def _times(element: Any, name: str, filled: object) -> int:
    """The number of times that a cell or row is repeated; an empty cell or row is written a bounded
    number of times.
    """
    told = int(element.get(_TABLE + name) or 1)
    return min(told, _MOST_REPEATED if filled else 20)


def _inner(element: Any, left: LeftOut) -> Iterator[str]:
    yield html.escape(element.text or "")
    for child in element:
        if isinstance(child.tag, str):
            yield from _written(child, left)
        yield html.escape(child.tail or "")


def read_epub(raw: bytes, name: str) -> Document:
    """A document out of an e-book: its chapters in reading order.

    Raises:
        DocumentError: the file is damaged or protected, or holds no text.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as parts:
            if "META-INF/rights.xml" in parts.namelist():
                raise DocumentError(f"{name}: the e-book is protected; add one that is not")
            pages = [
                decode(content, name, declared_encoding(content))[0]
                for content in map(parts.read, _chapters(parts))
                if content.strip()
            ]
    except (zipfile.BadZipFile, KeyError, ValueError, SyntaxError, RuntimeError) as error:
        raise DocumentError(
            f"{name}: the file is damaged ({type(error).__name__}); fetch or export it again"
        ) from error
    return _built(pages, raw, name, sniff.EPUB, [])


def _chapters(parts: zipfile.ZipFile) -> list[str]:
    container = xml_of(parts.read("META-INF/container.xml"))
    index = container.find(".//{*}rootfile").get("full-path")
    package = xml_of(parts.read(index))
    places = {item.get("id"): item.get("href") for item in package.iter("{*}item")}
    folder = posixpath.dirname(index)
    order = [places[item.get("idref")] for item in package.iter("{*}itemref")]
    return [posixpath.normpath(posixpath.join(folder, unquote(href))) for href in order]


def _built(pages: list[str], raw: bytes, name: str, kind: str, warnings: list[str]) -> Document:
    builder = DocumentBuilder()
    builder.warnings.extend(warnings)
    for page in pages:
        if page.strip():
            add_html(builder, page, name)
    if not builder.filled:
        raise DocumentError(f"{name}: the file holds no text; add one with text")
    return builder.build(name, raw, media_type=kind)
