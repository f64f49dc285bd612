"""Files, folders and globs; hostile files give one clear line each and the others go on."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest
from document_samples import make_pdf

from sliders.documents import Document, LoadFailure, discover, load, load_each, load_text
from sliders.errors import DocumentError


def _write(folder: Path, **files: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def _load_all(folder: Path) -> tuple[list[Document], list[LoadFailure]]:
    found = list(load_each(discover(folder)))
    return [f for f in found if isinstance(f, Document)], [
        f for f in found if isinstance(f, LoadFailure)
    ]


def test_folders_are_read_recursively_and_sorted(tmp_path: Path) -> None:
    _write(tmp_path, b__txt="two", a__md="# one")
    _write(tmp_path / "sub", c__txt="three", picture__heic=b"\x00")
    _write(tmp_path / ".git", d__txt="hidden")
    assert [source.name for source in discover(tmp_path)] == ["a.md", "b.txt", "sub/c.txt"]


def test_globs_and_files_and_twice_the_same(tmp_path: Path) -> None:
    _write(tmp_path, a__txt="one", b__txt="two", c__log="three")
    found = discover([tmp_path / "*.txt", tmp_path / "a.txt", tmp_path / "c.log"])
    assert [source.name for source in found] == ["a.txt", "b.txt", "c.log"]
    assert [source.name for source in discover(str(tmp_path / "**" / "*.txt"))] == [
        "a.txt",
        "b.txt",
    ]


def test_equal_names_from_two_folders_are_told_apart(tmp_path: Path) -> None:
    first, second = _write(tmp_path / "x", a__txt="one"), _write(tmp_path / "y", a__txt="two")
    assert [source.name for source in discover([first, second])] == ["x/a.txt", "y/a.txt"]


def test_a_symlink_loop_ends(tmp_path: Path) -> None:
    _write(tmp_path / "in", a__txt="one")
    (tmp_path / "in" / "again").symlink_to(tmp_path / "in", target_is_directory=True)
    assert [source.name for source in discover(tmp_path)] == ["in/a.txt"]
    (tmp_path / "self.txt").symlink_to(tmp_path / "self.txt")
    documents, failures = _load_all(tmp_path)
    assert [document.name for document in documents] == ["in/a.txt"]
    assert "cannot be read" in failures[0].message


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ([], "no file or folder was given"),
        (["nowhere"], "no such file"),
        (["empty"], "no documents in"),
        (["*.txt"], "no doc"),
    ],
)
def test_nothing_found_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], words: str
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DocumentError, match=words):
        discover(paths)


def test_an_unreadable_folder_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DocumentError, match="cannot be read"):
        discover(tmp_path)


def test_a_document_knows_where_it_came_from(tmp_path: Path) -> None:
    _write(tmp_path, a__txt="Some words.")
    document = load(tmp_path / "a.txt", name="mine")
    assert (document.name, document.source) == ("mine", str(tmp_path / "a.txt"))
    assert document.modified == (tmp_path / "a.txt").stat().st_mtime


def test_the_id_follows_the_content(tmp_path: Path) -> None:
    _write(tmp_path, a__txt="same words", b__txt="same words", c__txt="other words")
    documents, failures = _load_all(tmp_path)
    assert failures == []
    assert documents[0].id == documents[1].id == load_text("same words", "x").id != documents[2].id
    assert len(documents[0].id) == 16


def test_the_content_decides_not_the_extension(tmp_path: Path) -> None:
    _write(
        tmp_path,
        a__txt=make_pdf([[(72, 72, "A lamp for the north of the country")]]),
        b__txt="<html><body><p>Hi all</p></body></html>",
    )
    documents, failures = _load_all(tmp_path)
    assert failures == []
    assert [document.media_type for document in documents] == ["application/pdf", "text/html"]
    assert documents[0].text == "A lamp for the north of the country"


def _bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"\0" * 64 * 2**20)
    return buffer.getvalue()


def _archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "text")
    return buffer.getvalue()


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty.txt": (b"", "empty"),
    "blank.txt": (b" \n \n", "empty"),
    "binary.txt": (os.urandom(4096) + b"\0" * 50, "binary"),
    "truncated.pdf": (make_pdf([[(72, 72, "text")]])[:300], "damaged or truncated"),
    "no.pdf": (b"I am not a PDF at all.", "damaged or truncated"),
    "encrypted.pdf": (make_pdf([[(72, 72, "secret")]], password="key"), "encrypted"),
    "bomb.docx": (_bomb(), "zip bomb"),
    "cut.docx": (_bomb()[:200], "damaged"),
    "archive.docx": (_archive(), "zip archive"),
    "text.xlsx": (b"not a workbook", "damaged"),
    "old.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old Office format"),
    "locked.docx": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"),
        "encrypted",
    ),
    "wrong.txt": (b"\xff\xfea", "utf-16"),
    "wide.csv": (b'"' + b"x" * (2**20 + 10), "CSV"),
}


def test_hostile_files_fail_alone_with_one_line_each(tmp_path: Path) -> None:
    for name, (content, _) in HOSTILE.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "good.txt").write_text("The only good file.")
    (tmp_path / "pipe.txt").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe.txt")
    documents, failures = _load_all(tmp_path)
    assert [document.name for document in documents] == ["good.txt"]
    said = {Path(failure.path).name: failure.message for failure in failures}
    assert set(said) == {*HOSTILE, "pipe.txt"}
    for name, (_, words) in HOSTILE.items():
        assert words in said[name], name
        assert said[name].startswith(f"{name}: ")
        assert "\n" not in said[name]
    assert "not a regular file" in said["pipe.txt"]


def test_a_file_without_rights_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, a__txt="one", b__txt="two")
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    documents, failures = _load_all(tmp_path)
    assert [document.name for document in documents] == ["b.txt"]
    assert failures == [
        LoadFailure(
            str(tmp_path / "a.txt"),
            "a.txt: cannot be read (Permission denied); check the path and its rights",
            "a.txt",
        )
    ]


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(300 * 2**20)
    with pytest.raises(DocumentError, match="300 MB is more than 256 MB"):
        load(path)


def test_one_line_of_twenty_megabytes_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "line.txt"
    path.write_bytes(b"word " * 4_000_000)
    document = load(path)
    assert len(document.elements) == 1
    assert len(document.text) == 20_000_000 - 1


@pytest.mark.parametrize("text", ["", " \n"])
def test_empty_text_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="empty"):
        load_text(text, "note")
