"""The behaviours: what a server does, and what is right then."""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.servers.reader import CALLS, kind_of
from benchmarks.servers.server import Asked, Reply, Script, refusal

Check = Callable[[Sequence[Asked]], bool]


@dataclass(frozen=True)
class Behaviour:
    """What a server does, and what is right then.

    `part` is its kind; a `control` is one that was right before. Where `says` is "" the answer has
    to be right; else the command has to fail with one line in which this pattern stands. `most` are
    the requests that may be made, `check` looks at them. `{server}` in `environment` and
    `arguments` is the server's address.
    """

    name: str
    part: str
    script: Script
    says: str = ""
    control: bool = False
    most: int = CALLS + 1
    check: Check = lambda asked: True
    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    secure: bool = False
    incomplete: bool = False


def _right(asked: Asked) -> Reply:
    return Reply(asked.text)


def _said(change: Callable[[str], str]) -> Script:
    """The right reply, its text changed."""
    return lambda asked: Reply(change(asked.text))


def _message(**message: Any) -> Script:
    """The right reply with other members in its message."""
    return lambda asked: Reply(asked.text, message=message)


def _first(reply: Reply, times: int = 1) -> Script:
    """Something else for the first requests, and then the right reply."""
    return lambda asked: reply if asked.number <= times else Reply(asked.text)


def _always(reply: Reply) -> Script:
    return lambda asked: reply


def _rows(change: Callable[[Any], str]) -> Script:
    """The right reply, that of a document changed."""
    return lambda asked: Reply(change(asked.data) if kind_of(asked.body) == "rows" else asked.text)


def _room(body: Mapping[str, Any]) -> int:
    return int(body.get("max_completion_tokens") or body.get("max_tokens") or 10**9)


def _refuses(
    wrong: Callable[[Mapping[str, Any]], bool], error: Reply, then: Script = _right
) -> Script:
    """Refuses requests of which `wrong` is true."""
    return lambda asked: error if wrong(asked.body) else then(asked)


def _has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda body: any(name in body for name in names)


def _statuses(limit: int) -> Check:
    return lambda asked: len(asked) <= CALLS + limit


def _structured(asked: Sequence[Asked]) -> bool:
    """Whether the requests go on asking for the schema in the strongest way."""
    return asked[-1].body.get("response_format", {}).get("type") == "json_schema"


def _renamed(change: Callable[[str], str]) -> Script:
    """The right reply, the names of tables and columns of a document's rows changed."""

    def text(data: Any) -> str:
        row = data["rows"][0]
        cells = {change(name): cell for name, cell in row["cells"].items()}
        return json.dumps({"rows": [{"table": change(row["table"]), "cells": cells}]})

    return _rows(text)


# models that think

_THOUGHT = "The document says {10} euros, or [20]? Perhaps {'cost': 3}."


def _thinks(tokens: int, cut: Mapping[str, Any], *, counted: bool = True) -> Script:
    """A model that thinks for so many tokens: with less room its reply is cut while it does."""

    def script(asked: Asked) -> Reply:
        room = _room(asked.body)
        details = {"completion_tokens_details": {"reasoning_tokens": min(room, tokens)}}
        usage = {"completion_tokens": min(room, tokens + 50), **(details if counted else {})}
        if room < tokens + 50:
            return Reply("", message=cut, choice={"finish_reason": "length"}, usage=usage)
        return Reply(asked.text, usage=usage)

    return script


def _thinks_in_text(asked: Asked) -> Reply:
    if _room(asked.body) < 5000:
        return Reply(f"<think>{_THOUGHT * 5}", choice={"finish_reason": "length"})
    return Reply(f"<think>{_THOUGHT}</think>{asked.text}")


def _cut_behind_thoughts(asked: Asked) -> Reply:
    if _room(asked.body) < 5000:
        cut = {"finish_reason": "length"}
        return Reply(asked.text[:9], message={"reasoning_content": _THOUGHT}, choice=cut)
    return Reply(asked.text, message={"reasoning_content": _THOUGHT})


_EFFORT = {"SLIDERS_REASONING_EFFORT": "low"}
_HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}"
_NEVER_ENDS = Reply(
    None, message={"reasoning_content": _THOUGHT}, choice={"finish_reason": "length"}
)
_TWICE = 2 * CALLS

