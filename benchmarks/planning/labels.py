"""Questions with the kind that they are of, out of the sets' own labels, and inputs
that are no question.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sliders.schema import KINDS, QuestionKind

EVALS = Path(__file__).resolve().parents[3] / "shared" / "evals"
SUITES = (
    "hotpotqa_pooled",
    "musique_pooled",
    "tatqa_contexts",
    "finqa_pages",
    "qasper_papers",
    "ntsb_aviation",
    "restaurant_listings_e2e",
    "nba_game_summaries",
    "rki_covid_daily",
    "sec_10k_core",
    "wiki_people",
    "fca_judgments",
    "edgar_nda_contracts",
    "swde_books",
    "nba_teams_cities_join",
    "oolong_style_labels",
    "movie_reviews_semops",
    "sroie_receipts",
)
_WRITTEN = Path(__file__).with_name("written_inputs.yaml")
_KIND_OF: dict[str, QuestionKind] = {
    "multihop_comparison": "several",
    "multihop_bridge": "steps",
    "multihop_2hop": "steps",
    "multihop_3hop": "steps",
    "multihop_4hop": "steps",
    "tatqa_span": "fact",
    "tatqa_multi-span": "fact",
    "tatqa_arithmetic": "calculation",
    "tatqa_count": "calculation",
    "finance_program": "calculation",
    "qasper_extractive": "fact",
    "qasper_abstractive": "explanation",
    "qasper_yesno": "fact",
    "qasper_pdf_text": "explanation",
    "qasper_pdf_table": "explanation",
    "lookup": "fact",
}
_OVER_ALL = re.compile(
    r"count|argmax|argmin|sum$|average|group_|filter_list|topk|difference|label_|user_|date_|derived|ratio$"
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """An input and its kind."""

    text: str
    kind: QuestionKind


def gold(suite: str, folder: Path = EVALS) -> list[dict[str, Any]]:
    """The questions of a set."""
    rows: list[dict[str, Any]] = json.loads(
        (folder / suite / "dev" / "gold.json").read_text(encoding="utf-8")
    )
    return rows


def kind_of(row: dict[str, Any]) -> QuestionKind | None:
    """The kind of a question from the set's own label; None where that does not say."""
    label = row.get("kind", "")
    return _KIND_OF.get(label) or ("all" if _OVER_ALL.search(label) else None)


def labelled(number: int, suites: Sequence[str] = SUITES, folder: Path = EVALS) -> list[Labelled]:
    """Inputs of every kind, of each about as many, the same ones in the same order each time."""
    pool: dict[QuestionKind, list[str]] = {kind: [] for kind in KINDS}
    for suite in suites:
        for row in gold(suite, folder):
            if (kind := kind_of(row)) is not None:
                pool[kind].append(row["question"])
    written = yaml.safe_load(_WRITTEN.read_text(encoding="utf-8"))
    pool["no question"] = [
        str(text) for label, texts in written.items() if label != "question" for text in texts
    ]
    each, more = divmod(number, len(KINDS))
    chosen = random.Random(0)
    rows = [
        Labelled(text, kind)
        for place, (kind, texts) in enumerate(pool.items())
        for text in chosen.sample(texts, min(each + (place < more), len(texts)))
    ]
    chosen.shuffle(rows)  # the order must not tell the kind
    return rows
