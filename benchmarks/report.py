"""Turns scored answers into rows, a summary and a readable table."""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.scoring import STATUSES, Verdict, unwrap
from benchmarks.suites import GoldQuestion
from benchmarks.systems.base import Answered
from benchmarks.values import close, parse_number

FIELDS = (
    "id",
    "status",
    "value",
    "text",
    "sql",
    "citations",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "seconds",
    "right",
)


def row(question: GoldQuestion, answer: Answered, verdict: Verdict) -> dict[str, Any]:
    """One question of the output list: `FIELDS` first, then what helps to read it."""
    data = asdict(answer) | {"right": verdict.right}
    return {name: data[name] for name in FIELDS} | {
        "question": question.question,
        "gold": question.answer,
        "kind": question.kind,
        "phase": answer.phase,
        "cost": answer.cost,
        "why": verdict.why,
        "error": answer.error,
        "range_low": answer.range_low,
        "range_high": answer.range_high,
        "in_range": in_range(question, answer),
        "doubts": answer.doubts,
    }


def in_range(question: GoldQuestion, answer: Answered) -> bool | None:
    """Whether a gold number lies in the range that came with an answer; None without a
    range or a gold number.
    """
    if answer.range_low is None or answer.range_high is None:
        return None
    gold = [n for each in question.answers if (n := parse_number(unwrap(each))) is not None]
    low, high = answer.range_low, answer.range_high
    inside = [
        low <= n <= high or any(close(end, n, question.tolerance) for end in (low, high))
        for n in gold
    ]
    return any(inside) if inside else None


