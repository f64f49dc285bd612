"""What a question and its first retrieved segments show, as numbers for the light classifiers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sliders.chunks.embeddings import Embedder, Vectors
from sliders.chunks.lexical import terms
from sliders.chunks.retrieval import RankedSegment

Features = NDArray[np.float64]

QUESTION_CHARACTERS = 2_000
"""Only the beginning of a very long question is judged; the embedding model reads no more either."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The text that a question is asked of: its size, and which words of the question occur in it at all."""

    documents: int
    characters: int
    known: frozenset[str] = frozenset()


_CUES: dict[str, str] = {
    "how_many": r"\bhow many\b|\bnumber of\b|\bcount\b",
    "how_much": r"\bhow much\b|\bwhat amount\b",
    "percent": r"\bpercent|\bpercentage|%|\bratio\b|\bproportion\b|\bportion\b|\bshare of\b",
    "change": r"\b(?:change|increase|decrease)[ds]?\b|\bgrowth\b|\bgrew\b|\bdecline|\bdifference\b|\breturn\b",
    "total": r"\btotal\b|\bsum\b|\bcombined\b|\bcumulative\b|\baltogether\b|\bnet\b",
    "average": r"\baverage\b|\bmean\b|\bmedian\b",
    "between": r"\b(?:between|from)\b.{1,40}\b(?:and|to)\b",
    "money": r"\$|\bmillions?\b|\bthousands?\b|\bbillions?\b|\brevenue|\bexpense|\bcosts?\b|\bincome\b|\bprice",
    "why": r"\bwhy\b|\breasons?\b",
    "how": r"^how (?!many|much|old|long|far|often|tall|large)",
    "who": r"\bwho\b|\bwhose\b|\bwhom\b",
    "when": r"\bwhen\b|\bwhat year\b|\bwhich year\b|\bwhat date\b",
    "where": r"\bwhere\b|\bwhat (?:city|country|state|county)\b",
    "what_are": r"\bwhat (?:are|were|kinds?|types?|methods?|features?)\b",
    "which": r"\bwhich\b",
    "list": r"^(?:list|name|give)\b|\ball the\b",
    "respective": r"\brespective(?:ly)?\b",
    "manner": r"^(?:how|in what way) (?:is|are|was|were|do|does|did|can|big|large)\b",
    "expressed": r"\bexpressed as\b|\bas a percent|\bpercentage of\b"
    r"|\b(?:percentage|%) change\b|\bchange in\b|\bby how much\b",
    "does": r"\bwhat do(?:es)?\b|\bconsist|\binclude",
    "chain": r"\b(?:who|that|which|whose|where) (?:\w+ ){0,3}\w+(?:ed|s)\b.* (?:in|of|by|for)\b"
    r"|\bof the \w+ (?:of|in|that|where|who|which|by)\b",
    "yes_no": r"^(?:is|are|was|were|do|does|did|has|have|had|can|could)\b",
    "both": r"\bboth\b|\bsame\b|\bcommon\b|\beither\b",
    "or": r"\bor\b|\bcompared?\b|\bversus\b|\bvs\b",
    "comparative": r"\b(?:more|less|fewer|older|younger|larger|bigger|smaller|higher|lower|longer|shorter|earlier|later"
    r"|greater|better|taller|first|exceed\w*)\b",
    "superlative": r"\b(?:most|least|highest|lowest|largest|smallest|oldest|youngest|longest|shortest|greatest|fewest"
    r"|earliest|latest|maximum|minimum|biggest|best|worst|cheapest|top)\b",
    "among": r"\b(?:documents?|reports?|files?|records?|filings?"
    r"|each|every|per|across|among|overall|these|those|of all)\b",
    "have": r"\b(?:have|has|with|where|whose|that|were|involved?|contain\w*|mention\w*)\b",
    "relative": r"\w+,? (?:that|who|which|whose|where|whom)\b",
    "of_the": r"\bof (?:the )?\w+(?:'s| of | who| that| which| where| by )",
    "possessive": r"\w'\w?\b",
    "passive": r"\b(?:born|directed|written|founded|located|produced|released|created|named|known|starred|featured)\b",
    "report": r"\b(?:they|their|authors?|paper|model|approach|proposed?|propose"
    r"|results?|baselines?|experiments?|data)\b",
    "describe": r"\b(?:describe|explain|summari[sz]e|discuss|purpose|main|role|impact|effects?|benefits?)\b",
    "company": r"\bcompany|\bfiscal|\bas of\b|\bended\b|\bdecember\b|\bjune\b|\bseptember\b|\bmarch\b",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _CUES.items()}
