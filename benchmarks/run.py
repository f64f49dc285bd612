"""`python -m benchmarks.run SUITE_DIR`: answers and cells of `sliders` on one suite.

Answers run with an induced schema, all questions of a suite in one workspace and in order, so that
the first is cold and the later ones start from what is known; cells run with the schema pinned to
the gold tables' column names.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cells import CellScore, pinned_schema, score_table
from benchmarks.judge import PROMPT_HASH, ModelJudge
from benchmarks.report import line, row, summary, summary_lines, write_json
from benchmarks.scoring import Judge, Prediction, score_answer
from benchmarks.subset import over_documents
from benchmarks.suites import GoldQuestion, Suite, SuiteError, load_suite
from benchmarks.systems.base import Answered, Asked
from benchmarks.systems.sliders_system import CRASHES, SlidersSystem
from benchmarks.values import quotes_found


def _groups(suite: Suite) -> Iterator[tuple[str, tuple[Path, ...], list[GoldQuestion]]]:
    """Questions that share their documents, with a name for their workspace."""
    groups: dict[tuple[Path, ...], list[GoldQuestion]] = {}
    for question in suite.questions:
        if question.answer_type != "table_file":
            groups.setdefault(suite.documents_of(question), []).append(question)
    for i, (documents, questions) in enumerate(groups.items()):
        yield ("answers" if len(groups) == 1 else f"answers-{i:03d}"), documents, questions


def run_answers(
    suite: Suite,
    system: SlidersSystem,
    mode: str,
    judge: Judge | None = None,
    seen: Callable[[list[dict[str, Any]]], None] = lambda rows: None,
) -> list[dict[str, Any]]:
    """Ask every question and score it; `seen` is told after each one, with all rows so far."""
    rows: list[dict[str, Any]] = []
    for name, documents, questions in _groups(suite):
        asked = [Asked(q.id, q.question) for q in questions]
        for question, answer in zip(
            questions, system.answers(documents, asked, mode, name), strict=True
        ):
            prediction = Prediction(answer.status, answer.value, answer.text)
            scored = row(question, answer, score_answer(question, prediction, judge))
            rows.append(scored | _quotes(answer, documents))
            seen(rows)
    return rows


def _quotes(answer: Answered, documents: Sequence[Path]) -> dict[str, int]:
    """How many citations of plain-text documents are checked, and how many quotes stand
    there word for word.
    """
    plain = {d.name: d for d in documents if d.suffix.lower() in {".txt", ".md"}}
    quotes: dict[str, list[str]] = {}
    for citation in answer.citations:
        name = Path(str(citation.get("document") or "")).name
        if name in plain:
            quotes.setdefault(name, []).append(str(citation.get("quote") or ""))
    found = sum(
        quotes_found(q, plain[name].read_text(encoding="utf-8", errors="replace"))
        for name, q in quotes.items()
    )
    return {"quotes": sum(map(len, quotes.values())), "quotes_found": found}


def run_cells(suite: Suite, system: SlidersSystem) -> tuple[dict[str, Any], list[Any]]:
    """Score the tables of a pinned schema cell by cell: counts a table, `all`, and the
    cells that are not right.
    """
    if not suite.tables:
        return {}, []
    found, used, seconds = system.tables(suite.documents, pinned_schema(suite.tables))
    names = [d.name for d in suite.documents]
    total, scores, errors = CellScore("all"), dict[str, Any](), []
    for table in suite.tables:
        score, wrong = score_table(table, found.get(table.name), names)
        total += score
        scores[table.name] = score.as_dict()
        errors += wrong
    cost = {
        "calls": used.calls,
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
    }
    tokens = used.prompt_tokens + used.completion_tokens
    cost |= {
        "seconds": round(seconds, 1),
        "tokens_per_document": round(tokens / max(1, len(names)), 1),
    }
    return scores | {"all": total.as_dict(), "usage": cost}, errors


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "suite",
        help="folder with docs/, gold.json and maybe tables/ (or the folder above its dev/)",
    )
    parser.add_argument(
        "--system", default="sliders", help="only sliders; benchmarks.compare runs the others"
    )
    parser.add_argument("--model", default="local", help="model name; local is the embedded one")
    parser.add_argument("--base-url", default="", help="OpenAI-compatible endpoint")
    parser.add_argument("--questions", type=int, help="only the first so many questions")
    parser.add_argument(
        "--docs",
        type=int,
        help="only the first so many documents, with gold worked out again for them",
    )
    parser.add_argument("--only", help="only the question with this id")
    parser.add_argument("--batch", action="store_true", help="ask all questions at once")
    parser.add_argument("--cold", action="store_true", help="a fresh workspace for each question")
    parser.add_argument("--cells", action="store_true", help="only the cells run")
    parser.add_argument("--no-cells", action="store_true", help="only the answers run")
    parser.add_argument(
        "--derived", action="store_true", help="score gold columns that follow from others, too"
    )
    parser.add_argument("--errors", action="store_true", help="print every cell that is not right")
    parser.add_argument("--out", type=Path, help="JSON list: one object a question, then a summary")
    parser.add_argument(
        "--workspace",
        type=Path,
        help="folder of the workspaces; the same one goes on where it stopped",
    )
    parser.add_argument("--judge-url", default="", help="endpoint that judges free text")
    parser.add_argument("--judge-model", default="local", help="its model")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when everything ran, 1 when a question failed, 2 when the
    suite cannot be used.
    """
    args = _parser().parse_args(argv)
    if args.system != "sliders":
        print(
            f"{args.system}: this command runs sliders only; use python -m benchmarks.compare "
            f"--systems {args.system}"
        )
        return 2
    try:
        suite = load_suite(args.suite, derived=args.derived)
    except SuiteError as error:
        print(error, file=sys.stderr)
        return 2
    if args.docs:
        suite = over_documents(suite, args.docs)
    suite = suite.limited(questions=args.questions, only=args.only)
    if not suite.questions and not args.cells:
        print(
            f"{suite.name}: no question can be scored over the first "
            f"{len(suite.documents)} documents",
            file=sys.stderr,
        )
        return 2
    work = args.workspace or Path(tempfile.mkdtemp(prefix=f"bench-{suite.name}-"))
    return run(suite, SlidersSystem(args.model, args.base_url, work), args)


