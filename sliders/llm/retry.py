"""The errors of a server in the package's terms, and which of them are worth another try."""

from __future__ import annotations

import email.utils
import json
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import aiohttp
import httpx
import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from sliders.errors import CallFailed, ModelError, ModelUnavailable
from sliders.hidden import cause, hide
from sliders.llm.arguments import STRUCTURE, mentioned
from sliders.llm.bounded import BadBody

T = TypeVar("T")

_MAX_WAIT = 60.0
_LONGEST_TEXT = 500
_SAME_AGAIN = 2
"""The number of equal internal errors after which a request is not sent again."""
_LONGEST_WISH = 300.0
"""The longest wait in seconds that is kept when a server asks for it; a longer one is left to the
user.
"""
_NO_MODEL = re.compile(
    r"model_not_found|(?:unknown|invalid|no such|not a valid) model"
    r"|model\S* .{0,100}?(?:not found|not exist)"
)
_backoff = wait_random_exponential(multiplier=0.5, max=_MAX_WAIT)


class ServerRefusal(Exception):
    """The server does not take a request as it is (HTTP 400, 422).

    `parameter` is the argument that the server names as the cause, "" for none; `text` is its
    message; `too_long` is True when prompt and reply do not fit the context window.
    """

    def __init__(self, message: str, parameter: str, text: str, too_long: bool) -> None:
        super().__init__(message)
        self.parameter, self.text, self.too_long = parameter, text, too_long


class _Passing(ModelError):
    """An error that may not come again. `retry_after` is the wait that the server asks for, in
    seconds; `internal` is True when the server itself failed, which usually repeats with the same
    message.
    """

    def __init__(
        self,
        message: str,
        retry_after: float | None = None,
        unreachable: bool = False,
        internal: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after, self.unreachable, self.internal = retry_after, unreachable, internal


async def with_retries(
    once: Callable[[], Awaitable[T]], retries: int, pause: Callable[[float], None]
) -> T:
    """Runs `once` until it works, with growing random waits, at most `retries` more times.

    Raises:
        ModelError: the server kept failing.
    """

    try:
        return await once()  # most often the only try, which takes no retrying machinery
    except _Passing as error:
        failed = [error]

    async def again() -> T:
        if failed:
            raise failed.pop()
        return await once()

    def wait(state: RetryCallState) -> float:
        wish = _failure(state).retry_after
        if wish is None:
            return float(_backoff(state))
        pause(wish)
        return wish

    try:
        return await AsyncRetrying(
            stop=_stop_after(retries),
            wait=wait,
            retry=retry_if_exception_type(_Passing),
            reraise=True,
        )(again)
    except _Passing as error:
        kind = ModelUnavailable if error.unreachable else CallFailed
        raise kind(str(error)) from error.__cause__


def _stop_after(retries: int) -> Callable[[RetryCallState], bool]:
    """Returns the function that decides when to give up: after the retries, or when an internal
    error repeats. A server that is not reached gets one more try, which covers a restart.
    """
    said: list[str] = []

    def stop(state: RetryCallState) -> bool:
        error = _failure(state)
        said.append(str(error))
        hopeless = error.internal and said.count(str(error)) > _SAME_AGAIN
        return hopeless or state.attempt_number > (
            min(retries, 1) if error.unreachable else retries
        )

    return stop


def _failure(state: RetryCallState) -> _Passing:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, _Passing)
    return error


@contextmanager
def translated(model: str, where: str, timeout: float) -> Iterator[None]:
    """A block that turns errors of the client into errors of the package."""
    try:
        yield
    except openai.APIStatusError as error:
        body: object = error.body
        if body is None:
            body = error.response.text
        told = status_error(error.status_code, body, error.response.headers, model, where)
        raise told from cause(error)
    except (openai.APIConnectionError, httpx.TransportError) as error:
        raise _connection_error(error, where, timeout) from cause(error)


