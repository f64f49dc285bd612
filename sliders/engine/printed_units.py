"""Doubts about figures that add or compare amounts although their documents print different units,
and no column holds the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sliders.answer.doubts import Doubt, named
from sliders.answer.measured import measured_columns
from sliders.answer.range import Place
from sliders.engine.gaps import any_values
from sliders.engine.trial import Trial
from sliders.engine.variations import TableVariations
from sliders.schema.types import Column
from sliders.sql.statement import parse_select
from sliders.values.expected import NUMERIC
from sliders.values.numbers import numbers_in
from sliders.values.parse import joined_cells
from sliders.values.units import dimension, same_unit


def printed_unit_doubts(trial: Trial, tables: Sequence[TableVariations]) -> Iterator[Doubt]:
    """Yields a doubt for each column whose amounts one figure takes together in several printed
    units or currencies.
    """
    wanted = measured_columns(parse_select(trial.sql))
    for table in tables:
        for column in table.read.columns:
            name = table.read.relation.sql_name(column.name)
            if (
                name.lower() in wanted
                and column.type in NUMERIC
                and not (column.unit or column.currency)
            ):
                yield from _doubts(trial, table, column, name)


def _doubts(trial: Trial, table: TableVariations, column: Column, name: str) -> Iterator[Doubt]:
    groups = _by_unit(table, column, name)
    if len(groups) < 2:
        return
    options = any_values(column, [values[name] for values in table.shown.values()])
    relation = table.read.relation.relation
    gone: dict[str, set[tuple[object, ...]]] = {}
    for unit, rows in groups.items():
        places = [Place(relation, row_id, name) for row_id in rows]
        gone[unit] = {
            line
            for value in options
            for line in _replaced(trial, tuple((place, value) for place in places))
        }
    moving = [
        unit
        for unit, lines in gone.items()
        if any(lines & others for other, others in gone.items() if other != unit)
    ]
    if len(moving) > 1:
        documents = {
            u: dict.fromkeys(d for row in groups[u] for d in table.words.documents(row))
            for u in moving
        }
        told = " and ".join(f"{unit} ({named(list(names))})" for unit, names in documents.items())
        thing = f"{column.name} is printed in {told}, and one figure is given over them"
        command = table.words.setting(groups[moving[-1]][0], column.name, None)
        yield Doubt(
            "units",
            thing,
            f"{relation}.{column.name}",
            "amounts of different units do not add up or compare",
            command,
        )


def _replaced(trial: Trial, state: tuple[tuple[Place, object], ...]) -> set[tuple[object, ...]]:
    """Returns the lines of the result that change under other values, each by those of its cells
    that are no numbers.
    """
    before, after = Counter(map(tuple, trial.rows())), Counter(map(tuple, trial.rows(state)))  # type: ignore[arg-type]
    return {
        tuple(cell for cell in line if not isinstance(cell, int | float)) for line in before - after
    }


def _by_unit(table: TableVariations, column: Column, name: str) -> dict[str, list[str]]:
    """Returns the rows with a value, by the unit or currency that their document prints beside it;
    rows without a printed unit are left out.
    """
    groups: dict[str, list[str]] = {}
    for row_id, values in table.shown.items():
        cells = [
            cell
            for row in table.words.extracted(row_id)
            if (cell := row.cell(column.name)) and cell.value == values[name]
        ]
        units = (
            {unit for cell in cells if (unit := _printed_unit(cell.printed))}
            if values[name] is not None
            else set()
        )
        if len(units) == 1:
            unit = units.pop()
            groups.setdefault(
                next((known for known in groups if same_unit(known, unit)), unit), []
            ).append(row_id)
    return groups


def _printed_unit(printed: str) -> str:
    """Returns the currency or unit of the one number in printed words; "" when none is known."""
    numbers = numbers_in(joined_cells(printed))
    if len(numbers) != 1:
        return ""
    return numbers[0].currency or (numbers[0].unit if dimension(numbers[0].unit) else "")
