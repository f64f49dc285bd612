"""Formats that `unstructured` takes apart (md, html, docx, pptx, eml), with plain readers where it is not installed."""

from __future__ import annotations

import email
import email.policy
import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

from sliders.documents import sniff
from sliders.documents.build import DocumentBuilder
from sliders.documents.decode import decode
from sliders.documents.document import Document, ElementKind
from sliders.documents.markup import html_table, read_html_plainly, without_spans
from sliders.documents.offline import available, partitioner
from sliders.documents.text import parse_text
from sliders.documents.values import is_note
from sliders.errors import DocumentError

_MAX_HEADING = 200
_ORDERED = re.compile(r"^([ \t]*)(\d{1,4})[.)](?=[ \t]+\S)", re.MULTILINE)
_SPAN = re.compile(r"\b(?:col|row)span\s*=", re.IGNORECASE)
_KINDS: dict[str, ElementKind] = {
    "ListItem": "list_item",
    "FigureCaption": "caption",
    "CodeSnippet": "code",
}
_FURNITURE = frozenset({"Header", "Footer", "PageNumber", "PageBreak", "Image"})
_MAIL_FIELDS = ("Subject", "From", "To", "Cc", "Date")


def read_markdown(raw: bytes, name: str) -> Document:
    """A document out of Markdown; numbers of ordered lists are kept."""
    text, warnings = decode(raw, name)
    if not available():
        return replace(parse_text(text, name, raw, warnings), media_type=sniff.MARKDOWN)
    partition = partitioner("md", "partition_md", name)
    elements = partition(text=_ORDERED.sub(r"\1- \2\\.", text))
    return _document(elements, raw, name, sniff.MARKDOWN, warnings)


def read_html(raw: bytes, name: str) -> Document:
    """A document out of HTML; cells that span columns or rows are expanded."""
    text, warnings = decode(raw, name)
    if not available():
        return read_html_plainly(raw, name)
    partition = partitioner("html", "partition_html", name)
    elements = partition(text=_expand_spans(text) if _SPAN.search(text) else text)
    title = re.search(r"<title[^>]*>([^<]{3,200})</title>", text[:20_000], re.IGNORECASE)
    return _document(elements, raw, name, sniff.HTML, warnings, title=title[1] if title else "")


def read_docx(raw: bytes, name: str) -> Document:
    """A document out of a Word file."""
    return _office(raw, name, "docx", sniff.DOCX)


def read_pptx(raw: bytes, name: str) -> Document:
    """A document out of a presentation; a slide is a page."""
    return _office(raw, name, "pptx", sniff.PPTX)


def read_email(raw: bytes, name: str) -> Document:
    """A document out of a message: its header fields, then its body; attachments are named in a warning."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    builder = DocumentBuilder()
    fields = [f"{key}: {message[key]}" for key in _MAIL_FIELDS if message[key]]
    builder.add("paragraph", "\n".join(fields))
    body = message.get_body(preferencelist=("plain", "html"))
    if body is None and not fields:
        raise DocumentError(f"{name}: no e-mail message; save it as .eml from the mail program")
    if body is not None:
        part = _body(body, name)
        if part is not None:
            _append(builder, part)
    names = [part.get_filename() or "unnamed" for part in message.iter_attachments()]
    if names:
        builder.warnings.append(f"attachments were not read: {', '.join(names[:5])}; save them as files and add them")
    return builder.build(name, raw, title=str(message["Subject"] or ""), media_type=sniff.EMAIL)


def _body(body: Any, name: str) -> Document | None:
    try:
        text = body.get_content()
    except (LookupError, UnicodeDecodeError) as error:
        raise DocumentError(f"{name}: the message's text cannot be decoded; save it as UTF-8") from error
    if not text.strip():
        return None
    raw = text.encode("utf-8", "surrogateescape")
    return read_html(raw, name) if body.get_content_subtype() == "html" else parse_text(text, name, raw)


def _append(builder: DocumentBuilder, part: Document) -> None:
    """Add the elements of another document; its tables are taken over as they were rendered."""
    for element in part.elements:
        text = part.text[element.start : element.end]
        if element.grid is None:
            builder.add(element.kind, text, level=element.level)
        else:
            builder.add_rendered(element, text)


def _office(raw: bytes, name: str, module: str, media_type: str) -> Document:
    partition = partitioner(module, f"partition_{module}", name)
    try:
        elements = partition(file=io.BytesIO(raw))
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError) as error:
        raise DocumentError(f"{name}: the file is damaged ({type(error).__name__}); save it again") from error
    return _document(elements, raw, name, media_type, ())


def _document(
    elements: Iterable[Any], raw: bytes, name: str, media_type: str, warnings: Iterable[str], title: str = ""
) -> Document:
    builder = DocumentBuilder()
    builder.warnings.extend(warnings)
    page = None
    paged = media_type in (sniff.PPTX, sniff.DOCX)
    caption = note = ""
    for element in elements:
        number = getattr(element.metadata, "page_number", None) if paged else None
        if number is not None and (page is None or number > page):
            page = number
            builder.start_page(number)
        html = element.metadata.text_as_html
        if element.category == "Table" and html:
            builder.add_table(html_table(html), caption=caption, note=note)
            caption = note = ""
            continue
        kind, level = _kind(element, media_type)
        if kind is None:
            continue
        builder.add(kind, element.text, level=level, gap="\n" if kind == "list_item" else "\n\n")
        text = " ".join(element.text.split())
        note = text if is_note(text) else ""
        if (
            kind == "heading"
            or element.category == "FigureCaption"
            or (len(text) <= 120 and text.lower().startswith(("table", "tab.")))
        ):
            caption = text
        elif not note:
            caption = ""
    document = builder.build(name, raw, title=title, media_type=media_type)
    if not document.text:
        raise DocumentError(f"{name}: the file holds no text; add one with text")
    return document


def _kind(element: Any, media_type: str) -> tuple[ElementKind | None, int]:
    if element.category in _FURNITURE:
        return None, 0
    depth = getattr(element.metadata, "category_depth", None)
    if element.category == "Title" and depth is not None and len(element.text) <= _MAX_HEADING:
        if media_type == sniff.PPTX and depth > 0:
            return "list_item", 0  # short bullets of a slide
        return "heading", min(int(depth), 5) + 1
    if is_note(element.text):
        return "caption", 0
    return _KINDS.get(element.category, "paragraph"), 0


def _expand_spans(html: str) -> str:
    """The HTML with its tables written without spans."""
    from lxml import html as lxml_html  # type: ignore[import-untyped]
    from lxml.etree import ParserError  # type: ignore[import-untyped]

    try:
        root = lxml_html.document_fromstring(html)
    except (ParserError, ValueError):
        return html
    for table in list(root.iter("table")):
        parent = table.getparent()
        if parent is not None and not any(True for _ in table.iterancestors("table")):
            plain = lxml_html.fragment_fromstring(without_spans(lxml_html.tostring(table, encoding="unicode")))
            plain.tail = table.tail
            parent.replace(table, plain)
    return str(lxml_html.tostring(root, encoding="unicode"))
