"""The data sets of the optimizer's benchmark: gold tables and workspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.gold_reader import GoldReader
from benchmarks.optimizer_queries import GoldTable, read_table
from sliders.api import Workspace
from sliders.engine import update_index
from sliders.llm import Model
from sliders.llm.testing import ScriptedModel
from sliders.retrieval import SegmentIndex
from sliders.schema import Schema

SUITES: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "ntsb_aviation": (
        (
            "accidents",
            (
                "event_date",
                "city",
                "state",
                "operator",
                "aircraft_make",
                "aircraft_model",
                "registration",
                "damage",
                "weather",
                "people_killed",
            ),
        ),
    ),
    "restaurant_listings_e2e": (
        (
            "listings",
            (
                "name",
                "eat_type",
                "food",
                "price_range",
                "customer_rating",
                "area",
                "family_friendly",
                "near",
            ),
        ),
    ),
    "wiki_people": (
        (
            "people",
            ("name", "birth_date", "death_date", "country_of_citizenship", "birth_place_partial"),
        ),
    ),
    "fca_judgments": (
        (
            "cases",
            (
                "citation",
                "case_name",
                "applicant",
                "respondent",
                "judge",
                "hearing_date",
                "judgment_date",
                "applicant_nationality",
            ),
        ),
    ),
    "nba_teams_cities_join": (
        ("teams", ("team", "city")),
        ("cities", ("city", "state", "population")),
    ),
}
_Item = TypeVar("_Item")
LONG, JOIN = "fca_judgments", "nba_teams_cities_join"


@dataclass(slots=True)
class Suite:
    """One data set with its workspace."""

    name: str
    tables: dict[str, GoldTable]
    workspace: Workspace
    index: SegmentIndex
    names: dict[str, str]
    holders: dict[tuple[str, str, str], dict[int, tuple[int, int]]] = field(default_factory=dict)

    def reader(self) -> GoldReader:
        """A fresh double."""
        gold = {
            (name, document, column): value
            for name, table in self.tables.items()
            for document, row in table.rows.items()
            for column, value in row.items()
        }
        return GoldReader(gold, self.index, self.names, holders=self.holders)

    def whole(self) -> int:
        """Tokens of all documents."""
        return sum(sum(self.index.sizes(d)) for d in self.index.entries)


def open_suite(
    name: str,
    evals: Path,
    cache: Path,
    *,
    documents: int | None = None,
    model: str | Model | None = None,
    **settings: Any,
) -> Suite:
    """The workspace of a suite; kept in `cache`, since embedding is what takes long.

    Args:
        documents: take only so many documents, spread over all of them.
        model: asked where a query runs without the double.
        settings: of the workspace, `base_url` for instance.
    """
    folder = evals / name / "dev"
    key = "listing" if _in_lines(name) else "doc"
    tables = {
        t: read_table(folder / "tables" / f"{t}.csv", columns, key) for t, columns in SUITES[name]
    }
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / f"{name}.db"
    fresh = not path.exists()
    ws = Workspace(
        path, model=model or ScriptedModel(replies={}, context_tokens=32_000), **settings
    )
    if fresh:
        _add(ws, name, folder / "docs", documents)
    ws.session.catalog.schemas.save(Schema(tuple(t.table for t in tables.values())), "gold columns")
    names = {d.id: d.name for d in ws.session.catalog.documents.all()}
    held = frozenset(names.values())
    tables = {
        t: replace(g, rows={n: row for n, row in g.rows.items() if n in held})
        for t, g in tables.items()
    }
    return Suite(name, tables, ws, update_index(ws.session), names)


def _in_lines(name: str) -> bool:
    """Whether each line of a file is a document."""
    return name == "restaurant_listings_e2e"


def _add(ws: Workspace, name: str, folder: Path, documents: int | None) -> None:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if not _in_lines(name):
        ws.add(_spread(files, documents))
        return
    lines = [
        line.partition("] ")
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    for mark, _, text in _spread([line for line in lines if line[2]], documents):
        ws.add_text(text, mark.strip("["))


def _spread(items: Sequence[_Item], count: int | None) -> list[_Item]:
    """So many items, evenly over all of them."""
    if count is None or count >= len(items):
        return list(items)
    return [items[at * len(items) // count] for at in range(count)]
