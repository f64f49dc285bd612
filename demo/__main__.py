"""`make demo`: asks the questions of `questions.yaml` about the sample documents and
shows what comes out.

The exit code is 1 when an answer is not the one that the documents give.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from sliders.api import Workspace
from sliders.cli import CommandCall, answer_text
from sliders.compact import EMBEDDED
from sliders.settings import Settings

HERE = Path(__file__).parent
FILE = Path("build") / "demo.db"


def expected() -> list[tuple[str, list[str]]]:
    """Each question with the values that its answer must show."""
    return [
        (part["question"], [str(value) for value in part["values"]])
        for part in yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8"))
    ]


def shown(value: object) -> list[str]:
    """The bare values of an answer as strings, whole numbers without a point."""
    if isinstance(value, list | tuple):
        return [text for part in value for text in shown(part)]
    if isinstance(value, dict):
        return [text for part in value.values() for text in shown(part)]
    if isinstance(value, float) and value.is_integer():
        return [str(int(value))]
    return [str(value)]


def ask_all(ws: Workspace) -> list[str]:
    """Ask the questions in one pass over the documents; what is wrong with the answers, in
    sentences.
    """
    ws.add(HERE / "documents")
    questions, problems = expected(), []
    answers = ws.ask_many([question for question, _ in questions])
    for (question, values), answer in zip(questions, answers, strict=True):
        print(answer_text(answer), end="\n\n", flush=True)
        missing = [value for value in values if value not in shown(answer.value)]
        if missing:
            problems.append(f"{question} The documents say {', '.join(values)}.")
        if not answer.citations:
            problems.append(f"{question} There are no citations.")
    cited = next((one for one in answers[0].citations if one.row_id), None)
    if cited is not None:
        print(f"Why does that row stand in {cited.table}? (sliders why {cited.row_id})")
        print(ws.why(cited.row_id), end="\n\n", flush=True)
    return problems


def announcement() -> str:
    """What is fetched, and how long the demo takes."""
    path = EMBEDDED.path(Settings.from_env().cache_dir)
    fetched = (
        ""
        if path.is_file()
        else f"fetches the embedded model ({EMBEDDED.size / 1e9:.1f} GB, once, to {path}), then "
    )
    return (
        f"The demo {fetched}reads ten short documents about bridges and answers three questions "
        "about them in one pass. That takes about two minutes of two processor cores."
    )


def main() -> int:
    """Run the demo in a fresh workspace."""
    print(announcement(), end="\n\n", flush=True)
    FILE.parent.mkdir(exist_ok=True)
    for old in FILE.parent.glob(FILE.name + "*"):
        old.unlink()
    with CommandCall(str(FILE), quiet=False).opened(new=True) as ws:
        problems = ask_all(ws)
        problems += ws.verify()
        page = ws.view(path=FILE.with_suffix(".html"))
    print(f"The audit page, for a browser: {page}")
    print(
        f"The workspace is {FILE}. Go on with: sliders tables bridges -w {FILE}; "
        f"sliders why dunmarrow.txt -w {FILE}"
    )
    for problem in problems:
        print(f"demo: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
