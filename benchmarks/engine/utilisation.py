"""How well the extraction keeps parallel model slots busy: the share of the ideal
time that it reaches.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import sliders
from benchmarks.engine.corpus import made_up
from benchmarks.engine.server import Server
from benchmarks.engine.stages import MODEL
from sliders.engine import fill_cells

_COLUMNS = {"signed_by": "text", "signing_date": "date"}


def utilisation(
    workspace: Path, chunks: int = 5000, slots: int = 64, latency: float = 0.2
) -> dict[str, float]:
    """Extract from documents of one chunk each, one call a chunk, through client,
    cache, ledger and store.

    Returns:
        `utilisation` (share of chunks * latency / slots), seconds, calls, and processor
            milliseconds of ours a call.
    """
    with Server(latency) as server, _workspace(workspace, server.base_url, slots) as ws:
        _add(ws, chunks)
        table = {
            "name": "records",
            "row": "a record",
            "grain": "document",
            "columns": dict(_COLUMNS),
        }
        ws.pin_schema({"tables": [table]})
        before, processor, wall = server.counts(), time.process_time(), time.perf_counter()
        asked = asyncio.run(_fill(ws))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        after = server.counts()
        calls = after["calls"] - before["calls"]
        if asked != chunks or calls != chunks:
            raise AssertionError(
                f"{chunks} chunks took {calls:g} calls and {asked} were asked; one call a "
                "chunk is measured"
            )
        rows = ws.session.catalog.extractions.count("records")
    return {
        "utilisation": chunks * latency / slots / wall,
        "utilisation_chunks": chunks,
        "utilisation_rows": rows,
        "utilisation_seconds": wall,
        "utilisation_most_in_flight": after["most_in_flight"],
        "utilisation_cpu_ms_a_call": processor / calls * 1000,
    }


def _workspace(path: Path, base_url: str, slots: int) -> sliders.Workspace:
    path.parent.mkdir(parents=True, exist_ok=True)
    return sliders.Workspace(
        path,
        model=MODEL,
        base_url=base_url,
        api_key="scripted",
        concurrency=slots,
        documents_per_call=1,
    )


def _add(ws: sliders.Workspace, chunks: int) -> None:
    for number, text in enumerate(made_up(chunks)):
        ws.add_text(text, f"record_{number}.txt")


async def _fill(ws: Any) -> int:
    table = ws.schema.tables[0]
    try:
        filled = await fill_cells(ws.session, {table.name: table.column_names})
    finally:
        await ws.session.models.aclose()
    return int(filled.asked)
