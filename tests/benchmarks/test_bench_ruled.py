"""Tables with drawn lines, made by the benchmark."""

from __future__ import annotations

from benchmarks.ruled import ours, printed, tables


def test_a_table_of_each_kind_has_every_cell_under_its_headers() -> None:
    made = dict(tables())
    assert len(made) == 10
    assert [kind for kind, table in made.items() if not ours(printed(table), table)] == []
