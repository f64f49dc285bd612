"""What notebooks, terminals and plots show of a workspace."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres import new_place

import sliders
from sliders import plots
from sliders.cli import next_steps, run
from sliders.errors import SchemaError, StoreError
from sliders.markup import Listing, preformatted, table_html
from sliders.notebook import NotebookLine, notebook_report
from sliders.progress import Display, Progress
from sliders.retrieval import HashEmbedder
from sliders.settings import Settings
from tests.worlds import BRIDGES, Reader

QUESTION = "What is the average length of the bridges in metres?"
HOSTILE = (
    "<script>alert(1)</script> The Alder Bridge is 100 metres long. It cost 10 euros. "
    "It opened in 1990."
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def ws(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[sliders.Workspace]:
    place = (
        new_place()
        if request.param == "postgresql"
        else tmp_path_factory.mktemp("looking") / "w.db"
    )
    with sliders.Workspace(place, model=Reader(BRIDGES).model, embedder=HashEmbedder()) as ws:
        ws.add_text(HOSTILE, "<img src=x onerror=alert(1)>.txt")
        ws.add_text(
            "The Birch Bridge is 50 metres long. It cost 500,000 euros. It opened in 2005.",
            "birch.txt",
        )
        yield ws


def test_everything_shows_as_html_and_nothing_of_a_document_is_markup(
    ws: sliders.Workspace,
) -> None:
    answer = ws.ask(QUESTION)
    ws.add_text(HOSTILE.replace("100", "200"), "<img src=x onerror=alert(1)>.txt")
    ws.ask(QUESTION)
    row = ws.tables["bridges"]["row_id"].iloc[0]
    shown = [
        answer,
        ws,
        ws.tables,
        ws.estimate(QUESTION),
        ws.explain(QUESTION),
        ws.why(row),
        ws.diff(),
    ]
    for one in shown:
        html: str = one._repr_html_()  # type: ignore[union-attr]
        assert "<script" not in html and "<img" not in html
    assert "SELECT AVG(length)" in answer._repr_html_() and "75 metres" in answer._repr_html_()
    assert "was changed" in ws.diff()._repr_html_() and "bridges" in ws.tables._repr_html_()


def test_tables_are_escaped_and_cut() -> None:
    html = table_html(["<b>"], [(n,) for n in range(25)], caption="a & b")
    assert "&lt;b&gt;" in html and "a &amp; b" in html and "and 5 more" in html
    assert '<td style="text-align:left"></td>' in table_html(["x"], [(None,)])
    assert preformatted("<x>") == Listing("<x>")._repr_html_() and "&lt;x&gt;" in preformatted(
        "<x>"
    )


def test_the_time_left_is_told_from_the_second_unit_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first unit of a stage is known already where its text was read before."""
    seconds = iter([0.0, *(second for second in (1.0, 11.0, 21.0) for _ in range(2))])
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    display = Display("plain")
    for done in (1, 2, 3):
        display.update(Progress("documents", done, 10))
    first, second, third = capsys.readouterr().err.splitlines()
    assert "left" not in first and "1 min 20 s left" in second and "1 min 10 s left" in third


def test_progress_of_a_notebook_is_one_line_that_is_written_over() -> None:
    shown: list[str] = []

    class Handle:
        def update(self, page: dict[str, str], **_: Any) -> None:
            shown[-1] = page["text/html"]

    def show(page: dict[str, str], **_: Any) -> Handle:
        shown.append(page["text/html"])
        return Handle()

    cells = iter([1, 1, 1, 1, 2])
    line = NotebookLine(show, lambda: next(cells))
    for done in range(4):
        line.update(Progress("extract", done, 3, done, 10, detail="<b>"))
    assert len(shown) == 1 and "3/3" in shown[0] and "&lt;b&gt;" in shown[0]
    line.update(Progress("extract", 1, 3))
    assert len(shown) == 2 and "1/3" in shown[1]
    assert notebook_report() is None


def test_plots_show_cost_values_and_time(ws: sliders.Workspace, tmp_path: Path) -> None:
    ws.ask(QUESTION)
    number = next(run.id for run in ws.runs() if run.kind == "ask")
    drawn = [
        plots.cost_by_stage(ws),
        plots.spread(ws, "bridges", "length"),
        plots.spread(ws, "bridges", "bridge_name"),
        plots.timeline(ws, number),
    ]
    assert all(plot._repr_png_().startswith(b"\x89PNG") for plot in drawn)
    drawn[0].save(tmp_path / "cost.svg")
    assert b"<svg" in (tmp_path / "cost.svg").read_bytes()
    with pytest.raises(SchemaError):
        plots.spread(ws, "bridges", "none")
    with pytest.raises(StoreError, match="no calls"):
        plots.timeline(ws, 999)


