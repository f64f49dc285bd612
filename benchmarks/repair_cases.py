"""100 planned defects over fictional companies: what is wrong with the rows of a table, and how
they should stand afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sliders.reconcile import (
    CellSource,
    Criterion,
    DocumentSource,
    MemoryRelation,
    Options,
    Precedence,
)
from sliders.schema import Column, Table
from sliders.values import ColumnType

Kind = Literal["duplicate", "gap", "restated", "unit", "friend"]
NUMBER, INTEGER, DATE = ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.DATE


@dataclass(frozen=True, slots=True)
class Told:
    """One row as a document tells it: values, the words of some, and the document."""

    values: Mapping[str, Any]
    words: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    date: str = ""
    section: str = ""
    kind: Literal["table", "prose", ""] = "prose"


@dataclass(frozen=True, slots=True)
class Defect:
    """Rows with a planned defect.

    `right` are the values of the one row that should stand; None: all rows stay apart.
    """

    kind: Kind
    rows: tuple[Told, ...]
    right: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A table with its defects, and what its user said of the sources."""

    table: Table
    defects: tuple[Defect, ...]
    criteria: tuple[Criterion, ...] = ()
    precede: tuple[Precedence, ...] = ()

    def relation(self) -> tuple[MemoryRelation, Options]:
        """The rows as they were extracted; row ids are
        `<number of the defect>-<number of the row>`.
        """
        rows = [
            (f"{n}-{k}", told)
            for n, defect in enumerate(self.defects)
            for k, told in enumerate(defect.rows)
        ]
        columns = {
            name: [told.values.get(name) for _, told in rows] for name in self.table.column_names
        }
        documents = {
            i: DocumentSource(i, told.name or f"{i}.txt", told.date, n)
            for n, (i, told) in enumerate(rows)
        }
        sources = {
            (i, name): CellSource(
                str(value),
                told.words.get(name, f"{name.replace('_', ' ')}: {value}"),
                told.section,
                unit=told.units.get(name, ""),
                kind=told.kind,
            )
            for i, told in rows
            for name, value in told.values.items()
            if value is not None
        }
        ids = [i for i, _ in rows]
        options = Options(criteria=self.criteria, precede=self.precede)
        return MemoryRelation(columns, ids, ids, ids, documents, sources), options


COMPANY = Table(
    "companies",
    (
        Column("name", description="the company's name"),
        Column("city", description="where its head office is"),
        Column("founded", INTEGER, "the year in which it was founded"),
        Column("employees", INTEGER, unit="people"),
        Column("director", description="who runs it"),
    ),
    row="one company",
    key=("name",),
    pinned=True,
    key_scope="collection",
)
FIGURES = Table(
    "figures",
    (
        Column("company"),
        Column("year", INTEGER),
        Column("revenue", NUMBER, "of the whole year", unit="million dollars"),
        Column("employees", INTEGER),
        Column("city", description="where its head office is"),
    ),
    row="one company in one year",
    key=("company", "year"),
    pinned=True,
    key_scope="collection",
)
ROUTES = Table(
    "routes",
    (
        Column("route"),
        Column("length", NUMBER, unit="km"),
        Column("load", NUMBER, unit="kg"),
        Column("operator"),
    ),
    row="one route",
    key=("route",),
    pinned=True,
    key_scope="collection",
)
SALES = Table(
    "sales",
    (
        Column("company"),
        Column("year", INTEGER),
        Column("region"),
        Column("revenue", NUMBER, unit="million dollars"),
        Column("director"),
    ),
    row="sales of one company in one year",
    key=("company", "year"),
    key_scope="collection",
)
PEOPLE = Table(
    "people",
    (Column("name"), Column("born", DATE), Column("city"), Column("office")),
    row="one person",
    key=("name",),
    key_scope="collection",
    pinned=True,
)
_CITIES = (
    "Arlen",
    "Brook",
    "Corby",
    "Dunmore",
    "Elgin",
    "Fairton",
    "Granby",
    "Holt",
    "Ironton",
    "Jasper",
)

