"""Formats that are read with `unstructured`: md, html, docx, pptx."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable
from typing import Any

from sliders.documents import sniff
from sliders.documents.builder import DocumentBuilder
from sliders.documents.decode import declared_encoding, decode
from sliders.documents.document import Document, ElementKind
from sliders.documents.html_file import rewritten_html
from sliders.documents.html_tables import html_table, lift_tables
from sliders.documents.slides_file import rewritten_slides
from sliders.documents.tables import pipe_cells
from sliders.documents.text import pipe_ranges
from sliders.documents.unstructured_offline import partitioner
from sliders.documents.word_file import rewritten_word
from sliders.errors import DocumentError
from sliders.values.notes import is_note

_MAX_HEADING, _MAX_CAPTION = 200, 120
_ORDERED = re.compile(r"^([ \t]*)(\d{1,4})[.)](?=[ \t]+\S)", re.MULTILINE)
_STRUCK = re.compile(r"(<(pre|code)\b.*?</\2>)|~~(?=\S)([^\n]+?)(?<=\S)~~", re.DOTALL)
_NOTE_TEXT = re.compile(r"^( {0,3})\[\^([^\]\n]+)\]:", re.MULTILINE)
_KINDS: dict[str, ElementKind] = {
    "ListItem": "list_item",
    "FigureCaption": "caption",
    "CodeSnippet": "code",
}
_FURNITURE = frozenset({"Header", "Footer", "PageNumber", "PageBreak", "Image"})


def read_markdown(raw: bytes, name: str) -> Document:
    """A document out of Markdown; numbers of ordered lists are kept."""
    text, warnings = decode(raw, name)
    text = _ORDERED.sub(r"\1- \2\\.", _tables_apart(text))
    text = _NOTE_TEXT.sub(r"\1\\[^\2\\]:", text)  # no address that a link would name
    html = partitioner("md", "markdown", name).markdown(text, extensions=["tables", "fenced_code"])
    html = _STRUCK.sub(lambda found: found[1] or f"<del>{found[3]}</del>", html)
    told = list(warnings)
    return _document(_html_elements(html, name, told), raw, name, sniff.MARKDOWN, told)


def _tables_apart(text: str) -> str:
    """Markdown with blank lines around its tables and a cell for every column. Otherwise the words
    beside a table would swallow it, or it would lose cells.
    """
    lines = text.split("\n")
    for first, last in pipe_ranges(lines):
        if sum(line.lstrip().startswith(("```", "~~~")) for line in lines[:first]) % 2:
            continue
        lines[first : first + 2] = (
            line.rstrip().removesuffix("|") + "|" for line in lines[first : first + 2]
        )
        for _ in range(
            max(len(pipe_cells(line)) for line in lines[first : last + 1])
            - len(pipe_cells(lines[first]))
        ):
            lines[first], lines[first + 1] = f"{lines[first]} |", f"{lines[first + 1]} --- |"
        lines[first], lines[last] = "\n" + lines[first], lines[last] + "\n"
    return "\n".join(lines)


def read_html(raw: bytes, name: str) -> Document:
    """A document out of HTML; cells that span columns or rows are expanded."""
    text, warnings = decode(raw, name, declared_encoding(raw))
    title = re.search(r"<title[^>]*>([^<]{3,200})</title>", text[:20_000], re.IGNORECASE)
    told = list(warnings)
    elements = _html_elements(text, name, told)
    return _document(elements, raw, name, sniff.HTML, told, title=title[1] if title else "")


def _html_elements(text: str, name: str, warnings: list[str]) -> Iterable[Any]:
    """The elements that `unstructured` finds in HTML. It ignores the spans of tables, so tables are
    read apart. Lines about text that was left out are added to `warnings`.
    """
    partition = partitioner("html", "partition_html", name)
    root, told = rewritten_html(text)
    warnings.extend(told)
    text, tables = lift_tables(root)
    for element in partition(text=text):
        if element.category == "Table":
            element.metadata.text_as_html = tables[int(element.text)]
        yield element


def read_docx(raw: bytes, name: str) -> Document:
    """A document out of a Word file; its tracked changes are accepted."""
    return _office(raw, name, "docx", sniff.DOCX, rewritten_word)


def read_pptx(raw: bytes, name: str) -> Document:
    """A document out of a presentation; a slide is a page, its notes stand below it."""
    return _office(raw, name, "pptx", sniff.PPTX, rewritten_slides)


def add_html(builder: DocumentBuilder, text: str, name: str) -> None:
    """Adds the headings, paragraphs and tables of a piece of HTML to a document."""
    _add_elements(builder, _html_elements(text, name, builder.warnings), sniff.HTML)


def _office(
    raw: bytes,
    name: str,
    module: str,
    media_type: str,
    rewritten: Callable[[bytes], tuple[bytes, list[str], list[str]]],
) -> Document:
    partition = partitioner(module, f"partition_{module}", name)
    try:
        file, warnings, tables = rewritten(raw)
        elements = partition(file=io.BytesIO(file))
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError) as error:
        raise DocumentError(
            f"{name}: the file is damaged ({type(error).__name__}); save it again"
        ) from error
    for table in (element for element in elements if tables and element.category == "Table"):
        table.metadata.text_as_html = tables[int(table.text)]
    return _document(elements, raw, name, media_type, warnings)


def _document(
    elements: Iterable[Any],
    raw: bytes,
    name: str,
    media_type: str,
    warnings: Iterable[str],
    title: str = "",
) -> Document:
    builder = DocumentBuilder()
    _add_elements(builder, elements, media_type)
    builder.warnings.extend(warnings)  # some are known when all was read
    document = builder.build(name, raw, title=title, media_type=media_type)
    if not document.text:
        raise DocumentError(f"{name}: the file holds no text; add one with text")
    return document


def _add_elements(builder: DocumentBuilder, elements: Iterable[Any], media_type: str) -> None:
    """Adds the elements that `unstructured` found; a table gets the heading, caption and unit note
    directly above it.
    """
    page = 0
    caption = note = ""
    for element in elements:
        number = element.metadata.page_number if media_type in (sniff.PPTX, sniff.DOCX) else None
        if number is not None and number > page:
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
            or (kind == "paragraph" and not note and len(text) <= _MAX_CAPTION)
        ):
            caption = text
        elif not note:
            caption = ""


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
