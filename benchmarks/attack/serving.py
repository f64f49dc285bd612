"""Visitors of a served workspace that come from elsewhere, know no token, or want more than they
may see; and documents that lead out of the folder of `mcp --allow-add`.
"""

# ruff: noqa: E501
from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from benchmarks.attack.tries import Try
from sliders import Workspace
from sliders.audit import application
from sliders.cli import mcp_server
from sliders.llm.testing import FunctionModel

_TOKEN = "a-token-of-this-bench"
_HERE = {"host": "127.0.0.1:8001"}
_KNOWN = {"authorization": f"Bearer {_TOKEN}"}
_ELSEWHERE: tuple[dict[str, str], ...] = (
    {"host": "evil.example"}, {"host": "evil.example:8001"}, {"host": "127.0.0.1.evil.example"}, {"host": "localhost.evil.example:8001"},
    {"host": "user@127.0.0.1.evil.example"}, {"host": "[::2]:8001"}, {"origin": "http://evil.example"}, {"origin": "null"},
    {"origin": "http://127.0.0.1:9"}, {"origin": "http://127.0.0.1:8001.evil.example"}, {"origin": "file://"}, {"origin": "http://localhost.evil.example:8001"},
)  # fmt: skip
_UNKNOWN: tuple[dict[str, str], ...] = (
    {}, {"authorization": "Bearer"}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {_TOKEN}"}, {"cookie": "sliders_8001=wrong"},
    {"authorization": f"Bearer {_TOKEN[:-1]}"}, {"authorization": f"Bearer {_TOKEN}x"}, {"x-token": _TOKEN},
)  # fmt: skip
_NOT_SHOWN = (
    "/w?sql=select+1", "/w.json?sql=select+prompt+from+sl_calls", "/w.csv?sql=select+*+from+sl_calls", "/w/sl_calls", "/w/sl_calls.json",
    "/w/sl_calls/1", "/w/sl_runs?_where=1=1", "/w/sl_runs.json?_where=id+in+(select+run+from+sl_calls)", "/w.db",
)  # fmt: skip
_OUTSIDE = (".", "*", "[p]w.txt", "pw.txt", "../w.db", "sub", "sub/*.txt", "**/*.txt", "/etc/passwd", "in/../../w.db")  # fmt: skip
_SEEN = (
    "/",
    "/w",
    "/w/sl_runs",
    "/w/sl_documents.json",
    "/w/sl_runs.json?_shape=array",
    "/-/versions.json",
)


def tries() -> Iterator[Try]:
    """Visits that have to be refused, and those of the machine itself."""
    for headers in _ELSEWHERE:
        yield Try("elsewhere", ("get", "/", {**_KNOWN, **headers}), "bounded", 20)
    for headers in _UNKNOWN:
        yield Try("no token", ("get", "/w/sl_runs.json", headers), "bounded", 20)
    for path in _NOT_SHOWN:
        yield Try("not shown", ("get", path, _KNOWN), "bounded", 20)
    for path in _OUTSIDE:
        yield Try("outside", ("add", path, {}), "bounded", 20)
    for path in _SEEN:
        for headers in (
            _KNOWN,
            {**_KNOWN, "origin": "http://127.0.0.1:8001"},
            {**_KNOWN, "host": "localhost:8001"},
        ):
            yield Try("control: seen", ("get", path, headers), True, 20)
    for name in ("a.txt", "b.txt", "within/c.txt", "within"):
        yield Try("control: added", ("add", name, {}), True, 20)


def visited(folder: Path) -> Callable[[Try], Any]:
    """Whether a visit is let in; that of a control has to be, every other one must not."""
    inside = folder / "in"
    (inside / "within").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "within/c.txt"):
        (inside / name).write_text(f"The file is {name}.", encoding="utf-8")
    model = FunctionModel(lambda _: {})
    workspace = folder / "w.db"
    with Workspace(workspace, model=model) as ws:
        ws.add_text("The name is Anchor.", "anchor.txt")
    (folder / "secret.txt").write_text("The secret is 4711.", encoding="utf-8")
    traps = folder / "traps"
    (traps / "in").mkdir(parents=True)
    (traps / "pw.txt").symlink_to(folder / "secret.txt")
    (traps / "sub").symlink_to(folder)

    async def seen(path: str, headers: dict[str, str]) -> bool:
        served = application(workspace, "127.0.0.1", _TOKEN)
        await served.invoke_startup()
        transport = httpx.ASGITransport(app=served.app())
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8001") as web:
            reply = await web.get(path, headers={**_HERE, **headers})
        return reply.status_code == 200

    async def added(path: str, root: Path) -> bool:
        from mcp import Client

        with Workspace(folder / "added.db", model=model) as ws:
            async with Client(mcp_server(ws, root)) as client:
                return not (await client.call_tool("add", {"path": path})).is_error

    def act(one: Try) -> bool:
        kind, path, headers = one.given
        if kind == "add":
            let = asyncio.run(added(path, inside if one.control else traps))
        else:
            let = asyncio.run(seen(path, headers))
        assert one.control or not let, "it is let in"
        return let

    return act
