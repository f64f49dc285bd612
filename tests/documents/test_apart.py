"""Files that would take the machine with them are files that cannot be read; the others go on."""

from __future__ import annotations

import zipfile
from pathlib import Path

import openpyxl
import pytest

from sliders.documents import LoadFailure, ReadingLimits, discover, load_each


def _pdf_whose_form_names_itself() -> bytes:
    stream = b"/F Do " * 30
    form = b"/Resources << /XObject << /F 5 0 R >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R " + form + b" >>",
        b"<< /Length 5 >>\nstream\n/F Do\nendstream",
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 300 300] %s /Length %d >>\n"
        b"stream\n%s\nendstream" % (form, len(stream), stream),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count, start = len(objects) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, start)


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
    assert isinstance(form, LoadFailure) and "800 MB of memory" in form.message
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


def test_a_process_that_kept_much_memory_reads_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[object] = []
    monkeypatch.setattr("sliders.documents.apart.give_back", kept.append)
    (tmp_path / "small.txt").write_text("The bridge cost 4 euros.", encoding="utf-8")
    (tmp_path / "wide.csv").write_text("a,b,1\n" * 300_000, encoding="utf-8")
    assert len(list(load_each(discover(tmp_path / "small.txt")))) == len(kept) == 1
    assert len(list(load_each(discover(tmp_path / "wide.csv")))) == 1
    assert len(kept) == 1
