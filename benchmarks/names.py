"""Names that are one thing or two: does reconciliation join the right ones?

    python -m benchmarks.names [--model NAME --base-url URL [--api-key KEY] [--dialect NAME]]
        [--json FILE]

Each case is a column of names; those between bars are one thing. `--model local` is the embedded
model, nothing is code alone. The cases were written before anything was tuned on them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

from benchmarks.repair import connected, rows_left
from sliders.engine import ways_of
from sliders.llm import Model
from sliders.reconcile import PROGRAMS, MemoryRelation, reconcile_table
from sliders.schema import Column, Table
from sliders.values import ColumnType

TABLE = Table(
    "things",
    (Column("name"), Column("size", ColumnType.NUMBER), Column("place"), Column("note")),
    row="one thing",
    key=("name",),
    pinned=True,
)
SAME = """
Universität Marrenfeld = Univ. Marrenfeld
Friedrich Oswald Krantz = Friedrich O. Krantz
Rua da Encarnação = R. da Encarnação
Société Vasseur = Soc. Vasseur
Avenida Constitución = Av. Constitución
Lake Tarrowmere = L. Tarrowmere
Professor Ilse Brandau = Prof. Ilse Brandau
Ministério da Pesca = Min. da Pesca
Escuela Normal Zarauz = Esc. Normal Zarauz
Corbel Street = Corbel Str.
Dunmarrow Brewery = Dunmarrow Br.
Hallvard Mountain Observatory = Hallvard Mtn. Observatory
Sankt Hildburg = St. Hildburg
Mikkelsen Boatyard = Mikkelson Boatyard
Panagiotopoulos Olive Oil = Panagiotopulos Olive Oil
Chateau Grandmaison = Chateau Grandmason
Restaurant Zum Goldenen Hirsch = Zum Goldenen Hirsch
Drexford 500 Coffee Grinder = Drexford 500
Municipality of Østerlund = Østerlund
Norddeutsche Reederei Kontor = NRK
Instituto Nacional de Hidrología = INH
Compagnie Générale Delmas = Cie. Générale Delmas
"""
APART = """
Dunmarrow Bridge | Dunmarrow Brewery | Dunmarrow Br.
Jens Halvorsen | Johan Halvorsen | J. Halvorsen
Port Ellery | Port Ellery North
Ravnholt Senior | Ravnholt Junior
Vega Hotel Madrid | Vega Hotel Malaga
Kessler 4T Drill | Kessler 4 Drill
Maria Lindt | Mario Lindt
Sanderson Steel | Anderson Steel
Ostwald Bank | Westwald Bank
Rue Saint-Marcel | Rue Saint-Martial
Lago Superiore | Lago Inferiore
Bellmore Heights School | Bellmore Heights
Karin Ek | Karin Eklund
Dr. Mori Clinic | Drake Mori Clinic
St. Olave Street | Stanley Olave Street
Grand Central | Grand Centre
Hôtel du Nord | Hôtel du Nord-Est
No. 3 Mill | North 3 Mill
Corvane Tablet Mini | Corvane Tablet
Stellan Brik | Stellan Brink
Hafen Nordrup | Hafen Sudrup
Paulina Reis | Paulino Reis
Univ. Kassburg | Universal Kassburg
"""
FILLERS = ("Quorn Ashby", "Vittel Tamber", "Oskarine Dell")


def cases() -> list[tuple[list[str], int]]:
    """Names of each case, and how many things they are."""
    same = [(line.split(" = "), 1) for line in SAME.strip().splitlines()]
    return same + [
        (names, len(names)) for names in (line.split(" | ") for line in APART.strip().splitlines())
    ]


async def things(names: list[str], model: Model | None) -> tuple[int, list[str]]:
    """How many things reconciliation makes of the names, whose rows state different columns,
    and what was decided.
    """
    listed, size = [*names, *FILLERS], len(names)
    ids = [f"r{n}" for n in range(len(listed))]
    columns = {
        "name": listed,
        "size": [10.5 if n == 0 else 90.0 + n if n >= size else None for n in range(len(listed))],
        "place": [
            "Arlen" if n == 1 else f"Town {n}" if n >= size else None for n in range(len(listed))
        ],
        "note": [None] * len(listed),
    }
    relation = MemoryRelation(columns, ids, ids, ids)
    repairer = ways_of(model).repairer if model else PROGRAMS
    result = await reconcile_table(TABLE, relation, None, model, repairer)
    found = sum(row[-2] in ids[:size] for row in rows_left(TABLE, relation, result))
    return found, [str(d.verdict + ": " + d.reason) for d in result.decisions]


async def measure(given: argparse.Namespace) -> dict[str, object]:
    """Right and wrong cases."""
    models = connected(given) if given.model else None
    model = models.model_for("reconcile") if models else None
    right = {"same": 0, "apart": 0}
    wrong = []
    for names, wanted in cases():
        found, told = await things(names, model)
        right["same" if wanted == 1 else "apart"] += found == wanted
        if found != wanted:
            wrong.append(f"{names}: {found} things; {told[:-1]}")
    if models:
        await models.aclose()
    return {"same": right["same"], "apart": right["apart"], "cases": len(cases()), "wrong": wrong}


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", default="", help="a model of the server, local, or nothing: code alone"
    )
    parser.add_argument("--base-url", default="")
    parser.add_argument("--api-key", default="none")
    parser.add_argument("--dialect", default="auto")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    figures = asyncio.run(measure(given))
    print(*figures.pop("wrong"), sep="\n")  # type: ignore[misc]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
