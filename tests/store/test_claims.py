"""Runs of one process: which document each works on, whose turn it is, and under
which terms tables stand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from sliders.store import Claims, Database


@pytest.fixture
def claims(tmp_path: Path) -> Iterator[Claims]:
    database = Database(tmp_path / "w.db")
    yield Claims(database)
    database.close()


def beside(claims: Claims) -> Claims:
    return Claims(claims._database, beside=claims)


def test_a_document_is_of_one_run_until_it_is_given_back(claims: Claims) -> None:
    one, other = beside(claims), beside(claims)
    assert one.take("d0") and one.take("d0") and other.take("d1")
    assert not other.take("d0") and not one.take("d1")
    one.give_back("d0")
    assert other.take("d0")
    other.free()
    assert one.take("d0") and one.take("d1")


async def test_runs_that_read_at_the_same_time_know_of_each_other(claims: Claims) -> None:
    one, other = beside(claims), beside(claims)
    async with one.kept():
        assert not one.shared
        async with other.kept():
            assert one.shared and other.shared
            assert one.take("d0")
    assert beside(claims).take("d0")


async def test_tables_stand_under_the_terms_of_one_at_a_time(claims: Claims) -> None:
    order: list[str] = []

    async def use(terms: str, seconds: float) -> None:
        mine = beside(claims)
        async with mine.standing(terms):
            order.append(f"{terms} in")
            async with mine.standing(terms):  # a stage of the same run
                await asyncio.sleep(seconds)
            order.append(f"{terms} out")

    await asyncio.wait_for(asyncio.gather(use("a", 0.05), use("a", 0.1), use("b", 0.0)), timeout=10)
    assert order == ["a in", "a in", "a out", "a out", "b in", "b out"]


async def test_a_turn_is_one_run_s_alone(claims: Claims) -> None:
    inside = 0

    async def use() -> None:
        nonlocal inside
        async with beside(claims).turn("schema"):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0.01)
            inside -= 1

    await asyncio.wait_for(asyncio.gather(*(use() for _ in range(4))), timeout=10)
