"""A counting proxy before one OpenAI-compatible endpoint: calls, tokens, seconds and errors,
alike for every system.

A system's label is the first part of the path: `http://127.0.0.1:PORT/LABEL/v1`; what stands
between label and `/v1` is not read. The model name of a request is replaced by the served one, so
that systems may keep the names that they insist on. Without an upstream the proxy answers by itself
(`Stub`), which is how continuous integration runs every system without a model.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import io
import json
import socket
import threading
import time
import urllib.error
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Reply = dict[str, Any]
Model = Callable[[str, Mapping[str, Any]], Reply]


@dataclass(frozen=True, slots=True)
class Call:
    """One request that passed. `error` is empty when the endpoint answered with 200."""

    label: str
    path: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish_reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """Sums over the calls of one label."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    errors: int = 0
    truncated: int = 0

    def __sub__(self, other: Count) -> Count:
        return Count(
            self.calls - other.calls,
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
            self.seconds - other.seconds,
            self.errors - other.errors,
            self.truncated - other.truncated,
        )


def minimal(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """A small value that a JSON schema allows: nulls, one item a list, the first of an
    enum, "x" for words.
    """
    root = root or schema
    if "$ref" in schema:
        target: Any = root
        for part in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target[part]
        return minimal(target, root)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            options = schema[key]
            return (
                None if any(o.get("type") == "null" for o in options) else minimal(options[0], root)
            )
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if isinstance(kind, list):
        return None if "null" in kind else minimal({**schema, "type": kind[0]}, root)
    if kind == "object" or "properties" in schema:
        wanted = schema.get("required") or list(schema.get("properties", {}))
        return {
            name: minimal(schema["properties"][name], root)
            for name in wanted
            if name in schema["properties"]
        }
    if kind == "array":
        return [minimal(schema.get("items", {}), root)] * max(1, int(schema.get("minItems", 1)))
    return {"string": "x", "integer": 0, "number": 0, "boolean": False}.get(str(kind))


class Stub:
    """Answers without a model: small JSON that fits a schema, SQL where SQL is
    asked, else "not found".
    """

    def __call__(self, path: str, body: Mapping[str, Any]) -> Reply:
        if path.endswith("/embeddings"):
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            data = [
                {"index": i, "object": "embedding", "embedding": self._vector(str(t))}
                for i, t in enumerate(texts)
            ]
            return {
                "object": "list",
                "data": data,
                "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)},
            }
        if path.endswith("/models"):
            return {"object": "list", "data": [{"id": "stub", "object": "model"}]}
        message: dict[str, Any] = {"role": "assistant", "content": self._content(body)}
        choice = body.get("tool_choice")
        if body.get("tools") and choice not in (None, "none", "auto"):
            tool = body["tools"][0]["function"]
            call = {
                "name": tool["name"],
                "arguments": json.dumps(minimal(tool.get("parameters", {"type": "object"}))),
            }
            message = {"role": "assistant", "content": None}
            message["tool_calls"] = [{"id": "call_0", "type": "function", "function": call}]
        said = json.dumps(message)
        usage = {
            "prompt_tokens": len(json.dumps(body.get("messages", ""))) // 4,
            "completion_tokens": len(said) // 4,
        }
        return {
            "id": "stub",
            "object": "chat.completion",
            "created": 0,
            "model": str(body.get("model", "stub")),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": usage | {"total_tokens": sum(usage.values())},
        }

    @staticmethod
    def _content(body: Mapping[str, Any]) -> str:
        wanted = body.get("response_format") or {}
        if wanted.get("type") == "json_schema":
            return json.dumps(minimal(wanted["json_schema"]["schema"]))
        if wanted.get("type") == "json_object":
            return "{}"
        return "SELECT 1" if "SELECT" in json.dumps(body.get("messages", "")) else "not found"

    @staticmethod
    def _vector(text: str) -> list[float]:
        return [((hash_ * 31) % 97) / 97 for hash_ in (sum(text.encode()) + i for i in range(8))]


@dataclass(slots=True)
class Upstream:
    """Forwards to a real endpoint (`base_url` ends in /v1), with the served model's name in
    place of the asked one.
    """

    base_url: str
    model: str = ""
    key: str = "none"
    timeout: float = 3600.0
    _open: set[http.client.HTTPConnection] = field(default_factory=set)

    def __call__(self, path: str, body: Mapping[str, Any]) -> Reply:
        """Raises `urllib.error.HTTPError` when the endpoint refuses, `OSError` when
        it cannot be reached.
        """
        sent = dict(body)
        if self.model and "model" in sent:
            sent["model"] = self.model
        sent.pop("stream", None)  # replies are counted whole
        sent.pop("stream_options", None)
        data = json.dumps(sent).encode() if body else None
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        place = urllib.parse.urlsplit(self.base_url.rstrip("/") + path)
        kind = (
            http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
        )
        connection = kind(place.netloc, timeout=self.timeout)
        self._open.add(connection)
        try:
            connection.request("POST" if data else "GET", place.path, data, headers)
            reply = connection.getresponse()
            said = reply.read()
        finally:
            self._open.discard(connection)
            connection.close()
        if reply.status >= 400:
            raise urllib.error.HTTPError(
                place.geturl(), reply.status, reply.reason, reply.headers, io.BytesIO(said)
            )
        answer: Reply = json.loads(said)
        return answer

    def abort(self) -> None:
        """Break off the calls under way: a system that was stopped must not keep the model
        busy for the next one.
        """
        for connection in list(self._open):
            if connection.sock is not None:
                with contextlib.suppress(OSError):  # it has just ended
                    connection.sock.shutdown(socket.SHUT_RDWR)


@dataclass(slots=True)
class Ledger:
    """Every call, by label; safe for threads."""

    calls: list[Call] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, call: Call) -> None:
        """Record one call."""
        with self.lock:
            self.calls.append(call)

    def count(self, label: str) -> Count:
        """Sums over a label's calls so far."""
        with self.lock:
            mine = [c for c in self.calls if c.label == label]
        return Count(
            calls=len(mine),
            prompt_tokens=sum(c.prompt_tokens for c in mine),
            completion_tokens=sum(c.completion_tokens for c in mine),
            seconds=sum(c.seconds for c in mine),
            errors=sum(bool(c.error) for c in mine),
            truncated=sum(c.finish_reason == "length" for c in mine),
        )

    def last_error(self, label: str) -> str:
        """The newest error of a label, empty when there was none."""
        with self.lock:
            return next((c.error for c in reversed(self.calls) if c.label == label and c.error), "")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._pass({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self._pass(json.loads(raw or b"{}"))
        except json.JSONDecodeError as error:
            self._reply(
                400,
                {
                    "error": {
                        "message": f"the request body is not JSON: {error}",
                        "type": "bad_request",
                    }
                },
            )

    def _pass(self, body: Mapping[str, Any]) -> None:
        before, _, rest = self.path.lstrip("/").partition("/v1")
        label = before.partition("/")[0]
        started = time.perf_counter()
        status, error, reply = 200, "", dict[str, Any]()
        try:
            reply = self.server.model(rest.split("?")[0], body)
        except urllib.error.HTTPError as refused:
            status, error = refused.code, refused.read().decode("utf-8", "replace")[:2000]
        except (OSError, http.client.HTTPException, ValueError) as broken:
            status, error = 502, f"{type(broken).__name__}: {broken}"
        usage = reply.get("usage") or {}
        finish = str((reply.get("choices") or [{}])[0].get("finish_reason") or "")
        if not rest.endswith("/models"):
            seconds = time.perf_counter() - started
            tokens = (
                int(usage.get("prompt_tokens") or 0),
                int(usage.get("completion_tokens") or 0),
            )
            self.server.ledger.add(Call(label, rest, *tokens, seconds, finish, error))
        if error:
            reply = {"error": {"message": error, "type": "upstream", "code": status}}
        if body.get("stream") and status == 200:
            self._stream(reply)
        else:
            self._reply(status, reply)

    def _stream(self, reply: Reply) -> None:
        """The whole reply as one event, for clients that insist on a stream."""
        choice = reply["choices"][0]
        chunk = reply | {
            "object": "chat.completion.chunk",
            "choices": [{**choice, "delta": choice["message"]}],
        }
        chunk["choices"][0].pop("message", None)
        data = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
        self._send(200, data, "text/event-stream")

    def _reply(self, status: int, reply: Reply) -> None:
        self._send(status, json.dumps(reply).encode(), "application/json")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        with contextlib.suppress(ConnectionError):  # a client that was stopped waits for nothing
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the ledger is the log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, model: Model, ledger: Ledger) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.model, self.ledger = model, ledger


class Proxy:
    """Context manager: listens on loopback while it is open."""

    def __init__(self, model: Model, port: int = 0) -> None:
        self.ledger, self._model = Ledger(), model
        try:
            self._server = _Server(port, model, self.ledger)
        except OSError:  # taken: any other one will do
            self._server = _Server(0, model, self.ledger)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    def url(self, label: str) -> str:
        """The base URL that a system of that label is given."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{label}/v1"

    def abort(self) -> None:
        """Break off what the model works on."""
        if isinstance(self._model, Upstream):
            self._model.abort()

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def main() -> int:
    """Serve until interrupted, then print the counts of every label."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.proxy", description="Counting proxy."
    )
    parser.add_argument("--base-url", help="the endpoint, ending in /v1")
    parser.add_argument(
        "--model", default="", help="name that every request's model is replaced by"
    )
    parser.add_argument("--stub", action="store_true", help="answer without a model")
    parser.add_argument("--port", type=int, default=8899)
    args = parser.parse_args()
    if not args.stub and not args.base_url:
        parser.error("give --base-url URL of an endpoint, or --stub")
    with Proxy(Stub() if args.stub else Upstream(args.base_url, args.model), args.port) as proxy:
        print(f"listening on {proxy.url('LABEL')}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            for label in dict.fromkeys(call.label for call in proxy.ledger.calls):
                print(label, proxy.ledger.count(label))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
