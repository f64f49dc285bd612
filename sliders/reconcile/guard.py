"""The check that every repair program of a model must pass: no row is lost, no value is invented,
and nothing else is changed.

A repair program is SQL over one group of rows, in a database of its own with one table `rows`:
`row_id`, `merged_into` and the table's columns. A row leaves the result only by naming the row that
it is merged into. The SQL engine refuses everything except reading and updating `rows`; then code
compares the rows before and after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sliders.errors import RepairError
from sliders.extraction.cell import Scalar
from sliders.reconcile.repairs import Case, Group
from sliders.sentences import Sentences
from sliders.sql.limits import MAX_SQL_CHARACTERS, Limits, Rights, longest_value
from sliders.sql.quoting import quote_identifier
from sliders.sql.sandbox import Sandbox, SandboxError
from sliders.sql.statement import parse_statements
from sliders.store.facts import Program, Verdict

say = Sentences("reconcile")

_MAX_STATEMENTS = 20
_LIMITS = Limits(seconds=2.0, memory_bytes=256_000_000, engine=longest_value(1_000_000))
_RIGHTS = Rights(
    tables=frozenset({"rows"}),
    functions=frozenset(
        "coalesce ifnull nullif min max sum count total avg abs round lower upper length "
        "trim".split()
    ),
    writes="cells",
    fixed=frozenset({"row_id"}),
    subqueries=False,
    recursive=False,
)
_MERGING: frozenset[str] = frozenset({"deduplicate", "resolve_conflict", "aggregate"})
_OF_ONE_COLUMN = ("resolve_conflict", "aggregate", "canonicalize")


@dataclass(frozen=True, slots=True)
class RepairStep:
    """A program that passed the check, the rows that it ran on, and the group after it."""

    program: Program
    rows: tuple[str, ...]
    after: Group


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decision on a case. `answered` is True when the model itself decided."""

    verdict: Verdict
    reason: str
    steps: tuple[RepairStep, ...] = ()
    answered: bool = True


def repaired(
    case: Case, programs: Sequence[Program], additive: frozenset[str] = frozenset()
) -> Outcome:
    """Runs repair programs on the group of a case, one after the other, and returns the outcome.

    Raises:
        RepairError: the check refuses a program, or the remaining rows still contradict each other
            in an open column.
    """
    group, steps = case.group, []
    for program in programs:
        about = program.operation in _OF_ONE_COLUMN
        if about and program.column not in case.open:
            raise RepairError(
                say("not_in_question", column=program.column, open=", ".join(case.open) or "none")
            )
        after = run_program(group, program, additive, one_thing=case.kind == "records")
        steps.append(RepairStep(program, tuple(group.rows), after))
        group = after
    for name in case.open if case.kind != "names" else ():  # forms of two names keep two
        place = group.columns.index(name)
        left = {
            values[place]: row for row, values in group.rows.items() if values[place] is not None
        }
        if not left:
            raise RepairError(say("lacks_value", column=name))
        if len(left) > 1:
            told = ", ".join(f"{value!r} in {row}" for value, row in left.items())
            raise RepairError(say("still_contradict", column=name, values=told))
    return Outcome(
        "repaired", "; ".join(dict.fromkeys(p.reason for p in programs if p.reason)), tuple(steps)
    )


def run_program(
    group: Group,
    program: Program,
    additive: frozenset[str] = frozenset(),
    *,
    one_thing: bool = False,
) -> Group:
    """Runs a repair program on a group, checks it, and returns the rows that stay.

    Args:
        additive: the columns whose values may be summed over sources.
        one_thing: True when the case asks whether the rows are one thing. The row that stays then
            has the right values, and rows merged into it keep theirs as its sources.

    Raises:
        RepairError: a statement is refused, or the result loses or invents something; the message
            says what.
    """
    if not program.statements or len(program.statements) > _MAX_STATEMENTS:
        raise RepairError(
            say(
                "too_many_statements", max_statements=_MAX_STATEMENTS, count=len(program.statements)
            )
        )
    found = _rows_after(group, program.statements)
    after = {str(r[0]): tuple(r[2:]) for r in found}
    merged = {str(r[0]): str(r[1]) for r in found if r[1] is not None}
    if not merged and after == dict(group.rows):
        raise RepairError(say("changes_nothing", operation=program.operation))
    return _check_repair(
        group, after, merged, program, additive, one_thing and program.operation == "deduplicate"
    )


def _rows_after(group: Group, statements: Sequence[str]) -> Sequence[Sequence[Scalar]]:
    """Runs the statements. Returns the id of each row, the row that it is merged into (or None),
    and its values.
    """
    if (count := sum(map(len, statements))) > MAX_SQL_CHARACTERS:
        raise RepairError(say("too_long", most=MAX_SQL_CHARACTERS, count=count))
    for statement in statements:
        _check_update(statement)
    types = dict(zip(group.columns, group.types or ("",) * len(group.columns), strict=True))
    with Sandbox() as sandbox:
        sandbox.add(
            "rows",
            {"row_id": "TEXT", "merged_into": "TEXT"} | types,
            ((row, None, *cells) for row, cells in group.rows.items()),
        )
        names = ", ".join(map(quote_identifier, group.columns))
        try:
            sandbox.run(statements, _RIGHTS, _LIMITS)
            return sandbox.execute(f"SELECT row_id, merged_into, {names} FROM rows")
        except SandboxError as error:
            raise RepairError(
                say("engine_refuses", statement=error.statement[:120], words=error.words)
            ) from error


