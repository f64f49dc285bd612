"""Replies of a strong reader to the questions of a written set, kept by the hash of the request
that each answers.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import sliders
from benchmarks.checkout import ROOT
from benchmarks.replay.hashes import request_hash
from sliders.llm import Request
from sliders.llm.testing import FunctionModel

FOLDER = ROOT / "benchmarks" / "stored" / "recordings"
_WRITTEN = ROOT / "benchmarks" / "written"
_WINDOW = 128_000


Reader = Callable[[Request], Awaitable[str]]
"""A strong reader: the text of its reply to a request."""


class UnknownRequest(LookupError):
    """A request that a recording holds no reply to.

    The message names the set, the stage and what to do.
    """


class Recording:
    """A set's documents and questions, and the replies that were given.

    `path` is a file of JSON lines: first the names of the set and of its documents and the
    questions, then a reply a line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        self.head = head
        self.documents = [_WRITTEN / head["set"] / "docs" / name for name in head["documents"]]
        self.questions: list[str] = head["questions"]
        self._replies: dict[str, dict[str, str]] = {line["request"]: line for line in lines}
        self._used: dict[str, dict[str, str]] = {}

    def play(self, reader: Reader | None = None) -> list[sliders.Answer]:
        """Ask the questions in a new workspace.

        Args:
            reader: answers requests without a recorded reply.

        Raises:
            UnknownRequest: there is such a request and no reader.
        """

        async def reply(request: Request) -> str:
            return await self._reply(request, reader)

        model = FunctionModel(reply, name="recorded", context_tokens=_WINDOW)
        self._used = {}
        with (
            tempfile.TemporaryDirectory() as folder,
            sliders.Workspace(
                Path(folder, "workspace.db"), model=model, concurrency=16
            ) as workspace,
        ):
            workspace.add([str(path) for path in self.documents])
            return workspace.ask_many(self.questions)

    async def _reply(self, request: Request, reader: Reader | None) -> str:
        key = request_hash(request)
        if key not in self._replies:
            if reader is None:
                raise UnknownRequest(
                    f"{self.path.stem}: no reply is recorded for request {key} of stage "
                    f"{request.stage}; record anew with python -m benchmarks.replay --record "
                    f"--only recording/{self.path.stem} --reader URL"
                )
            self._replies[key] = {
                "request": key,
                "stage": request.stage,
                "reply": await reader(request),
            }
        self._used[key] = self._replies[key]
        return self._used[key]["reply"]

    def save(self) -> None:
        """Write the file anew, with the replies that the last play used."""
        lines: Sequence[object] = [self.head, *(self._used[key] for key in sorted(self._used))]
        self.path.write_text(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
        )


def recordings() -> list[Recording]:
    """All stored recordings."""
    return [Recording(path) for path in sorted(FOLDER.glob("*.jsonl"))]
