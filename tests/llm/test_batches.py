"""The Batch interface: reading calls go up together, are paid for once, and are given up
cleanly.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from sliders.engine import connect
from sliders.errors import CallFailed, ModelUnavailable
from sliders.llm import MemoryCallLog
from sliders.llm.testing import requests_allowed
from sliders.settings import Settings

from .requests import rows_request

ANN = {"rows": [{"name": "Ann", "age": 4}]}


def completion(body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": json.dumps(ANN)}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"choices": [choice], "usage": usage}


@dataclass
class Provider:
    """A server with a Batch interface that behaves like OpenAI's: a batch is done after some looks
    at it, with an output file and one of errors.
    """

    ends: str = "completed"
    looks: int = 1
    status: Callable[[dict[str, Any]], int] = lambda body: 200
    plain: int = 0
    made: asyncio.Event = field(default_factory=asyncio.Event)
    files: dict[str, str] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        name = f"file-{len(self.files)}"
        assert isinstance(form["file"], web.FileField) and form["purpose"] == "batch"
        self.files[name] = form["file"].file.read().decode()
        told = {"id": name, "object": "file", "bytes": 1, "created_at": 1, "purpose": "batch"}
        return web.json_response({**told, "filename": "requests.jsonl", "status": "processed"})

    async def content(self, request: web.Request) -> web.Response:
        return web.Response(text=self.files[request.match_info["name"]])

    async def create(self, request: web.Request) -> web.Response:
        asked = await request.json()
        batch = {
            "id": f"batch-{len(self.batches)}",
            "object": "batch",
            "created_at": 1,
            "status": "in_progress",
            "looks": 0,
            **asked,
        }
        self.batches[batch["id"]] = batch
        self.made.set()
        return web.json_response(batch)

    async def listed(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [*self.batches.values()]})

    async def look(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["name"]]
        batch["looks"] += 1
        if batch["looks"] > self.looks and batch["status"] == "in_progress":
            batch["status"] = self.ends
            if self.ends == "failed":
                batch["errors"] = {"data": [{"message": "the enqueued token limit is reached"}]}
            else:
                self.finish(batch)
        return web.json_response(batch)

    def finish(self, batch: dict[str, Any]) -> None:
        """Write the output; an expired batch has replies to its first request only."""
        lines = self.files[batch["input_file_id"]].splitlines()
        for number, line in enumerate(lines):
            asked = json.loads(line)
            status = self.status(asked["body"])
            body = completion(asked["body"]) if status == 200 else {"error": {"message": "no"}}
            late = self.ends == "expired" and number
            told: dict[str, Any] = {"response": {"status_code": status, "body": body}}
            told = {"error": {"code": "batch_expired", "message": "it is late"}} if late else told
            name = f"{batch['id']}-{'error' if late or status != 200 else 'output'}"
            written = json.dumps({"custom_id": asked["custom_id"], **told})
            self.files[name] = self.files.get(name, "") + written + "\n"
            batch[f"{name.rsplit('-', 1)[1]}_file_id"] = name

    async def chat(self, request: web.Request) -> web.Response:
        self.plain += 1
        return web.json_response(completion(await request.json()))

    @asynccontextmanager
    async def settings(self, *, batches: bool = True) -> AsyncIterator[Settings]:
        """Settings for the running server."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self.chat)
        if batches:
            app.router.add_post("/v1/files", self.upload)
            app.router.add_get("/v1/files/{name}/content", self.content)
            app.router.add_post("/v1/batches", self.create)
            app.router.add_get("/v1/batches", self.listed)
            app.router.add_get("/v1/batches/{name}", self.look)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        with requests_allowed():
            yield Settings(
                model="m",
                base_url=address,
                batch=True,
                retries=1,
                prices={"m": {"prompt": 1e4, "completion": 0}},
            )
        await runner.cleanup()


async def read(settings: Settings, log: MemoryCallLog, *texts: str) -> list[Any]:
    """What a run says of texts that are read at the same time: a response or an error each."""
    models = connect(settings, log)
    model = models.model_for("extract")
    try:
        return await asyncio.gather(
            *(model.generate(rows_request(text)) for text in texts), return_exceptions=True
        )
    finally:
        await models.aclose()


async def test_reading_calls_go_up_together_for_half_the_price_and_others_do_not() -> None:
    provider, log = Provider(), MemoryCallLog()
    async with provider.settings() as settings:
        replies = await read(settings, log, "a", "b", "c")
        again = await read(settings, log, "a", "b", "d")
        models = connect(settings, log)
        await models.model_for("answer").generate(rows_request("e", stage="answer"))
        await models.aclose()
    assert [reply.data for reply in replies] == [ANN] * 3
    assert [reply.usage.cost for reply in replies] == [0.5] * 3
    sizes = [
        len(provider.files[b["input_file_id"]].splitlines()) for b in provider.batches.values()
    ]
    assert sizes == [3, 1] and provider.plain == 1
    assert [reply.usage.cached_calls for reply in again] == [1, 1, 0]


async def test_a_killed_run_goes_on_with_its_batch_and_pays_once() -> None:
    provider, log = Provider(looks=3), MemoryCallLog()
    async with provider.settings() as settings:
        run = asyncio.create_task(read(settings, log, "a", "b"))
        await provider.made.wait()
        await asyncio.sleep(0.2)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        replies = await read(settings, log, "a", "b")
        forgotten = await read(settings, MemoryCallLog(), "a", "b")
    assert [reply.data for reply in (*replies, *forgotten)] == [ANN] * 4
    assert len(provider.batches) == 1


async def test_a_batch_that_expires_keeps_what_it_finished_and_the_rest_goes_up_again() -> None:
    provider, log = Provider(ends="expired"), MemoryCallLog()
    async with provider.settings() as settings:
        replies = await read(settings, log, "a", "b")
    assert [reply.data for reply in replies] == [ANN] * 2
    sizes = [
        len(provider.files[b["input_file_id"]].splitlines()) for b in provider.batches.values()
    ]
    assert sizes == [2, 1]


async def test_a_batch_that_fails_says_why() -> None:
    async with Provider(ends="failed").settings() as settings:
        (error,) = await read(settings, MemoryCallLog(), "a")
    assert isinstance(error, CallFailed) and "enqueued token limit" in str(error)


async def test_an_argument_that_one_request_is_refused_for_is_changed_in_the_next_batch() -> None:
    provider = Provider(status=lambda body: 400 if "response_format" in body else 200)
    async with provider.settings() as settings:
        (reply,) = await read(settings, MemoryCallLog(), "a")
    assert reply.data == ANN and len(provider.batches) > 1


@pytest.mark.parametrize("batch", [True, False])
async def test_a_server_without_the_interface_says_so(batch: bool) -> None:
    async with Provider().settings(batches=False) as settings:
        (reply,) = await read(settings.changed(batch=batch), MemoryCallLog(), "a")
    assert isinstance(reply, ModelUnavailable) if batch else reply.data == ANN
