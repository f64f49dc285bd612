"""What a server's errors mean here, and which of them are worth another try."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import aiohttp
import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from sliders.errors import CallFailed, ModelError, ModelUnavailable, TruncatedReply

T = TypeVar("T")

_MAX_WAIT = 60.0
_BROKEN = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, OSError)
"""A server that was reached and let the connection go: it may well answer the next time."""
_backoff = wait_random_exponential(multiplier=0.5, max=_MAX_WAIT)


class ServerRefusal(Exception):
    """The server does not know this way of asking (HTTP 400, 404 for a route, 422)."""


class _Passing(ModelError):
    """An error that may be gone at the next try. `retry_after` is the server's wish in seconds."""

    def __init__(
        self, message: str, retry_after: float | None = None, unreachable: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after, self.unreachable = retry_after, unreachable


async def with_retries(
    once: Callable[[], Awaitable[T]], retries: int, pause: Callable[[float], None]
) -> T:
    """Run `once` until it works, with growing random waits, at most `retries` more times.

    Raises ModelError: the server kept failing.
    """

    try:
        return await once()
    except _Passing as error:
        failed = [error]

    async def again() -> T:
        if failed:
            # the first try, which most often is the only one, takes no retrying machinery
            raise failed.pop()
        return await once()

    def wait(state: RetryCallState) -> float:
        wish = _failure(state).retry_after
        if wish is None:
            return float(_backoff(state))
        pause(wish)
        return wish

    def stop(state: RetryCallState) -> bool:
        # A server that is not there will not come up in the next minute: one more
        # try covers a restart.
        return state.attempt_number > (min(retries, 1) if _failure(state).unreachable else retries)

    try:
        return await AsyncRetrying(
            stop=stop, wait=wait, retry=retry_if_exception_type(_Passing), reraise=True
        )(again)
    except _Passing as error:
        kind = ModelUnavailable if error.unreachable else CallFailed
        raise kind(str(error)) from error.__cause__


def _failure(state: RetryCallState) -> _Passing:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, _Passing)
    return error


@contextmanager
def translated(model: str, where: str, timeout: float) -> Iterator[None]:
    """Turn the client's errors inside the block into the package's own."""
    try:
        yield
    except openai.APITimeoutError as error:
        raise _Passing(
            f"{where} did not answer within {timeout:g} s; raise SLIDERS_TIMEOUT, or lower "
            "SLIDERS_CONCURRENCY"
        ) from error
    except openai.APIConnectionError as error:
        reason = error.__cause__ or error
        if isinstance(reason, _BROKEN) and not isinstance(reason, aiohttp.ClientConnectorError):
            raise _Passing(
                f"{where} broke the connection off ({reason}); try again later"
            ) from error
        raise _Passing(
            f"no model server answers at {where} ({reason}); start it, correct SLIDERS_BASE_URL, "
            "or leave both model and server out for the embedded model",
            unreachable=True,
        ) from error
    except openai.APIStatusError as error:
        raise _status_error(error, model, where) from error


def _status_error(error: openai.APIStatusError, model: str, where: str) -> Exception:
    status, text = error.status_code, _message(error)
    lowered = f"{text} {error.code or ''} {error.type or ''}".lower()
    if status in (401, 403):
        return ModelUnavailable(
            f"{where} refuses the key ({status}: {text}); set OPENAI_API_KEY to a "
            "key of that server"
        )
    # A bare "quota" may be that of a minute.
    if status == 402 or (status == 429 and "insufficient_quota" in lowered):
        return ModelUnavailable(
            f"the account at {where} has no quota or credit left ({text}); top it up or use "
            "another key or model"
        )
    if status in (408, 409, 425, 429) or status >= 500:
        return _Passing(
            f"{where} keeps answering {status}: {text}; try again later, or lower "
            "SLIDERS_CONCURRENCY",
            _retry_after(error),
        )
    if status == 413 or (
        "context" in lowered and any(w in lowered for w in ("length", "exceed", "size", "maximum"))
    ):
        return TruncatedReply(
            f"the input does not fit the context window of {model!r} at {where} "
            f"({text}); split the input"
        )
    if "model" in lowered and any(
        w in lowered for w in ("not found", "does not exist", "not exist", "unknown", "no such")
    ):
        return ModelUnavailable(
            f"{where} has no model {model!r} ({text}); set SLIDERS_MODEL to a name it serves"
        )
    if status == 404:
        return ModelUnavailable(
            f"{where} answers 404 ({text}); check that SLIDERS_BASE_URL ends in /v1 and the model "
            f"{model!r} exists"
        )
    return ServerRefusal(f"{where} answers {status}: {text}")


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict):
        return str(body.get("message") or body)[:300]
    return str(body or error.message)[:300]


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Seconds that the server asks to wait (`retry-after-ms`, or `Retry-After`
    as seconds or a date).
    """
    headers = error.response.headers
    try:
        if "retry-after-ms" in headers:
            return min(max(float(headers["retry-after-ms"]) / 1000, 0.0), _MAX_WAIT)
        if "retry-after" not in headers:
            return None
        value = headers["retry-after"]
        if value.replace(".", "", 1).strip().isdigit():
            return min(float(value), _MAX_WAIT)
        return min(
            max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0), _MAX_WAIT
        )
    except (ValueError, TypeError):
        return None
