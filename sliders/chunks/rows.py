"""Rows of int8 vectors in blocks: appended without moving what is there, killed by a mark, scanned block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 32_768
_STRIP = 1_024  # rows that are turned into float32 at a time: 1.5 MB at 384 dimensions, which stays in the cache
_DEAD = -1

Floats = NDArray[np.float32]


def quantize(vectors: NDArray[np.floating[Any]]) -> tuple[NDArray[np.int8], Floats]:
    """Codes int8 (n, d) and scales float32 (n,) with `vectors` about equal to codes * scales."""
    peaks = np.abs(vectors).max(axis=1, initial=0.0)
    scales = np.where(peaks > 0, peaks / 127.0, 1.0).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


class _Block:
    """Preallocated arrays; `used` rows are filled."""

    def __init__(self, size: int, dimensions: int) -> None:
        self.codes = np.zeros((size, dimensions), dtype=np.int8)
        self.scales = np.zeros(size, dtype=np.float32)
        self.spans = np.zeros((size, 3), dtype=np.int64)
        self.numbers = np.full(size, _DEAD, dtype=np.int32)
        self.used = 0


class VectorRows:
    """A growing table of vectors, each with the number of its document and its span."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._blocks: list[_Block] = []
        self._firsts: list[int] = []
        self._places: dict[int, tuple[int, int]] = {}
        self.size = 0
        self.live = 0

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return sum(b.codes.nbytes + b.scales.nbytes + b.spans.nbytes + b.numbers.nbytes for b in self._blocks)

    def append(self, codes: NDArray[np.int8], scales: Floats, spans: NDArray[np.int64], number: int) -> int:
        """Adds the rows of a document side by side in one block; returns the key of the first."""
        count = len(codes)
        if not self._blocks or self._blocks[-1].used + count > len(self._blocks[-1].codes):
            last = self._blocks[-1] if self._blocks else None
            self._firsts.append(self._firsts[-1] + len(last.codes) if last is not None else 0)
            # Small tables start small: the first block doubles up to the usual size.
            size = min(_BLOCK, max(256, self.size))
            self._blocks.append(_Block(max(size, count), self._dimensions))
        block, first = self._blocks[-1], self._firsts[-1]
        low, high = block.used, block.used + count
        block.codes[low:high], block.scales[low:high], block.spans[low:high] = codes, scales, spans
        block.numbers[low:high] = number
        block.used = high
        self._places[number] = (first + low, count)
        self.size = first + high
        self.live += count
        return first + low

    def kill(self, number: int) -> None:
        """Marks the rows of a document as dead."""
        first, count = self._places.pop(number)
        block, low = self._locate(first)
        block.numbers[low : low + count] = _DEAD
        self.live -= count

    def views(self, first: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int8], Floats]:
        """Spans, codes and scales of rows that were appended together, without copying."""
        block, low = self._locate(first)
        high = low + count
        return block.spans[low:high], block.codes[low:high], block.scales[low:high]

    def _locate(self, key: int) -> tuple[_Block, int]:
        number = int(np.searchsorted(self._firsts, key, side="right")) - 1
        return self._blocks[number], key - self._firsts[number]

    def scan(self, queries: Floats) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64], Floats]]:
        """Document numbers, spans and distances to the nearest query (k, d) of all live rows, strip by strip."""
        strip: Floats = np.empty((_STRIP, self._dimensions), dtype=np.float32)
        columns = np.ascontiguousarray(queries.T)
        for block in self._blocks:
            for low in range(0, block.used, _STRIP):
                high = min(low + _STRIP, block.used)
                floats = strip[: high - low]
                np.copyto(floats, block.codes[low:high])
                similar = (floats @ columns).max(axis=1) * block.scales[low:high]
                distances = np.sqrt(np.maximum(0.0, 2.0 - 2.0 * similar)).astype(np.float32)
                alive = np.flatnonzero(block.numbers[low:high] != _DEAD)
                if len(alive) == high - low:
                    yield block.numbers[low:high], block.spans[low:high], distances
                elif len(alive):
                    rows = alive + low
                    yield block.numbers[rows], block.spans[rows], distances[alive]
