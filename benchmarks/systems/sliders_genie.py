"""The public SLIDERS package, as its users run it: Markdown files, one question.
Runs in its own environment.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.systems.base import Answered, Asked, Task, answered, serve
from benchmarks.systems.client import read

_SECONDS_A_CALL = (
    3600  # its default of 200 s is shorter than one extraction call of a small machine
)
_SHARE_FOR_REPLY = 8
"""A reply may take this part of the context window: its own limits of up to 32,000 tokens
leave no room for a prompt in a window of 32,768, and a small model that repeats itself
would write for an hour.
"""


def _configuration(task: Task) -> Path:
    """The package's own configuration with every model name replaced, as its README
    asks of local servers.
    """
    import yaml

    import sliders

    longest = int(task.options["context_tokens"]) // _SHARE_FOR_REPLY

    def renamed(node: Any) -> Any:
        if isinstance(node, dict):
            said = {key: renamed(value) for key, value in node.items()}
            if "temperature" not in said or "model" not in said:
                return said
            return said | {
                "timeout": _SECONDS_A_CALL,
                "max_tokens": min(said.get("max_tokens", longest), longest),
            }
        if isinstance(node, list):
            return [renamed(item) for item in node]
        return task.model if isinstance(node, str) and node.startswith("gpt-") else node

    packaged = Path(sliders.__path__[0]) / "default_config.yaml"
    path = task.work / "config.yaml"
    path.write_text(
        yaml.safe_dump(renamed(yaml.safe_load(packaged.read_text(encoding="utf-8")))),
        encoding="utf-8",
    )
    return path


def _without_cache() -> None:
    """No Redis here: its probe would add seconds to every call."""
    from sliders.llm import llm

    async def none() -> None:
        return None

    llm.get_redis_client = none


def _ask(task: Task, asked: Asked, folder: Path, config: Path) -> Answered:
    from sliders.run import run_sliders

    started = time.perf_counter()
    said = run_sliders(
        docs=str(folder),
        question=asked.question,
        config_path=str(config),
        output_dir=str(task.work / "output"),
        return_full_result=True,
        openai_api_key="none",
        openai_base_url=task.base_url,
    )
    seconds = time.perf_counter() - started
    text = str(said["answer"])
    if not text.strip() or text.startswith("[Error]"):
        return Answered(
            asked.id, "failed", text=text, seconds=round(seconds, 3), error=text or "no answer"
        )
    return answered(asked, text, seconds)


def run(task: Task) -> Iterator[Answered]:
    """One full run a question: it keeps nothing between questions."""
    os.environ["SLIDERS_LOGS_DIR"] = str(task.work / "logs")
    os.environ["SLIDERS_RESULTS"] = str(task.work / "results")
    os.environ["SLIDERS_LLM_PROVIDER"] = "openai"
    for name in ("logs", "results", "docs"):
        (task.work / name).mkdir(parents=True, exist_ok=True)
    for document in task.documents:
        (task.work / "docs" / f"{document.stem}.md").write_text(read(document), encoding="utf-8")
    _without_cache()
    config = _configuration(task)
    for asked in task.questions:
        yield _ask(task, asked, task.work / "docs", config)


if __name__ == "__main__":
    raise SystemExit(serve(run))
