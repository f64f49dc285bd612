"""Repair programs that would break a run, lose or invent, and honest ones."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.attack.tries import Try
from sliders.errors import RepairError
from sliders.reconcile import Group, run_program
from sliders.store import Program

_GROUP = Group(
    ("company", "amount", "city"),
    {f"r{i}": ("Orla", float(i), "Cork" if i % 2 else None) for i in range(1, 21)},
)

BOUNDED: dict[str, tuple[Callable[[int], str], tuple[int, ...]]] = {
    "parentheses": (lambda n: f"amount = {'(' * n}7{')' * n}", (200, 10_000, 100_000)),
    "open parentheses": (lambda n: f"amount = {'(' * n}", (200, 10_000)),
    "brackets": (lambda n: f"amount = {'[' * n}", (10_000,)),
    "signs": (lambda n: f"amount = {'- ' * n}7", (200, 20_000)),
    "negations": (lambda n: f"amount = {'NOT ' * n}7", (200, 20_000)),
    "sums": (lambda n: f"amount = 7{' + 0.5' * n}", (200, 30_000)),
    "cases": (lambda n: f"amount = {'CASE WHEN 1 THEN ' * n}7{' END' * n}", (200, 4_000)),
    "chains": (lambda n: f"amount = 7 WHERE {' AND '.join(['1'] * n)}", (900, 30_000)),
    "calls": (lambda n: f"company = {'upper(' * n}company{')' * n}", (120, 5_000)),
    "lists": (lambda n: f"amount = 7 WHERE amount IN ({', '.join(['1'] * n)})", (900, 90_000)),
    "joined": (lambda n: f"company = {' || '.join(['company'] * n)}", (100, 9_000)),
    "inner questions": (
        lambda n: f"amount = {'(SELECT max(amount) FROM rows WHERE amount > ' * n}1{')' * n}", (40, 900)
    ),
    "every with every": (
        lambda n: f"amount = (SELECT count(*) FROM {', '.join(f'rows AS r{i}' for i in range(n))})", (6, 30, 60)
    ),
    "long text": (lambda n: f"company = '{'x' * n}'", (900_000, 9_000_000)),
    "half a character": (lambda n: f"company = '{chr(0xD800) * n}'", (1, 900)),
    "half outside": (lambda n: chr(0xDFFF) * n, (1, 900)),
    "zero": (lambda n: f"company = 'a{chr(0) * n}b'", (1, 900)),
    "no text": (lambda n: f"company = company || x'{'ff' * n}'", (1, 900)),
    "odd signs": (lambda n: f"company = {chr(n)}", (0x202E, 0xFEFF, 0x1F989)),
    "large numbers": (lambda n: f"amount = {'9' * n}", (400, 90_000)),
    "infinite": (lambda n: f"amount = 9e{n}", (400, 999_999)),
    "doubling": (lambda n: f"city = (SELECT max(upper(company || '{'y' * n}')) FROM rows)", (9, 400_000)),
    "endless": (
        lambda n: "amount = (WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT "
        f"count(*) FROM t WHERE x > {n})",
        (1, 9),
    ),
    "other functions": (
        lambda n: "company = " + ("zeroblob(900000000)", "randomblob(9)", "load_extension('x')")[n], (0, 1, 2)
    ),
    "row numbers": (lambda n: f"row_id = 'x{n}'", (1, 2)),
    "invented": (lambda n: f"amount = {n}.25", (1, 2)),
    "lost": (lambda n: f"company = NULL WHERE amount > {n}", (1, 2)),
}  # fmt: skip
"""What stands after `UPDATE rows SET`, by kind and size."""


_HONEST = ("lists", "chains")


def tries() -> Iterator[Try]:
    """All of them; a program that is no repair has to be refused."""
    for kind, (make, sizes) in BOUNDED.items():
        for size in sizes:
            text = make(size)
            text = text if kind == "half outside" else f"UPDATE rows SET {text}"
            yield Try(kind, text, "bounded" if kind in _HONEST else "refused")
    for number in range(1, 9):
        yield Try("other statement", ("DELETE FROM rows", "DROP TABLE rows", "", ";", "SELECT 1", "VACUUM",
                                      "UPDATE other SET a = 1", "UPDATE rows SET nothing = 1")[number - 1], "refused")  # fmt: skip
    for number in range(1, 21):
        yield Try("control: one amount", f"UPDATE rows SET amount = {number}.0", {float(number)})
        yield Try("control: of a row", (
            f"UPDATE rows SET amount = (SELECT amount FROM rows WHERE row_id = 'r{number}')"
        ), {float(number)})  # fmt: skip


def repaired(one: Try) -> Any:
    """The amounts that a program leaves; refused or not, it says the same a second time."""
    program = Program("resolve_conflict", "amount", (one.given,), "because")
    try:
        first: Any = _left(program)
    except RepairError as error:
        _again(program, str(error))
        raise
    return first


def _again(program: Program, words: str) -> None:
    try:
        _left(program)
    except RepairError as error:
        if str(error) != words:
            raise AssertionError("it is refused with other words") from error
    else:
        raise AssertionError("it is not refused a second time")


def _left(program: Program) -> Any:
    return {values[1] for values in run_program(_GROUP, program).rows.values()}
