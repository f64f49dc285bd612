"""Rows out of one call, for all tables and documents that share it: ask, check, and ask once more
with the findings of the check (contracts 1 to 4).

Documents that share a call are numbered, and each row of the reply names its document. The words of
a row are searched in that document alone, so nothing moves from one document to another. When a
reply is cut, is refused or leaves documents out, these documents are read again with fewer others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sliders.errors import ModelError, TruncatedReply
from sliders.extraction.asking import Refusal, generate
from sliders.extraction.drafts import Drafts
from sliders.extraction.extract import ChunkReader, Extraction
from sliders.extraction.grid_rows import grids_of
from sliders.extraction.list_entries import records_of
from sliders.extraction.prompt import (
    MOST_REPLY,
    Asked,
    chunk_document,
    read_prompt,
    reply_of_rows,
    reply_tokens,
)
from sliders.extraction.recheck import recheck
from sliders.extraction.source import Source
from sliders.llm.model import Model, Request, Response
from sliders.llm.replies import same_name
from sliders.schema.types import Table

_DEEPEST = 4
_Item = Mapping[str, Any]


async def read_chunks(
    sources: Sequence[Source],
    asked: Sequence[Asked],
    model: Model,
    expected: int = 0,
    *,
    depth: int = 0,
    again: bool = False,
) -> list[Extraction]:
    """Returns the rows of all asked tables for each text, in one call.

    Args:
        sources: parts of different documents.
        expected: the usual tokens of the reply; 0 for the most that the texts may need.
        depth: how often a text was cut in halves.
        again: True when the documents were read before and the reply left them out.
    """
    halves = _halves(sources, depth)
    if halves and not expected and _surely(sources, asked) > MOST_REPLY:
        return await _each(halves, asked, model, depth)
    request = _request(sources, asked, expected)
    reply = await generate(request, model)
    if halves and _unfinished(reply, len(sources)):
        return await _each(halves, asked, model, depth)
    if isinstance(reply, ModelError):
        why = [Refusal(source.chunk.id, "reply", str(reply)) for source in sources]
        return [Extraction(one.chunk_id, refusals=(one,)) for one in why]
    told = _by_document(reply.data or {}, len(sources))
    if told is None:
        return await _each([[source] for source in sources], asked, model, depth)
    unspoken = [n for n, rows in enumerate(told) if rows is None and not again]
    spoken = [n for n in range(len(sources)) if n not in unspoken]
    found = await _checked(
        [_drafts(sources, n, asked, told[n] or ()) for n in spoken], reply, model, request
    )
    later = await _later([sources[n] for n in unspoken], asked, model)
    by_number = dict(zip((*spoken, *unspoken), (*found, *later), strict=True))
    return [by_number[n] for n in range(len(sources))]


def _request(sources: Sequence[Source], asked: Sequence[Asked], expected: int) -> Request:
    most = sum(reply_tokens(source.text, asked) for source in sources)
    return read_prompt(
        [chunk_document(source.chunk, source.card) for source in sources],
        asked,
        expected or most,
        sources[0].questions,
        whole=all(source.is_whole for source in sources),
    )


def _halves(sources: Sequence[Source], depth: int) -> list[Sequence[Source]]:
    """Returns the documents in two groups, or the text of a single document in two halves; [] when
    nothing can be divided.
    """
    if len(sources) > 1:
        middle = (len(sources) + 1) // 2
        return [sources[:middle], sources[middle:]]
    return [[half] for half in sources[0].halves()] if depth < _DEEPEST else []


async def _each(
    groups: Sequence[Sequence[Source]], asked: Sequence[Asked], model: Model, depth: int
) -> list[Extraction]:
    """Reads the groups one after the other; two halves of one text become one result."""
    parts = groups[0][0].chunk.id == groups[-1][0].chunk.id
    found = [
        one
        for group in groups
        for one in await read_chunks(group, asked, model, depth=depth + parts)
    ]
    return [found[0] + found[1]] if parts and len(found) > 1 else found


async def _later(
    sources: Sequence[Source], asked: Sequence[Asked], model: Model
) -> list[Extraction]:
    """Reads documents once more that a reply left out."""
    return await read_chunks(sources, asked, model, again=True) if sources else []


def _surely(sources: Sequence[Source], asked: Sequence[Asked]) -> int:
    """Returns the tokens that a reply needs for the lines of lists and grids, since each of these
    lines is a row.
    """
    lines = sum(
        len(records_of(source.chunk)) or sum(len(grid.rows) for grid in grids_of(source.text))
        for source in sources
    )
    return reply_of_rows(lines, [a for a in asked if a.table.grain == "many"])


def _unfinished(reply: Response | ModelError, documents: int) -> bool:
    """True when a reply was cut, or left out some of several documents."""
    if isinstance(reply, ModelError):
        return documents > 1 or isinstance(reply, TruncatedReply)
    return reply.finish_reason == "length" or (documents > 1 and reply.salvaged)


def _by_document(reply: _Item, documents: int) -> list[list[_Item] | None] | None:
    """Returns the rows of each document, None for a document that the reply left out.

    Returns:
        None when a row names no document of the call, since it may belong to any.
    """
    alone = 1 if documents == 1 else None
    told: dict[int, list[_Item]] = {n: [] for n in reply.get("no_rows") or ()}
    if alone:
        told[1] = []
    common: dict[tuple[int, str], _Item] = {}
    for item in reply.get("all_rows") or ():
        number = alone or item.get("document")
        common[number, same_name(str(item.get("table", "")))] = item
        told.setdefault(number, [])
    for item in reply.get("rows") or ():
        number = alone or item.get("document")
        shared = common.get((number, same_name(str(item.get("table", "")))), {})
        told.setdefault(number, []).append(_joined(shared, item))
    if not all(n in range(1, documents + 1) for n in told):
        return None
    for (number, _), item in common.items():
        told[number] = told[number] or [item]
    return [told.get(n) for n in range(1, documents + 1)]


def _joined(shared: _Item, item: _Item) -> _Item:
    """Returns a row with the values that all rows share; its own cells win."""
    if not shared:
        return item
    lists = {
        name: [*(shared.get(name) or ()), *(item.get(name) or ())]
        for name in ("false", "does_not_apply")
    }
    return {**item, "cells": {**shared["cells"], **item["cells"]}, **lists}


def _drafts(
    sources: Sequence[Source], number: int, asked: Sequence[Asked], rows: Sequence[_Item]
) -> Drafts:
    """The checked rows of one of the documents."""
    others = tuple(source.text for n, source in enumerate(sources) if n != number)
    drafts = Drafts(replace(sources[number], others=others), asked)
    drafts.add(rows)
    return drafts


async def _checked(
    every: Sequence[Drafts], reply: Response, model: Model, request: Request
) -> list[Extraction]:
    """Returns the extractions after the cells with findings were asked for once more."""
    missed = await recheck(every, model)
    if reply.salvaged:
        left = "rows that were cut or of another shape were left out"
        for drafts in every:
            drafts.refuse("reply", left, fatal=True)
    return [
        Extraction(
            drafts.source.chunk.id,
            drafts.kept(reply.call_id, model.name, request.prompt_hash),
            tuple(drafts.refusals),
            missed=tuple(lines),
        )
        for drafts, lines in zip(every, missed, strict=True)
    ]


CELLS = ChunkReader(
    read_chunks,
    requests=lambda documents, asked, expected: [read_prompt(documents, asked, expected)],
    bare=lambda: read_prompt([""], (Asked(Table("record", ()), ()),), 0),
    one_call=True,
)
"""The reader of a model that replies with the cells of all rows of all tables."""
