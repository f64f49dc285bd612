"""A DocETL map operation fills the rows, SQL answers. Runs in an environment with `docetl`."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.systems import extract_then_sql
from benchmarks.systems.base import Answered, Task, serve

# Any other name makes it fetch a tokenizer, and assume a 32k context; the proxy puts the
# served model's name back.
_ALIAS = "openai/gpt-4-turbo"


def _extract(
    task: Task, columns: dict[str, str], documents: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    from docetl.runner import DSLRunner

    task.work.mkdir(parents=True, exist_ok=True)
    source, target = task.work / "documents.json", task.work / "rows.json"
    source.write_text(
        json.dumps([{"document": name, "text": text} for name, text in documents]), encoding="utf-8"
    )
    wanted = "\n".join(f"- {name}: {said}" for name, said in columns.items())
    fields = ", ".join(f"{name}: string" for name in columns)
    operation = {
        "name": "extract",
        "type": "map",
        "prompt": (
            f"{{{{ input.text }}}}\n\nExtract every record of the text, in exact words, "
            f"with:\n{wanted}"
        ),
        "output": {"schema": {"records": f"list[{{{fields}}}]"}, "mode": "structured_output"},
        # Without a limit, a small model that repeats itself writes until the context window is
        # full; a document whose reply is cut by it gives no rows, in place of ending the run.
        "litellm_completion_kwargs": {
            "api_base": task.base_url,
            "api_key": "none",
            "max_tokens": 1024,
        },
        "skip_on_error": True,
    }
    config = {
        "default_model": _ALIAS,
        "default_lm_api_base": task.base_url,
        "bypass_cache": True,
        "datasets": {"documents": {"type": "file", "path": str(source)}},
        "operations": [operation],
        "pipeline": {
            "steps": [{"name": "extract", "input": "documents", "operations": ["extract"]}],
            "output": {
                "type": "file",
                "path": str(target),
                "intermediate_dir": str(task.work / "intermediate"),
            },
        },
    }
    DSLRunner(config, max_threads=1).load_run_save()
    rows = []
    for item in json.loads(target.read_text(encoding="utf-8")):
        records = item.get("records") or []
        rows += [
            {"document": item["document"], **record}
            for record in records
            if isinstance(record, dict)
        ]
    return rows


def run(task: Task) -> Iterator[Answered]:
    """DocETL between attributes and SQL."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("OPENAI_API_KEY", "none")
    packaged = importlib.util.find_spec("litellm")
    if (
        packaged and packaged.submodule_search_locations
    ):  # the one tokenizer that ships inside a package
        tokenizers = (
            Path(packaged.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"
        )
        os.environ["TIKTOKEN_CACHE_DIR"] = os.environ["CUSTOM_TIKTOKEN_CACHE_DIR"] = str(tokenizers)
    os.environ["OPENAI_API_BASE"] = os.environ["OPENAI_BASE_URL"] = task.base_url
    return extract_then_sql.run(task, _extract)


if __name__ == "__main__":
    raise SystemExit(serve(run))
