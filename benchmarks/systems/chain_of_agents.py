"""Chain of agents: workers read one piece after the other and hand notes on, a manager answers
from the last notes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.systems.base import SHORT_ANSWER, Answered, Task, answered, serve
from benchmarks.systems.client import CHARACTERS_A_TOKEN, chat, read, segments

WORKER = (
    "{piece}\n\nQuestion: {question}\nNotes of the earlier readers:\n{notes}\n\n"
    "Write the notes on: keep every earlier fact that the question needs, add those of the text "
    "above, drop the rest. Do not answer the question."
)
MANAGER = "Notes on all documents:\n{notes}\n\nQuestion: {question}\n{how}"


def run(task: Task) -> Iterator[Answered]:
    """A worker a piece (option `piece_tokens`), then the manager."""
    size = int(int(task.options.get("piece_tokens", 2000)) * CHARACTERS_A_TOKEN)
    text = "\n\n".join(f"[{d.name}]\n{read(d)}" for d in task.documents)
    pieces = segments(text, size)
    for asked in task.questions:
        started, notes = time.perf_counter(), "none"
        for piece in pieces:
            prompt = WORKER.format(piece=piece, question=asked.question, notes=notes)
            notes = chat(task.base_url, task.model, prompt, max_tokens=768)
        said = chat(
            task.base_url,
            task.model,
            MANAGER.format(notes=notes, question=asked.question, how=SHORT_ANSWER),
        )
        yield answered(asked, said, time.perf_counter() - started)


if __name__ == "__main__":
    raise SystemExit(serve(run))
