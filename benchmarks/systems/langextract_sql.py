"""LangExtract fills the rows, SQL answers. Runs in an environment with `langextract[openai]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.systems import extract_then_sql
from benchmarks.systems.base import Answered, Task, serve


def _extract(
    task: Task, columns: dict[str, str], documents: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    import langextract as lx

    example_values = {
        name: f"({name})" for name in columns
    }  # placeholders: a plausible value would be copied
    example_text = "; ".join(f"{name}: {value}" for name, value in example_values.items())
    example = lx.data.ExampleData(
        text=example_text,
        extractions=[
            lx.data.Extraction(
                extraction_class="record", extraction_text=example_text, attributes=example_values
            )
        ],
    )
    config = lx.factory.ModelConfig(
        model_id=task.model,
        provider="openai",
        provider_kwargs={"api_key": "none", "base_url": task.base_url},
    )
    wanted = "\n".join(f"- {name}: {said}" for name, said in columns.items())
    rows = []
    for name, text in documents:
        result = lx.extract(
            text,
            prompt_description=(
                f"Extract one record for each row of a table with these attributes:\n{wanted}"
            ),
            examples=[example],
            config=config,
            extraction_passes=1,
            max_char_buffer=4000,
            max_workers=1,
            show_progress=False,
            resolver_params={"suppress_parse_errors": False},
        )
        for found in result.extractions or []:
            said = {
                key: value
                for key, value in (found.attributes or {}).items()
                if value != example_values.get(key)
            }
            rows.append({"document": name, **said})
    return rows


def run(task: Task) -> Iterator[Answered]:
    """LangExtract between attributes and SQL."""
    return extract_then_sql.run(task, _extract)


if __name__ == "__main__":
    raise SystemExit(serve(run))
