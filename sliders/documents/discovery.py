"""Which files are meant by files, folders and globs."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from sliders.documents.ocr_words import installed
from sliders.documents.packed import OFFICE, carried
from sliders.documents.remote import addresses, is_address, local_path, shown
from sliders.documents.sniff import PICTURE, SUFFIXES
from sliders.errors import DocumentError

_LONGEST_SHOWN = 200
MAX_BYTES = 256 * 2**20
"""The largest file that is read, in bytes, unless the caller sets another limit."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, and its name in the workspace: relative to the folder or glob that was
    given, or its `address`.

    `passed_over`: it lies in a folder, and its extension is none that is read, or it is a folder
    that cannot be read (`why` says so). `attachment`: the number of a file that the message at
    `path` carries, or of a picture in the office file; its name begins with that of `path`. `root`:
    the folder that was given. `ocr`: whether OCR may read its pages.
    """

    path: Path
    name: str
    address: str = ""
    passed_over: bool = False
    attachment: int | None = None
    why: str = ""
    root: Path | None = None
    ocr: bool = True


Source = str | os.PathLike[str] | SourceFile
"""A file, folder, glob or address; or what an earlier `discover` found."""


def discover(paths: Source | Iterable[Source], *, every: bool = False) -> list[SourceFile]:
    """The files of `paths`, sorted by name; folders are read recursively, without hidden
    files and symlink loops.

    In a folder only files with a known extension count; a file that is named is taken whatever its
    name. A file that is reached twice is listed once.

    Args:
        every: also the files of folders that are passed over.

    Raises:
        DocumentError: a path does not exist, a folder cannot be read, an address does not answer,
            or nothing is found.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike, SourceFile)) else list(paths)
    if not given:
        raise DocumentError("no documents: no file or folder was given; name at least one")
    found: dict[str, SourceFile] = {}
    for path in given:
        for source in _sources(path):
            if source.passed_over and not every:
                continue
            found.setdefault(
                source.address or f"{os.path.realpath(source.path)}/{source.attachment}",
                replace(source, name=printable(source.name)),
            )
    if all(source.passed_over for source in found.values()):
        listed = ", ".join(shown(str(path)) for path in given[:5])
        raise DocumentError(f"no documents in {listed}; readable are {', '.join(sorted(SUFFIXES))}")
    named = [each for source in _distinct(list(found.values())) for each in _with_attached(source)]
    return sorted(dict.fromkeys(named), key=lambda source: source.name)


def with_ocr(sources: Iterable[SourceFile], ocr: str) -> Iterator[SourceFile]:
    """Yields files as the setting of OCR wants them. "auto" leaves them as they are. "off" forbids
    OCR on each, and passes over pictures that lie in folders. "all" adds the pictures in an office
    file behind it.
    """
    for source in sources:
        picture = SUFFIXES.get(source.path.suffix.lower()) == PICTURE and source.attachment is None
        if ocr == "off":
            over = source.passed_over or (picture and source.root is not None)
            yield replace(source, ocr=False, passed_over=over)
        else:
            yield from _with_attached(source, OFFICE) if ocr == "all" else (source,)


