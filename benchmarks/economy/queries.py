"""Security advisories of the benchmark's own, and SQL over them: what queries over documents cost
with a reader that knows every value.
"""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from typing import Any

from benchmarks.fidelity.gold import FactTable, World, options_of, rows_of

NAME = "advisories"
NUMBER = 28
QUERIES = (
    "SELECT product, severity FROM docs WHERE score > 9 AND published >= '2023-03-01'",
    "SELECT vendor, COUNT(*) FROM docs WHERE attack_vector = 'network' GROUP BY vendor",
    "SELECT product, fixed_version FROM docs WHERE score >= 5 AND published >= '2023-06-01'",
)
DESCRIBE = {
    "product": "name of the product that the advisory is about",
    "vendor": "name of the company that makes the product",
    "severity": "severity of the flaw: critical, high, medium or low",
    "score": "base score of the flaw, from 0 to 10",
    "attack_vector": "from where the flaw is used: network, adjacent or local",
    "fixed_version": "first version of the product without the flaw",
    "published": "day on which the advisory was published first",
}
_KINDS = {"score": "number", "published": "date"}
_VENDORS = ("Alderbrook", "Brantham", "Castleway", "Dunmore", "Eastlake")
_PRODUCTS = ("Gateway", "Mail Relay", "Print Hub", "Camera", "Backup Agent", "Door Lock", "Meter")
_FLAWS = ("a heap overflow", "a missing check of rights", "a path that is not cleaned", "a race")
_PARTS = ("the parser of its requests", "its update service", "the log reader", "its web console")
_PROSE = (
    "The flaw is in {part}. Whoever sends a request of a certain form makes the program write "
    "behind the end of a buffer, so that the program stops or runs code that was sent along. No "
    "account is needed, and the user of the device sees nothing of it. Devices that are not "
    "switched on cannot be reached in this way.",
    "Administrators find the version in use under Settings, About. A device that gets its updates "
    "by itself is mended within a day. Others load the package from the support pages, check its "
    "signature and restart the device afterwards; the settings stay as they are. Until then the "
    "port of the service can be closed, which switches off the reports as well.",
    "We thank the people who told us of the flaw, gave us the time to mend it, and tried the "
    "package before it was sent out. Nobody is known to have used the flaw. Questions are answered "
    "by the support desk on working days; please name the serial number of the device. This text "
    "may be passed on unchanged.",
)


def _facts(number: int) -> dict[str, Any]:
    """The facts of one advisory."""
    severity, score = (("critical", 9.1), ("high", 7.4), ("medium", 5.2), ("low", 2.3))[number % 4]
    return {
        "product": f"{_PRODUCTS[number % 7]} {100 + number}",
        "vendor": _VENDORS[number % 5],
        "severity": severity,
        "score": round(score + number % 3 / 5, 1),
        "attack_vector": ("network", "adjacent", "local")[number % 3],
        "fixed_version": f"{number % 6 + 2}.{number % 9}.{number + 30}",
        "published": (date(2023, 1, 9) + timedelta(days=11 * number)).isoformat(),
    }


def _text(number: int, facts: dict[str, Any]) -> str:
    """The text of one advisory."""
    told = [prose.format(part=_PARTS[number % 4]) for prose in _PROSE]
    return f"""# Advisory {2023000 + number}: {_FLAWS[number % 4]} in {facts["product"]}

Published: {facts["published"]}
Vendor: {facts["vendor"]}

## Summary

{facts["product"]} has {_FLAWS[number % 4]}. Its severity is {facts["severity"]}, with a base score
of {facts["score"]}; the attack vector is {facts["attack_vector"]}.

## Details

{told[0]} {told[0].replace("The flaw", "The same flaw").replace("No account", "Again no account")}

## Solution

Versions before {facts["fixed_version"]} have the flaw; {facts["fixed_version"]} has it no more.
{told[1]}

## Thanks

{told[2]}
"""


def world() -> World:
    """The advisories with their facts."""
    rows = [(f"advisory_{2023000 + n}.md", _facts(n)) for n in range(NUMBER)]
    documents = {name: _text(n, facts) for n, (name, facts) in enumerate(rows)}
    columns = {
        name: options_of(_KINDS.get(name, "text"), told, (), True)
        for name, told in DESCRIBE.items()
    }
    facts = tuple(rows_of(rows, documents, False))
    return World(NAME, documents, (FactTable("docs", columns, facts, "document", NAME),), ())


def expected() -> list[list[tuple[Any, ...]]]:
    """The rows of each query over the facts, sorted."""
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE docs ({', '.join(DESCRIBE)})")
    marks = ", ".join("?" * len(DESCRIBE))
    for number in range(NUMBER):
        database.execute(f"INSERT INTO docs VALUES ({marks})", tuple(_facts(number).values()))
    return [sorted(database.execute(query).fetchall()) for query in QUERIES]
