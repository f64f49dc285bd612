"""A reply that is read while it is written, and stopped where nothing more is to come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import openai
from openai.types.chat import ChatCompletionChunk


async def streamed(client: openai.AsyncOpenAI, body: Mapping[str, Any], enough: Callable[[str], bool]) -> Mapping[str, Any]:
    """The completion of one chat request, in the server's own form; closing the connection ends the generation.

    A reply that was stopped has "length" for its finish reason and a count of generated tokens by pieces, which the
    embedded server sends one by one; how long its prompt was is then not known.
    """
    text, pieces, reason, usage = "", 0, "stop", None
    told = {**body, "stream": True, "stream_options": {"include_usage": True}}
    stream = await client.post(
        "/chat/completions", cast_to=ChatCompletionChunk, body=told, stream=True,
        stream_cls=openai.AsyncStream[ChatCompletionChunk],
    )  # fmt: skip
    async with stream:
        async for chunk in stream:
            usage = chunk.usage.model_dump() if chunk.usage else usage
            piece = "".join(choice.delta.content or "" for choice in chunk.choices)
            reason = next((choice.finish_reason for choice in chunk.choices if choice.finish_reason), reason)
            text, pieces = text + piece, pieces + bool(piece)
            if "}" in piece and enough(ended := text[: text.rindex("}") + 1]):
                text, reason = ended, "length"
                break
    choices = [{"message": {"content": text}, "finish_reason": reason}]
    return {"choices": choices, "usage": usage or {"prompt_tokens": None, "completion_tokens": pieces}}