THINKING = [
    Behaviour("think_tags", "1", _said(lambda t: f"<think>{_THOUGHT}</think>\n{t}"), control=True),
    Behaviour("think_end_alone", "1", _said(lambda t: f"{_THOUGHT}</think>\n{t}"), control=True),
    Behaviour("thinking_tags", "1", _said(lambda t: f"<thinking>{_THOUGHT}</thinking>{t}")),
    Behaviour("reasoning_tags", "1", _said(lambda t: f"<reasoning>{_THOUGHT}</reasoning>{t}")),
    Behaviour("bracket_tags", "1", _said(lambda t: f"[THINK]{_THOUGHT}[/THINK]{t}")),
    Behaviour("harmony", "1", _said(lambda t: _HARMONY.format(_THOUGHT, t))),
    Behaviour(
        "thoughts_in_brackets_that_fit",
        "1",
        lambda a: Reply(f"<think>{json.dumps({'rows': []})} no</think>{a.text}"),
        control=True,
    ),
    Behaviour("reasoning_content", "1", _message(reasoning_content=_THOUGHT), control=True),
    Behaviour(
        "content_in_parts",
        "1",
        lambda a: Reply(
            message={
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]},
                    {"type": "text", "text": a.text},
                ]
            }
        ),
        control=True,
    ),
    Behaviour("thinks_3000_tokens", "1", _thinks(3000, {"content": ""}), most=CALLS + 2),
    Behaviour("thinks_12000_tokens", "1", _thinks(12000, {"content": None}), most=CALLS + 2),
    Behaviour(
        "thinks_uncounted", "1", _thinks(3000, {"content": ""}, counted=False), most=CALLS + 2
    ),
    Behaviour(
        "thinks_in_reasoning_content",
        "1",
        _thinks(3000, {"content": None, "reasoning_content": _THOUGHT}),
        most=CALLS + 2,
    ),
    Behaviour("thinks_in_text", "1", _thinks_in_text, most=CALLS + 2),
    Behaviour("cut_behind_thoughts", "1", _cut_behind_thoughts, most=CALLS + 2),
    Behaviour(
        "thinks_20000_tokens_once",
        "1",
        lambda a: (_thinks(20_000, {"content": ""}) if kind_of(a.body) == "schema" else _right)(a),
        most=CALLS + 3,
    ),
    Behaviour("never_ends_thinking", "1", _always(_NEVER_ENDS), says="REASONING_EFFORT", most=20),
    Behaviour(
        "effort_is_sent",
        "1",
        _right,
        environment=_EFFORT,
        check=lambda asked: all(a.body.get("reasoning_effort") == "low" for a in asked),
    ),
    Behaviour(
        "effort_is_refused",
        "1",
        _refuses(
            _has("reasoning_effort"),
            refusal("Unrecognized request argument supplied: reasoning_effort"),
        ),
        environment=_EFFORT,
        check=lambda asked: "reasoning_effort" in asked[0].body and _structured(asked),
    ),
]

# arguments that are refused

_ONLY_DEFAULT = (
    "Unsupported value: 'temperature' does not support 0 with this model. "
    "Only the default (1) value is supported."
)


def _over(limit: int) -> Callable[[Mapping[str, Any]], bool]:
    return lambda body: _room(body) > limit


def _window(asked: Asked) -> Reply:
    """A context window of 4096 tokens, 500 of which are the prompt's."""
    room = _room(asked.body)
    if room <= 3596:
        return _right(asked)
    return refusal(
        f"This model's maximum context length is 4096 tokens. However, you requested {room + 500} "
        f"tokens ({room - 0} in the completion, 500 in the messages). Please reduce the length."
    )


def _as_a_check(name: str) -> Reply:
    """The refusal of a server that checks requests with pydantic."""
    detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"}]
    return Reply(status=422, body=json.dumps({"detail": detail}))


def _refused(name: str, wrong: Any, error: Reply, **more: Any) -> Behaviour:
    more = {"most": CALLS + 1, "check": _structured, **more}
    return Behaviour(name, "2", _refuses(wrong, error), **more)


