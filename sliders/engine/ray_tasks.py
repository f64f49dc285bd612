"""Tasks on documents that Ray runs on its workers. They have a module of their own, so that a
worker imports nothing that talks to a model.
"""

from __future__ import annotations

from collections.abc import Sequence

from sliders.documents import loaders
from sliders.documents.apart import load_apart
from sliders.documents.discovery import SourceFile
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure
from sliders.documents.remote import Fetched
from sliders.errors import DocumentError
from sliders.llm.tokens import token_counter
from sliders.retrieval.chunk import Chunk
from sliders.retrieval.chunking import chunk_document
from sliders.retrieval.embeddings import default_embedder
from sliders.retrieval.index import SegmentVectors
from sliders.retrieval.segments import index_document


def parse_task(
    source: SourceFile, read: Fetched | None, max_bytes: int, max_tokens: int, model: str
) -> tuple[Document, Sequence[Chunk]] | LoadFailure:
    """Returns a file's document with its chunks, or the failure. `read` is the content of a file on
    the driver's machine, None for a file that the worker fetches itself.
    """
    try:
        document = load_apart(source, max_bytes, read)
    except DocumentError as error:
        return loaders.failure(source, error)
    return document, chunk_document(
        document, max_tokens=max_tokens, count_tokens=token_counter(model)
    )


def index_task(document: Document, model: str, max_tokens: int) -> SegmentVectors:
    """Returns a document's segments with their vectors."""
    return index_document(document, default_embedder(), token_counter(model), max_tokens=max_tokens)
