"""`python -m benchmarks.scans --docs DIR --json FILE`: ten pages of the PDFs in a folder, with the
largest tables, and ten receipts drawn here, printed to pictures and read by OCR: the share of
their numbers that is right, and of the cells that stand under the headers and beside the labels
that they have in the PDF.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from sliders.documents import Document, load, read_pdf

_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
_WAYS = {"200 dpi": (200, 0), "150 dpi": (150, 0), "slanting": (200, 2), "turned": (200, 90)}
"""Dots an inch, and degrees."""
_GOODS = "nails rope tar hinges timber varnish oakum canvas lamp paint brush chain".split()
_SAME = 0.95
"""The share of cells from which on a page counts as read like its PDF."""


def chosen_pages(folder: Path, count: int) -> Iterator[tuple[str, bytes]]:
    """PDFs of one page each: of the pages with the largest tables, at most two of a file."""
    sizes = []
    for path in sorted(folder.glob("*.pdf")):
        document = read_pdf(path.read_bytes(), path.name)
        cells: Counter[int] = Counter()
        for element in document.elements:
            if element.grid and element.page:
                cells[element.page] += sum(map(len, element.grid.rows))
        sizes += [(size, path, page) for page, size in cells.most_common(2)]
    for _, path, page in sorted(sizes, key=lambda one: (-one[0], one[1], one[2]))[:count]:
        with pypdfium2.PdfDocument(path) as whole, pypdfium2.PdfDocument.new() as single:
            single.import_pages(whole, [page - 1])
            buffer = io.BytesIO()
            single.save(buffer)
            yield f"{path.stem} page {page}", buffer.getvalue()


def receipts(count: int) -> Iterator[tuple[str, bytes]]:
    """Receipts as PDFs, some with lines around their cells."""
    for number in range(count):
        rng = random.Random(number)
        rows = [("Item", "Pieces", "Each", "Price")]
        for goods in rng.sample(_GOODS, rng.randint(4, 9)):
            pieces, each = rng.randint(1, 20), rng.randint(50, 9_900)
            rows.append((goods, f"{pieces}", f"{each / 100:.2f}", f"{pieces * each / 100:,.2f}"))
        height = 130 + 18 * len(rows)
        buffer = io.BytesIO()
        canvas = Canvas(buffer, pagesize=(280, height))
        canvas.setFont(("Helvetica", "Times-Roman", "Courier")[number % 3], 10)
        canvas.drawString(
            20, height - 30, f"Harbour shop of Lund, receipt {rng.randint(1000, 9999)}"
        )
        canvas.drawString(20, height - 46, f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.2024")
        for r, row in enumerate(rows):
            foot = height - 80 - 18 * r
            for c, text in enumerate(row):
                left = 20 + 62 * c
                if number % 2:
                    canvas.rect(left, foot - 5, 62, 18)
                if c:
                    canvas.drawRightString(left + 57, foot, text)
                else:
                    canvas.drawString(left + 4, foot, text)
        total = sum(float(row[3].replace(",", "")) for row in rows[1:])
        canvas.drawString(24, 24, f"To pay in euros: {total:,.2f}")
        canvas.save()
        yield f"receipt {number}", buffer.getvalue()


def picture(pdf: bytes, dots: int, angle: float) -> Image.Image:
    """The first page of a PDF as a printer and a scanner show it."""
    with pypdfium2.PdfDocument(pdf) as document:
        shown = document[0].render(scale=dots / 72).to_pil().convert("L")
    return shown.rotate(angle, expand=True, fillcolor=255, resample=Image.BICUBIC)


def _numbers(document: Document) -> Counter[str]:
    return Counter(_NUMBER.findall(document.text))


def _cells(document: Document) -> Counter[tuple[str, str, str]]:
    """(header, label, value) of each value of each table, by their letters and digits."""

    def plain(text: str) -> str:
        return "".join(filter(str.isalnum, text.lower()))

    return Counter(
        (plain(header), plain(row[0].text), plain(cell.text))
        for element in document.elements
        if element.grid
        for row in element.grid.rows
        for header, cell in zip(element.grid.header[1:], row[1:], strict=True)
        if any(map(str.isdigit, cell.text))
    )


def measured(kind: str, name: str, pdf: bytes, folder: Path) -> Iterator[dict[str, object]]:
    """What is read of a page in each of the ways to scan it."""
    wanted = read_pdf(pdf, "a.pdf")
    numbers, cells = _numbers(wanted), _cells(wanted)
    for way, (dots, angle) in _WAYS.items():
        path = folder / "a.png"
        picture(pdf, dots, angle).save(path, dpi=(dots, dots))
        began = time.process_time()
        document = load(path)
        seconds = time.process_time() - began
        yield {
            "kind": kind,
            "name": name,
            "way": way,
            "numbers": sum(numbers.values()),
            "numbers_right": sum((numbers & _numbers(document)).values()),
            "numbers_more": sum((_numbers(document) - numbers).values()),
            "cells": sum(cells.values()),
            "cells_right": sum((cells & _cells(document)).values()),
            "seconds": round(seconds, 2),
            "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }


def summary(found: list[dict[str, object]]) -> dict[str, dict[str, float]]:
    """Shares and means by kind of page and way to scan."""
    out: dict[str, dict[str, float]] = {}
    for kind, way in dict.fromkeys((str(one["kind"]), str(one["way"])) for one in found):
        of = [one for one in found if (one["kind"], one["way"]) == (kind, way)]
        total = {key: sum(float(str(one[key])) for one in of) for key in of[0] if key not in _NAMES}
        like = [float(str(o["cells_right"])) >= _SAME * float(str(o["cells"])) for o in of]
        out[f"{kind}, {way}"] = {
            "pages": len(of),
            "numbers_right": round(total["numbers_right"] / max(total["numbers"], 1), 4),
            "cells_right": round(total["cells_right"] / max(total["cells"], 1), 4),
            "pages_like_their_pdf": sum(like),
            "seconds_a_page": round(total["seconds"] / len(of), 2),
        }
    return out


_NAMES = ("kind", "name", "way")


def main() -> None:
    """Print the figures and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--pages", type=int, default=10)
    told = parser.parse_args()
    pages = [("receipt", *one) for one in receipts(told.pages)]
    if told.docs:
        pages += [("page", *one) for one in chosen_pages(told.docs, told.pages)]
    found: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, name, pdf in pages:
            for one in measured(kind, name, pdf, Path(folder)):
                found.append(one)
                print(json.dumps(one), flush=True)
    print(json.dumps(summary(found), indent=1))
    if told.json:
        told.json.write_text(
            json.dumps({"summary": summary(found), "scans": found}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
