"""`sliders view --serve`: Datasette over a workspace, asked in its own process (in a
browser: test_browser).
"""

from __future__ import annotations

import re
import socket
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sliders.audit import RUN, application, token_for
from sliders.cli import run as command
from sliders.errors import SettingsError, StoreError

from .world import harbour, hostile, listed

pytest.importorskip("datasette")
HERE = {"host": "127.0.0.1:8001"}
INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return harbour(tmp_path_factory.mktemp("served") / "harbour one.db")


async def got(served: Any, path: str, **headers: str) -> Any:
    await served.invoke_startup()
    return await served.client.get(path, headers={**HERE, **headers})


def values(html: str) -> list[str]:
    return [unescape(link) for link in re.findall(r"href='(/-/sliders/value/[^']*)'", html)]


async def test_a_value_of_a_table_leads_to_its_words(file: Path) -> None:
    served = application(file)
    table = await got(served, "/harbour+one/incidents")
    assert table.status_code == 200
    people = next(link for link in values(table.text) if link.endswith("column=people"))
    page = await got(served, people)
    assert page.status_code == 200
    assert "two sailors" in page.text
    assert "Its values" in page.text
    assert "script-src 'sha256-" in page.headers["content-security-policy"]


async def test_runs_lead_to_their_audit_pages(file: Path) -> None:
    served = application(file)
    runs = await got(served, "/harbour+one/sl_runs")
    [link, *_] = re.findall(rf"href='({RUN}/\d+)'", runs.text)
    assert "SELECT" in (await got(served, link)).text
    last = await got(served, RUN)
    assert last.status_code == 200
    assert "/harbour+one/incidents" in last.text, "whole tables are linked"
    assert RUN in (await got(served, "/")).text


@pytest.mark.parametrize(
    "path",
    [
        f"{RUN}/99",
        f"{RUN}/1?against=99",
        "/-/sliders/value/incidents/nothing",
        "/-/sliders/value/no~20table/r0",
    ],
)
async def test_what_is_not_there_is_said(
    file: Path, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    found = await got(application(file), path)
    assert found.status_code == 404
    assert re.search("no run 99|no row|no table", found.text)
    assert capfd.readouterr() == ("", ""), "the terminal shows no traceback"


@pytest.mark.parametrize(
    "path",
    [
        "/harbour+one?sql=select+1",
        "/harbour+one.json?sql=select+prompt+from+sl_calls",
        "/harbour+one.csv?sql=select+*+from+sl_calls",
        "/harbour+one/sl_runs?_where=id+in+(select+1+from+sl_calls)",
        "/harbour+one/sl_runs.json?_where=1",
        "/harbour+one/sl_calls",
        "/harbour+one/sl_calls.json?_shape=array",
        "/harbour+one/sl_calls/1",
        "/harbour+one/sl_batches",
        "/harbour+one.db",
    ],
)
async def test_statements_of_visitors_and_calls_are_refused(
    file: Path, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    page = await got(application(file), path)
    assert page.status_code in (400, 403, 404)
    assert capfd.readouterr() == ("", "")


async def test_only_what_a_person_looks_at_is_listed(file: Path) -> None:
    served = application(file)
    front, database = [(await got(served, path)).text for path in ("/", "/harbour+one")]
    for page in (front, database):
        assert ">incidents</a>" in page
        assert (
            ">sl_chunk_text</a>" not in page
            and ">cell_absence</a>" not in page
            and ">sl_cells</a>" not in page
        )
    assert ">sl_cells</a>" in (await got(served, "/harbour+one?_show_hidden=1")).text
    assert ">sl_calls</a>" not in (await got(served, "/harbour+one?_show_hidden=1")).text


ELSEWHERE = [
    {"host": "evil.example"},
    {"host": "evil.example:8001"},
    {"host": "127.0.0.1.evil.example:8001"},
    {"host": "127.0.0.1@evil.example"},
    {"host": "localhost.:8001"},
    {"host": ""},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "http://127.0.0.1:8001.evil.example"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
]


@pytest.mark.parametrize("headers", ELSEWHERE, ids=str)
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "files.example"])
async def test_only_the_address_itself_is_answered(
    file: Path, host: str, headers: dict[str, str]
) -> None:
    served = application(file, host, "a-long-token")
    known = {"authorization": "Bearer a-long-token"}
    assert (await got(served, "/", **known, **headers)).status_code in (403, 421)
    assert (await got(served, "/", **known)).status_code == 200
    own = {"origin": "http://127.0.0.1:8001", "sec-fetch-site": "same-origin"}
    assert (await got(served, "/", **known, **own)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong-token"},
        {"authorization": "Basic a-long-token"},
        {"authorization": "a-long-token"},
        {"cookie": "sliders_8001=wrong-token"},
        {"cookie": "token=a-long-token"},
        {"x-token": "a-long-token"},
    ],
    ids=str,
)
async def test_who_does_not_know_the_token_sees_nothing(
    file: Path, headers: dict[str, str]
) -> None:
    served = application(file, token="a-long-token")
    for path in ("/", "/harbour+one/incidents.json", RUN, "/-/static/app.css", "/?token=wrong"):
        page = await got(served, path, **headers)
        assert page.status_code == 401 and "incidents" not in page.text


async def test_a_token_in_the_address_becomes_a_cookie(file: Path) -> None:
    served = application(file, token="a-long-token")
    first = await got(served, f"{RUN}?against=1&token=a-long-token")
    assert (first.status_code, first.headers["location"]) == (303, f"{RUN}?against=1")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    again = await got(served, "/", cookie=cookie.split(";")[0])
    assert again.status_code == 200


def test_a_token_is_made_where_others_reach_the_address() -> None:
    assert token_for("127.0.0.1", None) == token_for("localhost", None) == ("", False)
    token, made = token_for("0.0.0.0", None)
    assert made and len(token) > 20 and token != token_for("0.0.0.0", None)[0]
    assert token_for("127.0.0.1", "a-long-token") == ("a-long-token", False)
    with pytest.raises(SettingsError, match="--token needs 8"):
        token_for("0.0.0.0", "short")


async def test_documents_are_text_and_only_known_scripts_may_run(tmp_path: Path) -> None:
    served = application(listed(tmp_path / "hostile.db", hostile()))
    allowed = set()
    for path in (
        "/",
        "/hostile",
        "/hostile/notes?_size=max",
        "/hostile/sl_documents?_size=5",
    ):
        page = await got(served, path)
        assert page.status_code == 200, path
        policy = page.headers["content-security-policy"]
        assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
        allowed |= {script.strip() for script in INLINE.findall(page.text)}
    assert not [script for script in allowed if "hacked" in script]


def test_a_workspace_that_cannot_be_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(StoreError):
        application(tmp_path / "none.db")
    with pytest.raises(StoreError, match="rename it"):
        application(harbour(tmp_path / "a?b.db"))
    assert command(["view", "--serve", "-w", str(tmp_path / "none.db")]) == 1
    assert "none.db" in capsys.readouterr().err


def test_a_port_that_is_taken(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert command(["view", "--serve", "-w", str(file), "--port", port]) == 2
    assert "--port" in capsys.readouterr().err


def test_a_run_that_is_not_there_is_not_served(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["view", "7", "--serve", "-w", str(file), "--port", "0"]) == 1
    assert "no run 7" in capsys.readouterr().err
    assert command(["view", "--serve", "-w", str(file), "--port", "99999"]) == 2
