"""What a model is: a request in, a response with usage out, and who is told of each call."""

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
    rather than null. `enough` may be asked about a reply under way, so that a server of our own
    stops when nothing more is to come, and `before_sending` is called once its place in flight is
    there and may raise; `batch_log` keeps the numbers of batches. They are no part of what the
    request is.
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
    """Tokens, seconds and cost (USD) of one call or of many; `calls` counts those
    that reached a server, `unpriced_calls` those of them whose price is not known. `cached_tokens`
    are those prompt tokens that the server had kept from an earlier call.
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

    `salvaged` says that a broken tail was cut from a list; `token_logprobs` are natural logs,
    empty unless asked for; `odds` is the natural log-probability of each choice of the request,
    or the log-odds of a value against null of each member of the reply, empty where the server
    tells none; `sureness` is the log-probability of the least likely token of each member's
    value, beside those odds.
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
    """Anything that answers requests: a server, the embedded model, a cache
    around either, a double.

    `name` is what the ledger stores, `context_tokens` the size of the window, `dialect`
    how the model is asked.
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
        """Answer one request.

        Raises ModelUnavailable: no server, wrong key, unknown model; ModelRefusal: the reply does
        not parse and cannot be repaired; TruncatedReply: the reply stopped at `max_tokens` and
        nothing could be salvaged; BudgetExceeded: the run's limit is reached.
        """
        ...
