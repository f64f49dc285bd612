"""What an audit page holds, without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.answer import Answer
from sliders.audit import AuditPage, ShownValue, collect, render, view_file
from sliders.cli import run as command
from sliders.errors import StoreError
from sliders.store import Catalog, Database
from tests.worlds import Reader, document

from .world import changed, harbour, hostile, listed


class Elements(HTMLParser):
    """The scripts, styles and policy of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.blocks: list[tuple[str, dict[str, str | None], str]] = []
        self.policy = ""
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        assert not [name for name in given if name.startswith("on") or name == "style"], (
            "nothing inline"
        )
        self._open = (tag, given) if tag in ("script", "style") else None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.blocks.append((*self._open, data))
            self._open = None


def of(path: Path) -> AuditPage:
    with Database(path, write=False) as database:
        return collect(Catalog(database))


def data_of(html: str) -> Any:
    return json.loads(
        next(text for _, given, text in Elements(html).blocks if given.get("id") == "data")
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> AuditPage:
    return of(harbour(tmp_path_factory.mktemp("view") / "harbour.db"))


def value(page: AuditPage, column: str) -> ShownValue:
    table = page.tables[0]
    return table.rows[0].values[[c.name for c in table.columns].index(column)]


def test_a_value_tells_its_readings(page: AuditPage) -> None:
    computed, judged = value(page, "people").sources[0], value(page, "grave").sources[0]
    assert (computed.how, computed.reason, [p.page for p in computed.places]) == (
        "computed",
        "1 + 2",
        [1, 1],
    )
    assert (judged.how, judged.reason, judged.odds) == (
        "judged",
        "the ship is gone",
        "yes 82%, no 18%",
    )
    assert judged.doubt == "its odds lie near the cut"
    assert value(page, "grave").shown is True


def test_a_value_tells_who_changed_it_and_from_what(page: AuditPage) -> None:
    port, damage = value(page, "port").changes[0], value(page, "damage").changes[0]
    assert (port.by, port.after, port.reason) == ("maria", "Bergen", "the log says so")
    assert (damage.before, damage.after, damage.reason) == ((4500,), 4600, "audited over unaudited")
    assert [source.agrees for source in value(page, "damage").sources] == [True, False]
    assert page.tables[0].rows[0].of == 2


def test_an_empty_value_says_why(tmp_path: Path) -> None:
    notes = of(listed(tmp_path / "notes.db", [("a.txt", "Words here.", "Words")]))
    assert notes.tables[0].rows[0].values[1].empty == "not asked"


def test_rows_behind_the_answer_and_documents_that_gave_nothing(page: AuditPage) -> None:
    assert page.tables[0].rows[0].behind == (0,)
    assert {one.name: one.reasons for one in page.silent} == {
        "scan.doc": ("scan.doc: old Office format",),
        "quiet.txt": ("gated out: no ship is named",),
    }
    assert [stage for stage, _ in page.stages] == ["answer", "extract"]


def test_only_its_own_scripts_may_run(tmp_path: Path) -> None:
    html = render(of(listed(tmp_path / "hostile.db", hostile())))
    found = Elements(html)
    own = [text for tag, given, text in found.blocks if tag == "script" and "type" not in given]
    assert len(own) == 2
    for text in own:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in found.policy
    assert found.policy.startswith("default-src 'none';")
    assert "unsafe" not in found.policy
    assert len(found.blocks) == 4, "no document opened an element of its own"
    kept = data_of(html)["tables"][0]["rows"]
    assert [row["values"][0]["shown"] for row in kept] == [words for _, _, words in hostile()]


def test_a_thousand_cells_over_long_documents_stay_below_five_megabytes(tmp_path: Path) -> None:
    filling = "Filling words. " * 20_000
    texts = [
        (f"{n}.txt", f"{filling}The words {n} stand here. {filling}", f"words {n} stand")
        for n in range(20)
    ]
    page = of(listed(tmp_path / "long.db", texts, rows=50))
    assert sum(len(row.values) for row in page.tables[0].rows) >= 1_000
    assert len(render(page).encode()) < 5_000_000
    assert any("shown around the words" in note for note in page.notes)
    passage = page.documents["d7"].passages[0]
    source = page.tables[0].rows[7 * 50].values[0].sources[0].places[0]
    assert (
        passage.text[source.start - passage.start : source.end - passage.start] == "words 7 stand"
    )


def test_a_large_table_is_cut_and_says_so(tmp_path: Path) -> None:
    page = of(listed(tmp_path / "many.db", [("a.txt", "Words here.", "Words")], rows=3_000))
    assert len(page.tables[0].rows) == 2_500
    assert page.tables[0].total == 3_000
    assert "2,500 of 3,000 rows" in page.notes[0]


def test_it_never_writes_over_another_file(tmp_path: Path) -> None:
    work, target = harbour(tmp_path / "w.db"), tmp_path / "page.html"
    assert view_file(work, target) == target
    view_file(work, target)
    target.write_text("<p>mine</p>")
    with pytest.raises(StoreError, match="no audit page"):
        view_file(work, target)
    with pytest.raises(StoreError, match="there is no run 9"):
        view_file(work, tmp_path / "new.html", 9)


def test_from_answers_workspaces_and_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace(tmp_path / "w.db", model=Reader().model) as ws:
        ws.add_text(document("Alpha", cost="12 euros"), "alpha.txt")
        answer = ws.ask("What is the cost?")
        assert answer.run == 1
        first = ws.view(path=tmp_path / "a.html").read_text()
    assert answer.view(tmp_path / "b.html").read_text() == first
    assert "What is the cost?" in first
    assert (
        command(["view", "1", "--out", str(tmp_path / "c.html"), "-w", str(tmp_path / "w.db")]) == 0
    )
    assert capsys.readouterr().out.strip() == str(tmp_path / "c.html")
    assert (tmp_path / "c.html").read_text() == first
    assert re.search(r"<title>What is the cost\? ", first)


def test_an_answer_without_a_workspace_says_so() -> None:
    with pytest.raises(StoreError, match="no workspace"):
        Answer("?", "answered").view()


def test_what_changed_since_another_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = changed(tmp_path / "w.db"), tmp_path / "page.html"
    with Database(file, write=False) as database:
        before, after = [run.id for run in Catalog(database).journal.runs() if run.kind == "ask"]
        found = collect(Catalog(database), None, before)
    assert found.compared is not None and (found.compared.before, found.compared.after) == (
        before,
        after,
    )
    told = {one.what: one for one in found.compared.differences}
    assert (
        told["value"].before == 50
        and told["value"].after == 60
        and told["value"].because == "birch.txt was changed"
    )
    assert told["value"].at is not None
    table, row, column = told["value"].at
    assert found.tables[table].rows[row].values[column].shown == 60
    assert told["new row"].because == "<i>cedar</i>.txt was added"
    assert (told["answer"].before, told["answer"].after) == (75, pytest.approx(103.333, abs=0.001))
    assert command(["view", "--against", str(before), "-o", str(page), "-w", str(file)]) == 0
    assert f"from run {before} to run {after}" in page.read_text()
    assert "<i>cedar" not in page.read_text()
    assert command(["view", "--against", "77", "-o", str(page), "-w", str(file)]) == 1
    assert "no run 77" in capsys.readouterr().err
