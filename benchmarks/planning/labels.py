"""Labelled questions for the analyzer: class and evidence, out of the sets' own labels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.values import numbers_in
from sliders.chunks.embeddings import default_embedder
from sliders.chunks.retrieval import RankedSegment, RetrievalIndex
from sliders.chunks.segments import index_document
from sliders.documents.discover import discover
from sliders.documents.document import Document
from sliders.documents.loaders import load_each
from sliders.llm.tokens import token_counter
from sliders.plan.features import Corpus, content_terms

EVALS = Path(__file__).resolve().parents[3] / "shared" / "evals"
FIVE = ("hotpotqa_pooled", "musique_pooled", "tatqa_contexts", "finqa_pages", "qasper_papers")
TABLE_SETS = (
    "ntsb_aviation", "restaurant_listings_e2e", "nba_game_summaries", "rki_covid_daily", "sec_10k_core", "wiki_people",
    "fca_judgments", "edgar_nda_contracts", "swde_books", "nba_teams_cities_join", "oolong_style_labels",
    "movie_reviews_semops", "sroie_receipts",
)  # fmt: skip
_CLASS_OF_KIND = {
    "multihop_comparison": "multi_source", "multihop_bridge": "multi_bridge", "multihop_2hop": "multi_bridge",
    "multihop_3hop": "multi_bridge", "multihop_4hop": "multi_bridge", "tatqa_span": "extractive",
    "tatqa_multi-span": "extractive", "tatqa_arithmetic": "arithmetic", "tatqa_count": "arithmetic",
    "finance_program": "arithmetic", "qasper_extractive": "extractive", "qasper_abstractive": "abstractive",
    "qasper_yesno": "extractive", "qasper_pdf_text": "abstractive", "qasper_pdf_table": "abstractive",
    "lookup": "extractive",
}  # fmt: skip
_AGGREGATE = re.compile(
    r"count|argmax|argmin|sum$|average|group_|filter_list|topk|difference|label_|user_|date_|derived|ratio$"
)


@dataclass(frozen=True, slots=True)
class Variant:
    """The same question with other segments before it (other searches, other ranks), and whether they do."""

    segments: tuple[RankedSegment, ...]
    evidence: bool


@dataclass(frozen=True, slots=True)
class Labelled:
    """One question with its labels; `task` and `evidence` are None where the set does not say."""

    suite: str
    id: str
    question: str
    documents: tuple[str, ...]
    segments: tuple[RankedSegment, ...]
    task: str | None
    evidence: bool | None
    corpus: Corpus
    variants: tuple[Variant, ...] = ()


def gold(suite: str, folder: Path = EVALS) -> list[dict[str, Any]]:
    """The questions of a set."""
    rows: list[dict[str, Any]] = json.loads((folder / suite / "dev" / "gold.json").read_text(encoding="utf-8"))
    return rows


@lru_cache(maxsize=64)
def corpus(suite: str, tokens: int = 150, document: str = "", folder: Path = EVALS) -> RetrievalIndex:
    """The segments of a set, or of one of its documents."""
    root = folder / suite / "dev" / "docs"
    loaded = [d for d in load_each(discover(root / document if document else root)) if isinstance(d, Document)]
    embedder, count = default_embedder(), token_counter("local")
    documents = {each.id: each for each in loaded}.values()
    return RetrievalIndex(embedder, ((d, index_document(d, embedder, count, max_tokens=tokens)) for d in documents))


def task_of(row: dict[str, Any]) -> str | None:
    """The class of a question from the set's own kind."""
    kind = row.get("kind", "")
    if kind in _CLASS_OF_KIND:
        return _CLASS_OF_KIND[kind]
    return "aggregation" if _AGGREGATE.search(kind) else None


