"""What a case's outcome is worth: right, warned, silently wrong, a false alarm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RIGHT, WARNED, SILENT, ALARM = "right", "warned", "silent_wrong", "false_alarm"
UNNAMED, CALLS, CRASHED = "unnamed", "extra_calls", "crashed"
WORST = (RIGHT, WARNED, UNNAMED, CALLS, ALARM, CRASHED, SILENT)
"""Outcomes, the best first: a case has the worst of its steps."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came back: the status, the value, its text, doubts, all remarks beside it in one text,
    the calls made for it by stage, and the words of its sources.
    """

    status: str
    value: Any = None
    text: str = ""
    doubts: tuple[str, ...] = ()
    remarks: str = ""
    calls: Mapping[str, int] = field(default_factory=dict)
    quotes: str = ""

    @property
    def warns(self) -> bool:
        """Whether it says that it may be wrong."""
        return self.status != "answered" or bool(self.doubts)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict, and what it is about."""

    verdict: str
    about: str = ""


def passes(control: bool, verdict: str) -> bool:
    """Whether an outcome is good enough: a control must be right, any other case may warn."""
    return verdict == RIGHT or (verdict == WARNED and not control)


def judge(step: Mapping[str, Any], told: Told, control: bool) -> Outcome:
    """The outcome of one question.

    `right` is the right value (a case without it asks for a warning), `status` what the status must
    be, `names` words that the remarks must hold where the answer warns, `contains` words that the
    text must hold, `max_calls` the most calls of a stage, `wrong` values that are wrong.
    """
    shown = f"{told.status} {told.value!r} {'; '.join(told.doubts)[:200]}".strip()
    wanted = step.get("status")
    named = all(
        str(word).lower() in f"{told.remarks} {told.text}".lower()
        for word in _listed(step.get("names"))
    )
    right = _right(step, told)
    if wanted is not None and told.status not in _listed(wanted):
        return Outcome(
            ALARM
            if control
            else SILENT
            if not told.warns or told.status == "not_found"
            else UNNAMED,
            shown,
        )
    if wanted is not None and told.status != "answered":
        good = named and right is not False
        return Outcome(RIGHT if good else UNNAMED, shown)
    if told.warns:
        if control:
            return Outcome(ALARM, shown)
        return Outcome(WARNED if named else UNNAMED, shown)
    if right is not True:
        noted = bool(step.get("names")) and named
        return Outcome(WARNED if noted and not control else SILENT, shown)
    if missing := [words for words in _listed(step.get("cites")) if str(words) not in told.quotes]:
        return Outcome(UNNAMED, f"its sources do not quote {missing}")
    made = {stage: told.calls.get(stage, 0) for stage in step.get("max_calls", ())}
    if over := {stage: count for stage, count in made.items() if count > step["max_calls"][stage]}:
        return Outcome(CALLS, f"{over} calls, {step['max_calls']} are enough")
    return Outcome(RIGHT, shown)


def _right(step: Mapping[str, Any], told: Told) -> bool | None:
    """Whether value and text are right; None where the case names no right value."""
    if not {"right", "contains", "lacks", "wrong"} & set(step):
        return None
    if any(same(wrong, told.value) for wrong in step.get("wrong", ())):
        return False
    holds = all(str(word).lower() in told.text.lower() for word in _listed(step.get("contains")))
    lacks = not any(str(word).lower() in told.text.lower() for word in _listed(step.get("lacks")))
    return (
        holds
        and lacks
        and ("right" not in step or same(step["right"], told.value, bool(step.get("in_order"))))
    )


def _listed(said: Any) -> list[Any]:
    return [] if said is None else list(said) if isinstance(said, list) else [said]


def same(right: Any, value: Any, in_order: bool = False) -> bool:
    """Whether two values are equal: numbers up to rounding in the ninth digit, texts without
    case, lists in any order.
    """
    right, value = _single(right), _single(value)
    if isinstance(right, list) or isinstance(value, list):
        if not (isinstance(right, list) and isinstance(value, list) and len(right) == len(value)):
            return False
        left = list(value)
        for one in right:
            match = next((v for v in (left[:1] if in_order else left) if same(one, v, True)), None)
            if match is None and not any(v is None and one is None for v in left):
                return False
            left.remove(match)
        return True
    if isinstance(right, bool) or isinstance(value, bool):
        return str(int(right) if isinstance(right, bool) else right) == str(
            int(value) if isinstance(value, bool) else value
        )
    if isinstance(right, int | float) and isinstance(value, int | float):
        return math.isclose(right, value, rel_tol=1e-9, abs_tol=1e-12)
    return _folded(right) == _folded(value)


def _single(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, tuple):
        value = list(value)
    return _single(value[0]) if isinstance(value, list) and len(value) == 1 else value


def _folded(value: Any) -> str:
    return " ".join(str(value).split()).casefold()


Played = tuple[str, bool, bool, str, str]
"""Name, whether it is a control, whether it is a guard, kind, verdict."""


def totals(outcomes: Sequence[Played]) -> dict[str, Any]:
    """Figures of cases; guards, which the version before the cases passed
    too, are counted apart.
    """
    counted = [o for o in outcomes if not o[2]]
    guards = [o for o in outcomes if o[2]]
    kinds = sorted({kind for *_, kind, _ in counted})
    failed = {
        name: verdict for name, control, _, _, verdict in outcomes if not passes(control, verdict)
    }
    return _counts(counted) | {
        "guards": len(guards),
        "guards_failed": sum(o[0] in failed for o in guards),
        "by_kind": {kind: _counts([o for o in counted if o[3] == kind]) for kind in kinds},
        "failed": failed,
    }


def _counts(some: Sequence[Played]) -> dict[str, int]:
    verdicts = [verdict for *_, verdict in some]
    alarms = sum(control and verdict not in (RIGHT, SILENT) for _, control, _, _, verdict in some)
    return {
        "cases": len(some),
        "controls": sum(control for _, control, *_ in some),
        "silent_wrong": verdicts.count(SILENT),
        "false_alarms": alarms,
        "passed": sum(passes(control, verdict) for _, control, _, _, verdict in some),
        **{name: verdicts.count(name) for name in (RIGHT, WARNED, UNNAMED, CALLS, CRASHED)},
    }
