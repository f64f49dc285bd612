"""The contract of a model: a request in, a response with its usage out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from sliders.llm.dialect import Dialect

FinishReason = Literal["stop", "length", "error"]


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One model call, fully described: the same request has the same cache key.

    `stage` is the room that asks ("schema", "gate", "extract", "reconcile", "answer", "plan").
    `reply` is a pydantic model of the reply, `json_schema` a JSON schema where its shape depends on
    columns; neither means free text. `choices` non-empty asks for ONE token and the log-probability
    of each choice at it. `told` asks for the odds that each member of the JSON reply has a value
    rather than null. `enough` says of an unfinished reply that nothing more is needed, so that a
    local server can stop. `before_sending` is called when the request may be sent, and may raise an
    error. `batch_log` keeps the ids of batches. These three do not count for the cache key.
    """

    stage: str
    messages: tuple[Message, ...]
    prompt_hash: str = ""
    json_schema: Mapping[str, Any] | None = None
    max_tokens: int = 512
    temperature: float = 0.0
    logprobs: bool = False
    reply: type[BaseModel] | None = None
    choices: tuple[str, ...] = ()
    told: bool = False
    enough: Callable[[str], bool] | None = field(default=None, compare=False, repr=False)
    before_sending: Callable[[], None] | None = field(default=None, compare=False, repr=False)
    batch_log: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens, seconds and cost (US dollars) of one call or of many. `calls` counts the calls
    that reached a server, `unpriced_calls` the calls without a known price, `cached_tokens` the
    prompt tokens from the server's own cache.
    """

    calls: int = 0
    cached_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    unpriced_calls: int = 0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Prompt and generated tokens together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, earlier: Usage) -> Usage:
        return Usage(*(getattr(self, f.name) - getattr(earlier, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Response:
    """A model's reply. `data` is the parsed JSON when the request had a schema.

    `salvaged` is True when the broken end of a list was cut off; `token_logprobs` are natural logs,
    empty unless asked for; `odds` is the natural log-probability of each choice of the request, or
    the log-odds of a value against null of each member of the reply, empty when the server sends
    none; `sureness` is the natural log-probability of the least likely token of each member's
    value.
    """

    text: str
    data: Any = None
    finish_reason: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    call_id: str = ""
    salvaged: bool = False
    token_logprobs: tuple[float, ...] = ()
    odds: Mapping[str, float] = field(default_factory=dict)
    sureness: Mapping[str, float] = field(default_factory=dict)


class Model(Protocol):
    """Anything that answers requests: a server, the embedded model, a cache around either, a test
    double.

    `name` is the name in the log of calls, `context_tokens` the size of the window in tokens,
    `dialect` the way of asking.
    """

    name: str
    context_tokens: int
    dialect: Dialect

    def count_tokens(self, text: str) -> int:
        """Number of tokens of `text` for this model (an estimate where its
        tokenizer is unknown).
        """
        ...

    async def generate(self, request: Request) -> Response:
        """Answers one request.

        Raises:
            ModelUnavailable: no server, wrong key, unknown model.
            ModelRefusal: the reply does not parse and cannot be repaired.
            TruncatedReply: the reply stopped at `max_tokens`, and nothing could be kept.
            BudgetExceeded: the run's limit is reached.
        """
        ...
