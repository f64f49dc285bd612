"""Files that would take the machine with them are files that cannot be read; the others go on."""

from __future__ import annotations

import contextlib
import threading
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import openpyxl
import psutil
import pytest

from sliders.documents import LoadFailure, ReadingLimits, discover, load_each


def _pdf(*objects: bytes) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count, start = len(objects) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, start)


def _pdf_of(packed: bytes) -> bytes:
    return _pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Resources "
        b"<< /Font << /T << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed),
    )


def _pdf_whose_form_names_itself() -> bytes:
    stream = b"/F Do " * 30
    form = b"/Resources << /XObject << /F 5 0 R >> >>"
    return _pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R " + form + b" >>",
        b"<< /Length 5 >>\nstream\n/F Do\nendstream",
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 300 300] %s /Length %d >>\n"
        b"stream\n%s\nendstream" % (form, len(stream), stream),
    )


def _merged_many_times(folder: Path) -> bytes:
    book = openpyxl.Workbook()
    book.active["A1"] = 1
    book.active.merge_cells("A1:B2")
    book.save(folder / "small.zip")
    many = b"".join(b'<mergeCell ref="A%d:XFD%d"/>' % (n, n + 1) for n in range(1, 2000, 2))
    with (
        zipfile.ZipFile(folder / "small.zip") as small,
        zipfile.ZipFile(folder / "wide.zip", "w") as wide,
    ):
        for name in small.namelist():
            wide.writestr(name, small.read(name).replace(b'<mergeCell ref="A1:B2"/>', many))
    return (folder / "wide.zip").read_bytes()


@pytest.mark.slow
def test_a_folder_goes_on_after_files_that_take_too_much(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "a.txt").write_text("The bridge cost 4 euros.", encoding="utf-8")
    (papers / "b.pdf").write_bytes(_pdf_whose_form_names_itself())
    (papers / "c.xlsx").write_bytes(_merged_many_times(tmp_path))
    (papers / "d.txt").write_text("The lock cost 2 euros.", encoding="utf-8")
    first, form, sheet, last = load_each(discover(papers))
    assert isinstance(form, LoadFailure) and "700 MB of memory" in form.message
    assert isinstance(sheet, LoadFailure) and "split the file" in sheet.message
    assert [one.name for one in (first, last) if not isinstance(one, LoadFailure)] == [
        "a.txt",
        "d.txt",
    ]


def test_limits_grow_with_the_file() -> None:
    small, large = ReadingLimits.of(1_000), ReadingLimits.of(100 << 20)
    assert small.seconds < large.seconds
    assert small.memory_bytes < large.memory_bytes
    assert small.document_bytes < large.document_bytes


def test_a_process_that_waits_holds_nothing_of_its_last_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []
    monkeypatch.setattr("sliders.documents.apart.give_back", kept.append)
    (tmp_path / "small.txt").write_text("The bridge cost 4 euros.", encoding="utf-8")
    (tmp_path / "wide.csv").write_text("a,b,1\n" * 300_000, encoding="utf-8")
    assert len(list(load_each(discover(tmp_path / "small.txt")))) == len(kept) == 1
    assert len(list(load_each(discover(tmp_path / "wide.csv")))) == 1
    for child in kept:
        process = child._process.pid
        deadline = time.monotonic() + 20
        while psutil.Process(process).memory_info().rss > 250 << 20:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        child.end()


def _bomb(row: bytes, megabytes: int) -> bytes:
    packer = zlib.compressobj(9)
    chunk = row * ((1 << 20) // len(row))
    return b"".join([*(packer.compress(chunk) for _ in range(megabytes)), packer.flush()])


def test_memory_of_earlier_files_counts_as_that_of_the_next(tmp_path: Path) -> None:
    """A PDF of half a megabyte unpacks to 200; one before it leaves memory in the process."""
    for name, megabytes in (("a.pdf", 12), ("b.pdf", 200)):
        page = _bomb(b"BT /T 9 Tf 1 0 0 1 50 50 Tm (ab cd ef) Tj ET\n", megabytes)
        (tmp_path / name).write_bytes(_pdf_of(page))
    most = 0

    def watch() -> None:
        nonlocal most
        while not over.wait(0.01):
            for process in psutil.Process().children():
                with contextlib.suppress(psutil.Error):
                    if not any("reader_process" in word for word in process.cmdline()):
                        continue  # a child of another test, such as a model's server
                    memory = process.memory_info()
                    most = max(most, memory.rss - memory.shared)

    over = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        first, second = load_each(discover(tmp_path))
    finally:
        over.set()
        watcher.join()
    assert not isinstance(first, LoadFailure) and isinstance(second, LoadFailure)
    limits = ReadingLimits.of((tmp_path / "b.pdf").stat().st_size)
    assert most < limits.memory_bytes + (16 << 20)


def test_a_page_that_is_named_without_end_is_not_read_by_ocr(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    picture = b"\x00" * 300
    pdf = _pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count 300 >>" % (b"3 0 R " * 300),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R "
        b"/Resources << /XObject << /F 5 0 R >> >> >>",
        b"<< /Length 24 >>\nstream\n300 0 0 300 0 0 cm /F Do\nendstream",
        b"<< /Type /XObject /Subtype /Image /Width 10 /Height 10 /BitsPerComponent 8 /ColorSpace "
        b"/DeviceRGB /Length 300 >>\nstream\n%s\nendstream" % picture,
    )
    (tmp_path / "a.pdf").write_bytes(pdf)
    (found,) = load_each(discover(tmp_path))
    assert isinstance(found, LoadFailure) and "300 pages for OCR" in found.message
