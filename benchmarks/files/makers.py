"""Writes blocks as a file of each format."""

from __future__ import annotations

import csv
import html
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from email.message import EmailMessage

import docx
import openpyxl
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from pptx import Presentation
from pptx.util import Inches
from reportlab.pdfgen import canvas

from benchmarks.files.features import Block, Run

Blocks = Sequence[Block]


def _words(runs: Sequence[Run]) -> str:
    return "".join(text for text, _ in runs)


def text(blocks: Blocks) -> bytes:
    """Plain text; columns are lined up."""
    parts = []
    for block in blocks:
        if block.kind == "table":
            rows = [[_words(cell) for cell in row] for row in block.rows]
            parts.append("\n".join("".join(f"{cell:<16}" for cell in row) for row in rows))
        else:
            parts.append(_words(block.runs))
    return "\n\n".join(parts).encode()


def separated(blocks: Blocks) -> bytes:
    """CSV with semicolons, paragraphs as lines of one cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=";")
    for block in blocks:
        writer.writerows([_words(cell) for cell in row] for row in block.rows or ((block.runs,),))
    return buffer.getvalue().encode()


def _marked(runs: Sequence[Run]) -> str:
    marks = {"sup": "<sup>{}</sup>", "strike": "<s>{}</s>", "hidden": "<i hidden>{}</i>"}
    return "".join(marks.get(mark, "{}").format(html.escape(words)) for words, mark in runs)


def _body(blocks: Blocks) -> str:
    parts = []
    for block in blocks:
        if block.kind == "table":
            rows = ("".join(f"<td>{_marked(cell)}</td>" for cell in row) for row in block.rows)
            parts.append("<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>")
        else:
            tag = {"h": "h1", "li": "li"}.get(block.kind, "p")
            parts.append(f"<{tag}>{_marked(block.runs)}</{tag}>")
    return "".join(parts)


def page(blocks: Blocks) -> bytes:
    """HTML."""
    return f"<html><body>{_body(blocks)}</body></html>".encode()


def markdown(blocks: Blocks) -> bytes:
    """Markdown; what has no mark of its own is HTML."""
    parts = []
    for block in blocks:
        if block.kind == "table":
            rows = [f"| {' | '.join(_marked(cell) for cell in row)} |" for row in block.rows]
            rows.insert(1, "|" + " --- |" * len(block.rows[0]))
            parts.append("\n".join(rows))
        else:
            sign = {"h": "# ", "li": "- "}.get(block.kind, "")
            parts.append(sign + _marked(block.runs))
    return "\n\n".join(parts).encode()


def mail(blocks: Blocks) -> bytes:
    """A message in HTML."""
    message = EmailMessage()
    message["Subject"], message["From"] = "Report", "a@example.org"
    message.set_content(page(blocks).decode(), subtype="html")
    return message.as_bytes()


def book(blocks: Blocks) -> bytes:
    """An e-book of one chapter."""
    return _zipped(
        {
            "META-INF/container.xml": '<c><rootfile full-path="p.opf"/></c>',
            "p.opf": '<p><item id="a" href="a.html"/><itemref idref="a"/></p>',
            "a.html": page(blocks).decode(),
        }
    )


def _zipped(parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def word(blocks: Blocks) -> bytes:
    """A Word file."""
    file = docx.Document()

    def add(paragraph: docx.text.paragraph.Paragraph, runs: Sequence[Run]) -> None:
        for words, mark in runs:
            font = paragraph.add_run(words).font
            font.superscript = True if mark == "sup" else None
            font.strike = True if mark == "strike" else None
            font.hidden = True if mark == "hidden" else None

    for block in blocks:
        if block.kind == "table":
            table = file.add_table(len(block.rows), len(block.rows[0]))
            for r, row in enumerate(block.rows):
                for c, cell in enumerate(row):
                    add(table.cell(r, c).paragraphs[0], cell)
        else:
            style = {"h": "Heading 1", "li": "List Bullet"}.get(block.kind)
            add(file.add_paragraph(style=style), block.runs)
    buffer = io.BytesIO()
    file.save(buffer)
    return buffer.getvalue()


def slides(blocks: Blocks) -> bytes:
    """A presentation of one slide for each block."""
    deck = Presentation()

    def add(frame: object, runs: Sequence[Run]) -> None:
        for words, mark in runs:
            piece = frame.paragraphs[0].add_run()  # type: ignore[attr-defined]
            piece.text = words
            if mark == "sup":
                piece._r.get_or_add_rPr().set("baseline", "30000")
            if mark == "strike":
                piece._r.get_or_add_rPr().set("strike", "sngStrike")

    for block in blocks:
        shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
        size = (Inches(1), Inches(1), Inches(6), Inches(2))
        if block.kind == "table":
            table = shapes.add_table(len(block.rows), len(block.rows[0]), *size).table
            for r, row in enumerate(block.rows):
                for c, cell in enumerate(row):
                    add(table.cell(r, c).text_frame, cell)
        else:
            add(shapes.add_textbox(*size).text_frame, block.runs)
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def workbook(blocks: Blocks) -> bytes:
    """A workbook of one sheet; a blank row stands before and behind a table."""
    made = openpyxl.Workbook()
    sheet = made.active
    at = 1
    fonts = {"sup": InlineFont(vertAlign="superscript"), "strike": InlineFont(strike=True)}
    for block in blocks:
        for row in block.rows or ((block.runs,),):
            for column, runs in enumerate(row, 1):
                rich = [TextBlock(fonts[m], words) if m in fonts else words for words, m in runs]
                plain = len(rich) == 1 and isinstance(rich[0], str)
                if rich != [""]:
                    sheet.cell(at, column, rich[0] if plain else CellRichText(*rich))
            at += 1
        at += block.kind == "table" or len(blocks) < 5
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def _pieces(blocks: Blocks) -> Iterator[list[tuple[float, Sequence[Run]]]]:
    for block in blocks:
        for row in block.rows or ((block.runs,),):
            yield [(72 + 150 * column, runs) for column, runs in enumerate(row)]
        yield []


def printed(blocks: Blocks) -> bytes:
    """A PDF."""
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer)
    height = 780
    for line in _pieces(blocks):
        height -= 14
        if height < 60:
            drawing.showPage()
            height = 780
        for left, runs in line:
            text_object = drawing.beginText(left, height)
            for words, mark in runs:
                text_object.setFont("Times-Roman", 6 if mark == "sup" else 11)
                text_object.setRise(4 if mark == "sup" else 0)
                text_object.setTextRenderMode(3 if mark == "hidden" else 0)
                begin = text_object.getX()
                text_object.textOut(words)
                if mark == "strike":
                    drawing.line(begin, height + 3.5, text_object.getX(), height + 3.5)
            drawing.drawText(text_object)
    drawing.save()
    return buffer.getvalue()


def opendocument(blocks: Blocks) -> bytes:
    """An OpenDocument text."""
    names = {name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in _SPACES}
    names["fo"] = names["style"].replace("style", "xsl-fo-compatible")
    spaces = " ".join(f'xmlns:{name}="{address}"' for name, address in names.items())
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties {marks}/></style:style>'
        for name, marks in (
            ("sup", 'style:text-position="super 58%"'),
            ("strike", 'style:text-line-through-style="solid"'),
            ("hidden", 'text:display="none"'),
        )
    )

    def runs(pieces: Sequence[Run]) -> str:
        return "".join(
            f'<text:span text:style-name="{mark}">{html.escape(words)}</text:span>'
            for words, mark in pieces
        )

    body = ""
    for block in blocks:
        if block.kind == "table":
            cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
            rows = ("".join(cell.format(runs(each)) for each in row) for row in block.rows)
            lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
            body += f"<table:table>{lines}</table:table>"
        else:
            tag = "h" if block.kind == "h" else "p"
            body += f"<text:{tag}>{runs(block.runs)}</text:{tag}>"
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    return _zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


_SPACES = ("office", "text", "table", "style")
_ALL = frozenset({"sup", "strike", "hidden"})
MAKERS: dict[str, tuple[Callable[[Blocks], bytes], frozenset[str]]] = {
    "txt": (text, frozenset()),
    "csv": (separated, frozenset()),
    "md": (markdown, _ALL),
    "html": (page, _ALL),
    "eml": (mail, _ALL),
    "epub": (book, _ALL),
    "odt": (opendocument, _ALL),
    "docx": (word, _ALL),
    "pptx": (slides, frozenset({"sup", "strike"})),
    "xlsx": (workbook, frozenset({"sup", "strike"})),
    "pdf": (printed, _ALL),
}
"""By extension: what writes a file, and how it can set words."""
NO_SCRIPTS = frozenset({"pdf"})
"""Formats whose maker has no font for other scripts."""
TABLES_ALONE = frozenset({"csv"})
"""Formats of one table."""