def _connection_error(error: Exception, where: str, timeout: float) -> Exception:
    """Returns the error for a request without a reply, by the cause inside the client's error."""
    reason: BaseException = error
    while isinstance(reason.__cause__, Exception) and not isinstance(reason, BadBody):
        reason = reason.__cause__
    if isinstance(reason, BadBody):
        return CallFailed(f"{where} {reason}; correct the server, or use another one")
    reason = error
    while reason.__cause__ is not None and not isinstance(reason, aiohttp.ClientError):
        reason = reason.__cause__
    if isinstance(reason, aiohttp.ClientSSLError | ssl.SSLError):
        return ModelUnavailable(
            f"the certificate of {where} is not trusted ({reason}); set SSL_CERT_FILE to a file "
            "with the certificate of its authority"
        )
    if isinstance(reason, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return _Passing(
            f"no model server answers at {where} ({reason}); start it, correct SLIDERS_BASE_URL, "
            "or leave both model and server out for the embedded model",
            unreachable=True,
        )
    if isinstance(reason, TimeoutError | httpx.TimeoutException):
        return _Passing(
            f"{where} did not answer within {timeout:g} s; raise SLIDERS_TIMEOUT, or lower "
            "SLIDERS_CONCURRENCY"
        )
    # It was reached and let the connection go: it may well answer the next time.
    return _Passing(f"{where} broke the connection off ({reason}); try again later")


def status_error(
    status: int, body: object, headers: Mapping[str, str], model: str, where: str
) -> Exception:
    """Returns the package's error for an HTTP status or an error body of a server."""
    text, told, parameter = _text(body), _told(body).lower(), _parameter(body)
    if is_page(body) and status < 500:
        return not_the_interface(where, status, body)
    if status in (401, 403):
        return ModelUnavailable(
            f"{where} refuses the key ({status}: {text}); set OPENAI_API_KEY to a "
            "key of that server"
        )
    # A bare "quota" may be the limit of a minute.
    if status == 402 or (status == 429 and "insufficient_quota" in told):
        return ModelUnavailable(
            f"the account at {where} has no quota or credit left ({text}); top it up or use "
            "another key or model"
        )
    shape = mentioned((*STRUCTURE, "json_schema"), told)
    if status in (408, 409, 425, 429) or (status >= 500 and not shape):
        wish = _retry_after(headers)
        wish = _wish_in(_told(body), headers) if wish is None and status == 429 else wish
        told = f"{where} keeps answering {status}: {text}"
        return _passing(told, wish, where, internal=status == 500)
    too_long = status == 413 or (
        any(w in told for w in ("context", "prompt is", "input is", "input length"))
        and any(w in told for w in ("length", "exceed", "size", "maximum", "too long", "too large"))
    )
    if parameter == "model" or (not too_long and not parameter and _names_no_model(told)):
        return ModelUnavailable(
            f"{where} has no model {model!r} ({text}); set SLIDERS_MODEL to a name it serves"
        )
    if status in (404, 405):
        return ModelUnavailable(
            f"{where} answers {status} ({text}); check that SLIDERS_BASE_URL ends in /v1 and the "
            f"model {model!r} exists"
        )
    return ServerRefusal(f"{where} answers {status}: {text}", parameter, _told(body), too_long)


def is_page(body: object) -> bool:
    """True when a body is an HTML page instead of a reply."""
    start = body.lstrip()[:200].lower() if isinstance(body, str) else ""
    return start.startswith(("<!doctype html", "<html", "<head", "<body"))


def not_the_interface(where: str, status: int, body: object) -> ModelUnavailable:
    """Returns the error for an address that is not the chat interface of a model server."""
    sent = "a page of HTML" if is_page(body) else f"{_text(body)[:120]!r}"
    return ModelUnavailable(
        f"{where} answers {status} with {sent}, not as a model server does: set SLIDERS_BASE_URL "
        "to the address of its OpenAI-compatible interface, which most often ends in /v1"
    )


def _names_no_model(told: str) -> bool:
    """True when an error says that the server does not have the model."""
    return _NO_MODEL.search(told) is not None


def _passing(told: str, wish: float | None, where: str, *, internal: bool) -> ModelError:
    """Returns an error that is tried again, unless the server asks for a long wait."""
    if wish is None or wish <= _LONGEST_WISH:
        words = f"{told}; try again later, or lower SLIDERS_CONCURRENCY"
        return _Passing(words, wish, internal=internal)
    until = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + wish))
    hours, minutes = divmod(round(wish / 60), 60)
    return ModelUnavailable(
        f"{told}; {where} asks to wait {hours} h {minutes} min, until {until}: run the command "
        "again then, or use another key or model"
    )


def _told(body: object) -> str:
    """All texts in the body of an error."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)


def _inner(body: object) -> object:
    """The error inside a body: some servers wrap it, some send a list of one."""
    while True:
        if isinstance(body, list) and len(body) == 1:
            body = body[0]
        elif isinstance(body, Mapping) and isinstance(body.get("error"), Mapping | list):
            body = body["error"]
        else:
            return body


def _text(body: object) -> str:
    """The message of an error; the middle of a long one is left out."""
    inner = _inner(body)
    if isinstance(inner, Mapping):
        said = (inner.get(name) for name in ("message", "detail", "error", "msg"))
        inner = next((one for one in said if one), inner)
    told = hide(" ".join(_told(inner).split()))
    return told if len(told) <= _LONGEST_TEXT else f"{told[:350]} ... {told[-150:]}"


def _parameter(body: object) -> str:
    """The argument that an error names as its cause: OpenAI's `param`, or the location in an error
    of pydantic, which servers in Python send.
    """
    inner = _inner(body)
    if not isinstance(inner, Mapping):
        return ""
    place: Any = inner.get("param") or inner.get("loc")
    if isinstance(detail := inner.get("detail"), list) and detail:
        place = detail[0].get("loc") if isinstance(detail[0], Mapping) else None
    if isinstance(place, list):
        place = next((str(step) for step in place if step not in ("body", "query")), "")
    return str(place or "").split(".")[0].split("[")[0]


def _wish_in(told: str, headers: Mapping[str, str]) -> float | None:
    """The seconds to wait that a 429 names in its message or in the reset time of its limit; None
    when it names none.
    """
    waits = [_seconds(found) for found in _WAIT.findall(told)]
    waits += [
        _seconds(value)
        for name, value in headers.items()
        if name.lower() in _RESETS and not value.isdigit()
    ]
    known = [wait for wait in waits if wait is not None]
    return max(known) if known else None


def _seconds(text: str) -> float | None:
    """The seconds of a duration, "1m30s" or "20"; None where it is none."""
    parts = _PART.findall(text.strip().rstrip(".").lower())
    units = [_UNITS.get("ms" if unit.startswith("ms") else unit[:1]) for _, unit in parts]
    if not parts or None in units:
        return None
    numbers = (float(number) for number, _ in parts)
    return sum(number * (unit or 1.0) for number, unit in zip(numbers, units, strict=True))


_WAIT = re.compile(
    r"(?:(?:retry|try again)(?: after| in)|retry_?delay)\W+(\d[\d.]*(?: ?(?:ms|[hms])[a-z]*)?)",
    re.IGNORECASE,
)
_RESETS = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens")
_PART = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]*)")
_UNITS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "h": 3600.0}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait (`retry-after-ms`, or `Retry-After`
    as seconds or a date).
    """
    try:
        if "retry-after-ms" in headers:
            return max(float(headers["retry-after-ms"]) / 1000, 0.0)
        if "retry-after" not in headers:
            return None
        value = headers["retry-after"].strip()
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError):
        return None
