"""The process that plays cases against one checkout; a JSON line for each case.

`python -m benchmarks.trust.child CHECKOUT CASES [--only TEXT]`

It uses what has been public for long, and asks for anything newer with a guard, so that old and new
versions can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.checkout import use_package_of


def _model(reader: Any) -> Any:
    """The case's reader as a model."""
    from benchmarks.trust.reader import with_part_size
    from sliders.errors import ModelRefusal, ModelUnavailable, TruncatedReply
    from sliders.llm.testing import FunctionModel

    errors = {"refused": ModelRefusal, "unavailable": ModelUnavailable, "cut": TruncatedReply}

    def function(request: Any) -> Any:
        if kind := reader.case.fails.get(request.stage):
            reader.calls[request.stage] = reader.calls.get(request.stage, 0) + 1
            if kind == "odd":
                return {"action": "respond", "sql": "", "rows": "none", "reason": ""}
            return errors[kind](f"the server {_SAYS[kind]}")
        shape = request.json_schema or (
            request.reply.model_json_schema() if request.reply is not None else {}
        )
        return reader.reply(
            request.stage, [(m.role, m.content) for m in request.messages], shape, request.choices
        )

    class Double(FunctionModel):
        """The function with token counts that cut documents at their parts."""

        def count_tokens(self, text: str) -> int:
            return int(reader.count_tokens(text))

    usual = FunctionModel(function).dialect
    return Double(
        function, name="scripted-reader", context_tokens=128_000, dialect=with_part_size(usual)
    )


_CRASHES = (
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
    TypeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
)
"""How the measured package can fail beside the errors that it raises on purpose:
an outcome of the case.
"""
_SAYS = {
    "refused": "refused the request: content filter",
    "unavailable": "answers HTTP 401: the key is wrong",
    "cut": "stopped at the limit of the reply",
}


def _told(answer: Any, calls: Mapping[str, int]) -> Any:
    from benchmarks.trust.judge import Told

    doubts = tuple(str(doubt) for doubt in getattr(answer, "doubts", ()) or ())
    remarks = [
        *answer.notes,
        answer.reason,
        str(answer.completeness),
        str(answer.range or ""),
        *doubts,
    ]
    return Told(
        str(answer.status),
        answer.value,
        str(answer.text),
        doubts,
        "; ".join(remarks),
        calls,
        " | ".join(citation.quote for citation in answer.citations),
    )