_TWO = _refuses(
    _has("temperature"),
    refusal(_ONLY_DEFAULT, param="temperature"),
    _refuses(_over(4096), refusal("max_tokens must be between 1 and 4096.", param="max_tokens")),
)
REFUSED = [
    _refused(
        "temperature_unknown_for_the_model",
        _has("temperature"),
        refusal("Unknown parameter: temperature. It is not supported with this model."),
    ),
    Behaviour(
        "schema_fails_with_500",
        "2",
        _refuses(_has("response_format"), refusal("failed to parse json_schema", 500)),
        most=2 * CALLS,
    ),
    _refused("temperature_by_param", _has("temperature"), refusal("No.", param="temperature")),
    _refused("temperature_by_message", _has("temperature"), refusal(_ONLY_DEFAULT)),
    _refused("temperature_by_check", _has("temperature"), _as_a_check("temperature")),
    _refused(
        "temperature_positive",
        lambda body: body.get("temperature", 1) <= 0,
        refusal("`temperature` must be strictly positive"),
    ),
    _refused(
        "temperature_in_a_list",
        _has("temperature"),
        Reply(
            status=400,
            body=json.dumps([{"error": {"code": 400, "message": "temperature is deprecated."}}]),
        ),
    ),
    _refused(
        "temperature_as_text",
        _has("temperature"),
        Reply(status=400, body="unsupported parameter: temperature"),
    ),
    _refused(
        "limit_openai",
        _over(4096),
        refusal(
            "max_tokens is too large: 8000. This model supports at most 4096 completion tokens, "
            "whereas you provided 8000.",
            param="max_tokens",
        ),
    ),
    _refused(
        "limit_anthropic",
        _over(4096),
        refusal(
            "max_tokens: 8000 > 4096, which is the maximum allowed number of output tokens for "
            "claude-3-haiku-20240307"
        ),
    ),
    _refused("limit_range", _over(8_191 // 2), refusal("Invalid max_tokens, range is [1, 4,095]")),
    _refused("limit_untold", _has("max_tokens"), refusal("max_tokens is not allowed")),
    _refused(
        "limit_least",
        lambda body: _room(body) < 1024,
        refusal("max_tokens must be at least 1024", param="max_tokens"),
    ),
    Behaviour(
        "limit_renamed",
        "2",
        _refuses(
            _has("max_tokens"),
            refusal(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                param="max_tokens",
            ),
        ),
        control=True,
        check=_structured,
    ),
    Behaviour("window_overflows", "2", _window, most=CALLS + 2, check=_structured),
    Behaviour("two_arguments", "2", _TWO, most=CALLS + 2, check=_structured),
    Behaviour(
        "schema_by_name",
        "2",
        _refuses(
            lambda body: body.get("response_format", {}).get("type") == "json_schema",
            refusal("'response_format.type' must be 'json_object'", param="response_format"),
        ),
        control=True,
        most=CALLS + 1,
    ),
    Behaviour(
        "no_response_format",
        "2",
        _refuses(_has("response_format"), refusal("response_format is not supported")),
        control=True,
        most=2 * CALLS,
    ),
    Behaviour(
        "plain_text_only",
        "2",
        _refuses(_has("response_format", "tools"), refusal("Unknown field: tools")),
        control=True,
        most=2 * CALLS,
    ),
    Behaviour(
        "schema_refused_vaguely",
        "2",
        _refuses(_has("response_format"), refusal("Bad Request")),
        control=True,
        most=2 * CALLS,
    ),
]

# nothing works

_PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Hello</body></html>"
_HTML = {"Content-Type": "text/html"}
_GONE = refusal("this deployment is gone")


def _nothing(name: str, reply: Reply | Script, says: str, **more: Any) -> Behaviour:
    script = _always(reply) if isinstance(reply, Reply) else reply
    return Behaviour(name, "3", script, says=says, **{"most": 2, **more})


def _address(name: str, address: str, says: str, **more: Any) -> Behaviour:
    environment = {"SLIDERS_BASE_URL": address}
    return _nothing(name, _right, says, most=0, environment=environment, **more)


NOTHING = [
    _nothing(
        "model_name_invalid",
        refusal("Invalid model name passed in model=m. Call `/v1/models` to view them."),
        "SLIDERS_MODEL",
    ),
    _nothing("model_by_param", refusal("m cannot be used", param="model"), "SLIDERS_MODEL"),
    _nothing(
        "key_with_other_letters",
        _right,
        "api_key",
        most=0,
        environment={"SLIDERS_API_KEY": "schlüssel"},
    ),
    _nothing("wrong_key", refusal("Incorrect API key", 401), "OPENAI_API_KEY", control=True),
    _nothing("forbidden", refusal("Forbidden", 403), "OPENAI_API_KEY", control=True),
    _nothing(
        "unknown_model",
        refusal("The model `m` does not exist", 404, code="model_not_found"),
        "SLIDERS_MODEL",
        control=True,
    ),
    _nothing(
        "no_such_route",
        Reply(status=404, body='{"detail":"Not Found"}'),
        "/v1",
        control=True,
    ),
    _nothing("page_with_200", Reply(body=_PAGE, headers=_HTML), "HTML"),
    _nothing("page_with_404", Reply(status=404, body=_PAGE, headers=_HTML), "HTML"),
    _nothing("page_with_403", Reply(status=403, body=_PAGE, headers=_HTML), "HTML"),
    _nothing("page_with_405", Reply(status=405, body=_PAGE, headers=_HTML), "HTML"),
    _nothing("text_with_200", Reply(body="Ollama is running"), "/v1"),
    _nothing(
        "redirected_to_a_page",
        Reply(status=302, body="", headers={"Location": "/login"}),
        "HTML",
        most=3,
    ),
    _address("address_empty", " ", "base_url"),
    _address("address_without_scheme", "127.0.0.1:8000/v1", "http://"),
    _address("address_with_another_scheme", "ftp://127.0.0.1/v1", "http://"),
    _address("address_without_host", "http:///v1", "http://"),
    _address("no_server", "http://127.0.0.1:9/v1", "no model server answers", control=True),
    _nothing("every_call_refused", _GONE, "this deployment is gone", most=10),
    _nothing("every_call_500", refusal("boom", 500), "boom", most=10),
    _nothing("every_reply_prose", Reply("I am sorry, I cannot."), "I am sorry", most=30),
    _nothing("every_reply_empty", Reply(""), "no usable reply|empty", most=30),
    _nothing("no_choices", Reply(body='{"object": "list", "data": []}'), "choices", most=10),
    _nothing(
        "no_credit",
        refusal("You exceeded your current quota", 429, code="insufficient_quota"),
        "credit",
        control=True,
    ),
    _nothing(
        "every_document_filtered",
        lambda a: (
            Reply("", choice={"finish_reason": "content_filter"})
            if kind_of(a.body) == "rows"
            else _right(a)
        ),
        "content_filter",
        most=CALLS,
    ),
]

# shapes of replies


def _fence(text: str, mark: str = "```", word: str = "json") -> str:
    return f"{mark}{word}\n{text}\n{mark}"


def _loose(text: str) -> str:
    """JSON as Python prints it, with a comment and a comma at the end."""
    return "{ // the reply\n" + repr(json.loads(text))[1:-1] + ",\n}"


def _bare_list(data: Any) -> str:
    return json.dumps(data["rows"])


def _called(**call: Any) -> Script:
    """The right reply as the call of a tool, in another form."""

    def script(asked: Asked) -> Reply:
        told = {k: asked.text if v == "TEXT" else v for k, v in call.items()}
        return Reply(None, message={"tool_calls": [told]}, choice={"finish_reason": "tool_calls"})

    return script


def _shape(name: str, script: Script, **more: Any) -> Behaviour:
    return Behaviour(name, "4", script, **{"most": CALLS, **more})


def _with(asked: Asked, **members: Any) -> str:
    """The body of the right reply with other members."""
    return json.dumps({**Reply(asked.text).completion(), **members})


def _asked_back(asked: Sequence[Asked]) -> bool:
    return any("price_paid" in json.dumps(a.body["messages"]) for a in asked)


SHAPES = [
    _shape("fence", _said(_fence), control=True),
    _shape("fence_between_words", _said(lambda t: f"Sure!\n{_fence(t)}\nDone."), control=True),
    _shape("fence_of_tildes", _said(lambda t: _fence(t, "~~~"))),
    _shape("fence_of_four", _said(lambda t: _fence(t, "````"))),
    _shape("fence_never_closed", _said(lambda t: f"```json\n{t}"), control=True),
    _shape("second_fence", _said(lambda t: f"{_fence('pip install x', word='sh')}\n{_fence(t)}")),
    _shape("words_with_brackets", _said(lambda t: f"The set {{a}} [sic] gives {t} (see [1]).")),
    _shape("words_behind", _said(lambda t: f"{t}\n\nI hope {{this}} helps!")),
    _shape("comments_and_quotes", _said(_loose)),
    _shape("names_without_quotes", _said(lambda t: re.sub(r'"(\w+)":', r"\1:", t))),
    _shape("commas_at_the_end", _said(lambda t: t.replace("}", ",}").replace("]", ",]"))),
    _shape("json_in_a_string", _said(json.dumps)),
    _shape("byte_order_mark", _said(lambda t: f"\ufeff{t}")),
    _shape(
        "not_a_number",
        _rows(lambda d: json.dumps(d).replace('"words": ["', '"sure": NaN, "words": ["', 1)),
    ),
    _shape("bare_list", _rows(_bare_list)),
    _shape("bare_item", _rows(lambda d: json.dumps(d["rows"][0]))),
    _shape("json_lines", _rows(lambda d: json.dumps(d["rows"][0]) + "\n")),
    _shape("one_wrapper", _said(lambda t: f'{{"result": {t}}}')),
    _shape("call_as_text", _said(lambda t: json.dumps({"name": "Reply", "arguments": t}))),
    _shape(
        "called_with_an_object",
        lambda a: Reply(
            None,
            message={
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "x", "arguments": a.data}}
                ]
            },
        ),
    ),
    _shape("call_without_function", _called(id="1", name="Reply", arguments="TEXT")),
    _shape("content_as_an_object", lambda a: Reply(message={"content": a.data})),
    _shape(
        "old_function_call",
        lambda a: Reply(None, message={"function_call": {"name": "x", "arguments": a.text}}),
    ),
    _shape(
        "error_with_200",
        _first(Reply(body='{"error": {"message": "busy", "code": 429}}')),
        most=CALLS + 1,
    ),
    _shape(
        "error_in_a_choice",
        _first(
            Reply("", choice={"error": {"code": 502, "message": "x"}, "finish_reason": "error"})
        ),
        most=CALLS + 1,
    ),
    _shape(
        "wrong_key_with_200",
        _always(Reply(body='{"error": {"message": "bad key", "code": 401}}')),
        says="OPENAI_API_KEY",
        most=2,
    ),
    _shape("names_in_capitals", _renamed(str.upper)),
    _shape("empty_body_once", _first(Reply(body="")), most=CALLS + 1),
    _shape("cut_body_once", _first(Reply(body='{"choices": [{"mess')), most=CALLS + 1),
    _shape("counts_as_text", lambda a: Reply(a.text, usage={"prompt_tokens": "100"})),
    _shape("usage_as_a_list", lambda a: Reply(body=_with(a, usage=[]))),
    _shape("message_as_text", lambda a: Reply(a.text, choice={"message": a.text})),
    _shape(
        "finish_reason_error",
        _first(Reply('{"hin', choice={"finish_reason": "error"})),
        most=CALLS + 1,
    ),
    _shape("names_with_blanks", _renamed(lambda n: n.replace("_", " ").title())),
    _shape("names_without_underscores", _renamed(lambda n: n.replace("_", ""))),
    _shape(
        "name_that_is_not_there",
        lambda a: (
            Reply(a.text.replace("cost_eur", "price_paid"))
            if kind_of(a.body) == "rows"
            else _right(a)
        ),
        most=CALLS + 3,
        check=_asked_back,
    ),
    _shape(
        "name_that_stays_away",
        lambda a: Reply(
            '{"cells": []}'
            if kind_of(a.body) == "recheck"
            else a.text.replace(
                "cost_eur", "price_paid" if kind_of(a.body) == "rows" else "cost_eur"
            )
        ),
        most=CALLS + 4,
        check=_asked_back,
        incomplete=True,
    ),
    _shape(
        "members_in_capitals",
        _rows(lambda d: json.dumps({"Rows": [{k.title(): v for k, v in d["rows"][0].items()}]})),
    ),
    _shape("control", _right, control=True),
]

