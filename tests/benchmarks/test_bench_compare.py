"""Systems in child processes behind the proxy, stored rows, and what is drawn from them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import compare
from benchmarks.checkout import STORED
from benchmarks.compare import Failed, Settings, compare_one, drive
from benchmarks.environments import SYSTEMS, System, pin_file, versions
from benchmarks.proxy import Proxy, Stub
from benchmarks.results import comparison, flat, markdown, newest_sets, page, write_page
from benchmarks.store import Results, RunKey
from benchmarks.suites import load_suite
from benchmarks.systems.base import Asked, Task
from benchmarks.systems.client import fits, fuse, lexical_rank, segments
from benchmarks.systems.extract_then_sql import run as extract_then_sql


def model(path: str, body: Any) -> dict[str, Any]:
    """Knows one answer."""
    reply = Stub()(path, body)
    if "How many dogs" in json.dumps(body):
        reply["choices"][0]["message"]["content"] = "2"
    return reply


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pets" / "docs").mkdir(parents=True)
    (tmp_path / "pets" / "docs" / "a.txt").write_text("Rex and Kit are dogs.")
    entries = [
        {
            "id": "1",
            "question": "How many dogs are there?",
            "answer": 2,
            "docs": "all",
            "answer_type": "number",
        },
        {
            "id": "2",
            "question": "Who barks?",
            "answer": "Rex",
            "docs": "all",
            "answer_type": "string",
        },
    ]
    (tmp_path / "pets" / "gold.json").write_text(json.dumps(entries))
    return tmp_path / "pets"


def settings(tmp_path: Path, **more: Any) -> Settings:
    return Settings(model="stub", work=tmp_path / "work", timeout=60, **more)


def test_a_run_is_counted_at_the_proxy_stored_and_not_repeated(
    folder: Path, tmp_path: Path
) -> None:
    suite = load_suite(folder)
    with Proxy(model) as proxy, Results(tmp_path / "r.db") as results:
        run_id = compare_one(suite, SYSTEMS["whole-context"], settings(tmp_path), proxy, results)
        answers = results.rows(
            "SELECT * FROM answers WHERE run_id = ? ORDER BY question_id", (run_id,)
        )
        assert [(a["question_id"], a["status"], a["right"], a["calls"]) for a in answers] == [
            ("1", "answered", 1, 1),
            ("2", "not_found", 0, 1),
        ]
        assert (
            sum(a["prompt_tokens"] for a in answers) == proxy.ledger.count(run_id).prompt_tokens > 0
        )
        assert (
            compare_one(suite, SYSTEMS["whole-context"], settings(tmp_path), proxy, results)
            == run_id
        )
        assert proxy.ledger.count(run_id).calls == 2, "a second run costs no model call"
        compare_one(suite, SYSTEMS["whole-context"], settings(tmp_path, fresh=True), proxy, results)
        assert proxy.ledger.count(run_id).calls == 4


def test_questions_at_once_are_counted_each_by_itself(folder: Path, tmp_path: Path) -> None:
    out, db = tmp_path / "f.json", str(tmp_path / "r.db")
    with Proxy(model) as upstream:
        said = ["--model", "m", "--base-url", upstream.url("x"), "--at-once", "4", "--json"]
        where = [str(out), "--results", db, "--work", str(tmp_path / "w"), "--suite", str(folder)]
        systems = ["--systems", "whole-context,chain-of-agents"]
        assert compare.main([*said, *where, *systems]) == 0
    with Results(Path(db)) as results:
        rows = results.rows(
            "SELECT system, a.calls FROM answers a JOIN runs USING (run_id) WHERE suite = 'pets'"
        )
    assert [r["calls"] for r in rows if r["system"] == "whole-context"] == [1, 1]
    assert [r["calls"] for r in rows if r["system"] == "chain-of-agents"] == [2, 2]
    assert json.loads(out.read_text())["pets.whole-context.accuracy"] == 0.5


def test_what_does_not_fit_and_what_crashes_is_failing_not_wrong(
    folder: Path, tmp_path: Path
) -> None:
    suite, broken = load_suite(folder), System("broken", "benchmarks.systems.no_such_system")
    with Proxy(model) as proxy, Results(tmp_path / "r.db") as results:
        runs = [
            compare_one(
                suite,
                SYSTEMS["whole-context"],
                settings(tmp_path, context_tokens=100),
                proxy,
                results,
            ),
            compare_one(suite, broken, settings(tmp_path), proxy, results),
        ]
        rows = {row["system"]: row for row in comparison(results, runs)}
    assert rows["whole-context"]["failed"] == 2 and "does not fit" in rows["whole-context"]["error"]
    assert rows["broken"]["accuracy"] is None and "no_such_system" in rows["broken"]["error"]
    said = markdown(list(rows.values()))
    assert "| failed |" in said and "does not fit" in said
    assert flat(list(rows.values()))["pets.broken.failed"] == 2


def test_a_system_that_hangs_is_ended(tmp_path: Path) -> None:
    bar = (
        "print('\\rLoading:  50%|#####     | 1/2 [00:01<00:01]\\nstill here', "
        "file=sys.stderr, flush=True)"
    )
    (tmp_path / "sleeper.py").write_text(f"import sys, time\n{bar}\ntime.sleep(60)\n")
    task = Task((), (Asked("1", "?"),), "http://127.0.0.1:9/v1", "m", tmp_path)
    (ended,) = drive(System("sleeper", "sleeper"), task, Path(sys.executable), timeout=1.5)
    assert isinstance(ended, Failed) and "no end after" in ended.error
    assert "still here" in ended.error and "Loading" not in ended.error


def test_a_peer_does_not_see_the_projects_own_package(tmp_path: Path) -> None:
    path = compare._import_path(System("peer", "x", pins="langextract"), tmp_path)
    assert (path / "benchmarks" / "compare.py").is_file() and not (path / "sliders").exists()


def test_every_peer_has_exact_versions() -> None:
    peers = [system for system in SYSTEMS.values() if system.pins]
    assert {p.name for p in peers} == {"sliders-genie", "langextract", "lotus", "docetl"}
    for peer in peers:
        assert pin_file(peer.pins).is_file()
        assert all("==" in line and "://" not in line for line in versions(peer))


def test_rows_survive_the_csv_and_the_page_is_drawn_from_them(folder: Path, tmp_path: Path) -> None:
    key = RunKey("pets", "retrieval", "stub", "cold", 1, ("1", "2"))
    with Results(tmp_path / "r.db") as results:
        run_id = results.begin(key, [], 21)
        for id_, status, right in (("1", "answered", 1), ("2", "failed", 0)):
            results.add(
                run_id,
                question_id=id_,
                status=status,
                right=right,
                calls=1,
                prompt_tokens=100 if right else 300,
                completion_tokens=5,
                seconds=2.0,
                errors=0,
                error="" if right else "no server",
            )
        results.finish(run_id)
        results.keep("engine", {"utilisation": 0.97, "not_run": None})
        written = write_page(results, tmp_path / "RESULTS.md")
        drawn = page(results)
    with Results(tmp_path / "again.db") as again:
        assert again.load(tmp_path / "stored") == 4 and again.load(tmp_path / "stored") == 0
        assert page(again) == drawn == written.read_text()
        (row,) = comparison(again)
    assert (row["accuracy"], row["failed"], row["tokens"]) == (1.0, 1, 205.0)
    assert "| retrieval | 1 of 1, 1 failed (205) |" in drawn
    assert "| 97% |" in drawn and "not_run" not in drawn
    assert "How many dogs" not in drawn, "no question text is stored"


def test_drawing_again_ends_well_though_a_system_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Results(tmp_path / "r.db") as results:
        results.finish(
            results.begin(RunKey("pets", "lotus", "stub", "cold", 1, ("1",)), [], 21),
            "no environment",
        )
        drawn = write_page(results, tmp_path / "RESULTS.md")
    monkeypatch.setattr(compare, "write_page", lambda _: drawn)
    assert compare.main(["--redraw", "--results", str(tmp_path / "r.db")]) == 0


def test_a_run_begun_again_takes_no_answers_of_the_stored_one(tmp_path: Path) -> None:
    key = RunKey("pets", "lotus", "stub", "cold", 1, ("1",))
    with Results(tmp_path / "r.db") as results:
        run_id = results.begin(key, [], 21)
        results.add(
            run_id,
            question_id="1",
            status="answered",
            right=1,
            calls=1,
            prompt_tokens=9,
            completion_tokens=1,
            seconds=2.0,
            errors=0,
            error="",
        )
        results.finish(run_id)
        results.export(tmp_path / "stored")
        results.begin(key, [], 21, True)
        assert results.load(tmp_path / "stored") == 0 and comparison(results) == []


def test_a_run_that_was_stopped_before_its_first_answer_is_not_shown(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        stopped = results.begin(RunKey("pets", "lotus", "stub", "cold", 1, ("1",)), [], 21)
        assert comparison(results) == []
        results.finish(stopped, "no environment")
        assert comparison(results)[0]["error"] == "no environment"


def test_the_page_is_one_that_is_read_in_two_minutes_and_of_the_stored_rows(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        results.load(STORED)
        drawn = page(results)
    assert drawn == (STORED.parent / "RESULTS.md").read_text(encoding="utf-8")
    assert len(drawn.splitlines()) <= 120 and "{" not in drawn
    strong = newest_sets("strong")
    assert len(strong) == len({row["set"] for row in strong}) and "embedded" not in str(strong)


def test_the_command_checks_its_arguments(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = ["--results", str(tmp_path / "r.db"), "--work", str(tmp_path / "w")]
    assert compare.main(["--systems", "nobody", "--suite", str(folder), *db]) == 2
    assert (
        compare.main(
            [
                "--suite",
                str(folder),
                "--systems",
                "whole-context",
                "--model",
                "x",
                "--base-url",
                "",
                *db,
            ]
        )
        == 2
    )
    said = capsys.readouterr().err
    assert "known: sliders," in said and "no endpoint" in said
    out = tmp_path / "f.json"
    assert (
        compare.main(
            [
                "--suite",
                str(folder),
                "--systems",
                "chain-of-agents",
                "--stub",
                "--json",
                str(out),
                *db,
            ]
        )
        == 0
    )
    assert json.loads(out.read_text())["pets.chain-of-agents.failed"] == 0


def test_segments_cover_the_text_and_ranking_finds_the_words() -> None:
    text = "\n\n".join(f"Paragraph {i} about topic{i}." for i in range(50))
    pieces = segments(text, 200)
    assert (
        " ".join(" ".join(pieces).split()) == " ".join(text.split()) and max(map(len, pieces)) < 240
    )
    best = lexical_rank(pieces, "What about topic37?")[0]
    assert "topic37" in pieces[best] and lexical_rank(pieces, "?!") == []
    assert fuse([[1, 2], [2, 1], [2]])[0] == 2
    assert fits("x" * 360, 1000) and not fits("x" * 3600, 1000)


def test_sql_over_extracted_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.systems.extract_then_sql.SECONDS", 0.05)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT count(*) FROM n"
    (tmp_path / "a.txt").write_text("Rex is 4.")

    def scripted(path: str, body: Any) -> dict[str, Any]:
        reply = Stub()(path, body)
        prompt = body["messages"][-1]["content"]
        content = '{"attributes": [{"name": "Pet Name", "description": "who"}]}'
        if "SQLite statement" in prompt:
            fits = "many" in prompt or ("oldest" in prompt and "no such table" in prompt)
            content = (
                "```sql\nSELECT count(*) FROM records\n```" if fits else "SELECT a FROM nowhere"
            )
            content = endless if "longest" in prompt else content
        reply["choices"][0]["message"]["content"] = content
        return reply

    def extract(task: Task, columns: dict[str, str], documents: Any) -> list[dict[str, Any]]:
        assert columns == {"pet_name": "who"}
        return [{"document": documents[0][0], "pet_name": "Rex"}]

    with Proxy(scripted) as proxy:
        asked = (
            Asked("1", "How many?"),
            Asked("2", "Who?"),
            Asked("3", "The oldest?"),
            Asked("4", "The longest?"),
        )
        task = Task((tmp_path / "a.txt",), asked, proxy.url("x"), "m", tmp_path)
        good, bad, mended, stopped = extract_then_sql(task, extract)
    assert (good.status, good.value, good.sql) == (
        "answered",
        [[1]],
        "SELECT count(*) FROM records",
    )
    assert (bad.status, bad.sql) == (
        "failed",
        "SELECT a FROM nowhere",
    ) and "no such table" in bad.error
    assert (mended.status, mended.value) == ("answered", [[1]])
    assert (stopped.status, stopped.sql, stopped.error) == (
        "failed",
        endless,
        "BadStatement: interrupted",
    )
