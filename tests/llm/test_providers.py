"""The lines of the providers' page, each against a server that follows the provider's
documentation.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from sliders.engine import connect
from sliders.llm.testing import requests_allowed
from sliders.settings import Settings

from .requests import rows_request

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
LINES = {
    name.strip(): dict(pair.split("=", 1) for pair in shlex.split(line)[1:])
    for name, line in re.findall(r"^\| ([^|]+) \| `(export [^`]+)`", PAGE, re.MULTILINE)
}
ANN = {"rows": [{"name": "Ann", "age": 4}]}
KEY = "Authorization"


def refusal(message: str, **more: Any) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", **more}
    return web.json_response({"error": error}, status=400)


class Provider:
    """A server that takes requests at one path with a key in one header, and has a custom."""

    def __init__(self, path: str, header: str = KEY, custom: str = "") -> None:
        self.path, self.header, self.custom = path, header, custom
        self.number = 0

    async def reply(self, request: web.Request) -> web.Response:
        """The reply to a request."""
        self.number += 1
        if str(request.rel_url) != self.path:
            return web.json_response({"error": {"message": "no such route"}}, status=404)
        if self.header and "KEY" not in request.headers.get(self.header, ""):
            return web.json_response({"error": {"message": "no key"}}, status=401)
        return self.replied(await request.json())

    def replied(self, body: dict[str, Any]) -> web.Response:
        """The reply to a body, as the custom wants it."""
        form = body.get("response_format", {}).get("type")
        text = json.dumps(ANN)
        if self.custom == "formats are ignored":
            text = f"Here are the people:\n\n```json\n{text}\n```"
        if self.custom == "errors with 200" and self.number == 1:
            return web.json_response({"error": {"code": 502, "message": "Provider error"}})
        if self.custom == "schema only" and form != "json_schema":
            return refusal("'response_format.type' must be 'json_schema'")
        if self.custom == "small window" and body["max_tokens"] > 300:
            return refusal(
                f"'max_tokens' is too large: {body['max_tokens']}. This model's maximum context "
                f"length is 800 tokens and your request has 500 input tokens "
                f"({body['max_tokens']} > 800 - 500)."
            )
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if self.custom == "thinks":
            if body["max_tokens"] < 2000:
                choice = {"finish_reason": "length", "message": {"role": "assistant"}}
                return web.json_response({"choices": [choice], "usage": {"total_tokens": 9}})
            message["reasoning_content"] = "Ann, I think."
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return web.json_response({"choices": [choice], "usage": {"prompt_tokens": 9}})


_V1 = "/v1/chat/completions"
PROVIDERS = {
    "OpenAI": Provider(_V1),
    "Azure OpenAI, a deployment": Provider(
        "/openai/deployments/DEPLOYMENT/chat/completions?api-version=2024-10-21", "api-key"
    ),
    "Azure OpenAI, version 1": Provider("/openai/v1/chat/completions"),
    "Anthropic": Provider(_V1, custom="formats are ignored"),
    "Google Gemini": Provider("/v1beta/openai/chat/completions", custom="thinks"),
    "OpenRouter": Provider("/api/v1/chat/completions", custom="errors with 200"),
    "LiteLLM proxy": Provider(_V1),
    "vLLM": Provider(_V1, "", "small window"),
    "Ollama": Provider(_V1, ""),
    "LM Studio": Provider(_V1, "", "schema only"),
    "llama.cpp": Provider(_V1, ""),
}


@pytest.fixture(autouse=True)
def _requests() -> Iterator[None]:
    with requests_allowed():
        yield


def test_every_provider_of_the_page_is_tried() -> None:
    assert list(LINES) == list(PROVIDERS)


@pytest.mark.parametrize("name", LINES)
async def test_the_line_of_a_provider_reads_its_reply(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, environment = PROVIDERS[name], dict(LINES[name])
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", provider.reply)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server = f"127.0.0.1:{runner.addresses[0][1]}"
    address = environment.get("SLIDERS_BASE_URL")
    if address is None:  # the client's own address
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://{server}/v1")
    else:
        parts = urlsplit(address)
        environment["SLIDERS_BASE_URL"] = address.replace(
            f"{parts.scheme}://{parts.netloc}", f"http://{server}"
        )
    models = connect(Settings.from_env(environment))
    try:
        reply = await models.model_for("extract").generate(rows_request())
    finally:
        await models.aclose()
        await runner.cleanup()
    assert reply.data == ANN
