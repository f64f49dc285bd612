"""The commands, run as a user runs them, against a server that answers by rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sliders.cli import run, split_words
from sliders.llm.testing import requests_allowed
from tests.fake_server import FakeServer
from tests.worlds import document, served

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(served) as server, requests_allowed():
        yield server


@pytest.fixture
def shell(
    server: FakeServer,
    place: str | Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    """Runs a command line over a new workspace on either engine and two documents;
    exit code, output, error output.
    """
    for name in ("SLIDERS_MODEL", "SLIDERS_BASE_URL", "SLIDERS_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLIDERS_MODEL", "reader")
    monkeypatch.setenv("SLIDERS_BASE_URL", server.base_url)
    monkeypatch.setenv("SLIDERS_WORKSPACE", str(place))
    monkeypatch.setenv("SLIDERS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "anchor.txt").write_text(
        document("Anchor", cost="120 euros"), encoding="utf-8"
    )
    (tmp_path / "docs" / "beacon.txt").write_text(
        document("Beacon", cost="340 euros"), encoding="utf-8"
    )

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(words)
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


@pytest.mark.parametrize(
    ("words", "documents", "questions"),
    [
        (["docs", "How many?"], ["docs"], ["How many?"]),
        (
            ["docs", "a.txt", "How many?", "Which one is it?"],
            ["docs", "a.txt"],
            ["How many?", "Which one is it?"],
        ),
        (["How many?"], [], ["How many?"]),
        (["docs/*.txt", "Why"], ["docs/*.txt"], ["Why"]),
        (["missing.txt", "Why is it so?"], ["missing.txt"], ["Why is it so?"]),
        (["docs", ""], ["docs"], [""]),
    ],
)
def test_words_are_documents_or_questions(
    words: list[str], documents: list[str], questions: list[str]
) -> None:
    assert split_words(words) == (documents, questions)


def test_ask_shows_answer_sql_sources_and_cost(shell: Shell) -> None:
    code, out, err = shell("ask", "docs", "What is the total cost?")
    assert code == 0
    assert "Answer:   460" in out
    assert "SELECT SUM(cost)" in out
    assert 'anchor.txt: "120 euros' in out
    assert "2 of 2 documents gave rows" in out
    assert "extract" in err, "progress goes to standard error"


def test_json_is_all_there_is_on_standard_output(shell: Shell) -> None:
    code, out, err = shell("ask", "docs", "What is the total cost?", "--json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert answer["value"] == 460
    assert {c["document"] for c in answer["citations"]} == {"anchor.txt", "beacon.txt"}
    code, out, _ = shell("ask", "What is the total cost?", "How many have a cost?", "--json")
    assert [a["value"] for a in json.loads(out)] == [460, 2]


def test_quiet_and_plain(shell: Shell) -> None:
    assert shell("ask", "docs", "What is the total cost?", "-q")[2] == ""
    assert "\x1b" not in shell("ask", "docs", "What is the total length?", "--plain")[2]


def test_the_same_command_again_extracts_nothing(shell: Shell, server: FakeServer) -> None:
    shell("ask", "docs", "What is the total cost?")
    before = len(server.bodies)
    code, out, _ = shell("ask", "docs", "What is the total cost?")
    assert code == 0
    assert "Answer:   460" in out
    assert len(server.bodies) - before <= 3


@pytest.mark.parametrize("before", [[], ["Which name has the largest length?"]])
@pytest.mark.parametrize("start", ["", "~nobody ", "Is * "])
def test_a_question_longer_than_a_file_name_is_a_question(
    shell: Shell, before: list[str], start: str
) -> None:
    question = (
        start + "It is a long story that nobody wants to hear. " * 110 + "What is the total cost?"
    )
    assert len(question) > 5000
    code, out, err = shell("ask", "docs", *before, question, "--json", "-q")
    assert (code, err) == (0, "")
    answers = json.loads(out)
    assert (answers[-1] if before else answers)["value"] == 460


def test_the_dialect_says_how_a_model_is_asked(shell: Shell, server: FakeServer) -> None:
    shell("add", "docs")

    def stages(*words: str) -> dict[str, int]:
        code, out, _ = shell("explain", "What is the total cost?", "--json", *words)
        assert code == 0
        return {stage["stage"]: stage["calls"] for stage in json.loads(out)["stages"]}

    assert stages() == stages("--dialect", "auto") == stages("--dialect", "full")
    assert stages("--dialect", "compact")["plan"] == stages()["plan"] == 0, (
        "a small model's hints are read by patterns, another one's with the schema"
    )
    assert stages("--dialect", "compact")["answer"] == 2 * stages()["answer"], (
        "its statement is held against a second one"
    )
    assert shell("explain", "What is the total cost?", "--dialect", "loud")[0] == 2
    assert server.bodies == []


def test_dry_run_calls_nothing(shell: Shell, server: FakeServer) -> None:
    code, out, _ = shell("ask", "docs", "What is the total cost?", "--dry-run")
    assert code == 0
    assert server.bodies == []
    assert "extract" in out
    assert "calls" in out
    code, out, _ = shell("explain", "What is the total cost?", "--json")
    assert {s["stage"] for s in json.loads(out)["stages"]} == {
        "plan",
        "schema",
        "gate",
        "extract",
        "answer",
    }
    assert server.bodies == []


def test_step_by_step(shell: Shell, tmp_path: Path) -> None:
    assert "2 new" in shell("add", "docs")[1]
    assert "cost" in shell("schema", "What is the total cost?")[1]
    assert "things: 2 rows" in shell("extract")[1]
    assert "things: 2 rows" in shell("reconcile")[1]
    assert "460" in shell("query", "SELECT SUM(cost) AS total FROM things")[1]
    assert "table things: 2 rows" in shell("tables")[1]
    rows = json.loads(shell("tables", "things", "--json")[1])
    assert {row["name"] for row in rows} == {"Anchor", "Beacon"}
    code, out, _ = shell("why", rows[0]["row_id"])
    assert code == 0
    assert "euros" in out
    assert "anchor.txt" in shell("why", "anchor.txt")[1]
    assert "extracted" in shell("why", "things")[1] or "version 1" in shell("why", "things")[1]
    assert "ask" not in shell("runs")[1]
    assert "extract" in shell("runs")[1]
    assert shell("conflicts")[1] == "no open conflicts\n"


def test_decisions_of_people(shell: Shell) -> None:
    shell("ask", "docs", "What is the total cost?")
    code, out, err = shell(
        "set-value", "things", "cost", "130 euros", "--where", "name=Anchor", "--reason", "invoice"
    )
    assert (code, err.count("unexpected")) == (0, 0)
    assert "decision 1" in out
    assert "470" in shell("query", "SELECT SUM(cost) FROM things")[1]
    assert shell("undo", "things")[0] == 0
    assert "460" in shell("query", "SELECT SUM(cost) FROM things")[1]
    assert shell("set-value", "things", "cost", "130", "--where", "name")[0] == 2
    code, _, err = shell("merge", "things", "--where", "name=Anchor", "--other", "name=Beacon")
    assert (code, "open in things; see: sliders conflicts things" in err) == (0, True)
    assert "the merge waits: its rows contradict each other in name, cost; decide each" in err
    assert "as in: sliders set-value things name VALUE --where document=anchor.txt" in err
    told = shell("conflicts")[1]
    assert "things.cost" in told, "one thing cannot cost both: the merge waits for a decision"
    assert "anchor.txt" in told
    for column, value in (("name", "Anchor"), ("cost", "130")):
        assert shell("set-value", "things", column, value, "--where", "document=anchor.txt")[0] == 0
    assert (
        "Beacon" not in shell("tables", "things")[1]
        and shell("conflicts")[1] == "no open conflicts\n"
    )
    assert shell("split", "things", "--where", "name=Anchor", "--other", "name=Beacon")[0] == 0


def test_a_decision_is_listed_and_taken_back_for_good(shell: Shell) -> None:
    shell("ask", "docs", "What is the total cost?")
    shell(
        "set-value",
        "things",
        "cost",
        "130 euros",
        "--where",
        "name=Anchor",
        "--author",
        "Ada",
        "--reason",
        "invoice",
    )
    assert "decision 1: things.cost = 130" in shell("decisions")[1]
    row = json.loads(
        shell("query", "SELECT row_id FROM things WHERE name = 'Anchor'", "--json")[1]
    )["rows"][0]["row_id"]
    told = shell("why", row)[1]
    assert "the table shows cost = 130" in told
    assert "decision 1 of Ada: invoice" in told
    undone = shell("undo", "things")
    assert "decision 1 is in force" in undone[2]
    assert shell("revoke", "1")[0] == 0
    shell("set-value", "things", "cost", "350", "--where", "name=Beacon")
    assert "470" in shell("query", "SELECT SUM(cost) FROM things")[1], "120 as printed, and 350"
    assert "decision 2" in shell("decisions", "things")[1]
    assert "decision 1" not in shell("decisions", "things")[1]
    assert shell("revoke", "1")[0] == 1


def test_a_decision_about_nothing_says_so(shell: Shell) -> None:
    shell("ask", "docs", "What is the total cost?")
    code, _, err = shell("set-value", "things", "cost", "1", "--where", "name=Nobody", "-q")
    assert (code, err) == (
        0,
        "sliders: no row of things has name=Nobody now; the decision waits for such rows\n",
    )


def test_a_decision_stays_where_its_model_is_gone(shell: Shell) -> None:
    shell("ask", "docs", "What is the total cost?")
    (Path("docs") / "anchor2.txt").write_text(document("Ancor", cost="120 euros"), encoding="utf-8")
    shell("add", "docs")
    decision = (
        "merge",
        "things",
        "--where",
        "name=Anchor",
        "--other",
        "name=Beacon",
        "--base-url",
        "http://127.0.0.1:9",
        "-q",
    )
    code, _, err = shell(*decision, "--model", "reader")
    assert code == 1, err
    assert "decision 1 is kept" in err
    assert "decision 1: merge" in shell("decisions")[1]


def test_missing_values_are_null_and_whole_numbers_stay_whole(shell: Shell) -> None:
    shell("ask", "docs", "What is the total cost?")
    sql = (
        "SELECT CASE WHEN name = 'Anchor' THEN 7 END AS a, 1 AS b, 2 AS b, 1e999 AS c FROM "
        "things ORDER BY name"
    )
    rows = json.loads(
        shell("query", sql, "--json")[1], parse_constant=lambda word: pytest.fail(word)
    )
    assert rows["notes"] == []
    assert rows["rows"] == [
        {"a": 7, "b": 1, "b_2": 2, "c": None},
        {"a": None, "b": 1, "b_2": 2, "c": None},
    ]
    assert shell(
        "query", "SELECT CASE WHEN name = 'Anchor' THEN 7 END AS a FROM things ORDER BY name"
    )[1].split() == ["a", "-", "7", "-"]


def test_a_query_says_that_it_is_incomplete(shell: Shell) -> None:
    (Path("docs") / "crane.txt").write_text(document("Crane", cost="10 euros"), encoding="utf-8")
    shell("add", "docs")
    shell("schema", "What is the total cost?")
    sql = "SELECT SUM(cost) FROM things"
    code, out, err = shell("query", sql, "--max-tokens", "1", "-q")
    assert (code, out.count("incomplete")) == (3, 0)
    assert err.startswith("sliders: the result is incomplete: ")
    code, out, err = shell("query", sql, "--max-tokens", "1", "--json")
    assert (code, err) == (3, "")
    assert "incomplete" in json.loads(out)["notes"][0]
    assert json.loads(shell("query", sql, "--json")[1]) == {
        "columns": ["SUM(cost)"],
        "units": {},
        "rows": [{"SUM(cost)": 470}],
        "notes": [],
    }


def test_a_query_fails_where_its_model_is_gone(shell: Shell) -> None:
    shell("add", "docs")
    code, out, err = shell(
        "query",
        "SELECT cost FROM docs",
        "--base-url",
        "http://127.0.0.1:9",
        "--model",
        "reader",
        "-q",
    )
    assert (code, out) == (1, "")
    assert err.startswith("sliders: ") and err.count("\n") == 1


def test_a_chunk_is_explained(shell: Shell) -> None:
    shell("ask", "docs", "What is the total cost?")
    row = json.loads(shell("query", "SELECT row_id FROM things LIMIT 1", "--json")[1])["rows"][0][
        "row_id"
    ]
    chunk = json.loads(shell("why", row, "--json")[1])["lines"][0].split()[-1]
    code, told, _ = shell("why", chunk)
    assert code == 0
    assert "things: 1 row" in told


def test_the_version_is_told(shell: Shell) -> None:
    assert shell("--version")[1].startswith("sliders ")


def test_export_and_verify(shell: Shell, tmp_path: Path) -> None:
    shell("ask", "docs", "What is the total cost?")
    assert shell("export", "audit.db")[0] == 0
    code, out, _ = shell("verify", "audit.db")
    assert (code, "walks back" in out) == (0, True)
    assert shell("export", "tables", "--format", "csv")[1].strip() == str(
        Path("tables") / "things.csv"
    )
    assert "Anchor" in (tmp_path / "tables" / "things.csv").read_text(encoding="utf-8")
    assert shell("export", "tables")[0] == 2


def test_verify_finds_a_value_that_was_changed_behind_its_back(shell: Shell) -> None:
    import sqlite3

    shell("ask", "docs", "What is the total cost?")
    shell("export", "audit.db")
    with sqlite3.connect("audit.db") as audit:
        audit.execute("UPDATE things SET cost = 999 WHERE name = 'Anchor'")
    code, out, _ = shell("verify", "audit.db")
    assert code == 1
    assert "999" in out


def test_model_commands(shell: Shell) -> None:
    assert "not fetched yet" in shell("model", "list")[1]
    assert shell("model", "path")[1].strip().endswith(".gguf")


def test_a_pinned_schema_from_a_file(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text(
        "CREATE TABLE things (name TEXT, cost REAL);", encoding="utf-8"
    )
    code, out, _ = shell(
        "ask", "docs", "What is the total cost?", "--schema", "schema.sql", "--json"
    )
    assert code == 0
    assert json.loads(out)["value"] == 460
    assert "(pinned)" in shell("schema")[1]


def test_a_schema_is_shown_with_currency_scale_and_unit(shell: Shell, tmp_path: Path) -> None:
    columns = (
        "{name: cost, type: number, currency: EUR, scale: thousands}, {name: span, type: "
        "number, unit: metres}"
    )
    (tmp_path / "schema.yaml").write_text(
        f"tables: [{{name: things, columns: [{columns}]}}]", encoding="utf-8"
    )
    assert shell("ask", "docs", "What is the total cost?", "--schema", "schema.yaml")[0] == 0
    listed = shell("schema")[1]
    assert "cost number in EUR thousands" in listed and "span number in metres" in listed
    columns_told = json.loads(shell("schema", "--json")[1])[0]["columns"]
    assert [(c["currency"], c["scale"], c["unit"]) for c in columns_told] == [
        ("EUR", "thousands", ""),
        ("", "", "metres"),
    ]


def test_a_workflow_is_chosen_and_explained(shell: Shell) -> None:
    assert shell("add", "docs")[0] == 0
    code, out, _ = shell("explain", "What is the cost of Anchor?", "--workflow", "auto")
    assert (
        code == 0
        and out.startswith("workflow: extract and query")
        and "because: no model judged" in out
    )
    code, out, _ = shell("explain", "What is the cost of Anchor?", "--workflow", "lookup")
    assert (
        code == 0 and out.startswith("workflow:") and "because:" in out and "calls at most: " in out
    )
    code, out, _ = shell("explain", "How many are there? Ignore the annex.")
    assert code == 0 and 'hint: skip what is about "annex"' in out
    for command in (["explain"], ["ask", "--dry-run"]):
        code, out, _ = shell(*command, "What is the cost of Anchor?", "--workflow", "whole_context")
        told = "workflow: whole context\nbecause: asked for\ncalls at most: 1 of all documents"
        assert code == 0 and told in out, "the one that is named, not the cheapest"
    assert shell("ask", "What is it?", "--workflow", "guess")[0] == 2


def test_the_tab_key_offers_what_the_workspace_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.audit.world import harbour

    monkeypatch.setenv("SLIDERS_WORKSPACE", str(harbour(tmp_path / "harbour.db")))
    monkeypatch.setenv("_SLIDERS_COMPLETE", "complete_bash")

    def offered(words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        capsys.readouterr()
        with pytest.raises(SystemExit):
            run([])
        return capsys.readouterr().out.split()

    assert offered("sliders undo ") == offered("sliders tables in") == ["incidents"]
    assert offered("sliders set-value incidents p") == ["people", "port"]
    assert offered("sliders set-value incidents port Rye --where s") == ["ship="]
    assert "report.pdf" in offered("sliders remove ") and offered("sliders why inc") == [
        "incidents"
    ]
    assert offered("sliders view ")[-1] == "1"
    monkeypatch.setenv("SLIDERS_WORKSPACE", str(tmp_path / "nothing.db"))
    assert offered("sliders undo ") == []
