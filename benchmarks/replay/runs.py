"""What is replayed: small cases, evaluation sets and recordings, each in every way in which it is
asked.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sliders
from benchmarks.fidelity.__main__ import LOOK, MODES, SCORE_ONLY
from benchmarks.fidelity.cases import cases
from benchmarks.fidelity.gold import World, suite_world
from benchmarks.fidelity.reader import PerfectReader
from benchmarks.fidelity.run import run
from benchmarks.replay.hashes import recorded
from benchmarks.replay.neutral import neutral_reply
from benchmarks.replay.recording import Reader, Recording, UnknownRequest, recordings
from benchmarks.trust.cases import FOLDER, Case, load
from benchmarks.trust.child import play
from sliders.errors import SlidersError
from sliders.llm import COMPACT
from sliders.llm.testing import FunctionModel

SETS = "sets/"
"""How the names of runs over evaluation sets begin."""
_COMPACT_WINDOW = 8192
_COMPACT_QUESTIONS = 3


@dataclass(frozen=True, slots=True)
class Run:
    """One run: `name` says what is asked and how, `quick` that it is of the sample of a test."""

    name: str
    start: Callable[[], object]
    quick: bool = False


def runs(evals: Path | None = None, reader: Reader | None = None) -> Iterator[Run]:
    """All runs; those over evaluation sets where their folder is given.

    Args:
        evals: the folder of the evaluation sets.
        reader: answers requests of recordings that have no recorded reply; the recording is then
            written anew.
    """
    for number, world in enumerate(cases()):
        yield from _of_world(f"fidelity/{world.name}", world, number)
    seen: dict[str, int] = {}
    for case in load(FOLDER):
        seen[case.kind] = number = seen.get(case.kind, 0) + 1
        yield from _of_case(case, number)
    for recording in recordings():
        yield Run(
            f"recording/{recording.path.stem}", lambda r=recording: _recording(r, reader), True
        )
    for name in (*LOOK, *SCORE_ONLY) if evals else ():
        yield from _of_world(f"{SETS}{name}", suite_world(evals / name, True))  # type: ignore[operator]


def _of_world(name: str, world: World, number: int | None = None) -> Iterator[Run]:
    """A world in each mode; with its number, one of them is quick, another one for each world."""
    ways: dict[str, Callable[[], object]] = {
        mode: lambda m=mode: run(world, PerfectReader(world), m) for mode in MODES
    }
    questions = [question.question for question, _ in world.questions]
    ways["compact"] = lambda: _compact(world.documents, questions)
    for place, (way, start) in enumerate(ways.items()):
        yield Run(f"{name}/{way}", start, number is not None and number % len(ways) == place)


def _of_case(case: Case, number: int) -> Iterator[Run]:
    """A case of `trust` in both dialects; the first of each kind is quick in the full one, unless
    it starts commands.
    """
    quick = number == 1 and not any("command" in step for step in case.steps)
    yield Run(f"trust/{case.name}/full", lambda: play(sliders, case), quick)
    documents = {
        paper.name.partition("#")[0]: paper.text for paper in case.papers if not paper.later
    }
    questions = [str(question["ask"]) for question in case.questions]
    yield Run(f"trust/{case.name}/compact", lambda: _compact(documents, questions, case.settings))


def _compact(
    documents: Mapping[str, str],
    questions: Sequence[str],
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Ask the first questions in the compact dialect of a reader that knows nothing; an error of
    theirs is no matter here.
    """
    model = FunctionModel(
        neutral_reply, name="neutral", context_tokens=_COMPACT_WINDOW, dialect=COMPACT
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, text in documents.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        with (
            suppress(SlidersError),
            sliders.Workspace(
                Path(folder, "workspace.db"), model=model, **(settings or {})
            ) as workspace,
        ):
            workspace.add([str(Path(folder, name)) for name in documents])
            workspace.ask_many(questions[:_COMPACT_QUESTIONS])


def _recording(recording: Recording, reader: Reader | None) -> None:
    recording.play(reader)
    if reader is not None:
        recording.save()


def request_hashes(chosen: Iterator[Run] | Sequence[Run]) -> tuple[dict[str, list[str]], list[str]]:
    """The sorted hashes of the requests of each run, and what was said of requests that have no
    recorded reply.
    """
    found: dict[str, list[str]] = {}
    unknown: list[str] = []
    with _plain_settings():
        for one in chosen:
            with recorded() as hashes:
                try:
                    one.start()
                except UnknownRequest as error:
                    unknown.append(str(error))
            found[one.name] = sorted(hashes)
    return found, unknown


@contextmanager
def _plain_settings() -> Iterator[None]:
    """The environment without the settings of whoever runs this."""
    kept = {name: os.environ.pop(name) for name in tuple(os.environ) if name.startswith("SLIDERS_")}
    try:
        yield
    finally:
        os.environ.update(kept)
