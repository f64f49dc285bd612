"""Whole workspaces that the agent repairs: what it wrote is what ran, and it runs
again to the same bytes.

Twenty documents are written here, with planned duplicates, name forms, restatements and gaps;
evaluation documents are read where they are present, by rule, without a look at what they say.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.engine import version_rows
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.reconcile import replay
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import document, reply

EVALS = Path(os.environ.get("SLIDERS_EVALS", Path(__file__).parents[3] / "shared" / "evals"))
NUMBER = ColumnType.NUMBER
SCHEMA = Schema(
    (
        Table(
            "things",
            (Column("name"), Column("cost", NUMBER), Column("length", NUMBER), Column("keeper")),
            row="a thing",
            grain="document",
            key=("name",),
            pinned=True,
            key_scope="collection",
        ),
    )
)
WRITTEN = {
    "alder_1.txt": document("Alder Crane", cost=12, keeper="Ines Prado"),  # told three times
    "alder_2.txt": document("Alder Crane", cost=12, keeper="Ines Prado"),
    "alder_3.txt": document("ALDER CRANE", cost=12),
    "dunmarrow_1.txt": document("Dunmarrow Bridge", length=210, cost=46),  # an abbreviated form
    "dunmarrow_2.txt": document("Dunmarrow Br", length=210, keeper="Tom Reed"),
    "harrow_1.txt": document("Harrow Works Ltd", cost=7),  # with and without its legal form
    "harrow_2.txt": document("Harrow Works", length=31),
    "southern_1.txt": document(
        "Southern Tidal Power Authority", cost=88
    ),  # an acronym that the agent reads
    "southern_2.txt": document("STPA", length=19),
    "orla_2019.txt": document("Orla Mill", cost=70, length=15),  # restated
    "orla_2021.txt": document("Orla Mill", cost=90, length=15),
    "vela_2019.txt": document("Vela Lock", keeper="Ana Moll", cost=5),
    "vela_2021.txt": document("Vela Lock", keeper="Ada Moll", cost=5),
    "tarn_1.txt": document("Tarn Ferry", cost=33),  # gaps that fill each other
    "tarn_2.txt": document("Tarn Ferry", length=44),
    "tarn_3.txt": document("Tarn Ferry", keeper="Bo Lind"),
    "brisk_1.txt": document("Brisk Tower", length=60),
    "brisk_2.txt": document("Brisk Tower", cost=21, keeper="Mia Falk"),
    "mill_1.txt": document("Aster Mill 2", cost=64),  # two things
    "mill_2.txt": document("Aster Mill 3", cost=65),
}
PLANNED = {
    "Alder Crane": (12, None, "Ines Prado"),
    "Dunmarrow Bridge": (46, 210, "Tom Reed"),
    "Harrow Works Ltd": (7, 31, None),
    "Southern Tidal Power Authority": (88, 19, None),
    "Orla Mill": (90, 15, None),
    "Vela Lock": (5, None, "Ada Moll"),
    "Tarn Ferry": (33, 44, "Bo Lind"),
    "Brisk Tower": (21, 60, "Mia Falk"),
    "Aster Mill 2": (64, None, None),
    "Aster Mill 3": (65, None, None),
}


def repairing() -> FunctionModel:
    """Reads by rule; the newest document wins, and the longest form of a name stands for it."""

    def function(request: Request) -> str:
        text = "\n".join(m.content for m in request.messages)
        if request.stage != "reconcile":
            plain = tuple(replace(m, content=_plain(m.content)) for m in request.messages)
            return reply(replace(request, messages=plain))
        pattern = r"^Group (\d+), (\w+).*?in question: ([^\n]+)\n(.*?)</group>"
        repairs = [
            one
            for found in re.findall(pattern, text, re.MULTILINE | re.DOTALL)
            for one in _repairs(*found)
        ]
        return json.dumps({"looks": [], "repairs": repairs})

    return FunctionModel(function)


def _repairs(number: str, kind: str, open_: str, body: str) -> list[dict[str, Any]]:
    rows, names = {}, {}
    for row, values, notes in re.findall(
        r"^row_id (\S+): (.*)\n((?:(?!row_id ).*\n?)*)", body, re.MULTILINE
    ):
        rows[row], names[row] = (
            json.loads(values),
            (re.findall(r"document (\S+)", notes) or [""])[0],
        )
    made = []
    for column in open_.split(", "):
        stated = [row for row, values in rows.items() if values.get(column) is not None]
        ranked = sorted(
            (len(str(rows[row][column])) if kind == "names" else names[row], row) for row in stated
        )
        sql = (
            f"UPDATE rows SET {column} = (SELECT {column} FROM rows WHERE row_id = "
            f"'{ranked[-1][1]}')"
        )
        operation = "canonicalize" if kind == "names" else "resolve_conflict"
        made.append(
            {
                "group": int(number),
                "operation": operation,
                "column": column,
                "statements": [sql],
                "reason": "planned",
            }
        )
    return made


def _plain(prompt: str) -> str:
    """An evaluation document said plainly: its first capitalized word is the name, its
    first number the cost.
    """
    head, mark, text = prompt.rpartition("<document>")
    if not mark or "The name is" in text:
        return prompt
    name, cost = re.search(r"\b[A-Z][a-z]{2,}\b", text), re.search(r"\b\d+\b", text)
    told = f"The name is {name[0]}." if name else ""
    told += f"\nThe cost is {cost[0]}." if cost else ""
    return f"{head}{mark}\n{told}\n</document>{text.partition('</document>')[2]}"


def repaired(ws: Workspace, documents: dict[str, str]) -> None:
    """Add, extract and reconcile."""
    ws.session.catalog.schemas.save(SCHEMA)
    for name, text in documents.items():
        ws.add_text(text, name)
    ws.extract()


def runs_again(ws: Workspace) -> None:
    """What `sl_decisions` tells of the agent was executed, and the stored script gives
    the same bytes again.
    """
    after, before = ws.session.catalog.tables.lineage("things")
    relation = ws.session.catalog.schemas.relation("things")
    columns = [(c.sql_name, c.sql_type) for c in (*relation.columns, *after.companions)]
    names = [name for name, _ in columns]
    told = replay(columns, version_rows(ws.session, before, names).values(), after.sql)
    stands = list(version_rows(ws.session, after, names).values())
    assert repr(told).encode() == repr(stands).encode()
    said = ws.session.catalog.database.query(
        "SELECT reason FROM sl_decisions WHERE stage = 'reconcile'"
    )
    ran = [str(row[0]).partition("SQL: ")[2] for row in said if "the model: planned" in str(row[0])]
    ran = [statement for sql in ran for statement in sql.split(";\n")]
    assert ran and all(
        sql.startswith(("UPDATE rows SET", "UPDATE data SET")) and sql in after.sql for sql in ran
    )
    assert not ws.verify()


def test_twenty_documents_are_repaired_as_planned(tmp_path: Path) -> None:
    with Workspace(tmp_path / "ws.db", model=repairing()) as ws:
        repaired(ws, WRITTEN)
        runs_again(ws)
        frame = ws.tables["things"].astype(object)
        rows = frame.where(frame.notna(), None).to_dict(orient="records")
        assert len(WRITTEN) == 20 and not ws.conflicts()
        assert {
            row["name_canonical"]: (row["cost"], row["length"], row["keeper"]) for row in rows
        } == PLANNED
        printed = {row["name"] for row in rows}
        assert printed <= {
            cell.printed
            for row in ws.session.catalog.extractions.rows("things")
            for cell in row.cells
        }


@pytest.mark.parametrize("suite", ["sec_10k_core", "nba_game_summaries"])
def test_evaluation_documents_are_repaired_by_programs_that_run_again(
    suite: str, tmp_path: Path
) -> None:
    files = sorted((EVALS / suite / "dev" / "docs").glob("*.txt"))[:20]
    if not files:
        pytest.skip(f"no documents of {suite} beside the checkout")
    with Workspace(tmp_path / "ws.db", model=repairing()) as ws:
        repaired(ws, {path.name: path.read_text(encoding="utf-8")[:3000] for path in files})
        runs_again(ws)
