"""Join values are looked for where they are printed: documents without them cost nothing, and
nothing wrong is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sliders.api import Workspace
from sliders.engine import (
    SegmentOrder,
    join_words,
    run_query,
)
from sliders.llm.testing import ScriptedModel
from sliders.retrieval import HashEmbedder, seed_evidence
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.ships import SHIPS, SegmentReader, ship_text, truth, workspace_of_ships

SQL = (
    "SELECT s.ship, t.population FROM ships s JOIN towns t ON s.port = t.town WHERE t.town = 'Eye' "
    "AND s.length > 0"
)
AT_EYE = {(truth(n)["ship"], 5000) for n in range(20) if truth(n)["port"] == "Eye"}


def test_only_documents_that_print_a_join_value_are_read_for_it(tmp_path: Path) -> None:
    reader = SegmentReader()
    with workspace_of_ships(tmp_path, towns=True) as ws:
        result = asyncio.run(run_query(reader.of(ws), SQL, reuse=False))
        reasons = [
            d.reason for d in ws.session.catalog.journal.decisions() if d.verdict == "not read"
        ]
    assert set(result.rows) == AT_EYE
    late = {
        trace.document
        for trace in result.explanation.traces
        if trace.table == "ships"
        and trace.verdict != "sampled"
        and trace.tokens
        and trace.document.startswith("ship")
    }
    assert late <= {f"ship_{n:02}.txt" for n in range(20) if truth(n)["port"] == "Eye"}
    assert any("without any of the join values that port must have" in reason for reason in reasons)


def test_a_document_left_out_by_a_join_is_not_said_to_state_nothing(tmp_path: Path) -> None:
    with workspace_of_ships(tmp_path, towns=True) as ws:
        asyncio.run(run_query(SegmentReader().of(ws), SQL))
        result = asyncio.run(
            run_query(SegmentReader().of(ws), "SELECT ship, port FROM ships WHERE length > 0")
        )
    assert set(result.rows) == {(truth(n)["ship"], truth(n)["port"]) for n in range(20)}


def test_a_chain_of_joins_on_one_attribute_gives_all_rows(tmp_path: Path) -> None:
    sql = (
        "SELECT a.ship, b.ship, c.ship FROM ships a JOIN ships b ON a.port = b.port JOIN ships c "
        "ON b.port = c.port WHERE a.length = 20 AND b.length = 25 AND c.length BETWEEN 26 AND 31"
    )
    with workspace_of_ships(tmp_path, towns=True) as ws:
        result = asyncio.run(run_query(SegmentReader().of(ws), sql))
    assert result.rows == (("Nautilus0", "Nautilus5", "Nautilus10"),)


KNOWN = [(ship_text(n), truth(n)["port"]) for n in range(3)]
PORT = SHIPS.column("port")


@pytest.mark.parametrize(
    ("values", "looked_for"),
    [
        (["Eye", "Corfe"], True),
        ([], False),
        ([1900, 1901], False),  # a number is printed in many ways
    ],
)
def test_only_names_are_looked_for_by_their_words(
    values: list[str | int], looked_for: bool
) -> None:
    assert (join_words(PORT, KNOWN, values) is not None) == looked_for


def test_an_attribute_stated_in_other_words_is_not_looked_for() -> None:
    assert join_words(PORT, [*KNOWN, (ship_text(4), "Elsewhere")], ["Eye"]) is None
    assert join_words(PORT, [], ["Eye"]) is None  # nothing says how its values are printed


class KindAndPlace:
    """Vectors of documents of a kind at a place; the place weighs more than the kind."""

    name, dimensions = "kind and place", 4
    words = ("town", "club", "Arden", "Brill")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A part for each word that a text holds."""
        held = np.array([[word in text for word in self.words] for text in texts], dtype=float)
        vectors = held * (0.5, 0.5, 0.8, 0.8)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths, lengths, 1.0)).astype(np.float32)


SHEETS = Table(
    "towns",
    (Column("population", ColumnType.INTEGER, "how many people live in the town"),),
    row="a town",
    grain="document",
)


def verdicts(
    path: Path, sheets: Sequence[str], stating: Collection[str]
) -> tuple[dict[str, str], int]:
    """What a query for the population makes of each sheet, and how many it leaves out unread; only
    those `stating` it tell one.
    """
    with Workspace(path, model=ScriptedModel({}), embedder=KindAndPlace()) as ws:
        for number, about in enumerate(sheets):
            told = f", and its population is {number} people" if about in stating else ""
            ws.add_text(f"Sheet {number} is on the {about}{told}.", f"{about} {number}")
        ws.session.catalog.schemas.save(Schema((SHEETS,)), "test")
        sql = "SELECT population FROM towns"
        result = asyncio.run(run_query(SegmentReader().of(ws), sql, reuse=False))
    traces = result.explanation.traces
    return {trace.document: trace.verdict for trace in traces}, result.loss.excluded


def test_kinds_are_told_apart_although_partners_are_near_each_other(tmp_path: Path) -> None:
    towns, clubs = (
        [f"{kind} of {place}" for place in ("Arden", "Brill")] for kind in ("town", "club")
    )
    found, _ = verdicts(tmp_path / "w.db", ["town", *towns, *clubs * 5], {"town", *towns})
    sampled = {name.rsplit(" ", 1)[0] for name, verdict in found.items() if verdict == "sampled"}
    assert sampled > {"town", *clubs}, "a town is sampled with a club of its place"
    excluded = {name for name, verdict in found.items() if verdict == "excluded"}
    assert excluded and all(name.startswith("club") for name in excluded)


def test_where_the_values_are_of_no_kind_nothing_is_left_out(tmp_path: Path) -> None:
    sheets = [f"{kind} of {place}" for kind in ("town", "club") for place in ("Arden", "Brill")]
    stating = {"town of Arden", "club of Brill"}
    found, excluded = verdicts(tmp_path / "w.db", sheets * 6, stating)
    sampled = [name.rsplit(" ", 1)[0] for name, verdict in found.items() if verdict == "sampled"]
    assert stating < set(sampled), "sheets of both kinds tell it, and one does not"
    assert excluded == 0 and "excluded" not in found.values()


def test_a_ranking_of_some_segments_keeps_the_order_and_the_nearest() -> None:
    seed = seed_evidence("port", np.asarray(HashEmbedder().embed(["port"]))[0])
    ranking = SegmentOrder((3, 1, 0, 2), 3, (10, 10, 10, 10), seed, (0.0, 0.0))
    few = ranking.only(frozenset({0, 2}))
    assert (few.sequence, few.within) == ((3, 0, 2), 2)
    assert ranking.only(frozenset()).sequence == ()