def _with_attached(source: SourceFile, suffixes: Sequence[str] = (".eml",)) -> Iterator[SourceFile]:
    """A file, and behind a message the files that it carries, or behind an office file its
    pictures.
    """
    yield source
    known = source.address or source.passed_over or source.attachment is not None
    if known or source.path.suffix.lower() not in suffixes or not source.path.is_file():
        return
    try:
        if source.path.stat().st_size > MAX_BYTES:
            return  # reported when the file itself is read
        files = carried(source.path.read_bytes())
    except (DocumentError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return  # a damaged file: reported when the file itself is read
    names = Counter(file.name for file in files)
    for number, file in enumerate(files):
        if file.readable:
            name = file.name if names[file.name] == 1 else f"{number + 1} {file.name}"
            yield replace(source, name=printable(f"{source.name}/{name}"), attachment=number)


def _sources(path: Source) -> Iterator[SourceFile]:
    if isinstance(path, SourceFile):
        yield path
    elif not str(
        path
    ).strip():  # an unset variable of a shell would mean the whole folder that it stands in
        raise DocumentError("the name of a file or folder is empty; name one, or . for this folder")
    elif is_address(path) and (near := local_path(str(path))) is not None:
        yield from _expand(Path(near))
    elif is_address(path):
        yield from (SourceFile(Path(), shown(found), found) for found in addresses(str(path)))
    else:
        yield from _expand(Path(path).expanduser())


def _expand(path: Path) -> Iterator[SourceFile]:
    try:
        there = os.path.lexists(path)
        if there and path.is_dir():
            yield from _folder(path)
        elif there:
            yield SourceFile(path, path.name)
        elif glob.has_magic(str(path)):
            yield from _glob(path)
        else:
            raise DocumentError(f"{shortened(str(path))}: no such file or folder; check the path")
    except PermissionError as error:
        raise DocumentError(
            f"{path}: the folder cannot be read (permission denied); change its rights"
        ) from error


def shortened(name: str) -> str:
    """A name for a message: a word that somebody took for a file may be a page long."""
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..."


def is_there(name: str) -> bool:
    """True when a word names an existing file or folder, or is an address. A word that cannot be a
    file name is False.
    """
    if is_address(name):
        return True
    try:
        return os.path.lexists(Path(name).expanduser())
    except RuntimeError:  # the home of a user that does not exist
        return False


_EXTENSION = re.compile(r"[^./\\]\.[A-Za-z][A-Za-z0-9]{0,7}$")
_QUESTION_MARKS = ("?", "？", "؟", "﹖", "⸮", "՞", "፧", "\N{GREEK QUESTION MARK}")


def means_documents(word: str) -> bool:
    """True when a word means documents: it names an existing file, or looks like a path, a pattern
    or an address. It looks like one when it has a scheme; or when it has neither a blank nor a
    question mark at its end, and has a separator, an extension or a wildcard, or only ASCII
    letters, digits and signs.
    """
    if not word.strip():
        return False
    if is_there(word) or (
        glob.has_magic(word) and next(glob.iglob(word, recursive=True), None) is not None
    ):
        return True
    if any(char.isspace() for char in word.strip()) or word.rstrip().endswith(_QUESTION_MARKS):
        return False
    return bool(
        "/" in word
        or os.sep in word
        or _EXTENSION.search(word)
        or {*"*["} & {*word}
        or word.isascii()
    )


def printable(name: str) -> str:
    """A name that is no Unicode, with its bytes written out (`caf\\xe9.txt`):
    databases hold text.
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace") if os.name == "posix" else name


def _folder(root: Path) -> Iterator[SourceFile]:
    closed: list[OSError] = []

    def refuse(error: OSError) -> None:
        if Path(error.filename) != root:
            closed.append(error)
            return
        problem = (
            f"{error.filename}: the folder cannot be read ({error.strerror}); change its rights"
        )
        raise DocumentError(problem) from error

    seen: set[str] = set()
    for folder, subfolders, files in os.walk(root, followlinks=True, onerror=refuse):
        real = os.path.realpath(folder)
        if real in seen:
            subfolders.clear()
            continue
        seen.add(real)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for file in sorted(files):
            if not file.startswith((".", "~$")):
                path, known = Path(folder, file), _is_read(Path(file).suffix.lower())
                name = path.relative_to(root).as_posix()
                yield SourceFile(path, name, passed_over=not known, root=root)
    for error in closed:
        path = Path(error.filename)
        why = f"the folder cannot be read ({error.strerror}); change its rights"
        yield SourceFile(path, f"{path.relative_to(root).as_posix()}/", passed_over=True, why=why)


def _is_read(suffix: str) -> bool:
    """True when files with this extension are read."""
    return suffix in SUFFIXES and (SUFFIXES[suffix] != PICTURE or installed())


def _glob(pattern: Path) -> Iterator[SourceFile]:
    root = Path(*takewhile(lambda part: not glob.has_magic(part), pattern.parts))
    for match in sorted(glob.glob(str(pattern), recursive=True)):
        path = Path(match)
        if path.is_dir():
            if "**" not in pattern.parts:
                yield from _folder(path)
        else:
            yield SourceFile(path, Path(os.path.relpath(path, root)).as_posix())


def _distinct(sources: list[SourceFile]) -> Iterator[SourceFile]:
    """Yields the files; files of one name from different folders get so much of their path in the
    name that the names differ.
    """
    near = [source for source in sources if not source.address and source.attachment is None]
    parts = {source.path: 0 for source in near}
    names = {source.path: source.name for source in near}
    for _ in range(64):
        times = Counter(names.values())
        clashing = [source for source in near if times[names[source.path]] > 1]
        if not clashing:
            break
        for source in clashing:
            parts[source.path] += 1
            depth = len(Path(source.name).parts) + parts[source.path]
            names[source.path] = "/".join(source.path.absolute().parts[-depth:]).lstrip("/")
    return (
        replace(source, name=names.get(source.path, source.name))
        if source.attachment is None
        else source
        for source in sources
    )
