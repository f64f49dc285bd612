"""Whole context: every document in one prompt, where it fits."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.systems.base import SHORT_ANSWER, Answered, Task, answered, serve
from benchmarks.systems.client import CHARACTERS_A_TOKEN, chat, fits, read


def run(task: Task) -> Iterator[Answered]:
    """One call a question; a corpus beyond option `context_tokens` fails, it is not cut."""
    text = "\n\n".join(f"[{d.name}]\n{read(d)}" for d in task.documents)
    room = int(task.options.get("context_tokens", 32768))
    for asked in task.questions:
        started = time.perf_counter()
        prompt = f"{text}\n\nQuestion: {asked.question}\n{SHORT_ANSWER}"
        if not fits(prompt, room):
            need = int(len(prompt) / CHARACTERS_A_TOKEN)
            yield Answered(
                asked.id,
                "failed",
                error=f"does not fit: about {need} tokens, the context has {room}",
            )
            continue
        yield answered(
            asked, chat(task.base_url, task.model, prompt), time.perf_counter() - started
        )


if __name__ == "__main__":
    raise SystemExit(serve(run))
