"""What a workspace tells its users, as text: by the commands that look at it, pages and exports.

Only public names of the package are used, so that the text stands for what people see, whatever the
rooms are called.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import sliders
from sliders.cli import run
from tests.workspaces import reader

DOCUMENTS = (
    "dunmarrow.md",
    "dunmarrow_press_note.txt",
    "brackwater.md",
    "eastgate.md",
    "fenwick.html",
    "ferry_timetable.txt",
    "survey.pdf",
    "works_2021.md",
    "works_2022.txt",
    "harbour/papers/old_minutes.doc",
    "harbour/papers/damaged.pdf",
    "lock_4.txt",
    "review_5.txt",
    "nobody_added.txt",
)
QUERIES = (
    "SELECT bridge_name, length FROM bridges WHERE length > 100 ORDER BY length",
    "SELECT firm, COUNT(*), SUM(cost) FROM works GROUP BY firm ORDER BY firm",
    "SELECT document, keeper FROM docs WHERE depth > 5",
)
PAGES = (("1",), ("4",), ("6",), ("18",), ("14", "--against", "2"))
LOOKS = (
    ("tables",),
    ("tables", "--json"),
    ("runs",),
    ("runs", "--json"),
    ("schema",),
    ("schema", "--json"),
    ("conflicts",),
    ("conflicts", "bridges", "--json"),
    ("decisions",),
    ("decisions", "--json"),
    ("diff",),
    ("diff", "1", "13"),
    ("diff", "2", "8"),
    ("diff", "2", "14", "--json"),
)


def looked(place: str, folder: Path) -> str:
    """What the commands say that look at a workspace, and its tables and exports.

    `folder` gets what is written on the way.
    """
    tables, rows = _rows(place)
    commands = [
        *LOOKS,
        *(("tables", name) for name in tables),
        *(("why", about) for about in (*tables, *DOCUMENTS, *rows)),
        ("why", rows[0], "--json"),
        *(("query", sql, "-q") for sql in QUERIES),
    ]
    parts = [said([*command, "-w", place], place) for command in commands]
    return "\n".join([*parts, *_verified(place), *_frames(place), *_exports(place, folder)])


def pages(place: str, folder: Path) -> str:
    """What audit pages show."""
    return "\n".join(_page(place, folder / "page.html", page) for page in PAGES)


def asked(place: str) -> str:
    """The plans of queries, and the answers to questions that were asked before.

    They come from what is known, or are read again.
    """
    with sliders.Workspace(place, model=reader.full_reader()) as ws:
        parts = [f"# the plan of {sql}\n{ws.explain(sql)}\n" for sql in QUERIES]
        parts += [_answered(ws, question) for question in FULL]
    with sliders.Workspace(place, model=reader.compact_reader()) as ws:
        parts += [_answered(ws, question) for question in COMPACT]
        parts += ["\n".join(["# contradictions", *map(str, ws.conflicts()), ""])]
    return "\n".join(parts)


FULL = (reader.COST_ALL, reader.LONGEST, reader.SPENT, reader.BERTHED)
COMPACT = (reader.LIKED, reader.COOKS)


def _answered(ws: sliders.Workspace, question: str) -> str:
    answer = ws.ask(question)
    lines = [
        f"# {question}",
        answer.status,
        answer.text,
        answer.sql,
        *map(str, answer.citations),
        f"range: {answer.range}",
    ]
    return "\n".join(
        [*lines, *map(str, answer.doubts), str(answer.completeness), *answer.notes, ""]
    )


def said(arguments: Sequence[str], place: str) -> str:
    """A command with its exit code, what it printed, and what it said on standard error."""
    out, beside = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(beside):
        code = run(list(arguments))
    heading = shlex.join("WORKSPACE" if part == place else part for part in arguments)
    warned = "".join(f"! {line}\n" for line in beside.getvalue().splitlines())
    text = f"$ sliders {heading}\n(exit code {code})\n{out.getvalue()}{warned}"
    return _without(place, text)


def _without(place: str, text: str) -> str:
    """A text without the place of the workspace, however it is written."""
    return _SERVER.sub("WORKSPACE", text.replace(place, "WORKSPACE"))


_SERVER = re.compile(r"postgresql\+psycopg://[^\s<'\"]*")


def _rows(place: str) -> tuple[list[str], list[str]]:
    """The tables, and of each the ids of its first rows and of those whose cells are odd."""
    with sliders.Workspace(place, write=False) as ws:
        ids = {
            name: list(ws.query(f"SELECT row_id FROM {name} ORDER BY document, row_id").iloc[:, 0])
            for name in ws.tables
        }
    return list(ids), [
        row for name, found in ids.items() for row in (found if name == "works" else found[:3])
    ]


def _verified(place: str) -> Iterator[str]:
    with sliders.Workspace(place, write=False) as ws:
        yield "\n".join(["# problems that are found", *ws.verify(), ""])
    if "://" not in place:
        yield said(["verify", place], place)


def _frames(place: str) -> Iterator[str]:
    """The frame of each table as CSV."""
    with sliders.Workspace(place, write=False) as ws:
        for name, frame in ws.tables.items():
            yield f"# the frame of {name}\n{frame.to_csv(index=False)}"


_PROGRAMS = r"<style>.*?</style>|<script>.*?</script>|<meta http-equiv[^>]*>"


def _page(place: str, target: Path, options: Sequence[str]) -> str:
    """An audit page without its style and its program: what it shows, and its data."""
    target.unlink(missing_ok=True)
    heading = said(["view", *options, "-w", place, "--out", str(target)], place).replace(
        str(target), "PAGE"
    )
    page = re.sub(_PROGRAMS, "", target.read_text("utf-8"), flags=re.DOTALL)
    shown, data, rest = re.split(
        r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL
    )
    texts = json.dumps(json.loads(data), ensure_ascii=False, indent=1, sort_keys=True)
    return _without(
        place,
        "\n".join(
            [heading, *filter(None, map(str.rstrip, f"{shown}\n{rest}".splitlines())), texts, ""]
        ),
    )


def _exports(place: str, folder: Path) -> Iterator[str]:
    """The audit database by its tables and views with counts of rows, and the CSV files."""
    target = folder / "audit.db"
    yield said(["export", str(target), "-w", place], place).replace(str(target), "AUDIT")
    with contextlib.closing(sqlite3.connect(target)) as made:
        for name, sql in made.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
        ).fetchall():
            counted = sql.startswith(("CREATE TABLE", "CREATE VIEW"))
            rows = made.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] if counted else ""
            yield f"# {rows} {' '.join(sql.split())}"
    yield said(["verify", str(target)], place).replace(str(target), "AUDIT")
    yield said(["export", str(folder / "csv"), "--format", "csv", "-w", place], place).replace(
        str(folder), "FOLDER"
    )
    for path in sorted((folder / "csv").iterdir()):
        yield f"# {path.name}\n{path.read_text('utf-8')}"
