"""`python -m benchmarks.compare`: several systems on the same suites, questions, model and
machine, in one run.

Each system runs in its own environment and sees the model only through the counting proxy. Answers
are stored as they come; the same command goes on where it stopped, and a finished run costs no
call. `--redraw` writes RESULTS.md again from the stored rows alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environments import OUT, SYSTEMS, EnvironmentFailed, System, python_of, versions
from benchmarks.proxy import Count, Model, Proxy, Stub, Upstream
from benchmarks.results import comparison, flat, markdown, write_page
from benchmarks.scoring import Prediction, score_answer
from benchmarks.store import Results, RunKey
from benchmarks.subset import over_documents
from benchmarks.suites import GoldQuestion, Suite, SuiteError, load_suite
from benchmarks.systems.base import PREPARED, Answered, Asked, Task

_ROOT = Path(__file__).parent.parent
_MARK = "@@"
_PROGRESS = re.compile(r"\d+%\|.*\|.*\[")  # a line of a progress bar says nothing of an error
# the same in every run where it is free, because the address is part of a system's cache keys
_PORT = 8899


@dataclass(frozen=True, slots=True)
class Failed:
    """A system that ended before its last question; `error` is the end of what it wrote."""

    error: str


def drive(system: System, task: Task, python: Path, timeout: float) -> Iterator[Answered | Failed]:
    """Run a system's script on one task; its answers as they come, then `Failed` when
    it did not end well.
    """
    env = os.environ | {
        "PYTHONPATH": str(_import_path(system, task.work)),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": task.base_url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "DO_NOT_TRACK": "1",
        "ANONYMIZED_TELEMETRY": "False",
    }
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        child = subprocess.Popen(
            [str(python), "-m", system.module],
            cwd=task.work,
            env=env,
            text=True,
            encoding="utf-8",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        assert child.stdin and child.stdout
        _tell(child.stdin, task.to_json())
        lines: queue.Queue[str | None] = queue.Queue()
        reader = threading.Thread(target=_read, args=(child.stdout, lines), daemon=True)
        reader.start()
        ended = yield from _answers(lines, child.stdin, time.monotonic() + timeout)
        if not ended:
            child.kill()
        code = child.wait()
        reader.join(timeout=5)
        child.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
        errors.seek(0)
        lines = (line.rsplit("\r", 1)[-1] for line in errors.read().split("\n"))
        tail = "\n".join(line for line in lines if line.strip() and not _PROGRESS.search(line))[
            -1500:
        ]
    if not ended:
        yield Failed(f"no end after {timeout:.0f} s; {tail}")
    elif code:
        yield Failed(f"ended with code {code}: {tail}")


def _import_path(system: System, work: Path) -> Path:
    """Where the child finds `benchmarks`; a peer does not see the project's own package,
    whose name one shares.
    """
    if not system.pins:
        return _ROOT
    folder = work / "path"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "benchmarks"
    if not link.exists():
        link.symlink_to(_ROOT / "benchmarks", target_is_directory=True)
    return folder


def _tell(stream: Any, line: str) -> None:
    with contextlib.suppress(
        BrokenPipeError
    ):  # a child that has ended is reported by its exit code
        stream.write(line + "\n")
        stream.flush()


def _read(stream: Any, lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _answers(
    lines: queue.Queue[str | None], control: Any, deadline: float
) -> Generator[Answered | Failed, None, bool]:
    """Answers until the stream ends (returns True) or the deadline passes (returns False)."""
    while True:
        try:
            line = lines.get(timeout=max(0.01, deadline - time.monotonic()))
        except queue.Empty:
            return False
        if line is None:
            return True
        if line.startswith(_MARK):
            yield Answered(**json.loads(line.removeprefix(_MARK)))
            _tell(control, "")


@dataclass(frozen=True, slots=True)
class Settings:
    """What one comparison is run with; `work` holds workspaces, so that a killed run goes on."""

    model: str = "local"
    docs: int | None = None
    questions: int | None = None
    timeout: float = 7200.0
    fresh: bool = False
    work: Path = OUT / "work"
    context_tokens: int = 32768
    embeddings: bool = True
    at_once: int = 1


def compare_one(
    suite: Suite, system: System, settings: Settings, proxy: Proxy, results: Results
) -> str:
    """Run one system on one suite and store every answer; returns the run's id.

    A failure is stored, not raised.
    """
    docs, questions = settings.docs, settings.questions
    if system.limit:
        docs = min(docs or system.limit[0], system.limit[0])
        questions = min(questions or system.limit[1] or 10**6, system.limit[1] or 10**6)
    part = (over_documents(suite, docs) if docs else suite).limited(questions=questions)
    asked = [q for q in part.questions if q.answer_type != "table_file"]
    key = RunKey(
        suite.name,
        system.name,
        settings.model,
        system.mode,
        len(part.documents),
        tuple(q.id for q in asked),
    )
    characters = sum(d.stat().st_size for d in part.documents)
    run_id = results.begin(key, versions(system), characters, settings.fresh)
    open_questions = [q for q in asked if q.id not in results.answered(run_id)]
    if not open_questions:
        print(f"{suite.name} {system.name}: stored already")
        return run_id
    try:
        python = python_of(system)
    except EnvironmentFailed as error:
        results.finish(run_id, str(error))
        print(error)
        return run_id
    options = {"context_tokens": settings.context_tokens, "embeddings": settings.embeddings}

    def one(group: Sequence[GoldQuestion]) -> str:
        label = run_id if settings.at_once == 1 else f"{run_id}.{group[0].id}"
        place = (settings.work / run_id / group[0].id).resolve()
        place.mkdir(parents=True, exist_ok=True)
        task = Task(
            tuple(d.resolve() for d in part.documents_of(group[0])),
            tuple(Asked(q.id, q.question) for q in group),
            proxy.url(label),
            settings.model,
            place,
            system.mode,
            options,
        )
        return _drive_group(system, task, python, settings, group, run_id, label, proxy, results)

    with ThreadPoolExecutor(settings.at_once) as pool:
        errors = list(pool.map(one, _groups(part, open_questions, system, settings.at_once)))
    results.finish(run_id, next(filter(None, reversed(errors)), ""))
    return run_id


def _groups(
    part: Suite, questions: Sequence[GoldQuestion], system: System, at_once: int
) -> list[list[GoldQuestion]]:
    """Questions that one child process is asked: those over the same documents, each alone where
    several run at once and nothing is shared between questions.
    """
    groups: dict[Any, list[GoldQuestion]] = {}
    for question in questions:
        alone = question.id if at_once > 1 and system.mode == "cold" else ""
        groups.setdefault((part.documents_of(question), alone), []).append(question)
    return list(groups.values())


def _drive_group(
    system: System,
    task: Task,
    python: Path,
    settings: Settings,
    group: Sequence[GoldQuestion],
    run_id: str,
    label: str,
    proxy: Proxy,
    results: Results,
) -> str:
    """Ask one group of questions that share their documents; the error that ended it, if any."""
    by_id = {q.id: q for q in group}
    seen, before = set[str](), proxy.ledger.count(label)
    for item in drive(system, task, python, settings.timeout):
        if isinstance(item, Failed):
            if settings.at_once == 1:  # else the calls of others would be broken off, too
                proxy.abort()
            # all of it by the question that was not answered
            spent = proxy.ledger.count(label) - before
            for q in group:
                if q.id not in seen:
                    _store(
                        results, run_id, Answered(q.id, "failed", error=item.error), False, spent
                    )
                    spent = Count()
            print(f"{system.name}: failed: {item.error[-300:]}")
            return item.error
        after = proxy.ledger.count(label)
        spent, before = after - before, after
        if item.status == PREPARED.status:
            continue
        seen.add(item.id)
        verdict = score_answer(by_id[item.id], Prediction(item.status, item.value, item.text))
        _store(results, run_id, item, verdict.right, spent)
        mark = "FAIL" if item.status == "failed" else "right" if verdict.right else "wrong"
        print(
            f"{system.name:16} {mark:5} {item.id:32} {spent.calls:5} calls {item.seconds:8.1f} s "
            f"{item.error[:80]}",
            flush=True,
        )
    return ""


def _store(results: Results, run_id: str, answer: Answered, right: bool, spent: Count) -> None:
    results.add(
        run_id,
        question_id=answer.id,
        status=answer.status,
        right=int(right),
        calls=spent.calls,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        seconds=answer.seconds,
        errors=spent.errors,
        error=answer.error[:500],
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument(
        "--suite", action="append", default=[], help="suite folder; may be given several times"
    )
    parser.add_argument(
        "--systems", default="sliders,sliders-warm,retrieval", help=", ".join(SYSTEMS)
    )
    parser.add_argument("--model", default="local", help="name of the served model")
    parser.add_argument(
        "--base-url",
        default=os.environ.get("SLIDERS_BASE_URL", ""),
        help="endpoint behind the proxy",
    )
    parser.add_argument("--stub", action="store_true", help="no model: the proxy answers by itself")
    parser.add_argument("--questions", type=int, help="the first so many questions")
    parser.add_argument(
        "--docs", type=int, help="the first so many documents, with gold worked out again for them"
    )
    parser.add_argument(
        "--context-tokens", type=int, default=32768, help="context window of the model"
    )
    parser.add_argument("--no-embeddings", action="store_true", help="retrieval by words only")
    parser.add_argument(
        "--timeout", type=float, default=7200.0, help="seconds for one system on one suite"
    )
    parser.add_argument(
        "--at-once", type=int, default=1, help="questions of each system at once, systems at once"
    )
    parser.add_argument("--fresh", action="store_true", help="forget stored answers of these runs")
    parser.add_argument(
        "--json", type=Path, help="flat file: <suite>.<system>.accuracy, .tokens, .seconds, .failed"
    )
    parser.add_argument(
        "--results", type=Path, default=OUT / "results.db", help="the SQLite file of all rows"
    )
    parser.add_argument("--work", type=Path, default=OUT / "work", help="folder of the workspaces")
    parser.add_argument(
        "--redraw",
        action="store_true",
        help="only write RESULTS.md from stored rows",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="GROUP=FILE",
        help=(
            "with --redraw: flat JSON of another benchmark (engine, planner ...), kept for the page"
        ),
    )
    return parser


@contextlib.contextmanager
def _endpoint(args: argparse.Namespace) -> Iterator[Model]:
    """What answers behind the proxy: the stub, a server, or the embedded model for
    the length of the run.
    """
    if args.stub:
        yield Stub()
    elif args.base_url:
        yield Upstream(args.base_url, args.model)
    elif args.model == "local":
        from sliders.compact import LocalServer, download_bar, ensure_model
        from sliders.settings import Settings as PackageSettings

        cache = PackageSettings.from_env().cache_dir
        with download_bar() as report:
            path = ensure_model(cache, report)
        server = LocalServer(path, args.context_tokens, OUT / "local-server.log")
        try:
            yield Upstream(server.base_url, "local")
        finally:
            server.stop()
    else:
        raise SuiteError(
            f"no endpoint for {args.model}: give --base-url URL, or --model local for "
            "the embedded one"
        )


def _compare_all(
    args: argparse.Namespace, suites: Sequence[Suite], names: Sequence[str], results: Results
) -> list[str]:
    settings = Settings(
        args.model,
        args.docs,
        args.questions,
        args.timeout,
        args.fresh,
        args.work,
        args.context_tokens,
        not args.no_embeddings,
        args.at_once,
    )
    runs = [(suite, SYSTEMS[name]) for suite in suites for name in names]
    with (
        _endpoint(args) as model,
        Proxy(model, _PORT) as proxy,
        ThreadPoolExecutor(len(runs) if args.at_once > 1 else 1) as pool,
    ):
        return list(pool.map(lambda run: compare_one(*run, settings, proxy, results), runs))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison; 0 when every system ended well (or all was drawn again), 1 when one
    failed, 2 for bad arguments.
    """
    args = _parser().parse_args(argv)
    names = [name.strip() for name in args.systems.split(",") if name.strip()]
    unknown = [name for name in names if name not in SYSTEMS]
    if unknown or not (args.suite or args.redraw):
        print(
            f"unknown systems {unknown}; known: {', '.join(SYSTEMS)}"
            if unknown
            else "give --suite DIR",
            file=sys.stderr,
        )
        return 2
    with Results(args.results) as results:
        results.load(_ROOT / "benchmarks" / "stored")
        runs = list[str]()
        for given in args.keep:
            group, _, file = given.partition("=")
            results.keep(group, json.loads(Path(file).read_text(encoding="utf-8")))
        if not args.redraw:
            try:
                suites = [load_suite(path) for path in args.suite]
                runs = _compare_all(args, suites, names, results)
            except SuiteError as error:
                print(error, file=sys.stderr)
                return 2
        rows = comparison(results, runs or None)
        print(markdown(rows))
        if args.json:
            args.json.write_text(json.dumps(flat(rows), indent=1) + "\n", encoding="utf-8")
        if args.redraw:
            print(f"wrote {write_page(results)}")
    return int(any(row["failed"] for row in rows) and not args.redraw)


if __name__ == "__main__":
    raise SystemExit(main())