class _Play:
    """One case under way in a workspace."""

    def __init__(
        self, checkout: Path, case: Any, reader: Any, workspace: Any, files: Mapping[str, Path]
    ) -> None:
        self.checkout, self.case, self.reader = checkout, case, reader
        self.workspace, self.files = workspace, files

    def step(self, step: Mapping[str, Any]) -> Iterator[Any]:
        """The outcomes of one step; none where it only changes something."""
        from benchmarks.trust.judge import Told, judge

        ws, control, before = (
            self.workspace,
            step.get("control", self.case.control),
            dict(self.reader.calls),
        )
        if "ask" in step:
            options = {"workflow": step["workflow"]} if "workflow" in step else {}
            told = self._safely(lambda: _told(ws.ask(step["ask"], **options), self._since(before)))
            yield judge(step, told, control)
        elif "query" in step:
            told = self._safely(lambda: _frame(ws.query(step["query"]), self._since(before)))
            yield judge(step, told, control)
        elif "together" in step:
            yield from self._together(step["together"])
        elif "command" in step:
            from benchmarks.trust.server import command

            folder = next(iter(self.files.values())).parent
            told = command(self.checkout, folder, step["command"], self.reader)
            yield judge({"right": 0, **step}, told, control)
        elif "tables" in step:
            yield judge(
                step,
                Told(
                    "answered", [*ws.tables, len(ws.tables), bool(ws.tables), sorted(ws.tables)[0]]
                ),
                control,
            )
        elif "add" in step:
            (paper,) = (paper for paper in self.case.papers if paper.name == step["add"])
            self.files[paper.name].write_text(paper.text, encoding="utf-8")
            ws.add([str(self.files[paper.name])])
        elif "undo" in step:
            self._safely(lambda: ws.undo(step["undo"]))
        else:
            (verb,) = set(step) & {"set_value", "merge", "split"}
            getattr(ws, verb)(**step[verb])
            ws.reconcile()

    def _since(self, before: Mapping[str, int]) -> dict[str, int]:
        """Calls made since, by stage."""
        return {stage: count - before.get(stage, 0) for stage, count in self.reader.calls.items()}

    def _safely(self, function: Any) -> Any:
        """What a call tells; an error that the package raises on purpose is a
        failure that says why.
        """
        from benchmarks.trust.judge import Told
        from sliders.errors import SlidersError

        try:
            return function()
        except SlidersError as error:
            return Told("failed", None, str(error), (), str(error))

    def _together(self, questions: Any) -> Iterator[Any]:
        """Questions asked at once: each as if alone, with a run of its own
        and only its own calls.
        """
        from benchmarks.trust.judge import SILENT, Outcome, judge

        async def every() -> list[Any]:
            return await asyncio.gather(*(self.workspace.ask_async(q["ask"]) for q in questions))

        answers = asyncio.run(every())
        for question, answer in zip(questions, answers, strict=True):
            yield judge(question, _told(answer, {}), self.case.control)
        runs, charged = {a.run for a in answers}, sum(a.usage.calls for a in answers)
        if len(runs) < len(answers):
            yield Outcome(SILENT, f"{len(answers)} questions share run {runs}")
        if charged > sum(self.reader.calls.values()):
            yield Outcome(
                SILENT, f"{charged} calls are charged, {sum(self.reader.calls.values())} were made"
            )


def _frame(frame: Any, calls: Mapping[str, int]) -> Any:
    from benchmarks.trust.judge import Told

    notes = "; ".join(map(str, frame.attrs.get("notes", ())))
    rows = [
        [None if cell != cell else cell for cell in row]
        for row in frame.astype(object).to_numpy().tolist()
    ]
    value = [row[0] for row in rows] if len(frame.columns) == 1 else rows
    return Told("answered", value, str(value), (), notes, calls)


def play(package: Any, case: Any) -> dict[str, Any]:
    """The outcome of one case."""
    from benchmarks.trust.judge import CRASHED, WORST, Outcome
    from benchmarks.trust.reader import Reader
    from sliders.errors import SlidersError

    reader, outcomes, started = Reader(case), list[Any](), time.perf_counter()
    checkout = Path(package.__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        files = {paper.name: Path(folder, paper.name.partition("#")[0]) for paper in case.papers}
        for paper in (paper for paper in case.papers if not paper.later):
            files[paper.name].write_text(paper.text, encoding="utf-8")
        try:
            with package.Workspace(
                Path(folder, "workspace.db"), model=_model(reader), **case.settings
            ) as ws:
                ws.add([str(files[paper.name]) for paper in case.papers if not paper.later])
                playing = _Play(checkout, case, reader, ws, files)
                for step in case.steps:
                    outcomes += playing.step(step)
        except (SlidersError, *_CRASHES) as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            outcomes.append(
                Outcome(CRASHED, f"{type(error).__name__}: {str(error)[:200]} ({where})")
            )
    worst = max(outcomes, key=lambda o: WORST.index(o.verdict))
    return {
        "case": case.name,
        "kind": case.kind,
        "control": case.control,
        "guard": case.guard,
        "verdict": worst.verdict,
        "about": worst.about,
        "unknown": sorted(set(reader.unknown)),
        "calls": reader.calls,
        "seconds": round(time.perf_counter() - started, 2),
    }


def main() -> int:
    """Play the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    package = use_package_of(args.checkout.resolve())
    from benchmarks.trust.cases import load

    for case in load(args.cases, args.only):
        print(json.dumps(play(package, case), ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
