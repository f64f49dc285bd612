"""A double that reads the documents of the kept workspaces by patterns, in both dialects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sliders.llm import COMPACT, Request, Response
from sliders.llm.testing import FunctionModel

COST_MOST = "Which bridge cost the most to build, and how much did it cost?"
COST_ALL = "What did all bridges cost together?"
OPENED = "How many bridges were opened after 2000?"
LONGEST = "Which bridge is the longest? Ignore the press note."
SPENT = "How much was spent on each firm's works?"
BERTHED = "What do all berths bring in together?"
STATES = "How many works are done?"
LIKED = "How many reviewers liked the inn?"
COOKS = "How many different cooks are there?"
PRICES = "What do the meals cost together?"
SQL = {
    COST_MOST: "SELECT bridge_name, cost FROM bridges ORDER BY cost DESC LIMIT 1",
    COST_ALL: "SELECT SUM(cost) FROM bridges",
    OPENED: "SELECT COUNT(*) FROM bridges WHERE year_opened > 2000",
    "Which bridge is the longest?": (
        "SELECT bridge_name, length FROM bridges ORDER BY length DESC LIMIT 1"
    ),
    SPENT: "SELECT firm, SUM(cost) FROM works GROUP BY firm ORDER BY firm",
    BERTHED: "SELECT SUM(fee) FROM berths",
    STATES: "SELECT COUNT(*) FROM works WHERE state = 'done'",
    LIKED: "SELECT COUNT(*) FROM reviews WHERE liked = 1",
    COOKS: "SELECT COUNT(DISTINCT cook) FROM reviews",
    PRICES: "SELECT SUM(price) FROM reviews",
}
_BRIDGES = {"bridge_name": "text", "cost": "number", "year_opened": "integer", "length": "number"}
_PATTERNS = {
    "bridge_name": r"([A-Z]\w+(?: \w+)? (?:Footbridge|Viaduct|Bridge|Br|Crossing)\b)",
    "cost": r"(?:cost|paid)(?: \|)? ([\d.,]+ (?:(?:million|thousand) )?euros|[\d,]+)",
    "year_opened": r"opened.*?((?:19|20)\d\d)|((?:19|20)\d\d)\. The mayor opened",
    "length": r"((?:more than )?\d+) metres(?! deep)",
    "keeper": r"keeper is ([A-Z]\w+ [A-Z]\w+)",
    "depth": r"(\d+) metres deep",
    "cook": r"cook is (Holt \S+ Sons)",
    "price": r"costs (\d+)",
}
_SCALES = {"million": 1_000_000, "thousand": 1000}
_GRID = ("part", "firm", "cost", "finished")
_MONTHS = (
    "January February March April May June July August September October November December".split()
)


def full_reader() -> FunctionModel:
    """The double that replies in cells and programs."""
    return FunctionModel(_reply, name="full reader")


def compact_reader() -> FunctionModel:
    """The double that replies in values and odds."""
    return FunctionModel(_compact, name="compact reader", dialect=COMPACT)


def _text(request: Request) -> str:
    return "\n".join(message.content for message in request.messages)


def _reply(request: Request) -> Any:
    text = _text(request)
    shape = request.json_schema or (
        request.reply.model_json_schema() if request.reply is not None else {}
    )
    fields = set(shape.get("properties", ()))
    if "tables" in fields:
        return _schema(text)
    if "action" in fields:
        return {"action": "answer", "sql": SQL[max(SQL, key=text.rfind)]}
    if "rows" in fields:
        return {"rows": list(_rows(text))}
    if "key" in fields:
        return {
            "key": ["bridge_name"],
            "scope": "collection",
            "reason": "a bridge is one bridge in whatever report",
        }
    if "looks" in fields:
        return {"looks": [], "repairs": [_repair(*told) for told in _GROUP.findall(text)]}
    if "parts" in fields:
        return {
            "parts": [
                n
                for n, part in enumerate(text.split("<part number=")[1:], 1)
                if "Remark" not in part[:400]
            ]
            or [1]
        }
    if "hints" in fields:
        return _hints(text)
    if "about" in fields:
        return {
            "title": "Works of the year 2022",
            "kind": "a list of works",
            "who": "the bridge office",
            "date": "2022",
        }
    if "quote" in fields:
        return _read(text, fields)
    return {"cells": []} if "cells" in fields else {}


def _schema(text: str) -> dict[str, Any]:
    columns = [
        {"name": n, "type": t, "description": f"the {n} that the document states"}
        for n, t in _BRIDGES.items()
    ]
    columns[1]["currency"], columns[3]["unit"] = "EUR", "metres"
    table = {
        "name": "bridges",
        "row": "a bridge",
        "rows_per_document": "one",
        "key": ["bridge_name"],
        "columns": columns,
        "key_scope": "collection",
    }
    asked = [
        (int(n), question) for n, question in re.findall(r"^(\d+)\. (.+)$", text, re.MULTILINE)
    ]
    needs = [{"question": n, "columns": _needed(question)} for n, question in asked]
    return {"tables": [table], "needs": needs, "not_covered": []}


def _needed(question: str) -> list[str]:
    sql = SQL.get(question, SQL[COST_MOST])
    if "berths" in sql:
        return ["berths.berth", "berths.ship", "berths.fee"]
    if "works" in sql:
        return [f"works.{name}" for name in ("part", "firm", "cost", "finished", "state")]
    return [f"bridges.{name}" for name in _BRIDGES]


def _hints(text: str) -> dict[str, Any]:
    told = [
        {"question": int(n), "ignore": ["the press note"], "rest": "Which bridge is the longest?"}
        for n in re.findall(r"(\d+)\. Which bridge is the longest\? Ignore", text)
    ]
    return {"kinds": [], "hints": told}


def _read(text: str, fields: set[str]) -> dict[str, Any]:
    found = re.search(r"ferry from Quay 4 to the island leaves at (\d+:\d+)", text)
    return (
        {"quote": found[0] if found else "", "answer": found[1] if found else None}
        if "answer" in fields
        else {}
    )


_GROUP = re.compile(r"^Group (\d+), (\w+)(.*?)</group>", re.MULTILINE | re.DOTALL)


def _repair(number: str, kind: str, body: str) -> dict[str, Any]:
    """Bridges get their longest name; of two values the one holds that is not called preliminary.

    What Garrow Bridge cost is left open, and so is whether Ostrander Wks. is Ostrander Works.
    """
    column = "".join(re.findall(r"in question: (\w+)", body)[:1])
    rows = re.findall(r"^row_id (\S+): (.*?)(?=^row_id|\Z)", body, re.MULTILINE | re.DOTALL)
    left = {
        "group": int(number),
        "operation": "leave",
        "column": "",
        "statements": [],
        "reason": "nothing tells",
    }
    if (
        not rows
        or "Garrow" in body
        or '"Ostrander Wks."' in body
        or (kind == "conflict" and "Railing" in body)
    ):
        return left
    longest = max(
        rows,
        key=lambda row: len(json.loads(row[1].splitlines()[0])[column]) if kind == "names" else 0,
    )
    told = longest if kind == "names" else min(rows, key=lambda row: "preliminary" in row[1])
    sql = f"UPDATE rows SET {column} = (SELECT {column} FROM rows WHERE row_id = '{told[0]}')"
    operation = "canonicalize" if kind == "names" else "resolve_conflict"
    return {
        **left,
        "operation": operation,
        "column": column,
        "statements": [sql],
        "reason": "as the words say",
    }


def _rows(prompt: str) -> Iterator[dict[str, Any]]:
    document = prompt.rsplit("<document>", 1)[-1]
    listing = prompt.split("<document>")[0]
    tables = re.split(r"^Table (\w+):.*$", listing, flags=re.MULTILINE)[1:]
    for name, body in zip(tables[::2], tables[1::2], strict=True):
        columns = re.findall(r"^- (\w+) \(", body, re.MULTILINE)
        if name in ("works", "berths"):
            for line in (one for one in _lines(document) if columns[0] in one):
                yield {"table": name, "cells": {c: _work(c, line[c]) for c in columns if c in line}}
        elif cells := _stated(columns, " ".join(document.split())):
            yield {"table": name, "cells": cells}


def _lines(document: str) -> Iterator[Mapping[str, str]]:
    """Works line by line; of the line of sundries nothing is read."""
    for line in document.splitlines():
        if line.startswith(("part: ", "berth: ")):
            yield dict(re.findall(r"(\w+): ([^;\n]+)", line))
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == len(_GRID) and cells[0] not in ("Part", "---", "Sundry"):
            yield dict(zip(_GRID, cells, strict=True))


def _stated(columns: list[str], document: str) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for name in columns:
        if name in _PATTERNS and (found := re.search(_PATTERNS[name], document)):
            words = next(filter(None, found.groups()))
            cells[name] = {"value": _value(name, words, document), "words": [words]}
            if words.startswith("more than"):
                cells[name]["bound"] = ">"
    if set(columns) & {"bridge_name", "year_opened"} and "opened" not in document:
        return {}
    return cells


def _value(name: str, words: str, document: str) -> str | float:
    if name in ("bridge_name", "keeper", "cook"):
        return words
    scale = next((factor for word, factor in _SCALES.items() if word in words), 1)
    if words == "3,120" and "in thousands" in document:
        scale = 1000
    return round(float(words.removeprefix("more than ").split()[0].replace(",", "")) * scale)


def _work(column: str, words: str) -> dict[str, Any]:
    """A cell of the works; where the words are odd, what a careless model makes of them."""
    numbers = [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", words)]
    match column, words:
        case "fee", _:
            return {"value": numbers[0], "words": [words]}
        case "firm", "unnamed":
            return {"value": "Nobody & Co", "words": ["Nobody & Co"]}
        case "cost", "2 times 150":
            return {"value": 300, "words": [words], "how": "computed", "why": "2 * 150"}
        case "cost", "7,700 perhaps":
            return {"value": 7700, "words": ["7,700"], "sure": False}
        case "cost", _ if mark := re.match(r"more than|about|between", words):
            bound = {"more than": ">", "about": "about"}.get(
                mark[0], " and ".join(map(str, numbers))
            )
            return {
                "value": numbers[0],
                "words": [words],
                "bound": bound if mark[0] != "between" else f"between {bound}",
            }
        case "cost", _:
            return {"value": numbers[0], "words": [words]}
        case "finished", _:
            return {"value": _date(words), "words": [words]}
        case "state", _:
            state, sure = "open" if "nobody" in words else "done", "seems" not in words
            return {
                "value": state,
                "words": [words],
                "how": "judged",
                "why": f"it says: {words}",
                "sure": sure,
            }
    return {"value": words, "words": [words]}


def _date(words: str) -> str:
    if found := re.fullmatch(r"(\d+) (\w+) (\d{4})", words):
        return f"{found[3]}-{_MONTHS.index(found[2]) + 1:02}-{int(found[1]):02}"
    found = re.fullmatch(r"(\d\d)/(\d\d)/(\d{4})", words)
    return f"{found[3]}-{found[2]}-{found[1]}" if found else words


_ASKED = {
    LIKED: ("liked", "liked the inn", "yes/no"),
    COOKS: ("cook", "cooks", "text"),
    PRICES: ("price", "the meals cost", "integer"),
}


def _compact(request: Request) -> Any:
    """Values alone, and odds for what is judged: a mark between 14 and 20 is near the cut."""
    text = _text(request)
    if request.choices:
        if (
            request.stage == "extract"
            and set(request.choices) == {"yes", "no"}
            and (mark := re.findall(r"the mark (\d+)", text))
        ):
            return {"yes": -6.0 + int(mark[-1]) / 10, "no": -4.3}
        return {choice: -0.1 - 3 * (choice != request.choices[-1]) for choice in request.choices}
    question = max(SQL, key=text.rfind)
    if request.stage == "answer":
        return SQL[question]
    fields = (request.json_schema or {}).get("properties", {})
    if "columns" in fields:
        name, asked, kind = _ASKED[question]
        column = {
            "asked": asked,
            "of": "one review",
            "name": name,
            "question": f"What of {name}?",
            "type": kind,
        }
        wanted = fields["columns"]["items"]["properties"]
        told = {
            "sql": SQL[question],
            "row": "a review",
            "in_document": "one",
            "columns": [{part: told for part, told in column.items() if part in wanted}],
        }
        return {name: told[name] for name in fields}
    document = " ".join(text.split())
    said = {n: c["value"] for n in fields if (c := _stated([n], document).get(n))}
    values = {name: said.get(name) for name in fields}
    if "price" in values:
        return Response(
            json.dumps(values), values, sureness={"price": -1.0 if values["price"] == 15 else -0.01}
        )
    return values