# Fuller form, other form, words that stand around the other form.
_ALIASES = (
    ("Northgate Milling Ltd", "Northgate Milling", ""),
    ("Pellworth Glass, Inc.", "PELLWORTH GLASS", ""),
    ("The Ostrava Pump Company", "Ostrava Pump Co.", ""),
    ("Brandt, Keller and Lowe", "Brandt, Keller & Lowe", ""),
    ("Tarnside Paper GmbH", "Tarnside Paper", ""),
    ("Quill and Arrow Books LLC", "Quill & Arrow Books", ""),
    ("Kovalenko Shipping", "Kovalenco Shipping", ""),
    ("Marchetti Castings", "Marcheti Castings", ""),
    ("Wetherby Instruments", "Wetherbey Instruments", ""),
    ("Lindqvist Turbines", "Lindquist Turbines", ""),
    ("Abernathy Textiles", "Abernathey Textiles", ""),
    ("Halloran Dredging", "Haloran Dredging", ""),
    (
        "Southern Tidal Power Authority",
        "STPA",
        "the Southern Tidal Power Authority (STPA) said that STPA",
    ),
    ("Allied Norwood Cement", "ANC", "Allied Norwood Cement, known as ANC"),
    ("Eastern Ridge Mining Group", "ERMG", "ERMG, short for Eastern Ridge Mining Group"),
    ("Baltic Union Ferry Lines", "BUFL", "the ferries of Baltic Union Ferry Lines (BUFL)"),
    ("Western Harbour Crane Trust", "WHCT", "Western Harbour Crane Trust, or WHCT"),
    ("Upland Rural Gas Supply", "URGS", "Upland Rural Gas Supply (URGS)"),
    (
        "Harrow and Pell Engineering",
        "Harrow and Pell",
        "Harrow and Pell, in full Harrow and Pell Engineering",
    ),
    (
        "Meridian Freight Lines",
        "Meridian Freight",
        "Meridian Freight Lines, which calls itself Meridian Freight",
    ),
    (
        "Castleford Dairy Holdings",
        "Castleford Dairy",
        "Castleford Dairy, the trade name of Castleford Dairy Holdings",
    ),
    (
        "Vantage Polymer Research",
        "Vantage Polymer",
        "Vantage Polymer (Vantage Polymer Research in the register)",
    ),
    (
        "Greystone Bridge Works",
        "Greystone Bridge",
        "Greystone Bridge, registered as Greystone Bridge Works",
    ),
    (
        "Redfern Cable Industries",
        "Redfern Cable",
        "Redfern Cable Industries (hereafter Redfern Cable)",
    ),
    (
        "Technical Foundry of Sund",
        "Tech. Foundry of Sund",
        "Tech. Foundry of Sund, that is the Technical Foundry of Sund",
    ),
    ("National Lamp Works", "Nat. Lamp Works", "Nat. Lamp Works stands for National Lamp Works"),
    ("Industrial Wire of Holm", "Ind. Wire of Holm", "Ind. Wire of Holm (Industrial Wire of Holm)"),
    ("General Rope of Vik", "Gen. Rope of Vik", "Gen. Rope of Vik, or General Rope of Vik"),
    (
        "Central Brick of Dale",
        "Cent. Brick of Dale",
        "Cent. Brick of Dale is Central Brick of Dale",
    ),
    ("Universal Cork of Mere", "Univ. Cork of Mere", "Univ. Cork of Mere: Universal Cork of Mere"),
)
# Two companies each; what the words say of the second.
_FRIENDS = (
    (
        "Delta Freight Lines",
        "Delta Freight Leasing",
        "Delta Freight Leasing, which is not related to Delta Freight Lines",
    ),
    (
        "Moss Foundry Ltd",
        "Moss Foundry Inc",
        "Moss Foundry Inc of Ohio, not to be confused with Moss Foundry Ltd",
    ),
    ("Aster Mill 2", "Aster Mill 3", "Aster Mill 3, the third mill on the river"),
    (
        "Harlan Foods",
        "Harlan Foods Transport",
        "Harlan Foods Transport, a haulier that Harlan Foods sued",
    ),
    ("Sterling Optics", "Starling Optics", "Starling Optics, a competitor of Sterling Optics"),
)
_PEOPLE = (
    ("Jon Asher", "John Asher"),
    ("Marta Lindholm", "Martha Lindholm"),
    ("Peter Voss", "Petra Voss"),
    ("Karl Ahlberg", "Carl Ahlberg"),
    ("Ann Draper", "Anna Draper"),
)
_SELLERS = ("Orla Mills", "Tarn Motors", "Vela Foods", "Brisk Air", "Cobalt Labs")


def _duplicates() -> Iterator[Defect]:
    for n, (full, other, words) in enumerate(_ALIASES):
        city, founded = _CITIES[n % 10], 1901 + 3 * n
        agreeing = n < 12  # rows that agree in telling columns; of the others only the words tell
        first = {
            "name": full,
            "city": city if agreeing else None,
            "founded": founded,
            "director": f"Director {n}",
        }
        second = {
            "name": other,
            "city": city if agreeing else None,
            "founded": founded if agreeing else None,
            "employees": 100 + n,
        }
        rows = (
            Told(first, {"name": f"{full} was founded in {founded}"}),
            Told(second, {"name": words} if words else {}),
        )
        yield Defect(
            "duplicate",
            rows,
            {"founded": founded, "employees": 100 + n, "director": f"Director {n}"},
        )


