"""What the command line makes of behaviours of model servers.

    python -m benchmarks.servers --json FILE [--sliders PATH] [--only NAME...]

`right`: the answer is right, with no more requests than it needs. `clear`: it cannot work, the
command says so in one line and does not exit with 0. Everything else is `wrong`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import checkout
from benchmarks.servers.behaviours import BEHAVIOURS, Behaviour
from benchmarks.servers.reader import ANSWER, DOCUMENTS, QUESTION
from benchmarks.servers.server import Server

_MOST_LINES = 3
"""Lines that a command may print where it cannot work."""


@dataclass(frozen=True)
class Verdict:
    """`right`, `clear` or `wrong`, and why it is wrong."""

    word: str
    why: str = ""


def judged(one: Behaviour, ended: Mapping[str, Any], server: Server) -> Verdict:
    """The verdict on how a command ended."""
    said = _said(ended)
    calls = len(server.asked)
    if ended["code"] is None:
        return Verdict("wrong", "it did not end within a minute")
    if calls > one.most:
        return Verdict("wrong", f"{calls} requests, {one.most} are enough")
    if not one.check(server.asked):
        return Verdict("wrong", "the requests are not as they should be")
    if one.says:
        told = any(re.search(one.says, line) for line in said)
        if not ended["code"] or not told or "Traceback" in ended["err"]:
            return Verdict("wrong", f"exit {ended['code']}: {' | '.join(said)[-300:]}")
        return (
            Verdict("clear") if len(said) <= _MOST_LINES else Verdict("wrong", f"{len(said)} lines")
        )
    try:
        answer = json.loads(ended["out"])
    except ValueError:
        return Verdict("wrong", f"exit {ended['code']}: {' | '.join(said)[-300:]}")
    if one.incomplete:
        word = "right" if answer["status"] == "incomplete" else "wrong"
        return Verdict(word, "" if word == "right" else f"it is {answer['status']}")
    if (answer["status"], answer["value"]) != ("answered", ANSWER):
        return Verdict("wrong", f"{answer['status']}, {answer['value']}: {answer['reason'][:200]}")
    return Verdict("right")


def _said(ended: Mapping[str, Any]) -> list[str]:
    """The lines that a command printed; of a failed answer in JSON its reason."""
    try:
        failed = json.loads(ended["out"])
    except ValueError:
        failed = {}
    out = failed["reason"] if failed.get("status") == "failed" else ended["out"]
    return [line for line in (ended["err"] + out).splitlines() if line.strip()]


class Bench:
    """A checkout's command line and the servers that it is tried with."""

    def __init__(self, package: Path, folder: Path) -> None:
        self._folder = folder
        self._certificate = _certificate(folder)
        command = [sys.executable, "-m", "benchmarks.servers.worker", str(package)]
        self._worker = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=checkout.ROOT
        )

    def close(self) -> None:
        """End the worker."""
        self._worker.communicate("")

    def tried(self, one: Behaviour) -> Verdict:
        """The verdict on a behaviour."""
        folder = self._folder / one.name
        (folder / "docs").mkdir(parents=True)
        for name, text in DOCUMENTS.items():
            (folder / "docs" / name).write_text(text, encoding="utf-8")
        with Server(self._certificate if one.secure else None) as server:
            server.script = one.script
            values = {"server": server.address, "certificate": str(self._certificate)}
            environment = {
                "SLIDERS_DOCUMENTS_PER_CALL": "1",  # scripts name requests by their documents
                "SLIDERS_MODEL": "m",
                "SLIDERS_BASE_URL": "{server}/v1",
                "OPENAI_API_KEY": "key",
                "SLIDERS_RETRIES": "2",
                "SLIDERS_CACHE_DIR": str(folder / "cache"),
                "NO_PROXY": "127.0.0.1",
                **one.environment,
            }
            arguments = ["ask", "docs", QUESTION, "-w", "w.db", "--json", "-q", *one.arguments]
            command = {
                "folder": str(folder),
                "environment": {k: _filled(v, values) for k, v in environment.items()},
                "arguments": [_filled(argument, values) for argument in arguments],
            }
            assert self._worker.stdin is not None and self._worker.stdout is not None
            self._worker.stdin.write(json.dumps(command) + "\n")
            self._worker.stdin.flush()
            return judged(one, json.loads(self._worker.stdout.readline()), server)


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _certificate(folder: Path) -> Path:
    """A key and a certificate for 127.0.0.1 that nobody knows, in one file."""
    path = folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*command, "-keyout", str(path), "-out", str(path)], check=True, capture_output=True
    )
    return path


def figures(verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Counts by verdict, in all and by part."""
    parts: dict[str, Counter[str]] = {}
    for one in BEHAVIOURS:
        if one.name in verdicts:
            parts.setdefault(one.part, Counter())[verdicts[one.name].word] += 1
    counted = Counter(verdict.word for verdict in verdicts.values())
    return {
        "behaviours": len(verdicts),
        "controls": sum(one.control for one in BEHAVIOURS if one.name in verdicts),
        **{word: counted[word] for word in ("right", "clear", "wrong")},
        "parts": {part: dict(counts) for part, counts in sorted(parts.items())},
        "wrong_ones": sorted(name for name, one in verdicts.items() if one.word == "wrong"),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the behaviours, print what is wrong and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    checkout.add_options(parser)
    parser.add_argument("--only", nargs="+", help="names of behaviours, or their beginnings")
    options = parser.parse_args(arguments)
    verdicts = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.sliders, Path(folder))
        for one in BEHAVIOURS:
            if options.only and not one.name.startswith(tuple(options.only)):
                continue
            verdict = verdicts[one.name] = bench.tried(one)
            control = " (control)" if one.control else ""
            print(f"{verdict.word:6} {one.part} {one.name}{control} {verdict.why}", flush=True)
        bench.close()
    told = figures(verdicts)
    print(json.dumps({name: value for name, value in told.items() if name != "wrong_ones"}))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if options.store:
        checkout.store("servers", options.store, told)
    return bool(told["wrong"])


if __name__ == "__main__":
    sys.exit(main())
