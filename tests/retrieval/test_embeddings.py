"""Vectors are unit rows in the order of the texts, cached, and like texts are near."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import openai
import pytest

from sliders.errors import ModelUnavailable
from sliders.retrieval import EndpointEmbedder, HashEmbedder, MiniLMEmbedder, VectorCache


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_minilm_gives_unit_rows_in_the_order_of_the_texts(minilm) -> None:
    texts = ["a long text " * 100, "short", "", "short"]
    vectors = minilm.embed(texts)
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[1], vectors[3])
    # Alone or in a padded batch: int8 activations are scaled per batch, so the
    # vectors agree only nearly.
    assert MiniLMEmbedder().embed(["short"])[0] @ vectors[1] > 0.98


def test_minilm_puts_the_answering_sentence_first(minilm) -> None:
    vectors = minilm.embed(
        [
            "birth date",
            "The engine lost power after takeoff.",
            "She was born on March 14, 1988.",
            "Revenue rose by 3%.",
        ]
    )
    assert int((vectors[1:] @ vectors[0]).argmax()) == 1


def test_lone_surrogates_are_read_as_question_marks(minilm) -> None:
    for embedder in (minilm, HashEmbedder()):
        assert np.isfinite(embedder.embed(["broken \ud800 text"])).all()


def test_no_texts_give_no_rows(minilm) -> None:
    assert minilm.embed([]).shape == (0, 384)
    assert HashEmbedder().embed([]).shape == (0, 384)


def test_the_cache_computes_each_text_once_and_keeps_the_last() -> None:
    asked: list[list[str]] = []

    def compute(texts: list[str]) -> np.ndarray:
        asked.append(texts)
        return np.array([[float(len(text))] for text in texts], dtype=np.float32)

    cache = VectorCache(1, 2)
    assert cache.fetch(["a", "bb", "a"], compute).ravel().tolist() == [1, 2, 1]
    cache.fetch(["bb"], compute)
    cache.fetch(["ccc"], compute)  # pushes "a" out
    assert cache.fetch(["bb", "a", "dddd", "e"], compute).ravel().tolist() == [2, 1, 4, 1]
    assert asked == [["a", "bb"], ["ccc"], ["a", "dddd", "e"]]


def test_hashed_vectors_are_the_same_everywhere_and_near_for_like_texts() -> None:
    embedder = HashEmbedder()
    texts = ["net income of Apple", "the net incomes of Apple", "weather in Rome", ""]
    same, like, other, empty = embedder.embed(texts)
    assert np.array_equal(same, HashEmbedder().embed(["net income of Apple"])[0])
    assert same @ like > 0.6 > 0.3 > same @ other
    assert not empty.any()


class _Client:
    """An endpoint that returns rows out of order."""

    def __init__(self, length: int = 2) -> None:
        self.calls: list[list[str]] = []
        self._length = length
        self.embeddings = self

    def create(self, *, model: str, input: list[str], encoding_format: str) -> SimpleNamespace:
        self.calls.append(input)
        rows = [
            SimpleNamespace(index=number, embedding=[float(len(text)), 1.0][: self._length])
            for number, text in enumerate(input)
        ]
        return SimpleNamespace(data=rows[::-1])


def test_an_endpoint_is_asked_once_per_text_and_its_rows_are_put_in_order() -> None:
    client = _Client()
    embedder = EndpointEmbedder("m", 2, client=client)
    vectors = embedder.embed(["abc", "", "abc"])
    embedder.embed(["abc"])
    assert client.calls == [["abc", " "]]
    assert np.allclose(vectors[0], np.array([3, 1]) / np.sqrt(10))
    assert np.allclose(vectors[1], np.array([1, 1]) / np.sqrt(2))


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(ModelUnavailable, match="set dimensions"):
        EndpointEmbedder("m", 2, client=_Client(length=1)).embed(["abc"])


def test_a_silent_endpoint_is_reported() -> None:
    class Down(_Client):
        def create(self, **_: object) -> SimpleNamespace:
            raise openai.OpenAIError("no route")

    with pytest.raises(ModelUnavailable, match="'m' did not answer: no route"):
        EndpointEmbedder("m", 2, client=Down()).embed(["abc"])
