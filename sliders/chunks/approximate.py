"""An approximate index of segments (inverted lists by `faiss`), for collections too large to compare one by one.

Inverted lists were chosen over a graph (HNSW by `usearch`): with a million segments they build faster by far, take half
the memory, and find more of the true neighbours (1,000,000 clustered vectors, 2 busy cores: 28 s,
820 bytes a segment and a recall of 0.999 at 20, against 600 s, 1,223 bytes and 0.69).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A key is the number of the document's entry, then the row of the segment in it.
_ROW_BITS = 24
_ROW_MASK = (1 << _ROW_BITS) - 1
_BATCH = 50_000
_TRAINING_ROWS_PER_LIST = 50
# Share of the lists that a query looks into; 1 in 16 finds nearly all neighbours in clustered data.
_PROBED_SHARE = 1 / 16

Codes = NDArray[np.int8]


def available() -> bool:
    """Whether the library is installed (extra `index`)."""
    return find_spec("faiss") is not None


class ApproximateIndex:
    """Nearest segments by the cosine of their codes; removed documents are skipped until the next rebuild."""

    def __init__(self, index: Any, names: Sequence[str | None], trained: int, dead: int) -> None:
        """Use `build` or `from_bytes`. `index` is a trained faiss index, `trained` the size it was laid out for."""
        self._index = index
        self._names = list(names)
        self._numbers = {name: number for number, name in enumerate(self._names) if name is not None}
        self._trained = trained
        self._dead = dead
        self._index.nprobe = max(16, round(index.nlist * _PROBED_SHARE))

    @classmethod
    def build(cls, dimensions: int, entries: Sequence[tuple[str, Codes]]) -> ApproximateIndex:
        """Lays out about sqrt(n) lists for the n segments of the documents, and adds them."""
        import faiss

        total = sum(len(codes) for _, codes in entries)
        lists = max(1, round(math.sqrt(total)))
        index: Any = faiss.index_factory(dimensions, f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
        index.cp.niter = 8
        index.cp.min_points_per_centroid = 1
        stride = max(1, total // (lists * _TRAINING_ROWS_PER_LIST))
        sample = [codes[number % stride :: stride] for number, (_, codes) in enumerate(entries)]
        index.train(_unit(np.concatenate(sample)))
        built = cls(index, [], total, 0)
        built.extend(entries)
        return built

    def __len__(self) -> int:
        """Number of segments, removed ones included."""
        return int(self._index.ntotal)

    @property
    def nbytes(self) -> int:
        """Memory of codes, keys and list centres in bytes, computed from their sizes."""
        width = int(self._index.d)
        return len(self) * (width + 8) + int(self._index.nlist) * width * 4

    @property
    def document_ids(self) -> frozenset[str]:
        """The documents whose segments can be found."""
        return frozenset(self._numbers)

    @property
    def worn(self) -> bool:
        """Whether a rebuild pays: half of the segments are removed, or four times as many as it was laid out for."""
        return self._dead * 2 > len(self) or len(self) > 4 * max(self._trained, 1000)

    def extend(self, entries: Iterable[tuple[str, Codes]]) -> None:
        """Adds documents with the codes (n, d) of their segments, in large batches."""
        keys: list[NDArray[np.int64]] = []
        vectors: list[Codes] = []
        waiting = 0
        for name, codes in entries:
            number = len(self._names)
            self._names.append(name)
            self._numbers[name] = number
            keys.append((number << _ROW_BITS) + np.arange(len(codes), dtype=np.int64))
            vectors.append(codes)
            waiting += len(codes)
            if waiting >= _BATCH:
                self._index.add_with_ids(_unit(np.concatenate(vectors)), np.concatenate(keys))
                keys, vectors, waiting = [], [], 0
        if waiting:
            self._index.add_with_ids(_unit(np.concatenate(vectors)), np.concatenate(keys))

    def remove(self, name: str, count: int) -> None:
        """Stops the document's `count` segments from being found."""
        number = self._numbers.pop(name, None)
        if number is not None:
            self._names[number] = None
            self._dead += count

    def search(self, codes: Codes, top: int) -> dict[str, list[int]]:
        """Rows by document of about the nearest `top` segments of each query (k, d)."""
        _, found = self._index.search(_unit(codes), top)
        rows: dict[str, list[int]] = {}
        for key in np.unique(found).tolist():
            name = self._names[key >> _ROW_BITS] if key >= 0 else None
            if name is not None:
                rows.setdefault(name, []).append(key & _ROW_MASK)
        return rows

    def to_bytes(self) -> bytes:
        """A form for the store, so that a large index is built once and not in each process."""
        import faiss

        head = json.dumps({"names": self._names, "trained": self._trained, "dead": self._dead}).encode()
        return len(head).to_bytes(8, "little") + head + faiss.serialize_index(self._index).tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> ApproximateIndex:
        """Reads what `to_bytes` wrote."""
        import faiss

        length = int.from_bytes(data[:8], "little")
        head = json.loads(data[8 : 8 + length])
        index = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8, offset=8 + length))
        return cls(index, head["names"], head["trained"], head["dead"])


def _unit(codes: Codes) -> NDArray[np.float32]:
    """Codes as unit rows: their scales do not matter for a cosine."""
    rows = codes.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return rows