def _gaps() -> Iterator[Defect]:
    for n in range(20):
        key = {"company": f"Gap Company {chr(65 + n)}", "year": 2010 + n % 5}
        parts: tuple[dict[str, Any], ...] = (
            {"revenue": 10.5 + n},
            {"employees": 50 + n},
            {"city": _CITIES[n % 10]},
        )
        rows = parts if n % 2 else (parts[0] | parts[1], parts[2])
        yield Defect(
            "gap", tuple(Told(key | part) for part in rows), key | parts[0] | parts[1] | parts[2]
        )


def _restated(first: int, last: int) -> Iterator[Defect]:
    for n in range(first, last):
        key = {"company": f"Restated Company {chr(65 + n)}", "year": 2015 + n % 4}
        old, new = 100.0 + 7 * n, 103.0 + 7 * n
        if n < 8:  # the newer document
            rows = [
                Told(key | {"revenue": old}, date="2019-03-01", name=f"report_{n}_a.txt"),
                Told(key | {"revenue": new}, date="2020-03-01", name=f"report_{n}_b.txt"),
            ]
        elif n < 14:  # the audited figure
            rows = [
                Told(
                    key | {"revenue": old},
                    {"revenue": f"Preliminary, not audited: revenue of {old} million"},
                    section="Outlook",
                ),
                Told(
                    key | {"revenue": new},
                    {"revenue": f"Revenue as audited by the firm's auditor: {new} million"},
                    section="Annual accounts",
                ),
            ]
        else:  # the register over the press
            rows = [
                Told(key | {"revenue": old}, name=f"press_{n}.txt"),
                Told(key | {"revenue": new}, name=f"register_{n}.txt"),
            ]
        yield Defect("restated", tuple(rows if n % 2 else rows[::-1]), key | {"revenue": new})


def _units() -> Iterator[Defect]:
    for n in range(15):
        key = {"route": f"Route {n + 1}0"}
        column, unit, other, factor = (
            ("length", "km", "miles", 1.609344),
            ("length", "km", "m", 0.001),
            ("load", "kg", "t", 1000.0),
        )[n % 3]
        own = round(20.0 + 3 * n, 1)
        foreign = round(own / factor, 4)
        rows = (
            Told(key | {column: own}, units={column: unit}),
            Told(key | {column: foreign}, units={column: other}),
        )
        yield Defect("unit", rows if n % 2 else rows[::-1], key | {column: own})


def _like_named() -> Iterator[Defect]:
    for n, (one, other, words) in enumerate(_FRIENDS):
        rows = (
            Told({"name": one, "employees": 300 + n}),
            Told({"name": other, "director": f"Head {n}"}, {"name": words}),
        )
        yield Defect("friend", rows, None)


def _like_people() -> Iterator[Defect]:
    for n, (one, other) in enumerate(_PEOPLE):
        rows = (
            Told({"name": one, "born": f"19{40 + n}-05-01", "city": _CITIES[n]}),
            Told({"name": other, "born": f"19{60 + n}-11-09", "city": _CITIES[n + 4]}),
        )
        yield Defect("friend", rows, None)


def _regions() -> Iterator[Defect]:
    for n, company in enumerate(_SELLERS):
        key = {"company": company, "year": 2022, "director": f"Chair {n}"}
        rows = (
            Told(
                key | {"region": "worldwide", "revenue": 12.7 + n},
                {"revenue": f"Sales worldwide were {12.7 + n} million"},
            ),
            Told(
                key | {"region": "Europe", "revenue": 2.8 + n},
                {"revenue": f"In Europe we sold for {2.8 + n} million"},
            ),
        )
        yield Defect("friend", rows, None)


def plans() -> tuple[Plan, ...]:
    """All tables: 30 duplicates under other names, 20 gaps, 20 restated values, 15 unit
    differences, 15 false friends.
    """
    return (
        Plan(COMPANY, (*_duplicates(), *_like_named())),
        Plan(PEOPLE, tuple(_like_people())),
        Plan(FIGURES, tuple(_gaps())),
        Plan(FIGURES, tuple(_restated(0, 8)), criteria=("newer_document",)),
        Plan(FIGURES, tuple(_restated(8, 14)), criteria=("audited_over_unaudited",)),
        Plan(FIGURES, tuple(_restated(14, 20)), precede=(Precedence("register", "press"),)),
        Plan(ROUTES, tuple(_units())),
        Plan(SALES, tuple(_regions())),
    )
