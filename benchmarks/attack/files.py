"""Files that would take the machine or the folder with them, and plain ones."""

# ruff: noqa: E501
from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
from reportlab.pdfgen.canvas import Canvas

from benchmarks.attack.tries import Try
from sliders.documents import Document, ReadingLimits, discover, load_each
from sliders.errors import DocumentError

_LAUGHS = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "ha">%s]>' % b"".join(
    b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 11)
)


def _pdf(
    contents: bytes, *more: bytes, page: bytes = b"", pages: bytes = b"/Kids [3 0 R] /Count 1"
) -> bytes:
    """A PDF with one page; `more` are the objects from the fifth on."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages %s >>" % pages,
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /MediaBox [0 0 300 300] "
        b"/Resources << /XObject << /F 5 0 R >> /Font << /T << /Type /Font /Subtype /Type1 /BaseFont "
        b"/Helvetica >> >> >> %s >>" % page,
        _stream(contents),
        *more,
    ]
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return out + head + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1, len(out)
    )  # fmt: skip


def _stream(body: bytes, named: bytes = b"") -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (named, len(body), body)


def _form(body: bytes, inner: int) -> bytes:
    return _stream(
        body,
        b"/Type /XObject /Subtype /Form /BBox [0 0 300 300] /Resources << /XObject << /F %d 0 R >> >>"
        % inner,
    )


def _forms(levels: int) -> bytes:
    return _pdf(
        b"/F Do", *(_form(b"/F Do " * 9, 6 + i) for i in range(levels)), _form(b"0 0 m S", 4)
    )


def _office(make: Callable[[], Any], change: Callable[[str, bytes], bytes]) -> bytes:
    """A file of an office program of which the parts are changed."""
    plain, changed = io.BytesIO(), io.BytesIO()
    make().save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return changed.getvalue()


def _book(cells: dict[str, Any], merged: str = "") -> Any:
    book = openpyxl.Workbook()
    for place, value in cells.items():
        book.active[place] = value
    if merged:
        book.active.merge_cells(merged)
    return book


def _paper(*paragraphs: str) -> Any:
    paper = docx.Document()
    for paragraph in paragraphs:
        paper.add_paragraph(paragraph)
    return paper


def _talk(title: str) -> Any:
    talk = pptx.Presentation()
    talk.slides.add_slide(talk.slide_layouts[5]).shapes.title.text = title
    return talk


def _within(part: str, old: bytes, new: bytes) -> Callable[[str, bytes], bytes]:
    return lambda name, body: body.replace(old, new, 1) if name.endswith(part) else body


def _sheet(xml: bytes) -> bytes:
    return _office(
        lambda: _book({"A1": 1}), _within("sheet1.xml", b"<sheetData>", b"<sheetData>" + xml)
    )


def _word(xml: bytes) -> bytes:
    return _office(lambda: _paper("a"), _within("document.xml", b"<w:body>", b"<w:body>" + xml))


def _head(part: str, make: Callable[[], Any]) -> bytes:
    """Entities that name each other, in front of a part."""

    def change(name: str, body: bytes) -> bytes:
        if not name.endswith(part):
            return body
        return _LAUGHS + body.partition(b"?>")[2].replace(b">a<", b">&a10;<")

    return _office(make, change)


_CELL = b"<w:tbl><w:tr><w:tc>%s<w:p/></w:tc></w:tr></w:tbl>"


def _tables(levels: int) -> bytes:
    before, after = _CELL.split(b"%s")
    return _word(before * levels + after * levels)


def _page(body: str) -> bytes:
    return f"<html><body>{body}</body></html>".encode()


_MEGABYTE = 1 << 20
_LETTER = b"BT /T 9 Tf 1 0 0 1 50 50 Tm (ab cd ef) Tj ET\n"


def _bomb(row: bytes, megabytes: int, named: bytes = b"") -> bytes:
    """A stream that unpacks to so much."""
    packer, chunk = zlib.compressobj(9), row * (_MEGABYTE // len(row))
    packed = b"".join([*(packer.compress(chunk) for _ in range(megabytes)), packer.flush()])
    return _stream(packed, b"/Filter /FlateDecode " + named)


def _shown(row: bytes, megabytes: int, times: int = 1) -> bytes:
    """A PDF whose page shows a bomb so many times."""
    page = _pdf(b"").replace(_stream(b""), _bomb(row, megabytes))
    return page.replace(b"/Contents 4 0 R", b"/Contents [%s]" % (b"4 0 R " * times))


def _dots(side: int) -> bytes:
    """A picture that says that it has so many dots at each side, and has fewer."""
    parts = (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)), (
        b"IDAT", zlib.compress(b"\0" * _MEGABYTE)
    )  # fmt: skip
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


def _mail(part: bytes, times: int) -> bytes:
    head = (
        b"From: a@b.c\nSubject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
    )
    return head + part * times + b"--b--\n"


BOUNDED: dict[str, tuple[Callable[[int], bytes], tuple[int, ...]]] = {
    "itself.pdf": (lambda n: _pdf(b"/F Do", _form(b"/F Do " * n, 5)), (1, 30)),
    "forms.pdf": (_forms, (4, 9, 25)),
    "flate.pdf": (
        lambda n: _pdf(b"/F Do").replace(
            b"/Length 5 >>\nstream\n/F Do",
            b"/Filter /FlateDecode /Length %d >>\nstream\n%s"
            % (len(packed := zlib.compress(b"(a) Tj " * (n << 17))), packed),
        ),
        (1, 80, 400),
    ),
    "shown.pdf": (lambda n: _shown(_LETTER, n), (12, 200)),
    "states.pdf": (lambda n: _shown(b"q ", n), (200,)),
    "contents.pdf": (lambda n: _shown(_LETTER, 8, n), (2, 400)),
    "picture.pdf": (
        lambda n: _pdf(
            b"300 0 0 300 0 0 cm /F Do",
            _bomb(b"\0", 8, b"/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 "
                  b"/ColorSpace /DeviceRGB" % (n, n)),
        ),
        (300, 60_000),
    ),
    "cmap.pdf": (
        lambda n: _pdf(
            b"BT /X 9 Tf (ab) Tj ET",
            _bomb(b"1 beginbfrange <0000> <ffff> <0041> endbfrange\n", n),
        ).replace(b"/BaseFont /Helvetica", b"/BaseFont /Helvetica /ToUnicode 5 0 R").replace(b"/X 9", b"/T 9"),
        (1, 60),
    ),
    "dots.png": (_dots, (400, 60_000)),
    "parts.eml": (lambda n: _mail(b"--b\nContent-Type: text/html\n\n<p>The part</p>\n", n), (100, 10_000)),
    "files.eml": (
        lambda n: _mail(b"--b\nContent-Disposition: attachment; filename=a.csv\n\na,b\n1,2\n", n), (9, 300)
    ),
    "kids.pdf": (lambda n: _pdf(b"", pages=b"/Kids [%s] /Count %d" % (b"3 0 R " * n, n)), (500, 60_000)),
    "loop.pdf": (lambda n: _pdf(b"", pages=b"/Kids [2 0 R] /Count %d" % n), (1, 10**9)),
    "box.pdf": (lambda n: _pdf(b"", page=b"/MediaBox [0 0 %d %d]" % (n, n)), (10**5, 10**12)),
    "words.pdf": (lambda n: _pdf(b"BT /T 9 Tf " + b"1 1 Td (ab) Tj " * n + b"ET"), (9_000, 90_000)),
    "lines.pdf": (lambda n: _pdf(b"1 1 m 99 9 l S " * n), (9_000, 300_000)),
    "depth.pdf": (lambda n: _pdf(b"", page=b"/X " + b"[" * n), (900, 90_000)),
    "corner.xlsx": (
        lambda n: _sheet(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n)), (9_000, 1_048_576)
    ),
    "merged.xlsx": (
        lambda n: _office(
            lambda: _book({"A1": 1}, "A1:B2"), _within("sheet1.xml", b"A1:B2", b"A1:XFD%d" % n)
        ),
        (1_000, 1_048_576),
    ),
    "blank.xlsx": (lambda n: _sheet(b" " * (n << 20)), (30, 400)),
    "rows.xlsx": (lambda n: _sheet(b"<row><c><v>1</v></c></row>" * n), (20_000, 900_000)),
    "laughs.xlsx": (lambda n: _head(("sharedStrings.xml", "sheet1.xml")[n], lambda: _book({"A1": "a"})), (0, 1)),
    "paragraphs.docx": (lambda n: _word(b"<w:p><w:r><w:t>a</w:t></w:r></w:p>" * n), (9_000, 120_000)),
    "tables.docx": (_tables, (20, 200, 5_000)),
    "spans.docx": (
        lambda n: _word(
            b'<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="%d"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>' % n
        ),
        (900, 10**9),
    ),
    "laughs.docx": (lambda n: _head("document.xml", lambda: _paper("a")), (1,)),
    "blank.docx": (lambda n: _word(b" " * (n << 20)), (400,)),
    "laughs.pptx": (lambda n: _head("slide1.xml", lambda: _talk("a")), (1,)),
    "groups.pptx": (
        lambda n: _office(
            lambda: _talk("a"),
            _within(
                "slide1.xml", b"<p:sp>", b"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>" * n + b"</p:grpSp>" * n + b"<p:sp>"
            ),
        ),
        (200, 9_000),
    ),
    "spans.html": (
        lambda n: _page("<table>" + f"<tr><td rowspan={n} colspan={n}>a</td></tr>" * 9 + "</table>"),
        (1_000, 10**9),
    ),
    "nested.html": (lambda n: _page("<div>" * n + "a"), (900, 90_000)),
    "tables.html": (lambda n: _page("<table><tr><td>" * n + "a"), (90, 9_000)),
    "attributes.html": (lambda n: _page(f"<p {' '.join(f'a{i}=1' for i in range(n))}>a</p>"), (9_000, 200_000)),
    "bold.html": (lambda n: _page("<b><i><a>" * n + "<p>a" * n), (300, 20_000)),
    "lists.html": (lambda n: _page("<ul><li>" * n + "a"), (300, 20_000)),
    "ticks.md": (lambda n: b" ".join(b"`" * (i % 300) for i in range(n)), (700, 9_000)),
    "backticks.md": (lambda n: b"`" * n + b" a", (100_000,)),
    "brackets.md": (lambda n: b"[" * n, (9_000, 100_000)),
    "links.md": (lambda n: b"[a](" * n, (9_000, 100_000)),
    "stars.md": (lambda n: b"*a **b _c " * n, (2_000, 60_000)),
    "quotes.md": (lambda n: b">" * n + b" a\n" + b"> " * n, (300, 30_000)),
    "lists.md": (lambda n: b"".join(b" " * (2 * i) + b"- a\n" for i in range(n)), (300, 1_500)),
    "pipes.md": (lambda n: b"|a" * n + b"|\n" + b"|-" * n + b"|\n" + b"|b" * n, (900, 60_000)),
    "lines.csv": (lambda n: b"a,b,1\n" * n, (500_000,)),
    "columns.csv": (lambda n: b"a," * n + b"\n" + b"1," * n, (20_000, 200_000)),
    "quote.csv": (lambda n: b'a,b\n"' + b"x,y\n" * n, (100_000,)),
    "line.txt": (lambda n: b"word " * n, (2_000_000,)),
    "marks.txt": (lambda n: "e\u0301\u200d\u202e".encode() * n, (300_000,)),
    "zeros.txt": (lambda n: b"\0" * n, (5_000_000,)),
    "halves.txt": (lambda n: b"\xed\xa0\x80\xff\xfe" * n, (1, 90_000)),
    "cut.xlsx": (lambda n: _sheet(b"")[:n], (50, 2_000)),
    "cut.pdf": (lambda n: _pdf(b"")[:n], (5, 200)),
    "other.docx": (lambda n: b"%PDF-1.4" * n, (1, 900)),
}  # fmt: skip
"""Files by name, how they are made, and the sizes."""


def _drawn(words: str) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.drawString(72, 700, words)
    canvas.save()
    return file.getvalue()


def _same(name: str, body: bytes) -> bytes:
    return body


CONTROLS: dict[str, Callable[[str], bytes]] = {
    "plain.txt": str.encode,
    "plain.md": lambda words: f"# Bridges\n\n{words}\n".encode(),
    "plain.csv": lambda words: f"what,cost\n{words},4\n".encode(),
    "plain.html": lambda words: _page(f"<h1>Bridges</h1><p>{words}</p>"),
    "plain.xlsx": lambda words: _office(lambda: _book({"A1": "what", "A2": words}), _same),
    "plain.docx": lambda words: _office(lambda: _paper(words), _same),
    "plain.pptx": lambda words: _office(lambda: _talk(words), _same),
    "plain.pdf": _drawn,
}


def tries() -> Iterator[Try]:
    """All of them; every second attack is followed by a file that must be read."""
    controls = [
        Try(name, make(f"The bridge {number} cost 4 euros"), f"The bridge {number} cost 4 euros")
        for number in range(1, 8)
        for name, make in CONTROLS.items()
    ]
    attacks = (Try(name, size) for name, (_, sizes) in BOUNDED.items() for size in sizes)
    for place, one in enumerate(attacks):
        yield one
        if place % 2 and controls:
            yield controls.pop()


def written(tries: Iterable[Try], folder: Path) -> Iterator[Try]:
    """Tries of which each file is written before it is measured."""
    for one in tries:
        content = one.given if one.control else BOUNDED[one.kind][0](one.given)
        (folder / one.kind).write_bytes(content)
        yield one


def read_in(folder: Path) -> Callable[[Try], Any]:
    """What a file gives: the words that were wanted, where they stand in it."""

    def act(one: Try) -> Any:
        found, *_ = load_each(discover(folder / one.kind))
        if not isinstance(found, Document):
            raise DocumentError(found.message)
        return one.wanted if one.wanted in found.text else found.text[:100]

    return act


def most_in(folder: Path) -> Callable[[Try], tuple[float, float]]:
    """The MB and seconds that reading a file may take: those that are told, with those of an empty
    process and of the result that is handed over, and the clock's.
    """

    def most(one: Try) -> tuple[float, float]:
        limits = ReadingLimits.of((folder / one.kind).stat().st_size)
        return (limits.memory_bytes + limits.document_bytes) / 1e6 + 50, 4 * limits.seconds

    return most
