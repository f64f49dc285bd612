"""Secrets and terminal escapes in messages, logs and on the streams of the command line."""

from __future__ import annotations

import base64
import io
import logging
import traceback

import pytest

from sliders.errors import SlidersError
from sliders.hidden import cause, guard_logs, hide, remember, remember_address, safe, visible
from sliders.settings import Settings

SECRET = "hunter2pw9"


@pytest.mark.parametrize(
    "text",
    [
        f"http://ann:{SECRET}@host:80/v1",
        f"http://{SECRET}@host/v1",
        f"postgresql+psycopg://ann:{SECRET}@host/db?schema=s",
        f"postgresql://ann:a/{SECRET}@host/db",
        f"postgresql://host/db?user=ann&password={SECRET}",
        f"https://host/a#access_token={SECRET}",
        f"https://host/a?X-Amz-Signature={SECRET}&page=2",
        f"https://host/a?subscription-key={SECRET}",
        f"ray://ann:{SECRET}@head:10001",
        f"zip://a.txt::https://ann:{SECRET}@host/a.zip",
        f"Authorization: Bearer {SECRET}",
        f"{{'authorization': 'Basic {SECRET}'}}",
        f"headers api-key: {SECRET}, accept: json",
        f'{{"api_key": "{SECRET}", "model": "m"}}',
        f"connection to host=h user=ann password={SECRET} failed",
        f"Set-Cookie: {SECRET}",
    ],
)
def test_a_secret_is_known_by_its_place(text: str) -> None:
    for told in (hide(text), str(SlidersError(text))):
        assert SECRET not in told and "***" in told


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=500 tokens: 7",
        "see https://host/a?page=2&lang=de#part",
        "https://medium.com/@writer/a",
        "https://host:8000/a@b",
        "abfss://box@account.dfs.core.windows.net/a",
        "the key of table 'a' is (name, year)",
        "the secret garden; a basic understanding",
        "unexpected token: }",
    ],
)
def test_plain_words_stay(text: str) -> None:
    assert hide(text) == text


def test_a_secret_that_was_given_is_hidden_wherever_it_turns_up() -> None:
    remember("lk-given-4711", "ollama")
    remember_address("https://host/a?token=tk-of-address-1", "http://ann:p%40ss-w0rd@host")
    told = hide("server lk-given-4711! tk-of-address-1 p@ss-w0rd p%40ss-w0rd at http://ollama:1")
    assert told == "server ***! *** *** *** at http://ollama:1"


def test_settings_and_causes_show_none() -> None:
    shown = repr(Settings(model="m", base_url=f"http://ann:{SECRET}@h/v1", api_key=SECRET))
    assert SECRET not in shown and "http://***@h/v1" in shown
    plain = ValueError("nothing to hide")
    assert cause(plain) is plain
    try:
        try:
            raise ValueError(f"https://host/a?token={SECRET}")
        except ValueError as error:
            raise SlidersError("it failed") from cause(error)
    except SlidersError:
        told = traceback.format_exc()
    assert SECRET not in told and "token=***" in told


def test_logs_show_none(caplog: pytest.LogCaptureFixture) -> None:
    guard_logs()
    with caplog.at_level(logging.INFO):
        logging.getLogger("httpx").info("GET %s", f"https://host/a?api_key={SECRET}")
    assert caplog.messages == ["GET https://host/a?api_key=***"]


def test_streams_show_neither_secrets_nor_escapes() -> None:
    remember("lk-given-4711")
    out, err = io.StringIO(), io.StringIO()
    print("a\x1b[31mred lk-given-4711 ?token=5\n\tb\x9b1m", file=safe(out, messages=False))
    print("?token=5 \x1b]0;title\x07 \u202etxt\r", file=safe(err, messages=True))
    assert out.getvalue() == "a\\u001b[31mred *** ?token=5\n\tb\\u009b1m\n"
    assert err.getvalue() == "?token=*** \\u001b]0;title\\u0007 \\u202etxt\\u000d\n"
    assert visible("línea\r\n\tثابت 東京") == "línea\r\n\tثابت 東京"


def test_a_key_of_a_model_server_is_known_by_its_address_and_in_base64() -> None:
    key = "Zx81-Function-Key-77"
    address = f"https://host/v1?api-version=2024-12-01-preview&code={key}"
    Settings(base_url=address, model="m")
    encoded = base64.b64encode(key.encode()).decode()
    told = hide(f"no answer at {address}; 2024-12-01-preview; {encoded}")
    assert key not in told and encoded.rstrip("=") not in told
    assert told.count("2024-12-01-preview") == 2
