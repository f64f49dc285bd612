"""The two-level index at size: build rate, search latency against brute force in the same run, memory.

    python -m benchmarks.index [--segments 1000000] [--json FILE]

Vectors are drawn around random centres, as embeddings of real texts lie in clusters; documents hold 100 segments each.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import psutil

from sliders.chunks.embeddings import unit_rows
from sliders.chunks.index import SegmentVectors, TwoLevelIndex
from sliders.chunks.lexical import BM25

DIMENSIONS = 384
PER_DOCUMENT = 100
TOP = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures = run(arguments.segments, arguments.queries)
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:{width}}  {value:,.4g}" if isinstance(value, float) else f"{name:{width}}  {value:,}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


def run(segments: int, queries: int) -> dict[str, float]:
    """All figures for an index of `segments` segments."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(max(10, segments // 500), DIMENSIONS)).astype(np.float32)
    process = psutil.Process()
    before = process.memory_info().rss
    index = TwoLevelIndex(DIMENSIONS)
    spans = np.array([(n * 500, n * 500 + 490, 120) for n in range(PER_DOCUMENT)], dtype=np.int64)
    add_seconds = 0.0
    documents = segments // PER_DOCUMENT
    for number in range(documents):
        vectors = draw(random, centres, PER_DOCUMENT)
        began = time.perf_counter()
        index.add(SegmentVectors.build(f"d{number}", "bench", vectors[0], spans, vectors))
        add_seconds += time.perf_counter() - began
    questions = draw(random, centres, queries)
    exact, exact_ms = search(lambda query: index.search_segments(None, query, gamma=2.1, top_k=TOP), questions)
    began = time.perf_counter()
    index.search_segments(None, questions[0], top_k=TOP)
    approximate_build = time.perf_counter() - began
    found, search_ms = search(lambda query: index.search_segments(None, query, top_k=TOP), questions)
    rss = process.memory_info().rss - before
    late = draw(random, centres, PER_DOCUMENT)
    began = time.perf_counter()
    index.add(SegmentVectors.build("late", "bench", late[0], spans, late))
    late_ms = (time.perf_counter() - began) * 1000
    _, in_document_ms = search(lambda query: index.search_segments("d0", query, gamma=1.2), questions)
    _, documents_ms = search(lambda query: index.search_documents(query, 0.5), questions)
    brute, brute_ms = brute_force(index, questions)
    return {
        "segments": len(index),
        "documents": documents,
        "add_segments_per_second": segments / add_seconds,
        "approximate_build_seconds": approximate_build,
        "build_segments_per_second": segments / (add_seconds + approximate_build),
        "search_ms": search_ms,
        "exact_scan_ms": exact_ms,
        "numpy_float32_ms": brute_ms,
        "search_in_document_ms": in_document_ms,
        "search_documents_ms": documents_ms,
        "recall_at_20_vs_numpy": recall(found, brute),
        "exact_recall_at_20_vs_numpy": recall(exact, brute),
        "add_one_document_ms": late_ms,
        "index_mb": index.nbytes / 1e6,
        "process_mb": rss / 1e6,
        "bytes_per_segment": index.nbytes / len(index),
        "bm25_ms": bm25_ms(random, min(segments, 100_000)),
    }


def draw(random: np.random.Generator, centres: np.ndarray, count: int) -> np.ndarray:
    """Unit vectors around some of the centres; neighbours in a cluster have cosines of about 0.5."""
    near = centres[random.integers(0, len(centres), count)]
    return unit_rows(near + random.normal(size=near.shape).astype(np.float32))


def search(ask, questions: np.ndarray) -> tuple[list[set[tuple[str, int]]], float]:
    """What each question found, and the mean milliseconds of a search."""
    ask(questions[0])
    began = time.perf_counter()
    found = [ask(question) for question in questions]
    milliseconds = (time.perf_counter() - began) * 1000 / len(questions)
    return [{(hit.document_id, getattr(hit, "start", 0)) for hit in hits} for hits in found], milliseconds


def brute_force(index: TwoLevelIndex, questions: np.ndarray) -> tuple[list[set[tuple[str, int]]], float]:
    """The nearest by one float32 matrix product a question, the matrix ready in memory."""
    names = index.document_ids
    matrix = np.concatenate([index.entry(name).vectors for name in names])
    found, began = [], time.perf_counter()
    for question in questions:
        rows = np.argpartition(-(matrix @ question), TOP)[:TOP]
        found.append({(names[row // PER_DOCUMENT], int(row % PER_DOCUMENT) * 500) for row in rows})
    return found, (time.perf_counter() - began) * 1000 / len(questions)


def recall(found: list[set[tuple[str, int]]], wanted: list[set[tuple[str, int]]]) -> float:
    return float(np.mean([len(left & right) / len(right) for left, right in zip(found, wanted, strict=True)]))


def bm25_ms(random: np.random.Generator, texts: int) -> float:
    """Mean milliseconds of a BM25 search over texts of 60 words from a Zipf vocabulary."""
    index: BM25[int] = BM25()
    for number in range(texts):
        index.add(number, " ".join(f"w{word}" for word in random.zipf(1.3, 60) % 50_000))
    queries = [" ".join(f"w{word}" for word in random.zipf(1.3, 6) % 50_000) for _ in range(20)]
    began = time.perf_counter()
    for query in queries:
        index.search(query, TOP)
    return (time.perf_counter() - began) * 1000 / len(queries)


if __name__ == "__main__":
    main()