def _ranges(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Of the numbers that came with a range: how many wrong ones have gold inside it, and how many
    right ones are a point.
    """
    ranged = [r for r in rows if r.get("in_range") is not None]
    wrong = [r for r in ranged if not r["right"]]
    right = [r for r in ranged if r["right"]]
    return {
        "ranged": len(ranged),
        "ranged_wrong": len(wrong),
        "wrong_in_range": sum(bool(r["in_range"]) for r in wrong),
        "ranged_right": len(right),
        "right_points": sum(r["range_low"] == r["range_high"] for r in right),
    }


def bootstrap(hits: Sequence[bool], seed: int = 0, draws: int = 2000) -> tuple[float, float]:
    """95% percentile interval of the share of hits, by resampling questions."""
    if not hits:
        return (0.0, 0.0)
    chance = random.Random(seed)
    shares = sorted(sum(chance.choices(hits, k=len(hits))) / len(hits) for _ in range(draws))
    return (shares[int(0.025 * draws)], shares[int(0.975 * draws) - 1])


def _sums(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    rows = list(rows)
    keys = ("calls", "prompt_tokens", "completion_tokens", "seconds", "cost")
    sums: dict[str, Any] = {key: round(sum(r[key] for r in rows), 4) for key in keys}
    return {"questions": len(rows), "right": sum(bool(r["right"]) for r in rows)} | sums


def summary(rows: Sequence[dict[str, Any]], documents: int, **facts: Any) -> dict[str, Any]:
    """Totals over all questions, by phase and by kind; `facts` (suite, system, model, cells)
    are added as they are.
    """
    total = _sums(rows)
    low, high = bootstrap([bool(r["right"]) for r in rows])
    by_phase = {
        phase: _sums(r for r in rows if r["phase"] == phase)
        for phase in dict.fromkeys(r["phase"] for r in rows)
    }
    kinds = defaultdict[str, list[bool]](list)
    for r in rows:
        kinds[r["kind"]].append(bool(r["right"]))
    tokens = total["prompt_tokens"] + total["completion_tokens"]
    return {
        "summary": facts
        | total
        | {
            "accuracy": round(total["right"] / len(rows), 4) if rows else None,
            "interval95": [round(low, 4), round(high, 4)],
            "statuses": {s: n for s in STATUSES if (n := Counter(r["status"] for r in rows)[s])},
            "refusals": sum(r["status"] == "not_found" for r in rows),
            "refusals_right": sum(r["status"] == "not_found" and bool(r["right"]) for r in rows),
            "unwarned": sum(map(_is_unwarned, rows)),
            "unwarned_wrong": sum(_is_unwarned(r) and not r["right"] for r in rows),
            "right_doubted": sum(bool(r["right"]) and not _is_unwarned(r) for r in rows),
            "quotes": sum(r.get("quotes", 0) for r in rows),
            "quotes_found": sum(r.get("quotes_found", 0) for r in rows),
            "ranges": _ranges(rows),
            "documents": documents,
            "tokens_per_document": round(tokens / documents, 1) if documents else None,
            "by_phase": by_phase,
            "by_kind": {kind: f"{sum(hits)}/{len(hits)}" for kind, hits in sorted(kinds.items())},
        }
    }


def _is_unwarned(r: dict[str, Any]) -> bool:
    """Whether an answer stands without a warning: nothing is missing under it, and
    nothing is in doubt.
    """
    return r["status"] == "answered" and not r.get("doubts")


def write_json(path: Path, data: Any) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_text(
        json.dumps(data, ensure_ascii=False, indent=1, default=str), encoding="utf-8"
    )
    os.replace(partial, path)


def _short(value: Any, width: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"


def line(r: dict[str, Any]) -> str:
    """One row for the terminal."""
    mark = "right" if r["right"] else ("FAIL " if r["status"] == "failed" else "wrong")
    tokens = r["prompt_tokens"] + r["completion_tokens"]
    said = r["error"] or _short(r["value"] if r["value"] is not None else r["text"], 44)
    return (
        f"{mark} {r['phase']:5} {_short(r['question'], 58):58} {_short(said, 44):44} gold "
        f"{_short(r['gold'], 30):30} {r['calls']:4} calls {tokens:7} tok {r['seconds']:7.1f} s"
    )


def summary_lines(data: dict[str, Any]) -> list[str]:
    """The summary for the terminal."""
    s = data["summary"]
    lines = []
    if s["questions"]:
        low, high = s["interval95"]
        lines.append(
            f"answers: {s['right']} of {s['questions']} right ({s['accuracy']:.0%}, 95% {low:.0%} "
            f"to {high:.0%}), {s['calls']} calls, {s['prompt_tokens']} prompt + "
            f"{s['completion_tokens']} generated tokens, {s['seconds']:.1f} s"
        )
        for phase, p in s["by_phase"].items():
            n = max(1, p["questions"])
            each = (p["prompt_tokens"] + p["completion_tokens"]) / n
            lines.append(
                f"  {phase}: {p['right']}/{p['questions']}, a question {each:.0f} tokens, "
                f"{p['seconds'] / n:.1f} s"
            )
        lines.append(
            f"  refusals right {s['refusals_right']} of {s['refusals']}, "
            f"quotes found word for word {s['quotes_found']} of {s['quotes']}"
        )
        if (ranges := s["ranges"])["ranged"]:
            lines.append(
                f"  ranges: gold lies in {ranges['wrong_in_range']} of {ranges['ranged_wrong']} of "
                f"wrong numbers, {ranges['right_points']} of {ranges['ranged_right']} right "
                "numbers are a point"
            )
        lines.append(
            "  by kind: " + ", ".join(f"{kind} {share}" for kind, share in s["by_kind"].items())
        )
    for name, c in (s.get("cells") or {}).items():
        if isinstance(c, dict) and "accuracy" in c:
            lines.append(
                f"cells {name}: {c['accuracy']:.1%} of {c['scored']} right, grounded but wrong "
                f"{c['grounded_wrong']:.1%}, "
                f"wrong {c['wrong']}, missing {c['missing']}, invented {c['invented']}, extra rows "
                f"{c['extra_rows']}, missing rows {c['missing_rows']}"
            )
    return lines
