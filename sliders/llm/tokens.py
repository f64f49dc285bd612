"""Token counts and context windows by model name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

DEFAULT_CONTEXT = 32_768

# Prefixes of model names, longest match wins; sizes in tokens, from the publishers' model cards.
_CONTEXT = {
    "gpt-5": 400_000,
    "gpt-4.1": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-4-turbo": 128_000,
    "gpt-4": 8_192,
    "gpt-3.5-turbo": 16_385,
    "gpt-oss": 131_072,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
    "claude": 200_000,
    "gemini": 1_000_000,
    "deepseek": 64_000,
    "qwen3": 32_768,
    "qwen2.5": 32_768,
    "llama-3.1": 131_072,
    "llama-3.2": 131_072,
    "llama-3.3": 131_072,
    "llama-3": 8_192,
    "mistral": 32_768,
    "mixtral": 32_768,
    "gemma-3": 131_072,
    "gemma-2": 8_192,
    "phi-4": 16_384,
}
_ENCODINGS = {
    "gpt-5": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4o": "o200k_base",
    "chatgpt": "o200k_base",
    "gpt-oss": "o200k_harmony",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "local": "qwen3",
    "qwen": "qwen3",
    "qwq": "qwen3",
    "llama-3": "llama3",
    "llama3": "llama3",
    "meta-llama-3": "llama3",
}


def _by_prefix(table: dict[str, Any], model: str) -> Any:
    name = model.lower().rsplit("/", 1)[-1]
    for prefix in sorted(table, key=len, reverse=True):
        if name.startswith(prefix):
            return table[prefix]
    return None


def context_window(model: str) -> int:
    """Size of the context window in tokens; 32,768 for a model that is not known."""
    size: int | None = _by_prefix(_CONTEXT, model)
    return DEFAULT_CONTEXT if size is None else size


def _estimate(text: str) -> int:
    """A quarter of the bytes, rounded up: near enough for English, high for other scripts, never zero for text."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


@cache
def token_counter(model: str) -> Callable[[str], int]:
    """A function that counts tokens of a text as the model does; an estimate where its vocabulary is not bundled."""
    encoding_name: str | None = _by_prefix(_ENCODINGS, model)
    if encoding_name is None:
        return _estimate
    try:
        import quicktok

        encoding = quicktok.get_encoding(encoding_name)
    except (ImportError, RuntimeError, OSError):
        return _estimate

    def count(text: str) -> int:
        try:
            return len(encoding.encode_ordinary(text))  # a document may spell out the vocabulary's special tokens
        except TypeError:  # half of a surrogate pair, from a broken file
            return _estimate(text)

    return count