def _numbers_needed(row: dict[str, Any]) -> list[float]:
    notes = row["notes"]
    program = re.search(r"program (.*?); original", notes)
    if program:
        body = re.sub(r"const_\w+|#\d+", " ", program.group(1))
        return [float(n) for n in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", body)]
    derivation = re.search(r"derivation: (.*?); from", notes)
    return [abs(n) for n in numbers_in(derivation.group(1), spelled=False)] if derivation else []


def holds_evidence(row: dict[str, Any], texts: Sequence[str], names: Sequence[str]) -> bool | None:
    """Whether the retrieved texts hold what the set says the answer needs; None where it does not say."""
    joined = " ".join(" ".join(texts).split())
    kind = row["kind"]
    if kind.startswith("multihop"):
        return set(row["docs"]) <= set(names)
    if kind == "qasper_unanswerable":
        return False
    if kind.startswith("qasper"):
        listed = re.search(r"evidence: (\[.*\])", row["notes"]) if isinstance(row["notes"], str) else None
        pieces = [" ".join(str(p).split())[:80] for p in json.loads(listed.group(1))] if listed else []
        return any(piece in joined for piece in pieces) if pieces else None
    if kind == "tatqa_span" or kind == "tatqa_multi-span":
        answers = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
        return all(" ".join(str(a).split()).lower().rstrip(".") in joined.lower() for a in answers)
    needed = _numbers_needed(row)
    present = [abs(n) for n in numbers_in(joined, spelled=False)]
    if not needed:
        return None
    return all(any(abs(n - p) <= 1e-6 * max(1.0, n) for p in present) for n in needed)


def _index(suite: str, row: dict[str, Any]) -> RetrievalIndex:
    alone = suite in ("tatqa_contexts", "finqa_pages", "qasper_papers")
    return corpus(suite, 150, row["docs"][0] if alone else "")


def size(index: RetrievalIndex, question: str) -> Corpus:
    """Documents and characters of an index, and which words of the question it knows."""
    known = frozenset(term for term in content_terms(question) if index.words.scores(term).any())
    return Corpus(len(index.documents), sum(len(d.text) for d in index.documents), known)


def holds(row: dict[str, Any], index: RetrievalIndex, segments: Sequence[RankedSegment]) -> bool | None:
    """Whether the first three of these segments hold the evidence."""
    by_id = {d.id: d.name.rsplit("/", 1)[-1] for d in index.documents}
    return holds_evidence(row, [s.text for s in segments[:3]], [by_id[s.document_id] for s in segments[:3]])


def _five(suite: str, row: dict[str, Any], index: RetrievalIndex) -> Labelled:
    best = {weights: index.retrieve(row["question"], weights=weights) for weights in ((1, 1), (1, 0), (0, 1))}
    fused = best[1, 1]
    other = (best[1, 0], best[0, 1], fused[1:], fused[2:], fused[:1] + fused[2:], fused[:1] + fused[3:])
    judged = [(one, holds(row, index, one)) for one in other if one]
    variants = tuple(Variant(tuple(one[:5]), bool(held)) for one, held in judged if held is not None)
    return Labelled(
        suite, row["id"], row["question"], tuple(row["docs"]), tuple(fused[:5]), task_of(row),
        holds(row, index, fused), size(index, row["question"]), variants,
    )  # fmt: skip


def labelled(suites: Sequence[str] = (*FIVE, *TABLE_SETS)) -> Iterator[Labelled]:
    """All questions with a label.

    Questions over tables are labelled by class alone: no segments are retrieved for them.
    """
    for suite in suites:
        for row in gold(suite):
            if suite in FIVE:
                yield _five(suite, row, _index(suite, row))
            elif task_of(row) is not None:
                names = ("all",) if row["docs"] == "all" else tuple(row["docs"])
                yield Labelled(
                    suite, row["id"], row["question"], names, (), task_of(row), None, Corpus(20, 200_000)
                )


def groups(rows: Sequence[Labelled]) -> list[int]:
    """A number for each question, the same for those that share a document: a split by it is one by document."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(key: tuple[str, str]) -> tuple[str, str]:
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    keys = [[(r.suite, d) for d in r.documents] if r.suite in FIVE else [(r.suite, r.id)] for r in rows]
    for listed in keys:
        for key in listed[1:]:
            parent[root(key)] = root(listed[0])
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault(root(listed[0]), len(numbers)) for listed in keys]