def run(suite: Suite, system: SlidersSystem, args: argparse.Namespace) -> int:
    """Answers, then cells, printed and written as they come."""
    mode = "batch" if args.batch else "cold" if args.cold else "warm"
    judge = ModelJudge(args.judge_url, args.judge_model) if args.judge_url else None
    facts: dict[str, Any] = {
        "suite": suite.name,
        "system": args.system,
        "model": args.model,
        "mode": mode,
    }
    if judge:
        facts["judge"] = {"model": args.judge_model, "prompt": PROMPT_HASH}

    def seen(rows: list[dict[str, Any]]) -> None:
        print(line(rows[-1]), flush=True)
        if args.out:
            write_json(args.out, [*rows, summary(rows, len(suite.documents), **facts)])

    rows = [] if args.cells else run_answers(suite, system, mode, judge, seen)
    failed = any(r["status"] == "failed" for r in rows)
    if not args.no_cells and suite.tables:
        try:
            facts["cells"], errors = run_cells(suite, system)
        except CRASHES as error:
            facts["cells"], errors, failed = {"error": f"{type(error).__name__}: {error}"}, [], True
            print(f"cells: failed: {error}")
        if args.errors:
            for e in errors:
                print(
                    f"  {e.kind:9} {e.table}.{e.column} {e.document}: {e.predicted!r} "
                    f"gold {e.gold!r}"
                )
    data = summary(rows, len(suite.documents), **facts)
    print("\n".join(summary_lines(data)))
    if args.out:
        write_json(args.out, [*rows, data])
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