def test_the_program_alone_says_what_to_do_next(
    place: str | Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "sliders ask FOLDER" in next_steps(place) and "No workspace here yet" in next_steps(
        place
    )
    with sliders.Workspace(place, model=Reader(BRIDGES).model, embedder=HashEmbedder()) as ws:
        ws.add_text(HOSTILE, "a.txt")
        ws.ask(QUESTION)
    told = next_steps(place)
    assert "1 document, 1 run of questions." in told and f"{QUESTION} (done)" in told
    assert "sliders tables" in told and len(told.splitlines()) == 5
    assert run([]) == 0 and "Usage: sliders" in capsys.readouterr().out


def test_the_program_alone_names_the_model_of_the_last_questions(place: str | Path) -> None:
    server = "http://me:secret@models.example:8000/v1?key=secret"
    chosen = Settings().changed(model="big-model", base_url=server)
    with sliders.Workspace(place, model=Reader(BRIDGES).model, embedder=HashEmbedder()) as ws:
        ws.add_text(HOSTILE, "a.txt")
        ws.session.catalog.journal.start_run("ask", "Why?", {"model": "other"})
    told = next_steps(place)
    assert "read by model other; without options, the embedded model" in told
    assert "--model other" in told and "--base-url" not in told
    double = Reader(BRIDGES).model
    with sliders.Workspace(place, settings=chosen, model=double, embedder=HashEmbedder()) as ws:
        ws.ask(QUESTION)
    told = next_steps(place)
    assert "--model big-model --base-url http://models.example:8000/v1\n" in told
    assert "secret" not in told and len(told.splitlines()) == 5
    assert "Questions are read by model big-model." in next_steps(place, chosen)


def test_after_a_kill_it_says_how_to_go_on(place: str | Path) -> None:
    with sliders.Workspace(place, model=Reader(BRIDGES).model, embedder=HashEmbedder()) as ws:
        ws.add_text(HOSTILE, "a.txt")
        ws.session.catalog.journal.start_run(
            "ask", "How many? / What's the cost?", {"questions": ["How many?", "What's the cost?"]}
        )
    told = next_steps(place)
    assert """sliders ask 'How many?' 'What'"'"'s the cost?'""" in told and "go on where" in told


def test_an_answer_opens_in_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    path = tmp_path / "w.db"
    with sliders.Workspace(path, model=Reader(BRIDGES).model, embedder=HashEmbedder()) as ws:
        ws.add_text(HOSTILE, "a.txt")
    real = sliders.Workspace
    monkeypatch.setattr(
        "sliders.api.Workspace",
        lambda path, **kept: real(
            path, model=Reader(BRIDGES).model, embedder=HashEmbedder(), **kept
        ),
    )
    assert run(["ask", QUESTION, "-w", str(path), "--open", "-q"]) == 0
    assert "Answer:   100 metres" in capsys.readouterr().out
    assert opened == [(tmp_path / "w.html").as_uri()] and "AVG" in (tmp_path / "w.html").read_text(
        encoding="utf-8"
    )


def test_the_tab_key_completes_commands() -> None:
    asked = {"_SLIDERS_COMPLETE": "complete_bash", "COMP_WORDS": "sliders di", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "sliders"],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["diff"]


def test_an_error_names_the_next_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tables", "-w", str(tmp_path / "none.db")]) == 1
    assert "sliders add FOLDER -w" in capsys.readouterr().err


def test_a_name_that_several_documents_end_with_is_ambiguous(tmp_path: Path) -> None:
    with sliders.Workspace(
        tmp_path / "w.db", model=Reader(BRIDGES).model, embedder=HashEmbedder()
    ) as ws:
        for name in ("a/bridge.txt", "b/bridge.txt", "b/tower.txt"):
            ws.add_text(f"The text of {name}.", name)
        with pytest.raises(StoreError, match="a/bridge"):
            ws.why("bridge.txt")
        assert ws.why("b/bridge.txt").subject == "b/bridge.txt"
        assert ws.why("tower.txt").subject == "b/tower.txt"


def test_a_closed_workspace_says_so(tmp_path: Path) -> None:
    with sliders.Workspace(
        tmp_path / "w.db", model=Reader(BRIDGES).model, embedder=HashEmbedder()
    ) as ws:
        ws.add_text("The Birch Bridge is 50 metres long.", "birch.txt")
    with pytest.raises(StoreError, match="is closed; open it again"):
        ws.ask(QUESTION)