_YEAR = re.compile(r"\b(?:19|20)\d\d\b|\b(?:FY|F)['’]?\d\d\b")
_JOINED = re.compile(r"\b[A-Z][\w'’.-]*(?: [\w'’.-]+){0,4},? (?:and|or) (?:the )?[A-Z]")
_NAME = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w'’.-]*(?:\s+(?:of|the|de|and|&)?\s*[A-Z0-9][\w'’.-]*)*")
_NUMBER = re.compile(r"\d[\d,.]*")
_STOP = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "is", "are", "was", "were", "be", "been",
    "do", "does", "did", "has", "have", "had", "what", "which", "who", "whom", "whose", "when", "where", "why",
    "how", "many", "much", "by", "with", "from", "as", "that", "this", "these", "those", "it", "its", "their",
    "they", "there", "than", "between", "into", "about", "any", "all", "not", "no", "can", "could", "would",
    "should", "s",
})  # fmt: skip

RETRIEVAL_FEATURES = 32


def content_terms(text: str) -> set[str]:
    """The words of a question that carry its subject."""
    return {term for term in terms(text) if term not in _STOP}


def names_in(question: str) -> tuple[str, ...]:
    """Runs of capitalised words, but not the first word of a sentence."""
    return tuple(dict.fromkeys(match.group().strip() for match in _NAME.finditer(question)))


def question_features(question: str) -> Features:
    """The wording of a question, shape (f,)."""
    text = question[:QUESTION_CHARACTERS].strip()
    low = text.lower()
    years = set(_YEAR.findall(text))
    names = names_in(text)
    extra = [
        min(len(low.split()), 60) / 20, float(bool(_NUMBER.search(low))), min(len(years), 4) / 2,
        float(len(years) >= 2),
        min(len(names), 5) / 2, float(len(names) >= 2), min(text.count(","), 4) / 2, float(bool(_JOINED.search(text))),
    ]  # fmt: skip
    return np.array([*(float(bool(p.search(low))) for p in _PATTERNS.values()), *extra])


def retrieval_features(question: str, passages: Sequence[RankedSegment], corpus: Corpus) -> Features:
    """What the first three segments say about the question, shape (RETRIEVAL_FEATURES,); zeros without any.

    The fourth and fifth only tell how much the search would have preferred the first ones.
    """
    if not passages:
        return np.zeros(RETRIEVAL_FEATURES)
    later = [p.score for p in passages[3:5]]
    passages = passages[:3]
    question = question[:QUESTION_CHARACTERS]
    joined = " ".join(passage.text for passage in passages)
    low = joined.lower()
    wanted = content_terms(question)
    found = wanted & set(terms(joined))
    rare = {term for term in wanted if len(term) > 6 or any(c.isdigit() for c in term)}
    names = [name.lower() for name in names_in(question)]
    held = [all(word in low for word in name.split()) for name in names]
    years = set(_YEAR.findall(question))
    cosines = _padded([p.semantic for p in passages])
    exact = _padded([p.exact for p in passages])
    scores = _padded([p.score for p in passages])
    return np.array([
        *cosines, float(np.mean(cosines)), min(exact[0], 40) / 20, min(exact[1], 40) / 20,
        exact[0] / (len(wanted) + 1), scores[1], scores[2], _share(found, wanted),
        _share(wanted & set(terms(passages[0].text)), wanted), _share(rare & found, rare),
        sum(held) / len(held) if held else 1.0, float(all(held)),
        sum(year in joined for year in years) / len(years) if years else 1.0, float(all(y in joined for y in years)),
        min(len(_NUMBER.findall(joined)), 120) / 60, min(joined.count("|"), 90) / 60,
        len({p.document_id for p in passages}) / 3, min(len(joined), 3000) / 2000,
        float(max(exact) == exact[0] and max(cosines) == cosines[0]),
        float(len(joined) >= 0.9 * corpus.characters), min(1.0, len(joined) / max(1, corpus.characters)),
        math.log10(max(10, corpus.characters)) - 3, float(corpus.documents > 1),
        _share(corpus.known - found, corpus.known) if corpus.known else 0.0, float(bool(corpus.known - found)),
        float(bool((corpus.known - found) & rare)), *[*later, 0.0, 0.0][:2], scores[0] - scores[2],
        float(bool(_NUMBER.search(passages[0].text))),
    ])  # fmt: skip


def question_vector(question: str, embedder: Embedder) -> Vectors:
    """The embedding of a question, shape (d,)."""
    vector: Vectors = embedder.embed([question[:QUESTION_CHARACTERS]])[0]
    return vector


def _padded(values: Sequence[float]) -> list[float]:
    return [*values, 0.0, 0.0, 0.0][:3]


def _share(part: AbstractSet[str], whole: AbstractSet[str]) -> float:
    return len(part) / len(whole) if whole else 1.0
