"""The guard: honest repair programs pass, 300 that lose, invent, swap or reach
outside are refused.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from sliders.errors import RepairError
from sliders.reconcile import Case, Group, repaired, run_program
from sliders.store import Operation, Program

GROUPS = (
    Group(
        ("company", "amount", "city"),
        {"r1": ("Orla", 5.0, None), "r2": ("Orla", 7.0, "Cork"), "r3": ("Orla", 5.0, None)},
    ),
    Group(
        ("company", "amount", "city"), {"r1": ("Orla", 5.0, "Cork"), "r2": ("Orla", 7.0, "Cork")}
    ),
    Group(
        ("company", "amount", "city"),
        {"r1": ("Ol'ga 🦉", 1.5, "Bray"), "r2": ("Ol'ga 🦉", 2.5, None)},
    ),
)
OPERATIONS: tuple[Operation, ...] = (
    "deduplicate",
    "consolidate",
    "resolve_conflict",
    "aggregate",
    "canonicalize",
)


@pytest.mark.parametrize(
    ("program", "staying"),
    [
        (
            Program("resolve_conflict", "amount", ("UPDATE rows SET amount = 7.0",), "r2 is newer"),
            {"r1": ("Orla", 7.0, None), "r2": ("Orla", 7.0, "Cork"), "r3": ("Orla", 7.0, None)},
        ),
        (
            Program(
                "deduplicate",
                "",
                ("UPDATE rows SET merged_into = 'r1' WHERE row_id = 'r3'",),
                "the same",
            ),
            {"r1": ("Orla", 5.0, None), "r2": ("Orla", 7.0, "Cork")},
        ),
        (
            Program(
                "resolve_conflict",
                "amount",
                (
                    "UPDATE rows SET amount = 5.0 WHERE row_id = 'r2'",
                    "UPDATE rows SET merged_into = 'r2' WHERE row_id <> 'r2'",
                ),
                "audited",
            ),
            {"r2": ("Orla", 5.0, "Cork")},
        ),
        (
            Program(
                "consolidate",
                "city",
                ("UPDATE rows SET city = (SELECT max(city) FROM rows) WHERE city IS NULL",),
                "one city is stated",
            ),
            {"r1": ("Orla", 5.0, "Cork"), "r2": ("Orla", 7.0, "Cork"), "r3": ("Orla", 5.0, "Cork")},
        ),
    ],
)
def test_honest_programs_pass(program: Program, staying: dict[str, tuple[object, ...]]) -> None:
    assert run_program(GROUPS[0], program).rows == staying


def test_an_additive_column_may_be_summed_and_the_sum_is_recomputed() -> None:
    statements = (
        "UPDATE rows SET amount = (SELECT sum(amount) FROM rows)",
        "UPDATE rows SET merged_into = 'r2' WHERE row_id <> 'r2'",
    )
    program = Program("aggregate", "amount", statements, "parts of one total")
    assert run_program(GROUPS[0], program, frozenset({"amount"})).rows == {
        "r2": ("Orla", 17.0, "Cork")
    }
    with pytest.raises(RepairError, match="additive"):
        run_program(GROUPS[0], program)
    wrong = replace(program, statements=("UPDATE rows SET amount = 18",))
    with pytest.raises(RepairError, match="sum"):
        run_program(GROUPS[0], wrong, frozenset({"amount"}))


SAME = Program(
    "deduplicate", "", ("UPDATE rows SET merged_into = 'r1' WHERE row_id = 'r2'",), "one thing"
)
LAMPS = Group(
    ("title", "maker", "price"),
    {
        "r1": ("storm lamp Mark 4", None, 20.0),
        "r2": ("Mark 4 lamp", "Tarnside", 22.0),
        "r3": ("storm lamp", None, None),
    },
)


def records(group: Group = LAMPS, open_: tuple[str, ...] = ("title", "price")) -> Case:
    return Case("records", group, open_, {}, tuple((row,) for row in group.rows))


def test_records_that_are_one_thing_are_what_the_row_that_stays_says() -> None:
    merge = replace(SAME, statements=("UPDATE rows SET merged_into = 'r1' WHERE row_id <> 'r1'",))
    outcome = repaired(records(), [merge])
    assert outcome.verdict == "repaired" and outcome.steps[-1].after.rows == {
        "r1": LAMPS.rows["r1"]
    }
    with pytest.raises(RepairError, match="lost"):
        repaired(replace(records(), kind="conflict"), [merge])


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        (("UPDATE rows SET merged_into = 'r1' WHERE row_id = 'r2'",), "contradict"),
        (("UPDATE rows SET merged_into = 'r3' WHERE row_id <> 'r3'",), "lacks a value in 'price'"),
        (
            (
                (
                    "UPDATE rows SET price = 22.0, merged_into = CASE row_id WHEN 'r1' THEN "
                    "NULL ELSE 'r1' END"
                ),
            ),
            "was changed",
        ),
        (
            (
                (
                    "UPDATE rows SET maker = 'Orla', merged_into = CASE row_id WHEN 'r1' THEN "
                    "NULL ELSE 'r1' END"
                ),
            ),
            "no source",
        ),
        (("UPDATE rows SET merged_into = 'r9' WHERE row_id <> 'r1'",), "do not stay"),
        (("UPDATE rows SET merged_into = 'r1'",), "do not stay"),
    ],
)
def test_records_are_merged_into_a_row_as_it_stands(statements: tuple[str, ...], why: str) -> None:
    with pytest.raises(RepairError, match=why):
        repaired(records(), [replace(SAME, statements=statements)])


OUTSIDE = (
    "DELETE FROM rows",
    "DELETE FROM rows WHERE row_id = 'r1'",
    "INSERT INTO rows SELECT * FROM rows",
    "INSERT INTO rows SELECT a.* FROM rows a, rows b",
    "INSERT OR REPLACE INTO rows (row_id) VALUES ('r9')",
    "REPLACE INTO rows (row_id) VALUES ('r1')",
    "DROP TABLE rows",
    "ALTER TABLE rows ADD COLUMN extra",
    "ALTER TABLE rows RENAME TO gone",
    "CREATE TABLE other AS SELECT * FROM rows",
    "CREATE TRIGGER t AFTER UPDATE ON rows BEGIN DELETE FROM rows; END",
    "CREATE VIEW v AS SELECT * FROM rows",
    "CREATE INDEX i ON rows (company)",
    "UPDATE sqlite_master SET sql = ''",
    "UPDATE other SET company = 'x'",
    "UPDATE rows SET row_id = 'r9'",
    "UPDATE rows SET row_id = 'r9' WHERE row_id = 'r1'",
    "UPDATE OR REPLACE rows SET row_id = 'r1'",
    "ATTACH DATABASE ':memory:' AS x",
    "ATTACH DATABASE 'audit.db' AS x",
    "PRAGMA writable_schema = 1",
    "PRAGMA user_version = 7",
    "VACUUM INTO 'copy.db'",
    "SELECT load_extension('x')",
    "UPDATE rows SET company = readfile('/etc/passwd')",
    "UPDATE rows SET company = (SELECT group_concat(sql) FROM sqlite_master)",
    "UPDATE rows SET company = upper(company) FROM pragma_table_info('rows')",
    "UPDATE rows SET amount = 1; DROP TABLE rows",
    "SELECT company FROM rows",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
    "REINDEX rows",
    "ANALYZE",
    "SELEKT 1",
)
INVENTED = (
    "UPDATE rows SET company = 'Nobody Ltd'",
    "UPDATE rows SET company = company || '!'",
    "UPDATE rows SET company = upper(company) || ' X'",
    "UPDATE rows SET amount = 6.0",
    "UPDATE rows SET amount = (SELECT avg(amount) FROM rows)",
    "UPDATE rows SET amount = amount * 1000",
    "UPDATE rows SET amount = '5.0'",
    "UPDATE rows SET city = 'Dublin' WHERE city IS NULL",
    "UPDATE rows SET city = company",
    "UPDATE rows SET company = city WHERE city IS NOT NULL",
)
LOST = (
    "UPDATE rows SET company = NULL",
    "UPDATE rows SET amount = NULL, company = NULL",
    "UPDATE rows SET city = NULL, amount = NULL",
    "UPDATE rows SET merged_into = 'r9' WHERE row_id = 'r1'",
    "UPDATE rows SET merged_into = row_id",
    "UPDATE rows SET merged_into = 'r1'",
    "UPDATE rows SET merged_into = CASE row_id WHEN 'r1' THEN 'r2' ELSE 'r1' END",
    "UPDATE rows SET merged_into = ''  WHERE row_id = 'r2'",
)
BAD = [
    (group, operation, statement)
    for group, operation, statement in product(
        range(len(GROUPS)), OPERATIONS, OUTSIDE + INVENTED + LOST
    )
]


def test_there_are_at_least_300_bad_programs() -> None:
    assert len(BAD) >= 300


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_every_bad_program_is_refused(group: int, operation: Operation) -> None:
    passed = []
    for number, kind, statement in BAD:
        if (number, kind) != (group, operation):
            continue
        for column in ("company", "city"):
            try:
                run_program(
                    GROUPS[group], Program(kind, column, (statement,), "trust me"), frozenset()
                )
                passed.append((column, statement))
            except RepairError:
                continue
    assert passed == []


def test_values_are_not_swapped_between_rows() -> None:
    group = Group(("company", "amount"), {"r1": ("Orla", 5.0), "r2": ("Orla", 7.0)})
    swap = ("UPDATE rows SET amount = CASE amount WHEN 5.0 THEN 7.0 ELSE 5.0 END",)
    with pytest.raises(RepairError, match="changed"):
        run_program(group, Program("consolidate", "", swap, ""))


def test_a_merge_may_not_hide_a_value_of_another_column() -> None:
    hide = ("UPDATE rows SET merged_into = 'r1' WHERE row_id = 'r2'",)
    with pytest.raises(RepairError, match="lost"):
        run_program(GROUPS[1], Program("deduplicate", "", hide, ""))


@pytest.mark.parametrize("statements", [(), ("SELECT 1",) * 21])
def test_a_program_has_some_statements_and_not_many(statements: tuple[str, ...]) -> None:
    with pytest.raises(RepairError, match="statements"):
        run_program(GROUPS[0], Program("deduplicate", "", statements, ""))


def test_an_endless_statement_is_stopped() -> None:
    group = Group(("n",), {f"r{i}": (float(i),) for i in range(400)})
    slow = (
        "UPDATE rows SET n = (SELECT count(*) FROM rows a, rows b, rows c, rows d, rows e, rows f)",
    )
    with pytest.raises(RepairError, match="interrupted"):
        run_program(group, Program("consolidate", "", slow, ""))


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (f"UPDATE rows SET amount = {'(' * 10_000}7{')' * 10_000}", "too deeply"),
        (f"UPDATE rows SET amount = 7{' + 0' * 30_000}", "at most 50000 characters"),
        ("UPDATE rows SET company = '\ud800'", "half a character"),
        (f"UPDATE rows SET company = {' || '.join(['company'] * 2_000)}", "too deeply"),
        ("UPDATE rows SET company = company || x'ff'", "Could not decode"),
    ],
)
def test_a_program_that_would_break_its_reader_is_refused_each_time(
    statement: str, why: str
) -> None:
    program = Program("resolve_conflict", "amount", (statement,), "")
    for _ in range(2):
        with pytest.raises(RepairError, match=why) as refused:
            run_program(GROUPS[0], program)
        str(refused.value).encode()


def test_texts_on_which_the_parser_itself_breaks_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise AttributeError("'NoneType' object has no attribute 'copy'")

    monkeypatch.setattr("sqlglot.parse", broken)
    with pytest.raises(RepairError, match="does not parse"):
        run_program(GROUPS[0], Program("consolidate", "", ("UPDATE rows SET city = 1",), ""))
