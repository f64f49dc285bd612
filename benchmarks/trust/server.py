"""A case's reader behind an OpenAI-compatible server on loopback, and the command line of a
checkout that asks it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.trust.judge import Told
from benchmarks.trust.reader import Reader

_STAGES = {
    "tables": "schema",
    "hints": "plan",
    "rows": "extract",
    "cells": "extract",
    "about": "extract",
    "parts": "gate",
    "looks": "reconcile",
    "key": "reconcile",
    "sql": "answer",
}
_ERRORS = {
    "refused": (400, "the prompt was refused by the content filter"),
    "unavailable": (401, "the key is wrong"),
}
_SECONDS = 120
_listeners: list[Callable[[Mapping[str, Any]], None]] = []


@contextmanager
def bodies_heard_by(listener: Callable[[Mapping[str, Any]], None]) -> Iterator[None]:
    """Call `listener` with the body of each request that a served reader gets inside the block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _shape(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON schema that a request's body asks its reply to fit."""
    tools = body.get("tools") or [{}]
    asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    return asked or tools[0].get("function", {}).get("parameters") or {}


def _completion(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {
        "prompt_tokens": len(json.dumps(body)) // 4,
        "completion_tokens": len(text) // 4,
        "total_tokens": 0,
    }
    choice = {"index": 0, "message": message, "delta": message, "finish_reason": "stop"}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", ""),
        "choices": [choice],
        "usage": usage,
    }


@contextmanager
def served(reader: Reader) -> Iterator[str]:
    """The base URL under which the reader answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            for listener in tuple(_listeners):
                listener(body)
            shape = _shape(body)
            said = "\n".join(str(m["content"]) for m in body["messages"])
            asked = shape.get("properties") or [name for name in _STAGES if f'{{"{name}":' in said]
            stage = next((_STAGES[name] for name in _STAGES if name in asked), "answer")
            if failure := _ERRORS.get(reader.case.fails.get(stage, "")):
                self._send(
                    failure[0],
                    {"error": {"message": failure[1], "type": "scripted", "code": failure[0]}},
                )
                return
            messages = [(str(m["role"]), str(m["content"])) for m in body["messages"]]
            reply = reader.reply(stage, messages, shape)
            self._send(
                200,
                _completion(
                    body, reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
                ),
                body,
            )

        def _send(
            self, status: int, data: Mapping[str, Any], body: Mapping[str, Any] | None = None
        ) -> None:
            text = json.dumps(data)
            streamed = bool(body and body.get("stream"))
            raw = (f"data: {text}\n\ndata: [DONE]\n\n" if streamed else text).encode()
            self.send_response(status)
            self.send_header(
                "Content-Type", "text/event-stream" if streamed else "application/json"
            )
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def command(checkout: Path, folder: Path, words: Sequence[str], reader: Reader) -> Told:
    """What `sliders` prints for these words in a folder: the exit code as the value, all that
    it prints as the text.
    """
    with served(reader) as url:
        environment = {
            **os.environ,
            "PYTHONPATH": str(checkout),
            "SLIDERS_BASE_URL": url,
            "SLIDERS_MODEL": "scripted",
            "OPENAI_API_KEY": "x",
            "SLIDERS_DIALECT": "full",
            "SLIDERS_RETRIES": "1",
        }
        line = [sys.executable, "-m", "sliders", *words]
        done = subprocess.run(
            line,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    text = done.stdout + done.stderr
    return Told("answered", done.returncode, text, (), text, dict(reader.calls))
