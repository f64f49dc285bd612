"""An approximate index of segments (HNSW by `usearch`), for collections that are too large to compare one by one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A key is the number of the document's entry, then the row of the segment in it.
_ROW_BITS = 24
_ROW_MASK = (1 << _ROW_BITS) - 1

Codes = NDArray[np.int8]


def available() -> bool:
    """Whether the library is installed (extra `index`)."""
    try:
        import usearch.index  # noqa: F401
    except ImportError:
        return False
    return True


class ApproximateIndex:
    """Nearest segments by the cosine of their int8 codes; removed documents are skipped until the next rebuild."""

    def __init__(self, dimensions: int) -> None:
        from usearch.index import Index

        self._index: Any = Index(
            ndim=dimensions, metric="cos", dtype="i8", connectivity=16, expansion_add=40, expansion_search=128
        )
        self._names: list[str | None] = []
        self._numbers: dict[str, int] = {}
        self._dead = 0

    def __len__(self) -> int:
        """Number of segments, removed ones included."""
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return int(self._index.memory_usage)

    @property
    def document_ids(self) -> frozenset[str]:
        """The documents whose segments can be found."""
        return frozenset(self._numbers)

    @property
    def dead_share(self) -> float:
        """Share of the segments that were removed; above a half a rebuild pays."""
        return self._dead / len(self._index) if len(self._index) else 0.0

    def extend(self, entries: Iterable[tuple[str, Codes]]) -> None:
        """Adds documents with the codes (n, d) of their segments, in large batches, on all cores."""
        keys: list[NDArray[np.uint64]] = []
        codes: list[Codes] = []
        waiting = 0
        for name, rows in entries:
            number = len(self._names)
            self._names.append(name)
            self._numbers[name] = number
            if len(rows) == 0:
                continue
            keys.append((np.uint64(number) << np.uint64(_ROW_BITS)) + np.arange(len(rows), dtype=np.uint64))
            codes.append(rows)
            waiting += len(rows)
            if waiting >= 50_000:
                self._index.add(np.concatenate(keys), np.concatenate(codes))
                keys, codes, waiting = [], [], 0
        if waiting:
            self._index.add(np.concatenate(keys), np.concatenate(codes))

    def remove(self, name: str, count: int) -> None:
        """Stops the document's `count` segments from being found."""
        number = self._numbers.pop(name, None)
        if number is not None:
            self._names[number] = None
            self._dead += count

    def search(self, codes: Codes, top: int) -> dict[str, list[int]]:
        """Rows by document of about the nearest `top` segments of each query (k, d)."""
        if not len(self._index):
            return {}
        found = np.unique(np.asarray(self._index.search(codes, min(top, len(self._index))).keys).ravel())
        rows: dict[str, list[int]] = {}
        for key in found.astype(np.uint64).tolist():
            number = key >> _ROW_BITS
            name = self._names[number] if number < len(self._names) else None
            if name is not None:
                rows.setdefault(name, []).append(key & _ROW_MASK)
        return rows

    def to_bytes(self) -> bytes:
        """A form for the store, so that a large index is built once and not in each process."""
        head = json.dumps({"names": self._names, "dead": self._dead}).encode()
        return len(head).to_bytes(8, "little") + head + bytes(self._index.save())

    @classmethod
    def from_bytes(cls, dimensions: int, data: bytes) -> ApproximateIndex:
        """Reads what `to_bytes` wrote."""
        length = int.from_bytes(data[:8], "little")
        head = json.loads(data[8 : 8 + length])
        index = cls(dimensions)
        index._index.load(data[8 + length :])
        index._names, index._dead = head["names"], head["dead"]
        index._numbers = {name: number for number, name in enumerate(index._names) if name is not None}
        return index
