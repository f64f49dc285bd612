"""LOTUS `sem_extract` fills the rows, SQL answers. Runs in an environment with `lotus-ai`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.systems import extract_then_sql
from benchmarks.systems.base import Answered, Task, serve


def _extract(
    task: Task, columns: dict[str, str], documents: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    import lotus
    import pandas as pd
    from lotus.models import LM

    model = LM(
        model=f"hosted_vllm/{task.model}",
        api_base=task.base_url,
        api_key="none",
        max_ctx_len=int(task.options.get("context_tokens", 32768)),
        max_tokens=1024,
        max_batch_size=1,
        response_format={"type": "json_object"},
    )
    lotus.settings.configure(lm=model)
    frame = pd.DataFrame(documents, columns=["document", "text"])
    filled = frame.sem_extract(["text"], columns)
    return [dict(row) for row in filled.drop(columns=["text"]).to_dict("records")]


def run(task: Task) -> Iterator[Answered]:
    """LOTUS between attributes and SQL."""
    return extract_then_sql.run(task, _extract)


if __name__ == "__main__":
    raise SystemExit(serve(run))
