"""Passwords and keys by every way on which they could be shown or kept."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.attack.tries import Try
from benchmarks.servers.loopback import Loopback
from benchmarks.servers.reader import DOCUMENTS, QUESTION
from benchmarks.servers.reader import reply as right_reply
from sliders import Workspace
from sliders.cli import run
from sliders.documents import discover, load_each
from sliders.engine import connect
from sliders.errors import SlidersError
from sliders.llm.testing import requests_allowed
from sliders.settings import Settings
from sliders.store import Database

WORDS = ("tR0ub4dor-and-3", "hunter2pw9", "p%40ss-w0rd77", "sk-live-4711-abcdefghij")
"""Secrets as they stand in an address or header."""
_ADDRESSES = {
    "http user": "http://ann:{s}@127.0.0.1:9/v1",
    "http token": "http://{s}@127.0.0.1:9/v1",
    "http query": "http://127.0.0.1:9/v1?api_key={s}",
    "http subscription": "http://127.0.0.1:9/v1?subscription-key={s}",
    "http fragment": "http://127.0.0.1:9/v1#access_token={s}",
    "no port": "http://ann:{s}@127.0.0.1:99999/v1",
    "no scheme": "//ann:{s}@127.0.0.1:9/v1",
}
_WORKSPACES = {
    "user": "postgresql+psycopg://ann:{s}@127.0.0.1:9/db",
    "query": "postgresql+psycopg://127.0.0.1:9/db?user=ann&password={s}",
    "driver": "postgresql+asyncpg://ann:{s}@127.0.0.1:9/db",
    "other": "mysql://ann:{s}@127.0.0.1/db",
    "broken": "postgresql+psycopg://ann:{s}@127.0.0.1:port/db",
}
_DOCUMENTS = {
    "user": "http://ann:{s}@127.0.0.1:9/a.txt",
    "query": "http://127.0.0.1:9/a.txt?password={s}",
    "fragment": "http://127.0.0.1:9/a.txt#access_token={s}",
    "packed": "zip://a.txt::http://ann:{s}@127.0.0.1:9/a.zip",
    "signed": "https://127.0.0.1:9/a.txt?X-Amz-Signature={s}",
    "ftp": "ftp://ann:{s}@127.0.0.1:9/a.txt",
}
_ECHOED = {
    "401": (401, {"error": {"message": "Incorrect key {s} provided"}}),
    "400": (400, {"error": {"message": "header Authorization: Bearer {s} is odd"}}),
    "500": (500, {"error": "key={s}"}),
    "text": (403, "<{s}>"),
    "long": (500, {"error": "x" * 290 + "{s}"}),
    "200": (200, {"error": {"message": "no {s}"}}),
    "refusal": (200, {"choices": [{"message": {"refusal": "I saw {s}"}}]}),
    "junk": (200, {"choices": "{s}"}),
    "content": (200, {"choices": [{"message": {"content": "{s}"}}]}),
    "redirect": (302, "{s}"),
}
_PLAIN = (
    "http://127.0.0.1:9/v1", "http://localhost:1/v1?page=2", "http://127.0.0.1:9/v1#part", "http://ollama.invalid:9/v1",
)  # fmt: skip


def tries() -> Iterator[Try]:
    """Ways by which a secret could be shown; what is no secret has to be shown."""
    for secret in WORDS:
        for groups, way in (
            (_ADDRESSES, "server"), (_WORKSPACES, "workspace"), (_DOCUMENTS, "document"),
        ):  # fmt: skip
            for kind, address in groups.items():
                yield Try(f"{way}: {kind}", (way, address.format(s=secret), secret), "bounded", 30)
    for secret in (WORDS[0], WORDS[3]):
        for kind in _ECHOED:
            yield Try(f"echoed: {kind}", ("echo", kind, secret), "bounded", 60)
        yield Try("ray", ("ray", f"ray://ann:{secret}@127.0.0.1:9", secret), "bounded", 30)
    words = [one.rpartition("/v1")[0] for one in _PLAIN]
    for number in range(48):
        address, told = _PLAIN[number % 4], words[number % 4]
        way = ("server", "document", "log")[number % 3]
        yield Try(f"control: {way}", (way, f"{address}/{number}.txt", f"{told}"), told, 30)


class _Echo(Loopback):
    """A server that says back what it was sent."""

    status, body = 200, ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        sent = await request.json() if request.can_read_body else {}
        body = self.body or json.dumps(
            {"choices": [{"message": {"content": json.dumps(right_reply(sent))}}]}
        )
        return web.Response(
            text=body,
            status=self.status,
            content_type="application/json",
            headers={"Location": "/x"},
        )


def shown(folder: Path) -> Callable[[Try], Any]:
    """The word of a control that is found in what a way shows and keeps; no secret is."""

    def act(one: Try) -> str:
        way, value, word = one.given
        place = folder / f"{abs(hash(one.given))}"
        place.mkdir(exist_ok=True)
        for name, text in DOCUMENTS.items():
            (place / name).write_text(text, encoding="utf-8")
        told = _WAYS[way](value, word, place)
        plain = word.replace("%40", "@")
        seen = next((form for form in (word, plain) if form in told), "")
        assert one.control or not seen, f"shown: {told[max(0, told.find(seen) - 80) :][:160]}"
        return word if seen else ""

    return act


def _caught(act: Callable[[], Any]) -> str:
    """What an act gives, prints, logs and raises, with its traceback."""
    out, log = io.StringIO(), logging.StreamHandler()
    log.setStream(out)
    root = logging.getLogger()
    level = root.level
    root.addHandler(log)
    root.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                print(repr(act()))
            except SlidersError as error:
                print(repr(error), "".join(_messages(error)))
    finally:
        root.removeHandler(log)
        root.setLevel(level)
    return out.getvalue()


def _messages(error: BaseException) -> Iterator[str]:
    """The messages of a traceback, without the lines of code."""
    told = traceback.TracebackException.from_exception(error)
    while told is not None:
        yield from told.format_exception_only()
        told = told.__cause__ or (None if told.__suppress_context__ else told.__context__)  # type: ignore[assignment]


def _asked(settings: dict[str, Any], place: Path) -> str:
    """What asking shows and what the workspace keeps."""
    file = place / "w.db"

    def ask() -> Any:
        chosen = Settings(model="m", retries=0, timeout=5.0, **settings)
        with requests_allowed(), Workspace(file, settings=chosen) as ws:
            ws.add(place / "Anchor.txt")
            return (chosen, ws, ws.ask(QUESTION))

    told = _caught(ask)
    if file.exists():
        with contextlib.closing(sqlite3.connect(file)) as kept:
            told += "".join(kept.iterdump())
    return told


def _server(value: str, word: str, place: Path) -> str:
    flags = ["--base-url", value, "--model", "m", "-w", str(place / "c.db")]
    printed = _caught(lambda: run(["ask", str(place), QUESTION, *flags]))
    return printed + _asked({"base_url": value}, place)


def _workspace(value: str, word: str, place: Path) -> str:
    commands = (["tables", "-w", value], ["add", str(place), "-w", value], ["verify", value])
    told = "".join(_caught(lambda one=one: run(one)) for one in commands)  # type: ignore[misc]
    return told + _caught(lambda: Database(value, write=False))


def _document(value: str, word: str, place: Path) -> str:
    def read() -> Any:
        return list(load_each(discover(value)))

    return _caught(read) + _caught(lambda: run(["add", value, "-w", str(place / "d.db")]))


def _echo(value: str, word: str, place: Path) -> str:
    status, body = _ECHOED[value]
    text = body if isinstance(body, str) else json.dumps(body)
    with _Echo() as server:
        server.status, server.body = status, text.replace("{s}", word)
        return _asked({"base_url": f"{server.address}/v1", "api_key": word}, place)


def _ray(value: str, word: str, place: Path) -> str:
    def start() -> Any:
        chosen = Settings(executor="ray", ray_address=value)
        print(repr(chosen))
        asyncio.run(connect(Settings(model="m", base_url="http://127.0.0.1:9/v1")).aclose())
        return chosen

    return _caught(start)


def _log(value: str, word: str, place: Path) -> str:
    return _caught(lambda: logging.getLogger("httpx").info("GET %s", value))


_WAYS: dict[str, Callable[[str, str, Path], str]] = {
    "server": _server,
    "workspace": _workspace,
    "document": _document,
    "echo": _echo,
    "ray": _ray,
    "log": _log,
}
