"""Repair programs that are bad by construction, over generated groups: every one is refused, and
the group is as it was.

300 programs, or 3,000 when SLIDERS_TEST_FULL is set. Each class of `BAD` says what is
wrong with its programs.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from sliders.errors import RepairError
from sliders.reconcile import Group, run_program
from sliders.store import Operation, Program

PROGRAMS = 3000 if os.environ.get("SLIDERS_TEST_FULL") else 300
COLUMNS = ("company", "amount", "city", "odd \"name'")
WORDS = ("Orla", "Tarn", "Ash & Birch", "O'Hara", "🦉", "x; DROP TABLE rows", "NULL")


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def group_of(rng: random.Random) -> Group:
    """2 to 5 rows of one company that contradict each other in `amount` and
    in their last column.
    """
    rows = {
        f"r{i}": ("Orla", float(i), rng.choice((None, "Cork")), f"note {i}")
        for i in rng.sample(range(1, 99), rng.randint(2, 5))
    }
    return Group(COLUMNS, rows)


def drops_rows(rng: random.Random, group: Group) -> str:
    row = rng.choice(list(group.rows))
    return rng.choice(
        (
            f"DELETE FROM rows WHERE row_id = {quoted(row)}",
            f"DELETE FROM rows WHERE amount < {rng.randint(1, 99)}",
            (
                f"UPDATE rows SET merged_into = 'r{rng.randint(100, 999)}' WHERE row_id "
                f"= {quoted(row)}"
            ),
            f"UPDATE rows SET merged_into = row_id WHERE row_id = {quoted(row)}",
            f"UPDATE rows SET row_id = 'r{rng.randint(100, 999)}' WHERE row_id = {quoted(row)}",
            (
                "DELETE FROM rows WHERE rowid IN (SELECT max(rowid) FROM rows GROUP BY "
                f"{named(rng.choice(COLUMNS))})"
            ),
        )
    )


def invents_values(rng: random.Random, group: Group) -> str:
    column = named(rng.choice(("company", "city", COLUMNS[3])))
    return rng.choice(
        (
            (
                f"UPDATE rows SET {column} = "
                f"{quoted(rng.choice(WORDS[1:]) + str(rng.randint(0, 999)))}"
            ),
            (
                f"UPDATE rows SET amount = {rng.randint(100, 9999)} WHERE row_id = "
                f"{quoted(rng.choice(list(group.rows)))}"
            ),
            f"UPDATE rows SET amount = amount * {rng.choice((10, 1000, -1, 1.01))}",
            f"UPDATE rows SET amount = amount + 100 * {rng.randint(1, 9)}",
            (
                f"UPDATE rows SET {column} = {column} || {quoted(rng.choice(WORDS))} WHERE "
                f"{column} IS NOT NULL OR 1"
            ),
            "UPDATE rows SET amount = (SELECT sum(amount) + 100 FROM rows)",
        )
    )


def swaps_values(rng: random.Random, group: Group) -> str:
    """Each row's note goes to another row: no value is lost, every row tells another story."""
    rows = list(group.rows)
    turned = rows[1:] + rows[:1] if rng.random() < 0.5 else rows[-1:] + rows[:-1]
    cases = " ".join(
        f"WHEN {quoted(row)} THEN {quoted(str(group.rows[other][3]))}"
        for row, other in zip(rows, turned, strict=True)
    )
    return f"UPDATE rows SET {named(COLUMNS[3])} = CASE row_id {cases} END"


def reaches_outside(rng: random.Random, group: Group) -> str:
    other = rng.choice(
        ("sl_cells", "sqlite_master", "other", "main.sl_rows", "temp.rows2", "sl_documents")
    )
    return rng.choice(
        (
            f"UPDATE {other} SET value = {rng.randint(0, 9)}",
            f"INSERT INTO {other} SELECT * FROM rows",
            f"DROP TABLE {other}",
            f"CREATE TABLE t{rng.randint(0, 99)} AS SELECT * FROM rows",
            (
                f"CREATE TEMP TRIGGER t{rng.randint(0, 99)} AFTER UPDATE ON rows BEGIN "
                "DELETE FROM rows; END"
            ),
            f"UPDATE rows SET company = (SELECT name FROM {other} LIMIT 1)",
            f"ATTACH DATABASE {quoted(rng.choice(WORDS) + '.db')} AS a{rng.randint(0, 99)}",
            (
                f"PRAGMA {rng.choice(('writable_schema', 'user_version', 'foreign_keys'))} = "
                f"{rng.randint(1, 9)}"
            ),
            f"UPDATE rows SET city = company; DELETE FROM {rng.choice(('rows', other))}",
            f"UPDATE rows SET city = readfile({quoted(rng.choice(WORDS))})",
        )
    )


def multiplies_rows(rng: random.Random, group: Group) -> str:
    sides = ", ".join(f"rows {letter}" for letter in "abcdef"[: rng.randint(2, 6)])
    return rng.choice(
        (
            f"INSERT INTO rows SELECT a.* FROM {sides}",
            f"INSERT INTO rows (row_id) SELECT a.row_id || b.row_id FROM {sides}",
            f"REPLACE INTO rows SELECT a.* FROM {sides} LIMIT {rng.randint(1, 99)}",
            f"UPDATE rows SET amount = (SELECT count(*) + 100 FROM {sides})",
            f"SELECT * FROM {sides}",
        )
    )


def loses_values(rng: random.Random, group: Group) -> str:
    row = rng.choice(list(group.rows))
    return rng.choice(
        (
            f"UPDATE rows SET {named(COLUMNS[3])} = NULL WHERE row_id = {quoted(row)}",
            "UPDATE rows SET amount = NULL",
            f"UPDATE rows SET company = NULL, amount = NULL WHERE row_id <> {quoted(row)}",
            f"UPDATE rows SET merged_into = {quoted(row)} WHERE row_id <> {quoted(row)}",
            f"UPDATE rows SET {named(COLUMNS[3])} = (SELECT min({named(COLUMNS[3])}) FROM rows)",
        )
    )


BAD: tuple[Callable[[random.Random, Group], str], ...] = (
    drops_rows,
    invents_values,
    swaps_values,
    reaches_outside,
    multiplies_rows,
    loses_values,
)
OPERATIONS: tuple[Operation, ...] = (
    "deduplicate",
    "consolidate",
    "resolve_conflict",
    "aggregate",
    "canonicalize",
)


@pytest.mark.parametrize("wrong", BAD, ids=lambda wrong: wrong.__name__)
def test_every_bad_program_is_refused(wrong: Callable[[random.Random, Group], str]) -> None:
    passed = []
    for seed in range(PROGRAMS // len(BAD)):
        rng = random.Random(f"{wrong.__name__}{seed}")
        group = group_of(rng)
        before = dict(group.rows)
        program = Program(
            rng.choice(OPERATIONS),
            rng.choice(("company", "city")),
            (wrong(rng, group),),
            "trust me",
        )
        try:
            run_program(group, program, frozenset({"city"}))
            passed.append(program)
        except RepairError as error:
            assert len(str(error)) > 20
        assert group.rows == before
    assert passed == []


def test_hardly_a_program_comes_twice() -> None:
    made = set()
    for wrong in BAD:
        for seed in range(300 // len(BAD)):
            rng = random.Random(f"{wrong.__name__}{seed}")
            group = group_of(rng)
            made.add((wrong(rng, group), tuple(group.rows.items())))
    assert len(made) >= 290
