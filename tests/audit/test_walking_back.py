"""From values back to what they rest on: citations and `why` of stated, computed, judged
and unverified values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sliders import Workspace
from sliders.audit import why
from sliders.engine import Session, citations_of, settle_data_table
from sliders.extraction import Absence, Cell, How
from sliders.llm.testing import ScriptedModel
from sliders.retrieval import HashEmbedder
from tests.store.samples import DOCUMENT, ORDERS, fill, grounded, rows_of, span_of

CELLS = (
    replace(
        grounded("pieces", 14, "12"),
        how=How.COMPUTED,
        rationale="12 + 2",
        parts=(span_of("lamps"),),
    ),
    Cell("paid", True, how=How.JUDGED, odds=(("no", -3.0), ("yes", -0.05)), doubt="near the cut"),
    Cell("customer", "South", absence=Absence.UNGROUNDED, detail="not in the text"),
)


@pytest.fixture
def session(place: str | Path) -> Iterator[Session]:
    with Workspace(place, model=ScriptedModel({}), embedder=HashEmbedder()) as ws:
        fill(ws.session.catalog)
        ws.session.catalog.extractions.save([replace(rows_of(DOCUMENT)[0], cells=CELLS)])
        yield ws.session


def test_every_way_of_reading_is_told(session: Session) -> None:
    session.catalog.tables.materialise("orders")
    told = str(why(session, "doc-1-r0"))
    line = '"Northwind bought 12 lamps for 1,250 dollars."'
    assert (
        f"pieces = 14: orders.md, page 1: {line} ... {line} (computed, exact)\n    12 + 2" in told
    )
    assert "paid = True: orders.md: no words of the text (judged)" in told
    assert "the model's odds: yes 95%, no 5%\n    unverified: near the cut" in told
    assert "customer is empty: ungrounded: not in the text; the model said 'South'" in told


def test_every_place_is_cited(session: Session) -> None:
    session.catalog.tables.materialise("orders")
    found = {(c.column, c.quote): c for c in citations_of(session, ["doc-1-r0"])}
    assert set(found) == {("pieces", "12"), ("pieces", "lamps"), ("price", "1,250"), ("paid", "")}
    assert str(found["pieces", "lamps"]) == 'orders.md, page 1: "lamps" (pieces; computed: 12 + 2)'
    judged = (
        "orders.md: True, without words of the text (paid; judged: yes 95%, no 5%; "
        "unverified: near the cut)"
    )
    assert str(found["paid", ""]) == judged
    assert str(found["price", "1,250"]) == 'orders.md, page 1: "1,250" (price)'


async def test_unverified_values_enter_only_where_the_user_says_so(session: Session) -> None:
    await settle_data_table(session, ORDERS, model=False)
    assert session.catalog.database.query("SELECT customer FROM orders ORDER BY row_id") == [
        (None,),
        (None,),
    ]
    session.settings = session.settings.changed(unverified=True)
    await settle_data_table(session, ORDERS, model=False)
    assert session.catalog.database.query("SELECT customer FROM orders ORDER BY row_id") == [
        ("South",),
        (None,),
    ]
    [citation] = citations_of(session, ["doc-1-r0"], ["customer"])
    assert (citation.value, citation.doubt) == ("South", "ungrounded: not in the text")
    assert "unverified: ungrounded: not in the text" in str(why(session, "doc-1-r0"))
