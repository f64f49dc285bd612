"""Token counts and context windows by model name, out of the data file `models.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

DEFAULT_CONTEXT = 32_768


@cache
def known_models() -> Mapping[str, Mapping[str, Any]]:
    """The data about models in `models.yaml`, by the beginning of their names."""
    text = Path(__file__).with_name("models.yaml").read_text(encoding="utf-8")
    rows: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text)["models"]
    return rows


@cache
def known_model(model: str) -> Mapping[str, Any]:
    """The data about a model, with or without the vendor in its name; {} for an unknown model."""
    name, known = model.lower().rsplit("/", 1)[-1], known_models()
    prefixes = (prefix for prefix in sorted(known, key=len, reverse=True))
    return next((known[prefix] for prefix in prefixes if name.startswith(prefix)), {})


def context_window(model: str) -> int:
    """Size of the context window in tokens; 32,768 for a model that is not known."""
    return int(known_model(model).get("context", DEFAULT_CONTEXT))


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
    encoding_name = known_model(model).get("vocabulary")
    if encoding_name is None:
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
