"""A scripted model server: speaks the OpenAI chat API, answers after a fixed latency, and
costs little itself.

Runs in a process of its own (`Server` starts it), so that its work does not count as the engine's.
It looks at the reply schema that a request carries and copies words out of the request's document,
so that replies are grounded like a model's: dates for fields with "date" in their name, else a run
of capitalised words chosen by the field's name.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.fidelity.sight import documents_shown
from benchmarks.proxy import minimal

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"\b\d{{1,2}} (?:{_MONTHS}) \d{{4}}\b", re.IGNORECASE)
_JUDGE = re.compile(r"\b(?:JUDGE|Justice|Judge):?\s+(?:[A-Z]\.? )?([A-Z][A-Za-z]+)")
_CASE = re.compile(r"\b[A-Z][^\n\[]{1,60} v [A-Z][^\n\[]{1,60}")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,3}\b")
_TABLE = re.compile(r"CREATE TABLE (\S+)")
_PART = re.compile(r'<part number="(\d+)">')
_ASKED_TABLE = re.compile(r"^Table (\w+):.*$", re.MULTILINE)
_ASKED_COLUMN = re.compile(r"^- (\w+) \(", re.MULTILINE)
_LOOKED_AT = 2000
"""Characters of a document that are searched for a name: enough to find some, cheap enough for a
model that is not measured.
"""
COLUMNS = {"case_name": "text", "judge": "text", "hearing_date": "date", "judgment_date": "date"}
"""What the scripted model proposes: name and type."""


def words_for(field: str, document: str) -> str | None:
    """Words of the document for a field, None where there are none."""
    if "date" in field:
        dates = _DATE.findall(document)
        return dates[0 if "hearing" in field else -1] if dates else None
    known = {"judge": _JUDGE, "case_name": _CASE}.get(field)
    if known is not None and (found := known.search(document)) is not None:
        return found.group(found.lastindex or 0)
    if known is not None:
        return None
    names = _NAME.findall(document[-_LOOKED_AT:])
    return names[zlib.crc32(field.encode()) % len(names)] if names else None


class Script:
    """Replies by the shape of the reply that is asked for.

    Args:
        columns: name and type of the columns that a schema request is answered with.
    """

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        self._columns = dict(COLUMNS if columns is None else columns)

    def reply(self, body: Mapping[str, Any]) -> str:
        """The content of the assistant's message."""
        messages = body["messages"]
        last = str(messages[-1]["content"])
        wanted = body.get("response_format") or {}
        if wanted.get("type") != "json_schema":
            return "not found"
        schema = wanted["json_schema"]["schema"]
        fields = schema.get("properties", {})
        if "tables" in fields:
            return json.dumps(self._proposed())
        if "rows" in fields:
            return json.dumps({"rows": rows_of(last)})
        if "action" in fields:
            table = _TABLE.search(last)
            sql = f"SELECT COUNT(*) FROM {table[1]}" if table else ""
            return json.dumps(
                {"action": "answer" if sql else "cannot", "sql": sql, "reason": "counts rows"}
            )
        if "parts" in fields:
            return json.dumps({"parts": [int(number) for number in _PART.findall(last)]})
        return json.dumps(minimal(schema))

    def _proposed(self) -> dict[str, Any]:
        columns = [
            {"name": name, "type": kind, "description": name.replace("_", " ")}
            for name, kind in self._columns.items()
        ]
        table = {
            "name": "judgments",
            "row": "a judgment",
            "rows_per_document": "one",
            "columns": columns,
        }
        needs = [{"question": 1, "columns": [f"judgments.{name}" for name in self._columns]}]
        return {"tables": [table], "needs": needs, "not_covered": []}


def rows_of(prompt: str) -> list[dict[str, Any]]:
    """A row for each document and table that an extraction asks for, its cells words of the
    document.
    """
    names = _ASKED_TABLE.split(prompt.partition("<document")[0])[1:]
    rows: list[dict[str, Any]] = []
    for number, document in documents_shown(prompt).items():
        own = {} if number is None else {"document": number}
        for table, columns in zip(names[::2], names[1::2], strict=True):
            told = {
                name: words
                for name in _ASKED_COLUMN.findall(columns)
                if (words := words_for(name, document.strip()))
            }
            cells = {name: {"value": words, "words": [words]} for name, words in told.items()}
            rows.append({**own, "table": table, "cells": cells})
    return rows


def completion(content: str, body: Mapping[str, Any]) -> bytes:
    """A whole HTTP reply."""
    prompt = sum(len(message["content"]) for message in body["messages"]) // 4
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": len(content) // 4,
        "total_tokens": prompt + len(content) // 4,
    }
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
    }
    told = {
        "id": "scripted",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", ""),
        "choices": [choice],
    }
    data = json.dumps(told | {"usage": usage}).encode()
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        % len(data)
        + data
    )


class _Connection(asyncio.Protocol):
    """One kept-alive connection; its requests are answered `latency` seconds
    after they were read.
    """

    def __init__(self, script: Script, latency: float, counts: dict[str, float]) -> None:
        self._script, self._latency, self._counts = script, latency, counts
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end]).lower()
            found = re.search(rb"content-length:\s*(\d+)", head)
            length = int(found[1]) if found else 0
            if len(self._buffer) < end + 4 + length:
                return
            content = bytes(self._buffer[end + 4 : end + 4 + length])
            del self._buffer[: end + 4 + length]
            self._answer(head, content)

    def _answer(self, head: bytes, content: bytes) -> None:
        if head.startswith(b"get "):
            data = json.dumps(self._counts).encode()
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data
            )
            return
        loop, counts = asyncio.get_running_loop(), self._counts
        now = loop.time()
        counts["calls"] += 1
        counts["in_flight"] += 1
        counts["most_in_flight"] = max(counts["most_in_flight"], counts["in_flight"])
        body = json.loads(content)
        reply = completion(self._script.reply(body), body)
        loop.call_at(now + self._latency, self._send, reply)

    def _send(self, reply: bytes) -> None:
        self._counts["in_flight"] -= 1
        if not self._transport.is_closing():
            self._transport.write(reply)


async def serve(script: Script, latency: float) -> None:
    """Listen on a free port of loopback, print it, and serve until the process is ended."""
    counts = {"calls": 0.0, "in_flight": 0.0, "most_in_flight": 0.0}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Connection(script, latency, counts), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


class Server:
    """Context manager: the scripted server in a child process.

    Args:
        latency: seconds between a request and its reply.
    """

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self.base_url = ""

    def __enter__(self) -> Server:
        command = [sys.executable, "-m", "benchmarks.engine.server", str(self._latency)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )
        assert self._process.stdout is not None
        self.base_url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def counts(self) -> dict[str, float]:
        """Calls so far, those in flight, and the most that were in flight at once."""
        import httpx

        found: dict[str, float] = httpx.get(f"{self.base_url}/counts").json()
        return found


def main(arguments: Sequence[str]) -> None:
    """Serve with the latency of the first argument."""
    asyncio.run(serve(Script(), float(arguments[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
