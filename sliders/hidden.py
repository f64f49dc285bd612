"""The filter that keeps secrets and control characters out of everything that is printed or stored:
messages, logs, addresses and the streams of the command line.
"""

from __future__ import annotations

import base64
import json
import logging
import re
import threading
from collections.abc import Iterable
from typing import Any, TextIO, cast
from urllib.parse import quote, unquote, urlsplit

MARK = "***"
_SHORTEST, _LONG = 6, 12
_SECRET = (
    r"(?:[\w.-]*(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?"
    r"|signature|credentials?|private[_-]?key|subscription[_-]?key|jwt|bearer|authorization)"
    r"|auth|key|sig|sas|session[_-]?id|cookie)"
)
"""Names of parameters whose values are secrets."""
_HEADER = r"(?:(?:proxy-)?authorization|(?:x-)?api-key|ocp-apim-subscription-key|(?:set-)?cookie)"
_NO_SECRET = r"[^\s&;#'\"<>\\]"
_PATTERNS = (
    # postgresql://user:password@host, whose password may have a slash
    (r"((?:postgres|mysql|maria|redis|mongo|amqp|abfs|wasb)[\w+]*://[^\s:/@'\"]*):[^\s@'\"]{0,300}@",
     rf"\1:{MARK}@"),
    # https://user:password@host, or a token in the place of both
    (r"(?<![\w+.-])(?!(?:postgres|mysql|maria|redis|mongo|amqp|abfs|wasb))"
     r"([a-z][a-z0-9+.-]*://)[^\s/?#'\"]*@", rf"\1{MARK}@"),
    (rf"([?&;#]{_SECRET}=){_NO_SECRET}+", rf"\1{MARK}"),
    (rf"((?<![\w-]){_HEADER}['\"]?\s*[:=]\s*(?:b?['\"])?)(?:(?:bearer|basic|token|digest)\s+)?[^\s'\",}}]+",
     rf"\1{MARK}"),
    (r"(?<![\w-])((?:bearer|basic)\s+)(?=\S*\d)[\w.~+/=-]{8,}", rf"\1{MARK}"),
    (rf"((?<![\w-])(?:ssl)?(?:password|passwd|pwd|passphrase|secret|api_?key|access_token|client_secret)"
     rf"\s?=\s?)(?:'[^']*'|{_NO_SECRET}+)", rf"\1{MARK}"),
    (rf"(['\"]{_SECRET}['\"]\s*:\s*['\"])[^'\"]+", rf"\1{MARK}"),
    (r"(?-i:(?<![\w-])(?:sk|pk|rk)-[\w-]{16,}|(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)"
     r"|(?<!\w)gh[pousr]_\w{20,}|(?<!\w)github_pat_\w{20,}|(?<!\w)xox[abprs]-[\w-]{10,}"
     r"|(?<!\w)AIza[\w-]{30,}|(?<!\w)hf_\w{20,}|(?<!\w)eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)", MARK),
)  # fmt: skip
_COMPILED = tuple((re.compile(find, re.IGNORECASE), put) for find, put in _PATTERNS)
_PARAMETER = re.compile(rf"(?:^|[?&;]){_SECRET}=", re.IGNORECASE)
_SERVER_PARAMETER = re.compile(rf"(?:{_SECRET}|code|ak|sk)=", re.IGNORECASE)
_CONTROL = re.compile("\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LOGGERS = (
    "httpx", "httpcore.connection", "httpcore.http11", "openai._base_client", "openai._response",
    "openai._legacy_response", "openai", "instructor", "aiohttp.client", "aiohttp.internal",
    "fsspec", "fsspec.http", "psycopg", "sqlalchemy.engine.Engine", "asyncio", "ray",
    "urllib3.connectionpool",
)  # fmt: skip


