"""Planned defects: are 100 of them treated as planned, is nothing lost, and does the stored SQL
give the same table again?

    python -m benchmarks.repair [--model NAME --base-url URL [--api-key KEY] [--dialect NAME]]
        [--json FILE]

Without a model a scripted one answers, which knows the plan: its figures say what the engine can
carry out, not what a model understands. `--model local` is the embedded one, `--model none` leaves
everything to code. A duplicate, gap, restated value or unit difference is treated as planned when
its rows became one row with the planned values; a false friend when its rows stay apart and no
conflict is open over them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.repair_cases import Defect, Plan, plans
from benchmarks.results import table as text_table
from sliders.engine import ModelSet, connect, ways_of
from sliders.llm import Model, Request
from sliders.llm.testing import FunctionModel
from sliders.reconcile import (
    PROGRAMS,
    MemoryRelation,
    Reconciliation,
    comparison_form,
    reconcile_table,
    replay,
    script,
)
from sliders.schema import Table
from sliders.settings import Settings

_GROUP = re.compile(
    r"^Group (?P<number>\d+), (?P<kind>\w+).*?(?:in question: "
    r"(?P<open>[^\n]+))?\n(?P<rows>.*?)</group>",
    re.MULTILINE | re.DOTALL,
)
_ROW = re.compile(r"^row_id (\S+): (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Measured:
    """One table: treated and planned by kind, rows and values that went missing, whether the
    script replays, and calls.
    """

    treated: Mapping[str, int]
    planned: Mapping[str, int]
    lost: int
    replays: bool
    calls: int
    groups: int
    wrong: tuple[str, ...]


def perfect(plan: Plan) -> Model:
    """The double that knows the plan: it answers each group as its defect should be treated."""

    def reply(request: Request) -> dict[str, Any]:
        repairs: list[dict[str, Any]] = []
        for found in _GROUP.finditer(request.messages[-1].content):
            rows = {i: json.loads(values) for i, values in _ROW.findall(found["rows"])}
            if "key as first" in request.messages[-1].content:
                continue
            repairs += _answers(
                plan, int(found["number"]), found["kind"], (found["open"] or "").split(", "), rows
            )
        return {
            "looks": [],
            "repairs": repairs,
            "key": list(plan.table.key),
            "scope": "collection",
            "reason": "planned",
        }

    def shaped(request: Request) -> dict[str, Any]:
        told = reply(request)
        fields = (request.json_schema or {}).get("properties", {})
        return {name: told[name] for name in fields}

    return FunctionModel(shaped, name="perfect")


def _answers(
    plan: Plan, number: int, kind: str, open_: Sequence[str], rows: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    numbers = {int(i.split("-")[0]) for i in rows}
    right = plan.defects[numbers.pop()].right if len(numbers) == 1 else None
    if right is None:
        yield {
            "group": number,
            "operation": "apart",
            "column": "",
            "statements": [],
            "reason": "planned",
        }
        return
    for column in open_:
        wanted = right.get(
            column,
            max((values[column] for values in rows.values()), key=len) if kind == "names" else None,
        )
        source = next(i for i, values in rows.items() if values.get(column) == wanted)
        sql = (
            f'UPDATE rows SET "{column}" = (SELECT "{column}" FROM rows WHERE row_id '
            f"= '{source}')"
        )
        operation = "canonicalize" if kind == "names" else "resolve_conflict"
        yield {
            "group": number,
            "operation": operation,
            "column": column,
            "statements": [sql],
            "reason": "planned",
        }


def rows_left(
    table: Table, relation: MemoryRelation, result: Reconciliation
) -> list[tuple[Any, ...]]:
    """What the repairs leave of a table: values, document, document id, row id, JSON of the
    rows that went into it.
    """
    renamed = canonical_columns(result)
    columns = [
        *((c.name, c.type.sql) for c in table.columns),
        *((f"{name}_canonical", "TEXT") for name in renamed),
    ]
    listed = [
        *(relation.column(c.name) for c in table.columns),
        *([None] * len(relation.row_ids) for _ in renamed),
    ]
    before = [
        (*values, i, i, i, None) for i, *values in zip(relation.row_ids, *listed, strict=True)
    ]
    return replay(columns, before, script(result.repairs, [name for name, _ in columns]), renamed)


def canonical_columns(result: Reconciliation) -> list[str]:
    """The columns that have canonical forms beside them, which stand behind the other
    columns in this order.
    """
    return list(
        dict.fromkeys(
            repair.column for repair in result.repairs if repair.operation == "canonicalize"
        )
    )


async def measure(plan: Plan, model: Model | None) -> Measured:
    """Reconcile one table, run its script on the rows before, and compare with the plan."""
    relation, options = plan.relation()
    repairer = ways_of(model).repairer if model else PROGRAMS
    result = await reconcile_table(plan.table, relation, options, model, repairer)
    after = rows_left(plan.table, relation, result)
    home = {
        str(source): row
        for row in after
        for source in (json.loads(str(row[-1])) if row[-1] else (row[-2],))
    }
    treated, planned, wrong = Counter[str](), Counter[str](), []
    open_rows = {r for c in result.conflicts for side in c.candidates for r in side.rows}
    for n, defect in enumerate(plan.defects):
        planned[defect.kind] += 1
        ids = [f"{n}-{k}" for k in range(len(defect.rows))]
        if _as_planned(
            plan,
            defect,
            [home.get(i) for i in ids],
            open_rows & set(ids),
            canonical_columns(result),
        ):
            treated[defect.kind] += 1
        else:
            wrong.append(f"{defect.kind}: {[dict(r.values) for r in defect.rows]}")
    again = repr(rows_left(plan.table, relation, result)) == repr(after)
    lost = _lost(relation, result, home)
    return Measured(
        treated, planned, lost, again, result.calls, result.conflict_groups, tuple(wrong)
    )


def _as_planned(
    plan: Plan, defect: Defect, homes: Sequence[Any], open_rows: set[str], renamed: Sequence[str]
) -> bool:
    if any(home is None for home in homes):
        return False
    stand = {home[-2] for home in homes}
    if defect.right is None:
        return len(stand) == len(homes) and not open_rows
    values = dict(zip(plan.table.column_names, homes[0], strict=False))
    values |= dict(zip(renamed, homes[0][len(values) :], strict=False))
    return len(stand) == 1 and all(values[name] == value for name, value in defect.right.items())


def _lost(relation: Any, result: Reconciliation, home: Mapping[str, Any]) -> int:
    """Rows that no row stands for, and values that neither stand in their row nor in a repair
    or conflict over it.
    """
    recorded = {(r, repair.column) for repair in result.repairs for r in repair.rows}
    recorded |= {
        (r, c.column) for c in result.conflicts for side in c.candidates for r in side.rows
    }
    lost = sum(i not in home for i in relation.row_ids)
    for place, name in enumerate(relation.columns):
        for i, value in zip(relation.row_ids, relation.column(name), strict=True):
            same = i in home and comparison_form(home[i][place]) == comparison_form(value)
            if value is not None and i in home and not same and (i, name) not in recorded:
                lost += 1
    return lost


def connected(given: argparse.Namespace) -> ModelSet:
    """The models that the options name."""
    settings = Settings(
        model=given.model,
        base_url=given.base_url or None,
        api_key=given.api_key,
        dialect=given.dialect,
    )
    return connect(settings)


async def measure_all(given: argparse.Namespace) -> dict[str, Any]:
    """Figures of all tables, flat."""
    treated, planned = Counter[str](), Counter[str]()
    lost = calls = groups = 0
    replays, wrong = True, []
    models = connected(given) if given.model not in ("", "none") else None
    for plan in plans():
        model = models.model_for("reconcile") if models else None if given.model else perfect(plan)
        one = await measure(plan, model)
        treated += Counter(one.treated)
        planned += Counter(one.planned)
        lost, calls, groups = lost + one.lost, calls + one.calls, groups + one.groups
        replays, wrong = replays and one.replays, [*wrong, *one.wrong]
    if models:
        await models.aclose()
    figures: dict[str, Any] = {f"{kind}.treated": treated[kind] for kind in planned}
    figures |= {f"{kind}.planned": count for kind, count in planned.items()}
    figures |= {
        "treated": treated.total(),
        "planned": planned.total(),
        "lost": lost,
        "replays": replays,
        "calls": calls,
        "conflict_groups": groups,
        "wrong": wrong,
    }
    return figures


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model",
        default="",
        help="a model of the server, local, none, or nothing: the scripted one",
    )
    parser.add_argument("--base-url", default="")
    parser.add_argument("--api-key", default="none")
    parser.add_argument("--dialect", default="auto")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    figures = asyncio.run(measure_all(given))
    kinds = [name.split(".")[0] for name in figures if name.endswith(".planned")]
    lines = [[kind, figures[f"{kind}.treated"], figures[f"{kind}.planned"]] for kind in kinds]
    print(
        text_table(
            ["defect", "treated as planned", "planned"],
            [*lines, ["all", figures["treated"], figures["planned"]]],
        )
    )
    print(
        f"{figures['lost']} rows or values lost; the SQL gives the same table again: "
        f"{figures['replays']}; {figures['calls']} calls for "
        f"{figures['conflict_groups']} conflict groups"
    )
    print("\n".join(figures["wrong"]))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
