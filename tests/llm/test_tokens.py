"""Token counts and context windows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.llm import DEFAULT_CONTEXT, context_window, token_counter


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-4", 8_192),
        ("gpt-4o-2024-08-06", 128_000),
        ("Qwen/Qwen2.5-7B-Instruct", 32_768),
        ("never-heard-of", DEFAULT_CONTEXT),
    ],
)
def test_the_longest_known_prefix_decides(model: str, size: int) -> None:
    assert context_window(model) == size


@given(st.text(min_size=1), st.sampled_from(["gpt-4.1", "gpt-4", "qwen2.5", "local", "unknown"]))
def test_text_always_has_tokens_and_never_more_than_bytes(text: str, model: str) -> None:
    assert 1 <= token_counter(model)(text) <= len(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    "model", ["gpt-4.1", "gpt-4", "qwen2.5-coder-1.5b-instruct-q4_k_m", "unknown"]
)
def test_a_plain_sentence_has_about_a_token_a_word(model: str) -> None:
    assert 9 <= token_counter(model)("The quick brown fox jumps over the lazy dog.") <= 12


def test_no_text_has_no_tokens() -> None:
    assert token_counter("gpt-4.1")("") == token_counter("unknown")("") == 0


def test_a_mark_of_the_chat_template_in_a_document_is_counted_as_text() -> None:
    assert token_counter("local")("<|im_start|>") > 1


def test_broken_characters_are_counted_too() -> None:
    assert token_counter("local")("a\ud800b") >= 1