class _SecretWords:
    """The secrets that this process was given, and the pattern that finds them."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._lock = threading.Lock()
        self.pattern: re.Pattern[str] | None = None

    def add(self, secret: str) -> None:
        with self._lock:
            forms = {secret, unquote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]}
            if len(secret) >= _LONG:
                forms.add(base64.b64encode(secret.encode()).decode().rstrip("="))
            if forms <= self._words:
                return
            self._words |= forms
            found = []
            for word in sorted(self._words, key=len, reverse=True):
                edges = (
                    ("", "") if len(word) >= _LONG else (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])")
                )
                found.append(f"{edges[0]}{re.escape(word)}{edges[1]}")
            self.pattern = re.compile("|".join(found))


_WORDS = _SecretWords()


def remember(*secrets: str | None) -> None:
    """Hides these keys and passwords from now on wherever they occur; common words ("ollama",
    "EMPTY") are not taken as secrets.
    """
    for secret in secrets:
        word = (secret or "").strip()
        mixed = any(c.isdigit() for c in word) or (word != word.lower() and word != word.upper())
        if len(word) >= _LONG or (len(word) >= _SHORTEST and mixed):
            _WORDS.add(word)


def remember_address(*addresses: str | None, server: bool = False) -> None:
    """Hides the passwords and keys in these addresses from now on.

    Args:
        server: True for addresses of model servers, in which "code", "ak" and "sk" are keys, too.
    """
    keys = _SERVER_PARAMETER if server else _PARAMETER
    for address in addresses:
        try:
            parts = urlsplit((address or "").strip())
            remember(parts.password)
        except ValueError:
            continue
        for pair in re.split(r"[&;]", f"{parts.query}&{parts.fragment}"):
            name, _, value = pair.partition("=")
            if keys.match(f"{name}="):
                remember(value)
        if parts.username and parts.password is None and parts.scheme.startswith("http"):
            remember(parts.username)


def without_known(text: str) -> str:
    """Returns a text with a mark in the place of each secret that this process was given."""
    return text if _WORDS.pattern is None else _WORDS.pattern.sub(MARK, text)


def hide(text: str) -> str:
    """Returns a message with a mark in the place of each secret: the secrets that this process was
    given, and the words at places of secrets in addresses, headers and settings.

    >>> hide("no answer at https://ann:pw@host/v1?api_key=k7&page=2")
    'no answer at https://***@host/v1?api_key=***&page=2'
    """
    text = without_known(text)
    for pattern, put in _COMPILED:
        text = pattern.sub(put, text)
    return text


def holds_secret(parameters: str) -> bool:
    """True when the query or the fragment of an address has a parameter named like a secret
    ("token", "key" ...).
    """
    return _PARAMETER.search(parameters) is not None


def visible(text: str) -> str:
    """Returns a text with its control characters written out, so that no terminal obeys them.

    >>> visible("a\\x1b[31m")
    'a\\\\u001b[31m'
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def cause(error: BaseException) -> BaseException:
    """Returns an error that may be shown as a cause: the error itself; or, when it or its own cause
    shows a secret, an error with the same words without the secret.
    """
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        told = f"{link} {link!r}"
        if hide(told) != told:
            return RuntimeError(hide(f"{type(error).__name__}: {error}"))
        link = link.__cause__ or link.__context__
    return error


class _NoSecrets(logging.Filter):
    """Removes secrets from log records."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            told = record.getMessage()
            plain = hide(told)
        except (TypeError, ValueError, ImportError):  # it has no message, or the process ends
            return True
        if plain != told:
            record.msg, record.args = plain, None
        return True


def guard_logs(names: Iterable[str] = _LOGGERS) -> None:
    """Removes secrets from the logs of libraries that log addresses and headers."""
    for name in names:
        logger = logging.getLogger(name)
        if not any(isinstance(one, _NoSecrets) for one in logger.filters):
            logger.addFilter(_NoSecrets())


class SafeStream:
    """A stream of the command line that never prints secrets or terminal escapes.

    Args:
        inner: the stream itself.
        messages: True for messages; False for data, in which only the secrets that this process was
            given are hidden.
    """

    def __init__(self, inner: TextIO, messages: bool) -> None:
        self.inner, self._hide = inner, hide if messages else without_known

    def write(self, text: str) -> int:
        """Writes text; returns the number of its characters."""
        self.inner.write(visible(self._hide(text)))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def safe(stream: TextIO, messages: bool) -> TextIO:
    """A stream as a `SafeStream`."""
    return stream if isinstance(stream, SafeStream) else cast(TextIO, SafeStream(stream, messages))


def bare(stream: TextIO) -> TextIO:
    """Returns the original stream, for code that moves a terminal's cursor and filters its own
    output.
    """
    return stream.inner if isinstance(stream, SafeStream) else stream
