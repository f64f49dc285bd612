"""Token counts and context windows by model name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

DEFAULT_CONTEXT = 32_768

_KNOWN = """
gpt-5 400000 o200k_base
gpt-4.1 1047576 o200k_base
gpt-4o 128000 o200k_base
chatgpt 32768 o200k_base
gpt-4-turbo 128000 cl100k_base
gpt-4 8192 cl100k_base
gpt-3.5 16385 cl100k_base
gpt-oss 131072 o200k_harmony
o1 200000 o200k_base
o3 200000 o200k_base
o4 200000 o200k_base
claude 200000 -
gemini 1000000 -
deepseek 64000 -
local 32768 qwen3
qwen 32768 qwen3
qwq 32768 qwen3
llama-3.1 131072 llama3
llama-3.2 131072 llama3
llama-3.3 131072 llama3
llama-3 8192 llama3
llama3 8192 llama3
meta-llama-3.1 131072 llama3
meta-llama-3 8192 llama3
mistral 32768 -
mixtral 32768 -
gemma-3 131072 -
gemma-2 8192 -
phi-4 16384 -
"""
"""Prefixes of model names (the longest wins), context windows in tokens from the publishers' model
cards, vocabularies.
"""


@cache
def _known(model: str) -> tuple[int, str]:
    name = model.lower().rsplit("/", 1)[-1]
    rows = sorted(
        (line.split() for line in _KNOWN.strip().splitlines()), key=lambda row: -len(row[0])
    )
    row = next((row for row in rows if name.startswith(row[0])), ["", str(DEFAULT_CONTEXT), "-"])
    return int(row[1]), row[2]


def context_window(model: str) -> int:
    """Size of the context window in tokens; 32,768 for a model that is not known."""
    return _known(model)[0]


def _estimate(text: str) -> int:
    """A quarter of the bytes, rounded up: near enough for English, high for other scripts,
    never zero for text.
    """
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


@cache
def token_counter(model: str) -> Callable[[str], int]:
    """A function that counts tokens of a text as the model does; an estimate where its
    vocabulary is not bundled.
    """
    encoding_name = _known(model)[1]
    if encoding_name == "-":
        return _estimate
    try:
        import quicktok

        encoding = quicktok.get_encoding(encoding_name)
    except (ImportError, RuntimeError, OSError):
        return _estimate

    def count(text: str) -> int:
        try:
            # A document may spell out the vocabulary's special tokens.
            return len(encoding.encode_ordinary(text))
        except TypeError:  # half of a surrogate pair, from a broken file
            return _estimate(text)

    return count
