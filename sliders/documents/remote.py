"""Files far away: `s3://`, `gs://`, `https://`, `zip://` and every other address that `fsspec` has
a driver for.

Nothing is written to disk: a file is read into memory up to a limit. The drivers find keys and
endpoints by themselves (environment, `~/.aws`, `~/.config/fsspec`); a key inside an address is
neither shown nor kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aiohttp

from sliders.documents.sniff import SUFFIXES
from sliders.errors import DocumentError
from sliders.hidden import cause, holds_secret, remember_address

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_WHOLE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://\S*")
_WEB = ("http", "https")
_PIECE = 1 << 20
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=20, sock_read=60)


@dataclass(frozen=True, slots=True)
class Fetched:
    """The bytes of a file, the name that tells its format, and when it was changed (seconds since
    1970; None where nobody knows).
    """

    raw: bytes
    file_name: str
    modified: float | None


def is_address(word: object) -> bool:
    """True when a word is an address: a scheme of two letters or more, then `://`."""
    return (
        isinstance(word, str)
        and _ADDRESS.match(word) is not None
        and not any(c.isspace() for c in word.strip())
    )


def shown(address: str) -> str:
    """An address as it is cited: without a user, a password, or a query or fragment that holds a
    secret.
    """
    first, mark, rest = address.partition("::")
    parts = urlsplit(first)
    query, fragment = ("" if holds_secret(one) else one for one in (parts.query, parts.fragment))
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query, fragment=fragment)
    plain = urlunsplit(bare) if parts.netloc else first
    return plain + (mark + (shown(rest) if rest else "") if mark else "")


def addresses(address: str) -> Iterator[str]:
    """Yields the files of an address: the file itself, or the files of known extensions in a folder
    (with its subfolders), an archive or a glob.

    Raises:
        DocumentError: the driver is missing, the server does not answer, or there is no file.
    """
    with _files(address) as (files, path):
        if _is_web(files):
            files.info(path)
            yield address
            return
        if "*" in path:
            matched = files.glob(path, detail=True).items()
            found = sorted(
                n
                for n, about in matched
                if about["type"] == "file" and not _is_hidden(PurePosixPath(n).name)
            )
        elif files.info(path)["type"] != "directory":
            yield address
            return
        else:
            inside = (name for name in files.find(path) if not _is_hidden(name[len(path) :]))
            found = sorted(
                name for name in inside if PurePosixPath(name).suffix.lower() in SUFFIXES
            )
    _, mark, archive = address.partition("::")
    yield from (files.unstrip_protocol(name) + mark + archive for name in found)


def fetch(address: str, most: int) -> Fetched:
    """Returns the file at an address, with at most `most` bytes.

    Raises:
        DocumentError: the driver is missing, the server does not answer, or the file is too large
            or gone.
    """
    with _files(address) as (files, path):
        size = files.info(path).get("size")
        if size is not None and size > most:
            raise _too_large(address, f"{size / 2**20:,.0f} MB is", most)
        # A web server need not know ranges: its file comes as a stream.
        options = {"block_size": 0, "size": size} if _is_web(files) else {}
        pieces, read = [], 0
        with files.open(path, "rb", **options) as stream:
            while piece := stream.read(_PIECE):
                pieces.append(piece)
                if (read := read + len(piece)) > most:
                    raise _too_large(address, "it is", most)
        return Fetched(
            b"".join(pieces), PurePosixPath(urlsplit(path).path).name, _modified(files, path)
        )


def local_path(address: str) -> str | None:
    """The path of a `file://` address, None for any other."""
    if not address.lower().startswith(("file://", "local://")):
        return None
    with _files(address) as (_, path):
        return str(path)


def _too_large(address: str, told: str, most: int) -> DocumentError:
    limit = f"{most / 2**20:,.0f} MB; raise SLIDERS_MAX_FILE_MB, or split the file"
    return DocumentError(f"{shown(address)}: {told} more than {limit}")


def _is_web(files: Any) -> bool:
    protocol = files.protocol if isinstance(files.protocol, tuple) else (files.protocol,)
    return any(name in _WEB for name in protocol)


def _is_hidden(inside: str) -> bool:
    return any(part.startswith((".", "~$")) for part in PurePosixPath(inside).parts)


def _modified(files: Any, path: str) -> float | None:
    try:
        when = files.modified(path)
    except (NotImplementedError, KeyError):
        return None
    return when.timestamp() if isinstance(when, datetime) else None


@contextmanager
def _files(address: str) -> Iterator[tuple[Any, str]]:
    """The file system that an address names, and its path there."""
    from fsspec.core import (
        url_to_fs,
    )  # takes a third of a second, and most runs have local files only

    remember_address(*address.split("::"))
    web = {"client_kwargs": {"timeout": _TIMEOUT, "trust_env": True}}
    with _Told(address):
        yield url_to_fs(address, **{name: web for name in _WEB if f"{name}://" in address.lower()})


class _Told:
    """A `with` block that turns every error of a driver into a DocumentError of one sentence; each
    driver has its own kinds of errors.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, DocumentError):
            return
        where = shown(self._address)
        if isinstance(error, ImportError):
            scheme = self._address.partition("://")[0]
            raise DocumentError(
                f"{where}: {scheme}:// needs a driver that is not installed ({_said(error)})"
            ) from cause(error)
        if isinstance(error, ValueError) and "not known" in str(error):
            raise DocumentError(
                f"{where}: no driver knows this kind of address ({_said(error)}); correct it"
            ) from cause(error)
        raise DocumentError(
            f"{where}: cannot be read ({_said(error)}); check the address and your rights"
        ) from cause(error)


def _said(error: BaseException) -> str:
    """The words of an error without addresses, which may hold keys. The cause of an error "not
    found" often stands behind it.
    """
    if isinstance(error, FileNotFoundError):
        return _said(error.__cause__) if error.__cause__ else "there is no such file"
    if isinstance(error, aiohttp.ClientResponseError):
        return f"the server answers {error.status} {error.message}".strip()
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return _WHOLE.sub("the address", " ".join(str(text).split()))[:200].rstrip(".")
