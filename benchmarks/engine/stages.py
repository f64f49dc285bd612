"""What each stage of the engine gets through: text in MB/s, rows/s, and the model calls a second
that it could keep fed.

One chunk is one call. Every stage is measured alone, in a process that is bound to one core;
two such processes at once give the figures for two cores.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from benchmarks.engine.server import COLUMNS, Server, rows_of
from sliders.documents import Document, load
from sliders.extraction import Asked, Extraction, Source, read_chunks, read_prompt
from sliders.extraction import chunk_document as shown_to_model
from sliders.llm import CachedModel, OpenAIModel, Request, token_counter
from sliders.llm.testing import FunctionModel
from sliders.reconcile import reconcile_table, relation_of
from sliders.retrieval import BM25, Chunk, chunk_document, default_embedder
from sliders.schema import Column, Schema, Table
from sliders.settings import Settings
from sliders.store import Catalog, Database, Task
from sliders.values import ColumnType

MODEL = "gpt-4.1-mini"
"""A name whose tokenizer is bundled: counting tokens is part of the engine's work.
The server is ours whatever the name.
"""
CHUNK_TOKENS = 1200
_CALLS = 600
_EMBEDDED = 40
_SIDE = ("embed",)
"""Measured, but not on every call's way: beyond a thousand chunks words choose in
the place of vectors.
"""


@dataclass(frozen=True, slots=True)
class Throughput:
    """What one stage did: seconds, and characters, chunks (calls) and rows that went through."""

    stage: str
    seconds: float
    characters: int
    chunks: int
    rows: int = 0

    @property
    def calls_per_s(self) -> float:
        """Chunks a second."""
        return self.chunks / self.seconds


@dataclass(slots=True)
class _Material:
    """What the stages hand on."""

    files: Sequence[Path]
    folder: Path
    documents: list[Document]
    chunks: list[Chunk]
    extractions: list[Extraction]

    @property
    def characters(self) -> int:
        return sum(len(document.text) for document in self.documents)


def table() -> Table:
    """The table that the scripted server fills."""
    columns = tuple(Column(name, ColumnType(kind)) for name, kind in COLUMNS.items())
    return Table("judgments", columns, row="a judgment", grain="document")


def _asked() -> Asked:
    return Asked(table(), table().columns)


def measure_stages(files: Sequence[Path], folder: Path) -> list[Throughput]:
    """Every stage over these files, in the order of the pipeline; `folder` takes the workspace."""
    folder.mkdir(parents=True, exist_ok=True)
    material = _Material(files, folder, [], [], [])
    measured = []
    token_counter(MODEL)("loads the vocabulary")
    with Database(folder / "stages.db") as database:
        catalog = Catalog(database)
        stages: Sequence[tuple[str, Callable[[], int]]] = (
            ("parse", lambda: _parse(material)),
            ("chunk", lambda: _chunk(material)),
            ("store_documents", lambda: _store_documents(catalog, material)),
            ("index_words", lambda: _index(material)),
            ("ground", lambda: _ground(material)),
            ("store_rows", lambda: _store_rows(catalog, material)),
            ("materialise", lambda: _materialise(catalog)),
            ("reconcile", lambda: _reconcile(material)),
        )
        for name, run in stages:
            began = time.perf_counter()
            rows = run()
            seconds = time.perf_counter() - began
            measured.append(
                Throughput(name, seconds, material.characters, len(material.chunks), rows)
            )
        # The chunks are known only after two stages.
        measured = [replace(one, chunks=len(material.chunks)) for one in measured]
        measured.append(_embed(material))
        measured.append(_door(catalog, material))
    return measured


def _parse(material: _Material) -> int:
    material.documents.extend(load(path) for path in material.files)
    return 0


def _chunk(material: _Material) -> int:
    count = token_counter(MODEL)
    for document in material.documents:
        material.chunks.extend(
            chunk_document(document, max_tokens=CHUNK_TOKENS, count_tokens=count)
        )
    return 0


def _store_documents(catalog: Catalog, material: _Material) -> int:
    """Text, structure, chunks and their full-text search, a transaction a document."""
    of: dict[str, list[Chunk]] = {}
    for chunk in material.chunks:
        of.setdefault(chunk.document_id, []).append(chunk)
    for document in material.documents:
        with catalog.database.transaction():
            catalog.documents.add(document)
            catalog.chunks.save(document.id, of[document.id])
    return 0


def _index(material: _Material) -> int:
    """The words of each document's chunks, searched once for every column."""
    for _, chunks in groupby(material.chunks, key=lambda chunk: chunk.document_id):
        index = BM25(chunk.text for chunk in chunks)
        for name in COLUMNS:
            index.scores(name.replace("_", " "))
    return 0