# transports


def _streams_only(error: Reply) -> Script:
    return lambda a: Reply(a.text, events=True) if a.body.get("stream") else error


def _busy(**headers: str) -> Script:
    error = replace(refusal("slow down", 429), headers=headers)
    return lambda a: error if a.number == 1 else Reply(a.text)


def _date(seconds: float) -> str:
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


def _late_date(asked: Asked) -> Reply:
    return _busy(**{"Retry-After": _date(2)})(asked)


def _at(path: str, header: str = "Authorization") -> Check:
    return lambda asked: all(path in a.target and header in a.headers for a in asked)


def _transport(name: str, script: Script, **more: Any) -> Behaviour:
    return Behaviour(name, "5", script, **more)


_AZURE = "{server}/openai/deployments/d/chat/completions?api-version=2024-06-01"
_DROPPED = Reply(dropped=True)
TRANSPORTS = [
    _transport("streams_only", _streams_only(refusal("stream must be true", param="stream"))),
    _transport("streams_only_422", _streams_only(_as_a_check("stream"))),
    _transport("streams_only_in_words", _streams_only(refusal("Only streaming is supported."))),
    _transport("events_for_a_plain_request", lambda a: Reply(a.text, events=True)),
    _transport(
        "events_with_thoughts",
        lambda a: Reply(a.text, events=True, message={"reasoning_content": _THOUGHT}),
    ),
    _transport(
        "events_of_a_call",
        lambda a: Reply(
            "",
            events=True,
            message={
                "tool_calls": [
                    {"id": "1", "index": 0, "function": {"name": "x", "arguments": a.text}}
                ]
            },
        ),
    ),
    _transport(
        "events_that_break_off",
        lambda a: (
            Reply(
                body='data: {"choices": [{"delta": {"content": "{"}}]}\n\n',
                headers={"Content-Type": "text/event-stream"},
            )
            if a.number == 1
            else Reply(a.text, events=True)
        ),
    ),
    _transport(
        "azure_deployment",
        _right,
        environment={"SLIDERS_BASE_URL": _AZURE},
        check=_at("/openai/deployments/d/chat/completions?api-version=2024-06-01", "api-key"),
    ),
    _transport(
        "azure_resource",
        _right,
        environment={"SLIDERS_BASE_URL": "{server}/openai?api-version=2024-06-01"},
        check=_at("/openai/deployments/m/chat/completions?api-version=2024-06-01", "api-key"),
    ),
    _transport(
        "address_of_the_endpoint",
        _right,
        environment={"SLIDERS_BASE_URL": "{server}/v1/chat/completions"},
        check=_at("/v1/chat/completions"),
    ),
    _transport(
        "address_with_a_query",
        _right,
        environment={"SLIDERS_BASE_URL": "{server}/v1?team=7"},
        check=_at("/v1/chat/completions?team=7"),
    ),
    _transport(
        "address_with_a_slash",
        _right,
        environment={"SLIDERS_BASE_URL": "{server}/v1/"},
        check=_at("/v1/chat/completions"),
        control=True,
    ),
    _transport(
        "key_with_a_line_break",
        _right,
        environment={"SLIDERS_API_KEY": "key\n"},
    ),
    _transport("address_with_blanks", _right, environment={"SLIDERS_BASE_URL": " {server}/v1 "}),
    _transport(
        "proxy",
        _right,
        environment={"SLIDERS_BASE_URL": "http://models.invalid/v1", "HTTP_PROXY": "{server}"},
        control=True,
    ),
    _transport("late_reply", lambda a: Reply(a.text, late=3 if a.number == 1 else 0), control=True),
    _transport("wait_of_a_second", _busy(**{"Retry-After": "1"}), control=True),
    _transport("wait_in_ms", _busy(**{"retry-after-ms": "300"}), control=True),
    _transport("wait_as_a_date", _late_date, control=True),
    _transport("wait_of_hours", _busy(**{"Retry-After": "7200"}), says="2 h", most=1),
    _transport(
        "wait_until_tomorrow",
        lambda a: _busy(**{"Retry-After": _date(80_000)})(a),
        says="22 h",
        most=1,
    ),
    _transport("connection_dropped", _first(_DROPPED), control=True),
    _transport("overloaded", _first(refusal("overloaded", 529)), control=True),
    _transport(
        "blanks_before_the_reply",
        lambda a: Reply(body="\n\n  " + json.dumps(Reply(a.text).completion())),
        control=True,
    ),
    _transport(
        "own_certificate_unknown",
        _right,
        says="SSL_CERT_FILE",
        most=0,
        secure=True,
    ),
    _transport(
        "own_certificate",
        _right,
        secure=True,
        environment={"SSL_CERT_FILE": "{certificate}"},
    ),
]

_RIGHT_BEFORE = frozenset(
    (
        "thinking_tags reasoning_tags bracket_tags harmony text_with_200 address_without_host "
        "every_call_refused every_call_500 every_reply_prose every_reply_empty no_choices "
        "fence_of_tildes fence_of_four words_behind byte_order_mark error_in_a_choice "
        "address_of_the_endpoint usage_as_a_list finish_reason_error"
    ).split()
)
"""Behaviours that turned out to be right before: controls, too."""
BEHAVIOURS = [
    replace(one, control=one.control or one.name in _RIGHT_BEFORE)
    for one in (*THINKING, *REFUSED, *NOTHING, *SHAPES, *TRANSPORTS)
]
