"""Makes `unstructured` work without network and without telemetry.

Its text classification would fetch a spaCy model from the web; a blank pipeline with a sentence
splitter that takes words in lower case for verbs gives the same elements (it only asks for
sentences, words and whether a verb is among them).
"""

from __future__ import annotations

import importlib
import os
import re
import threading
from typing import Any

from sliders.errors import DocumentError

_QUIET = ("DO_NOT_TRACK", "SCARF_NO_ANALYTICS", "UNSTRUCTURED_DISABLE_NOTICE")
_RUN = re.compile(r"([^\w\s]{20})[^\w\s]+|(\S{2000})\S+")
"""Signs or letters without a blank, of which the first say what the text is: spaCy takes signs off
one by one, each time with a look at all of them.
"""
_lock = threading.Lock()
_pipeline: Any = None


def partitioner(module: str, function: str, name: str) -> Any:
    """The function of `unstructured.partition.<module>`, ready to run offline. `name` is the file
    that is to be read, for errors.

    Raises:
        DocumentError: the extra that reads this format is not installed.
    """
    for variable in _QUIET:
        os.environ.setdefault(variable, "1")
    try:
        partition = getattr(importlib.import_module(f"unstructured.partition.{module}"), function)
        tokenize = importlib.import_module("unstructured.nlp.tokenize")
    except ImportError as error:
        raise DocumentError(
            f'{name}: reading it needs more packages; run: pip install "sliders[docs]"'
        ) from error
    setattr(tokenize, "_load_spacy_model", _load)  # noqa: B010  (a private name of an untyped module)
    return partition


def _load(*_args: object, **_kwargs: object) -> Any:
    global _pipeline
    with _lock:
        if _pipeline is None:
            _pipeline = _build()
    return _pipeline


def _build() -> Any:
    import spacy
    from spacy.language import Language

    if not Language.has_factory("sliders_verbs"):
        Language.component("sliders_verbs", func=_tag_verbs)
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("sliders_verbs")
    pipeline.max_length = 10**9
    words = pipeline.tokenizer
    pipeline.tokenizer = lambda text: words(_RUN.sub(_cut, text))
    return pipeline


def _cut(run: re.Match[str]) -> str:
    return run[1] or run[2]


def _tag_verbs(doc: Any) -> Any:
    for token in doc:
        verb = token.is_lower  # enough to tell sentences from titles, in any language
        token.tag_ = "VB" if verb else "NN"
        token.pos_ = "VERB" if verb else "NOUN"
    return doc