def _ground(material: _Material) -> int:
    """Prompt, reply by a double, words found in the text, values parsed."""
    asked = (_asked(),)
    model = FunctionModel(
        lambda request: {"rows": rows_of(request.messages[-1].content)}, name=MODEL
    )

    async def run() -> None:
        for chunk in material.chunks:
            material.extractions += await read_chunks([Source.of(chunk)], asked, model)

    asyncio.run(run())
    return sum(len(found.rows) for found in material.extractions)


def _store_rows(catalog: Catalog, material: _Material) -> int:
    """One transaction a chunk, as an extraction saves it."""
    catalog.schemas.save(Schema((table(),)))
    for found in material.extractions:
        catalog.extractions.save(found.rows, [Task(table().name, tuple(COLUMNS), found.chunk_id)])
    return sum(len(found.rows) for found in material.extractions)


def _materialise(catalog: Catalog) -> int:
    return catalog.tables.materialise(table().name).rows


def _reconcile(material: _Material) -> int:
    rows = [row for found in material.extractions for row in found.rows]
    relation = relation_of(rows, table().column_names)
    asyncio.run(reconcile_table(table(), relation, None, None))
    return len(rows)


def _embed(material: _Material) -> Throughput:
    """Vectors of chunks, as pruning takes them where there are few."""
    some = material.chunks[:: max(1, len(material.chunks) // _EMBEDDED)][:_EMBEDDED]
    embedder = default_embedder()
    embedder.embed(["loads the model"])
    began = time.perf_counter()
    embedder.embed([chunk.text[:1500] for chunk in some])
    return Throughput(
        "embed", time.perf_counter() - began, sum(len(c.text) for c in some), len(some)
    )


def _door(catalog: Catalog, material: _Material) -> Throughput:
    """Client, cache and ledger against a server that answers at once; a call costs what
    the engine adds to it.
    """
    some = (material.chunks * (1 + _CALLS // max(1, len(material.chunks))))[:_CALLS]
    requests = [
        # A number makes every request its own, so that the cache answers none.
        read_prompt([f"{number} {shown_to_model(chunk)}"], (_asked(),), chunk.tokens)
        for number, chunk in enumerate(some)
    ]
    with Server(0.0) as server:
        settings = Settings(
            model=MODEL, base_url=server.base_url, api_key="scripted", concurrency=64
        )
        server_model = OpenAIModel(MODEL, settings)
        began = time.perf_counter()
        asyncio.run(_calls(server_model, CachedModel(server_model, catalog.calls), requests, 64))
        seconds = time.perf_counter() - began
    return Throughput("model_door", seconds, sum(len(c.text) for c in some), len(some))


async def _calls(
    server: OpenAIModel, model: CachedModel, requests: Sequence[Request], slots: int
) -> None:
    waiting = iter(requests)

    async def worker() -> None:
        for request in waiting:
            await model.generate(request)

    await asyncio.gather(*(worker() for _ in range(slots)))
    await server.aclose()


def figures(one: Sequence[Throughput], two: Sequence[Sequence[Throughput]]) -> dict[str, float]:
    """Flat figures: of the process on one core, and of the processes that ran at once on two."""
    flat: dict[str, float] = {}
    for stage in one:
        flat |= _rates(f"stages.{stage.stage}", [stage])
        both = [next(s for s in process if s.stage == stage.stage) for process in two]
        if both:
            flat |= _rates(f"stages_two_cores.{stage.stage}", both)
    on_the_way = [stage for stage in one if stage.stage not in _SIDE]
    slowest = min(on_the_way, key=lambda stage: stage.calls_per_s)
    flat["slowest_stage_calls_per_s"] = slowest.calls_per_s
    flat["all_stages_calls_per_s"] = 1 / sum(1 / stage.calls_per_s for stage in on_the_way)
    return flat


def _rates(name: str, parts: Sequence[Throughput]) -> dict[str, float]:
    found = {
        f"{name}.mb_per_s": sum(part.characters / part.seconds for part in parts) / 1e6,
        f"{name}.calls_per_s": sum(part.calls_per_s for part in parts),
    }
    if any(part.rows for part in parts):
        found[f"{name}.rows_per_s"] = sum(part.rows / part.seconds for part in parts)
    return found
