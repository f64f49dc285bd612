"""Another agent uses a workspace, through the protocol's own client."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import sliders
from sliders.cli import mcp_server, run
from sliders.engine import Session, plain
from sliders.errors import SettingsError
from sliders.retrieval import HashEmbedder
from tests.worlds import BRIDGES, Reader

ROOT = Path(__file__).parents[2]
QUESTION = "What is the average length of the bridges in metres?"


def workspace(tmp_path: Path, **settings: Any) -> sliders.Workspace:
    ws = sliders.Workspace(
        tmp_path / "w.db", model=Reader(BRIDGES).model, embedder=HashEmbedder(), **settings
    )
    ws.add(ROOT / "demo" / "documents")
    return ws


async def test_an_agent_asks_looks_and_gets_the_words(tmp_path: Path) -> None:
    with workspace(tmp_path) as ws:
        async with Client(mcp_server(ws)) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == {
                "ask",
                "query",
                "tables",
                "why",
            }
            answer = (await client.call_tool("ask", {"question": QUESTION})).structured_content
            assert answer["value"] == pytest.approx(ws.tables["bridges"]["length"].mean())
            assert answer["sql"] and answer["citations"] and "range" in answer
            listed = (await client.call_tool("tables", {})).structured_content
            assert listed["tables"][0]["name"] == "bridges" and listed["documents_in_all"] == 10
            asked = {
                "sql": "SELECT row_id, length FROM bridges WHERE length IS NOT NULL ORDER BY length"
            }
            rows = (await client.call_tool("query", asked)).structured_content
            assert rows["columns"] == ["row_id", "length"] and not rows["truncated"]
            why = await client.call_tool("why", {"subject": rows["rows"][0]["row_id"]})
            assert "metres" in why.content[0].text


async def test_tables_and_words_are_told_while_a_query_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, looked = threading.Event(), threading.Event()

    def slow(session: Session, sql: str) -> Any:
        begun.set()
        looked.wait(10)
        return plain(session, sql)

    monkeypatch.setattr("sliders.engine.query_results.plain", slow)
    with workspace(tmp_path) as ws:
        await ws.ask_async(QUESTION)
        async with Client(mcp_server(ws)) as client:
            query = asyncio.create_task(
                client.call_tool("query", {"sql": "SELECT COUNT(*) AS n FROM bridges"})
            )
            await asyncio.to_thread(begun.wait, 10)
            listed = (await client.call_tool("tables", {})).structured_content
            why = await client.call_tool("why", {"subject": "ferry_timetable.txt"})
            assert listed["documents_in_all"] == 10 and not why.is_error and not query.done()
            looked.set()
            assert (await query).structured_content["rows"][0]["n"] > 0


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("DELETE FROM bridges", "SELECT"),
        ("SELECT * FROM sl_documents", "sl_documents"),
        ("SELECT gone FROM bridges", "gone"),
    ],
)
async def test_a_statement_that_does_more_than_look_is_refused_in_words(
    tmp_path: Path, sql: str, told: str
) -> None:
    with workspace(tmp_path) as ws:
        await ws.ask_async(QUESTION)
        async with Client(mcp_server(ws)) as client:
            reply = await client.call_tool("query", {"sql": sql})
            assert reply.is_error and told in reply.content[0].text


async def test_the_budget_is_one_for_all_questions(tmp_path: Path) -> None:
    with workspace(tmp_path, max_tokens=60_000) as ws:
        server = mcp_server(ws)
        async with Client(server) as client:
            first = await client.call_tool("ask", {"question": QUESTION})
            assert not first.is_error
            spent = ws.usage.tokens
    with sliders.Workspace(
        tmp_path / "w.db", model=Reader(BRIDGES).model, embedder=HashEmbedder(), max_tokens=1
    ) as ws:
        async with Client(mcp_server(ws)) as client:
            asked = [f"How many bridges were opened after 2000? {number}" for number in (1, 2)]
            replies = [await client.call_tool("ask", {"question": question}) for question in asked]
            assert spent and all("budget" in reply.content[0].text for reply in replies)
            assert not (
                await client.call_tool("query", {"sql": "SELECT COUNT(*) AS n FROM bridges"})
            ).is_error


async def test_documents_are_added_only_from_the_folder_that_is_allowed(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "new.txt").write_text("The Elm Bridge is 30 metres long.")
    with workspace(tmp_path) as ws:
        async with Client(mcp_server(ws, folder)) as client:
            assert not (await client.call_tool("add", {"path": "new.txt"})).is_error
            (folder / "pw.txt").symlink_to(tmp_path / "secret.txt")
            (tmp_path / "secret.txt").write_text("The secret is 4711.")
            (folder / "sub").symlink_to(tmp_path)
            for path in ("../w.db", ".", "*", "[p]w.txt", "pw.txt", "sub", "sub/*.txt", "**/*.txt"):
                outside = await client.call_tool("add", {"path": path})
                assert outside.is_error and "outside" in outside.content[0].text
            assert (await client.call_tool("tables", {})).structured_content[
                "documents_in_all"
            ] == 11
        with pytest.raises(SettingsError, match="no folder"):
            mcp_server(ws, tmp_path / "none")


@pytest.mark.parametrize("host", ["127.0.0.1", "203.0.113.1", "a..b"])
def test_a_door_that_cannot_be_had(
    tmp_path: Path, host: str, capfd: pytest.CaptureFixture[str]
) -> None:
    workspace(tmp_path).close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["mcp", str(tmp_path / "w.db"), "--http", port, "--host", host]) == 2
    told = capfd.readouterr().err
    assert f"{host} port {port}" in told and "--http" in told


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[list[str], str]]:
    """A workspace with an answer: the command that serves it, and the address where it
    is served over HTTP.
    """
    with workspace(tmp_path) as ws:
        ws.ask(QUESTION)
    shutil.copy(tmp_path / "w.db", tmp_path / "v.db")  # one process writes to a workspace at a time
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["-m", "sliders", "mcp", str(tmp_path / "v.db"), "--http", str(port)]
    server = subprocess.Popen([sys.executable, *command], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1500):
            with socket.socket() as door:
                if not door.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.2)
        yield ["-m", "sliders", "mcp", str(tmp_path / "w.db")], f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        server.wait(60)


@pytest.mark.slow
async def test_over_standard_input_and_http(served: tuple[list[str], str]) -> None:
    command, address = served
    counted = {"sql": "SELECT COUNT(*) AS n FROM bridges"}
    async with Client(
        StdioServerParameters(command=sys.executable, args=command, cwd=ROOT)
    ) as client:
        over_pipe = (await client.call_tool("query", counted)).structured_content
    async with Client(address) as client:
        over_http = (await client.call_tool("query", counted)).structured_content
    assert over_pipe["rows"] == over_http["rows"] and over_pipe["rows"][0]["n"] > 0
