"""The door of a served workspace: it decides which host names, sites and tokens are let in."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from sliders.errors import SettingsError
from sliders.hidden import remember

Scope = dict[str, Any]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Any, Send], Awaitable[None]]
HOST = "127.0.0.1"
_HERE = (HOST, "localhost", "::1")
_SHORTEST = 8


def is_here(host: str) -> bool:
    """True when only this machine reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def token_for(host: str, given: str | None) -> tuple[str, bool]:
    """Returns (token, made): the token that visitors of a server need, "" for none, and True when
    it was made here. It is made when other machines reach the address and none is given.

    Raises:
        SettingsError: the given token is too short.
    """
    if given is not None and (len(given) < _SHORTEST or not given.isascii()):
        raise SettingsError(
            f"--token needs {_SHORTEST} letters and digits or more; leave it out to have one made"
        )
    remember(given)
    if given is not None:
        return given, False
    return ("", False) if is_here(host) else (token_urlsafe(24), True)


def listened(host: str, port: int, option: str) -> socket.socket:
    """Opens a socket that listens on an address.

    Args:
        option: the name of the option that sets the port, for the error.

    Raises:
        SettingsError: the port is in use, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError, OverflowError) as error:  # a name with an empty part is no IDNA
        raise SettingsError(
            f"{host} port {port} cannot be listened on ({error}); name others with {option} and "
            "--host"
        ) from error


class Door:
    """An ASGI application that guards another one.

    It refuses requests under another host name than those of the address that it listens on, and
    requests that come from pages of other sites. With a token, it admits only requests that carry
    it: as `Authorization: Bearer`, or as `?token=` in the address, which then becomes a cookie.

    Args:
        app: the guarded application.
        host: the address on which the server listens.
        token: the token; "" for none.
    """

    def __init__(self, app: App, host: str = HOST, token: str = "") -> None:
        self._app, self._token = app, token
        own = () if is_here(host) else (host.lower(), socket.gethostname().lower())
        self._names = {*_HERE, *own}

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope.get("headers", ()):
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if refused := self._refused(scope, headers):
            await _answer(send, scope["type"], *refused)
            return
        given = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
        if not self._token or self._known(headers):
            await self._app(scope, receive, send)
        elif _same(given.pop("token", ""), self._token) and scope.get("method") == "GET":
            place = "/" + scope["path"].lstrip("/") + (f"?{urlencode(given)}" if given else "")
            cookie = f"{self._cookie(headers)}={self._token}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(send, "http", 303, "", {"location": place, "set-cookie": cookie})
        else:
            told = (
                "the token of this server is missing: send Authorization: Bearer TOKEN, or open a "
                "page with ?token=TOKEN (only GET)"
            )
            await _answer(send, scope["type"], 401, told, {"www-authenticate": "Bearer"})

    def _refused(self, scope: Scope, headers: Mapping[str, list[str]]) -> tuple[int, str] | None:
        """Returns the HTTP status and the reason when a request comes from elsewhere; None for a
        request that may pass.
        """
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        named = _name(hosts[0]) if len(hosts) == 1 else ""
        own = scope.get("server") or ("", 0)
        if not named or (named not in self._names and named != own[0]):
            return 421, "this server answers to its own address only"
        here = {f"{scheme}://{hosts[0]}".lower() for scheme in ("http", "https")}
        if len(origins) > 1 or any(origin.lower() not in here for origin in origins):
            return 403, "this server answers to no page of another site"
        if headers.get("sec-fetch-site", [""])[0] in ("cross-site", "same-site") and (
            headers.get("sec-fetch-mode", [""])[0] != "navigate" or scope.get("method") != "GET"
        ):
            return 403, "this server answers to no page of another site"
        return None

    def _known(self, headers: Mapping[str, list[str]]) -> bool:
        """True when a request carries the token."""
        for value in headers.get("authorization", ()):
            kind, _, token = value.partition(" ")
            if kind.lower() == "bearer" and _same(token.strip(), self._token):
                return True
        try:
            cookies = SimpleCookie("; ".join(headers.get("cookie", ())))
        except CookieError:
            return False
        kept = cookies.get(self._cookie(headers))
        return kept is not None and _same(kept.value, self._token)

    def _cookie(self, headers: Mapping[str, list[str]]) -> str:
        """The name of the cookie. It includes the port, since all ports of a machine share their
        cookies.
        """
        return f"sliders_{urlsplit('//' + headers['host'][0]).port or 80}"


def _name(host: str) -> str:
    """The host name in a Host header; "" for a malformed header."""
    try:
        parts = urlsplit(f"//{host}")
        return (parts.hostname or "").lower() if parts.netloc == host and parts.port != 0 else ""
    except ValueError:
        return ""


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


async def _answer(
    send: Send, kind: str, status: int, text: str, more: Mapping[str, str] | None = None
) -> None:
    """Sends a short answer; a web socket is closed."""
    if kind == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store"}
    pairs = [(n.encode(), v.encode("latin-1")) for n, v in (headers | dict(more or {})).items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": text.encode()})
