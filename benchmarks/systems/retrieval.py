"""Plain retrieval: the top segments by BM25 and embeddings, then one call."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from benchmarks.systems.base import SHORT_ANSWER, Answered, Task, answered, serve
from benchmarks.systems.client import chat, fuse, lexical_rank, read, segments

PROMPT = "{passages}\n\nQuestion: {question}\n{how}"


def _semantic_rank(pieces: Sequence[str], question: str) -> list[int]:
    """Ranking by the package's small embedding model."""
    import numpy as np

    from sliders.retrieval import default_embedder

    vectors = default_embedder().embed([*pieces, question])
    scores = vectors[:-1] @ vectors[-1]
    return [int(i) for i in np.argsort(-scores, kind="stable")]


def run(task: Task) -> Iterator[Answered]:
    """One call a question over the `k` best segments (option `k`, 8 by default;
    option `embeddings`).
    """
    pieces = [f"[{d.name}]\n{piece}" for d in task.documents for piece in segments(read(d))]
    for asked in task.questions:
        started = time.perf_counter()
        rankings = [lexical_rank(pieces, asked.question)]
        if task.options.get("embeddings", True):
            rankings.append(_semantic_rank(pieces, asked.question))
        best = sorted(fuse(rankings)[: int(task.options.get("k", 8))])
        prompt = PROMPT.format(
            passages="\n\n".join(pieces[i] for i in best), question=asked.question, how=SHORT_ANSWER
        )
        yield answered(
            asked, chat(task.base_url, task.model, prompt), time.perf_counter() - started
        )


if __name__ == "__main__":
    raise SystemExit(serve(run))
