"""`python -m benchmarks.languages --json FILE`: what the check of values makes of lines
in fifteen languages.

A reader double gives the right values of a language's ten lines in one run and a wrong one of each
in another, through a workspace in the full dialect. A right value should stand without a finding, a
wrong one should come back as one.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

import sliders
from benchmarks.fidelity.gold import Fact, FactRow, FactTable, World
from benchmarks.fidelity.reader import PerfectReader
from benchmarks.fidelity.run import schema_of
from benchmarks.suites import GoldQuestion

_LINES = Path(__file__).with_name("lines.yaml")
_QUESTION = "What does the report state?"


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line with the words of one value, its column's options, the right
    value and a wrong one.
    """

    text: str
    words: str
    options: Mapping[str, Any]
    right: str | int | float
    wrong: str | int | float


@dataclass(frozen=True, slots=True)
class Tally:
    """Of one language: right values without a finding or a doubt, wrong ones found, and
    what failed, in words.
    """

    lines: int
    right_without_finding: int
    wrong_found: int
    failed: tuple[str, ...]


def lines() -> dict[str, list[Line]]:
    """The lines of every language."""
    read = yaml.safe_load(_LINES.read_text(encoding="utf-8"))
    return {language: [_line(*said) for said in rows] for language, rows in read.items()}


def _line(text: str, words: str, column: str, right: Any, wrong: Any) -> Line:
    kind, _, rest = column.partition(" ")
    options = {"type": kind} | (
        {"currency" if re.fullmatch("[A-Z]{3}", rest) else "unit": rest} if rest else {}
    )
    return Line(text, words, options, right, wrong)


def found_in(rows: Sequence[Line], wrong: bool) -> dict[int, str]:
    """The lines whose value came back or is doubted, by number, and why, when all right or all
    wrong values are given.
    """
    columns = {
        f"value_{n}": {"description": f"the value of line {n}", **row.options}
        for n, row in enumerate(rows)
    }
    facts = {
        name: Fact(row.wrong if wrong else row.right, (row.words,))
        for name, row in zip(columns, rows, strict=True)
    }
    documents = {"report.md": "\n\n".join(row.text for row in rows)}
    table = FactTable("reports", columns, (FactRow("report.md", facts),), "document", "a report")
    sql = f"SELECT {', '.join(columns)} FROM reports"
    world = World(
        "languages",
        documents,
        (table,),
        ((GoldQuestion("languages", _QUESTION, ("",), "table"), sql),),
    )
    reader = PerfectReader(world)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.md")
        path.write_text(documents["report.md"], encoding="utf-8")
        with sliders.Workspace(Path(folder, "workspace.db"), model=reader.model) as ws:
            ws.add([str(path)])
            ws.pin_schema(schema_of(world))
            ws.ask(_QUESTION)
            cells = [
                cell for row in ws.session.catalog.extractions.rows("reports") for cell in row.cells
            ]
    told = {name: "sent back" for name, _ in reader.doubted}
    told |= {
        cell.column: cell.doubt or str(cell.absence) for cell in cells if cell.doubt or cell.absence
    }
    return {int(name.removeprefix("value_")): words for name, words in told.items()}


def measure(rows: Sequence[Line]) -> Tally:
    """The tally of one language."""
    right, wrong = found_in(rows, wrong=False), found_in(rows, wrong=True)
    failed = [
        f"right {row.right} for {row.words!r}: {right[n]}"
        for n, row in enumerate(rows)
        if n in right
    ]
    failed += [
        f"wrong {row.wrong} for {row.words!r} passed"
        for n, row in enumerate(rows)
        if n not in wrong
    ]
    return Tally(len(rows), len(rows) - len(right), len(wrong), tuple(failed))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when every value was judged as it should be, else 1."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.languages", description=__doc__)
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--language", help="only this one")
    args = parser.parse_args(argv)
    tallies = {
        language: measure(rows)
        for language, rows in lines().items()
        if args.language in (None, language)
    }
    print("language  right without a finding  wrong found")
    for language, tally in tallies.items():
        print(
            f"{language:8}  {tally.right_without_finding:>16} of {tally.lines}  "
            f"{tally.wrong_found:>5} of {tally.lines}"
        )
        print("".join(f"          {words}\n" for words in tally.failed), end="")
    if args.json:
        figures = {language: asdict(tally) for language, tally in tallies.items()}
        args.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False), encoding="utf-8")
    return int(any(tally.failed for tally in tallies.values()))


if __name__ == "__main__":
    raise SystemExit(main())
