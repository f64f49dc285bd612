"""`python -m benchmarks.replay [--record | --check]`: every request that scripted readers
are sent, as hashes.

A change that only moves code sends the same requests byte for byte. Small cases of `fidelity` and
`trust` are asked in the full dialect with their perfect readers, and in the compact dialect with a
reader that gives neutral replies; with `--evals DIR` the sets of fidelity, too. `--record` stores
the hashes (`benchmarks/stored/requests.json`), `--check` counts those that are new. Hashes hold no
text of any document.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import sliders
from benchmarks.checkout import ROOT
from benchmarks.fidelity.__main__ import LOOK, MODES, SCORE_ONLY
from benchmarks.fidelity.cases import cases
from benchmarks.fidelity.gold import World, suite_world
from benchmarks.fidelity.reader import PerfectReader
from benchmarks.fidelity.run import run
from benchmarks.trust.cases import FOLDER, load
from benchmarks.trust.child import play
from sliders.errors import SlidersError
from sliders.llm import COMPACT, Request, testing

STORED = ROOT / "benchmarks" / "stored" / "requests.json"
_UNSENT = ("enough", "before_sending", "prompt_hash")
"""Members of a request that no server sees."""


def request_hash(request: Request) -> str:
    """Sixteen hex digits of all that is sent: stage, messages, shape of the reply, limits."""
    sent: dict[str, Any] = {
        f.name: getattr(request, f.name) for f in fields(request) if f.name not in _UNSENT
    }
    sent["reply"] = request.reply.model_json_schema() if request.reply is not None else None
    sent["messages"] = [[message.role, message.content] for message in request.messages]
    text = json.dumps(sent, sort_keys=True, ensure_ascii=False, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@contextmanager
def recorded() -> Iterator[list[str]]:
    """The hashes of the requests that any double of a model gets inside the block."""
    hashes: list[str] = []
    generate = testing._Double.generate

    async def recording(self: Any, request: Request) -> Any:
        hashes.append(request_hash(request))
        return await generate(self, request)

    testing._Double.generate = recording  # type: ignore[method-assign]
    try:
        yield hashes
    finally:
        testing._Double.generate = generate  # type: ignore[method-assign]


def neutral_reply(request: Request) -> Any:
    """A reply of the right shape, made of words and numbers of the request itself;
    the same request gets the same one.
    """
    prompt = request.messages[-1].content
    if request.choices:
        return {choice: -1.0 - place for place, choice in enumerate(request.choices)}
    shape = request.json_schema or (
        request.reply.model_json_schema() if request.reply is not None else None
    )
    if shape is not None:
        return _instance(shape, shape.get("$defs", {}), prompt)
    table = re.search(r'CREATE TABLE "?(\w+)', "\n".join(m.content for m in request.messages))
    return f"SELECT COUNT(*) FROM {table[1]}" if table else (_words(prompt) or ["no"])[0]


def _words(prompt: str) -> list[str]:
    return re.findall(r"\b[A-Z][a-z]{2,}\b", prompt)[-9:]


def _instance(shape: Mapping[str, Any], named: Mapping[str, Any], prompt: str) -> Any:
    """One value of a JSON schema."""
    if "$ref" in shape:
        return _instance(named[str(shape["$ref"]).rpartition("/")[2]], named, prompt)
    if "enum" in shape or "const" in shape:
        return shape["const"] if "const" in shape else shape["enum"][0]
    for several in ("anyOf", "oneOf"):
        if several in shape:
            return _instance(shape[several][0], named, prompt)
    kind = shape.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in shape:
        return {
            name: _instance(one, named, prompt) for name, one in shape.get("properties", {}).items()
        }
    if kind == "array":
        return [_instance(shape.get("items", {"type": "string"}), named, prompt)]
    numbers = re.findall(r"\b\d+\b", prompt)
    values: dict[Any, Callable[[], Any]] = {
        "integer": lambda: min(int(numbers[-1]), 9) if numbers else 1,
        "number": lambda: float(numbers[-1]) if numbers else 1.0,
        "boolean": lambda: True,
        "null": lambda: None,
    }
    return values.get(kind, lambda: (_words(prompt) or ["word"])[-1])()


def _compact(world: World) -> None:
    """Ask a world's questions in the compact dialect; what the neutral replies make of
    them is of no interest.
    """
    model = testing.FunctionModel(
        neutral_reply, name="neutral", context_tokens=8192, dialect=COMPACT
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, text in world.documents.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        with sliders.Workspace(Path(folder, "workspace.db"), model=model) as workspace:
            workspace.add([str(Path(folder, name)) for name in world.documents])
            try:
                workspace.ask_many([question.question for question, _ in world.questions][:3])
            except SlidersError as error:
                print(f"{world.name}: {error}", file=sys.stderr)


def _runs(evals: Path | None) -> Iterator[tuple[str, Callable[[], object]]]:
    for world in cases():
        for mode in MODES:
            yield (
                f"fidelity/{world.name}/{mode}",
                lambda w=world, m=mode: run(w, PerfectReader(w), m),
            )
        yield f"compact/{world.name}", lambda w=world: _compact(w)
    for case in load(FOLDER, ""):
        yield f"trust/{case.name}", lambda c=case: play(sliders, c)
    for name in (*LOOK, *SCORE_ONLY) if evals else ():
        world = suite_world(evals / name, True)  # type: ignore[operator]
        for mode in MODES:
            yield f"sets/{name}/{mode}", lambda w=world, m=mode: run(w, PerfectReader(w), m)
        yield f"sets/{name}/compact", lambda w=world: _compact(w)


def request_hashes(evals: Path | None = None, only: str = "") -> dict[str, list[str]]:
    """The sorted hashes of the requests of each run, those of the evaluation sets where
    their folder is given.
    """
    found: dict[str, list[str]] = {}
    for name, start in _runs(evals):
        if only in name:
            with recorded() as hashes:
                start()
            found[name] = sorted(hashes)
    return found


def new_requests(
    before: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """How many requests of each run were not sent before; a run that is gone or new counts
    with all of its own.
    """
    counts = {
        name: sum((Counter(now.get(name, ())) - Counter(before.get(name, ()))).values())
        for name in now
    }
    return {name: count for name, count in counts.items() if count}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when nothing is new."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("--record", action="store_true", help="store the hashes of this version")
    parser.add_argument(
        "--evals", type=Path, help="folder of the evaluation sets, to replay them, too"
    )
    parser.add_argument("--only", default="", help="runs whose name holds this")
    args = parser.parse_args(argv)
    now = request_hashes(args.evals, args.only)
    known = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    if args.record:
        STORED.write_text(
            json.dumps(known | now, indent=0, sort_keys=True) + "\n", encoding="utf-8"
        )
    new = new_requests(known, now)
    requests = sum(map(len, now.values()))
    print(
        f"{requests} requests of {len(now)} runs, {sum(new.values())} of them new"
        + (": " + ", ".join(new) if new else "")
    )
    return int(bool(new) and not args.record)


if __name__ == "__main__":
    raise SystemExit(main())
