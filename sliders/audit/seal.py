"""The seal of an audit database: a digest of everything in the file, and its signature with a key
that the file does not hold (HMAC with SHA-256).
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sliders.errors import SettingsError
from sliders.sql.quoting import quote_identifier
from sliders.store import codec
from sliders.store.file_watch import DEFINED, DEFINITIONS, sums_of

Read = Callable[[str], Iterable[tuple[Any, ...]]]
_SHORTEST_KEY = 16
_SEAL = "audit_seal"
_TABLES = (
    f"SELECT name FROM sqlite_master WHERE type = 'table' AND name <> '{_SEAL}' "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
)
_SIGNATURE = "signature"


def key_of(path: Path) -> bytes:
    """Returns the key that a file holds, at least 16 bytes.

    Raises:
        SettingsError: the file cannot be read, or is shorter than 16 bytes.
    """
    try:
        key = path.read_bytes()
    except OSError as error:
        raise SettingsError(
            f"the key {str(path)!r} cannot be read: {error.strerror}; check the path"
        ) from error
    if len(key) < _SHORTEST_KEY:
        raise SettingsError(
            f"the key {str(path)!r} has {len(key)} bytes, it needs {_SHORTEST_KEY}; make one "
            "with: head -c 32 /dev/urandom > KEYFILE"
        )
    return key


def seal(file: Any, key: bytes = b"") -> None:
    """Writes the seal into a finished file; `file` is its open connection."""
    file.execute(f"CREATE TABLE {_SEAL} (subject TEXT PRIMARY KEY, digest TEXT)")
    lines = _digests(file.execute)
    if key:
        lines.append((_SIGNATURE, _signature(lines, key)))
    file.executemany(f"INSERT INTO {_SEAL} VALUES (?, ?)", lines)
    file.commit()


def broken(read: Read, key: bytes | None = None) -> Iterator[str]:
    """Yields a sentence for each part of a sealed file that was changed after it was written.

    Args:
        read: runs a statement on the file and returns its rows.
        key: the key of the signature; None skips the signature.
    """
    if not list(read(f"SELECT 1 FROM sqlite_master WHERE name = '{_SEAL}'")):
        yield f"table {_SEAL!r} is gone"
        return
    held: dict[str, str] = dict(read(f"SELECT subject, digest FROM {_SEAL}"))
    signature, now = held.pop(_SIGNATURE, ""), _digests(read)
    for name, digest in now:
        if held.pop(name, None) != digest:
            yield f"table {name!r} is not the one that sliders wrote"
    yield from (f"table {name!r} is gone" for name in held)
    if key is not None and not signature:
        yield "the file is not signed; make one that is with: sliders export FILE --sign KEYFILE"
    elif key is not None and not hmac.compare_digest(signature, _signature(now, key)):
        yield "the signature is not that of this key and this file"


def _signature(lines: list[tuple[str, str]], key: bytes) -> str:
    return hmac.digest(key, codec.dump(lines).encode(), "sha256").hex()


def _digests(read: Read) -> list[tuple[str, str]]:
    names = [name for (name,) in list(read(_TABLES))]
    found = [(DEFINITIONS, sums_of(read(DEFINED)))]
    found += [(n, sums_of(read(f"SELECT * FROM {quote_identifier(n)}"))) for n in names]
    return [(name, codec.dump(sums)) for name, sums in found]