def _check_update(statement: str) -> None:
    """Refuses a statement that is not one UPDATE of `rows`. The engine refuses it too, but some
    statements only when they change a row.
    """
    told = repr(statement[:120])
    parsed = parse_statements(
        statement, error=RepairError, text=told, wanted="one UPDATE of rows", plain=True
    )
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Update):
        raise RepairError(say("no_update", statement=told))


def _check_repair(
    group: Group,
    after: Mapping[str, tuple[Scalar, ...]],
    merged: Mapping[str, str],
    program: Program,
    additive: frozenset[str],
    one_thing: bool,
) -> Group:
    """Compares a group before and after a program, and returns the group afterwards.

    Raises:
        RepairError: a row is missing, rows are merged by a program that may not merge, or a value
            has no
            source.
    """
    if after.keys() != group.rows.keys():
        lost = sorted(group.rows.keys() ^ after.keys())
        raise RepairError(say("not_accounted_for", lost=lost))
    if merged and program.operation not in _MERGING:
        raise RepairError(say("keeps_every_row", operation=program.operation, count=len(merged)))
    staying = {row: values for row, values in after.items() if row not in merged}
    astray = [row for row, target in merged.items() if target not in staying]
    if astray or not staying:
        raise RepairError(say("merged_astray", rows=astray or sorted(merged)))
    if program.operation == "aggregate" and program.column not in additive:
        raise RepairError(say("not_additive", column=program.column))
    filled = _consolidated(group, staying, merged)
    for place, column in enumerate(group.columns):
        _check_column(group, filled, merged, place, column, program, one_thing)
    return replace(group, rows=staying)


def _consolidated(
    group: Group, staying: Mapping[str, tuple[Scalar, ...]], merged: Mapping[str, str]
) -> dict[str, tuple[Scalar, ...]]:
    """Returns the rows that stay, with empty cells filled from the rows that were
    merged into them.
    """
    filled = dict(staying)
    for row, target in merged.items():
        pairs = zip(filled[target], group.rows[row], strict=True)
        filled[target] = tuple(given if own is None else own for own, given in pairs)
    return filled


def _check_column(
    group: Group,
    staying: Mapping[str, tuple[Scalar, ...]],
    merged: Mapping[str, str],
    place: int,
    column: str,
    program: Program,
    one_thing: bool,
) -> None:
    sources = [v[place] for v in group.rows.values() if v[place] is not None]
    results = [v[place] for v in staying.values() if v[place] is not None]
    about = column == program.column and program.operation in _OF_ONE_COLUMN
    if about and program.operation == "aggregate":
        wanted = math.fsum(float(s) for s in sources if isinstance(s, int | float))
        if not results or any(
            not isinstance(r, int | float) or not math.isclose(r, wanted) for r in results
        ):
            raise RepairError(say("other_sum", column=column, wanted=wanted, results=results))
        return
    invented = [r for r in results if not _among(r, sources)]
    if invented:
        raise RepairError(say("invented", column=column, invented=invented, sources=sources))
    if about:
        if sources and len(results) < len(staying):
            raise RepairError(say("emptied", column=column))
        return
    left = [group.said(column, value) for value in results]
    lost = [s for s in sources if not _among(group.said(column, s), left)]
    if lost and not one_thing:
        raise RepairError(
            say(
                "lost",
                column=column,
                lost=lost,
                operation=program.operation,
                about=program.column or "the rows",
            )
        )
    for row, values in staying.items():
        _check_cell(group, merged, place, column, row, values[place], program)


def _check_cell(
    group: Group,
    merged: Mapping[str, str],
    place: int,
    column: str,
    row: str,
    value: Scalar,
    program: Program,
) -> None:
    """Checks that a cell with a value keeps it, and that an empty cell is filled only from merged
    rows or by consolidation.
    """
    own = group.rows[row][place]
    if own is not None:
        if not _among(value, [own]):
            raise RepairError(
                say(
                    "changed",
                    column=column,
                    row=row,
                    own=own,
                    value=value,
                    operation=program.operation,
                )
            )
        return
    if value is None:
        return
    given = [group.rows[r][place] for r, target in merged.items() if target == row]
    unique = {v[place] for v in group.rows.values() if v[place] is not None}
    if not _among(value, given) and not (program.operation == "consolidate" and len(unique) == 1):
        raise RepairError(say("filled", column=column, row=row, value=value))


def _among(value: Scalar, sources: Sequence[Scalar]) -> bool:
    return any(value == s and isinstance(value, str) == isinstance(s, str) for s in sources)
