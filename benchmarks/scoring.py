"""Whether an answer is right: numbers, strings, lists, tables and free text against gold."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.suites import GoldQuestion
from benchmarks.values import (
    close,
    dates_in,
    distinct,
    is_blank,
    normal_text,
    numbers_in,
    parse_bool,
    parse_date,
    parse_number,
    says_not_found,
    token_f1,
    words,
)

STATUSES = ("answered", "not_found", "incomplete", "failed")
Judge = Callable[[str, str, str], bool]

_NEGATION = {
    "not",
    "no",
    "never",
    "neither",
    "nor",
    "without",
    "isn",
    "wasn",
    "didn",
    "doesn",
    "don",
    "t",
}
_ORDER = re.compile(
    r"\b(in (?:ascending|descending|alphabetical|chronological|reverse|the|this)? ?order(?! to)|"
    r"(?:old|new|high|low|earli|lat|larg|small|long|short|most|few|young|great)\w*(?: \w+)? first|"
    r"sorted|ordered|alphabetically|chronologically|ranked|respectively)\b",
    re.I,
)
_FREE_TEXT_WORDS = 8
_FREE_TEXT_F1 = 0.6
_TITLES = {"mr", "mrs", "ms", "dr", "prof", "justice", "judge", "sir"}
_LINKING = {
    "and",
    "the",
    "are",
    "is",
    "was",
    "were",
    "they",
    "of",
    "a",
    "an",
    "in",
    "these",
    "those",
    "following",
    "or",
}
_WIDEST_TABLE = 7  # columns; permutations beyond are not tried


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a system answered.

    `value` is the bare number, string, list or rows; `text` the answer in words.
    """

    status: str
    value: Any = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a prediction is right, and the rule that decided."""

    right: bool
    why: str


def score_answer(
    question: GoldQuestion, prediction: Prediction, judge: Judge | None = None
) -> Verdict:
    """Score one answer against every accepted gold answer.

    A judge is asked only about free text (a gold answer of more than eight words);
    everything else is decided by code.
    """
    if prediction.status == "failed":
        return Verdict(False, "the system failed")
    gold_absent = any(says_not_found(answer) for answer in question.answers)
    value = unwrap(prediction.value)
    refused = prediction.status == "not_found" or (
        says_not_found(value) and says_not_found(prediction.text)
    )
    if gold_absent or refused:
        return Verdict(gold_absent and (refused or says_not_found(value)), "not found")
    for answer in question.answers:
        for candidate in _candidates(value, prediction.text):
            if _matches(question, answer, candidate):
                return Verdict(True, f"{question.answer_type} equals gold")
    if judge and _is_free_text(question):
        words_ = prediction.text or str(prediction.value)
        return Verdict(judge(question.question, str(question.answer), words_), "judged")
    return Verdict(False, f"{question.answer_type} differs from gold")


def _candidates(value: Any, text: str) -> list[Any]:
    """The value, or the words when there is no value."""
    if not is_blank(value):
        return [value]
    return [text] if text.strip() else []


def _is_free_text(question: GoldQuestion) -> bool:
    answer = question.answer
    return (
        question.answer_type == "string"
        and isinstance(answer, str)
        and len(words(answer)) > _FREE_TEXT_WORDS
    )


def _matches(question: GoldQuestion, gold: Any, value: Any) -> bool:
    kind = question.answer_type
    if kind == "table":
        return _table(gold, value, bool(_ORDER.search(question.question)))
    if kind == "list" or (isinstance(gold, list)):
        return _list(gold, value, bool(_ORDER.search(question.question)))
    if kind == "number":
        return _number(gold, value, question)
    if kind in {"bool", "boolean"}:
        return _yes_no(parse_bool(gold), value)
    if isinstance(gold, str) and isinstance(value, list):
        parts = [p for p in re.split(r"\s*(?:[;,\n]|\band\b)\s*", gold) if p]
        return len(parts) > 1 and _list(parts, value, False)
    if _is_free_text(question):
        return _free_text(str(gold), str(value), question.question)
    return _string(gold, value, question.question)


def unwrap(value: Any) -> Any:
    """A value without needless nesting: rows of dicts become lists, [[5]] becomes
    5, {"n": 5} becomes 5.
    """
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        value = value.to_numpy().tolist()
    if isinstance(value, str) and value[:1] in "[{":
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        items = [unwrap(v) if isinstance(v, Mapping | tuple) else v for v in value]
        items = [list(v) if isinstance(v, tuple) else v for v in items]
        return unwrap(items[0]) if len(items) == 1 and not is_blank(items[0]) else items
    return value


def _number(gold: Any, value: Any, question: GoldQuestion) -> bool:
    target = parse_number(gold)
    if target is None:
        return _string(gold, value, question.question)
    if isinstance(value, list):  # one row: a name beside its number
        numbers = (
            [n for n in map(parse_number, value) if n is not None] if not _is_rows(value) else []
        )
        return len(numbers) == 1 and close(numbers[0], target, question.tolerance)
    number = parse_number(value)
    if number is not None:
        return close(number, target, question.tolerance)
    if not isinstance(value, str):
        return False
    asked = numbers_in(question.question)
    stated = distinct(numbers_in(value))
    left = [n for n in stated if n not in asked] or stated
    return len(left) == 1 and close(left[0], target, question.tolerance)


def same(gold: Any, value: Any) -> bool:
    """Whether two cells are equal: as numbers, as dates, as yes or no, or as normalised strings."""
    if is_blank(gold) or is_blank(value):
        return is_blank(gold) and is_blank(value)
    left, right = parse_date(gold), parse_date(value)
    if left or right:
        return left == right
    if isinstance(gold, bool) or (
        isinstance(gold, str) and gold.strip().casefold() in {"yes", "no", "true", "false"}
    ):
        return parse_bool(gold) is parse_bool(value)
    a, b = parse_number(value), parse_number(gold)
    if (
        a is not None
        and b is not None
        and (not isinstance(gold, str) or not isinstance(value, str) or _bare(gold) == _bare(value))
    ):
        return close(a, b)
    return bool(normal_text(_untitled(gold))) and normal_text(_untitled(gold)) == normal_text(
        _untitled(value)
    )


def _bare(text: str) -> str:
    """The unit of a printed number: what is left without digits and separators."""
    return re.sub(r"[\d.,\s$€£()+-]", "", text).casefold()


def _untitled(value: Any) -> str:
    text = str(value).strip()
    first, _, rest = text.partition(" ")
    return rest if rest and first.casefold().strip(".") in _TITLES else text


def _string(gold: Any, value: Any, question: str) -> bool:
    if isinstance(value, list):
        if _is_rows(value):
            return bool(value) and all(any(same(gold, cell) for cell in row) for row in value)
        texts = [v for v in value if parse_number(v) is None]
        return sum(same(gold, v) for v in value) == 1 and (len(texts) <= 1 or len(value) <= 2)
    if same(gold, value):
        return True
    polarity = parse_bool(gold) if str(gold).strip().casefold() in {"yes", "no"} else None
    if polarity is not None:
        return _yes_no(polarity, value)
    target = parse_number(gold)
    if target is not None:
        number = parse_number(value)
        if number is None and isinstance(value, str):
            stated = [n for n in distinct(numbers_in(value)) if n not in numbers_in(question)]
            return len(stated) == 1 and close(stated[0], target)
        return number is not None and not isinstance(value, str) and close(number, target)
    iso = parse_date(gold)
    if iso and isinstance(value, str):
        left = [d for d in dict.fromkeys(dates_in(value)) if d not in dates_in(question)]
        return left == [iso]
    return isinstance(value, str) and _contains(value, str(gold), question)


def _yes_no(gold: bool | None, value: Any) -> bool:
    return gold is not None and not isinstance(value, list) and parse_bool(value) is gold


def _contains(sentence: str, gold: str, question: str) -> bool:
    """Whether a sentence (clearly longer than the gold words, not an entity with a
    longer name) states gold.
    """
    said, wanted = words(sentence), words(gold)
    if not wanted or len(said) < len(wanted) + 3:
        return False
    starts = [i for i in range(len(said) - len(wanted) + 1) if said[i : i + len(wanted)] == wanted]
    for start in starts:
        end = start + len(wanted)
        before = said[max(0, start - 3) : start]
        alternative = {"or", "and"} & {*said[max(0, start - 1) : start], *said[end : end + 1]}
        if not alternative and not _NEGATION & set(before) and not _longer_name(sentence, gold):
            return True
    return False


def _longer_name(sentence: str, gold: str) -> bool:
    """Whether every mention of gold goes on as a longer proper name ("Washington" in
    "Washington Wizards").
    """
    mentions = list(re.finditer(re.escape(gold), sentence, re.I))
    return bool(mentions) and all(
        re.match(r"\s+[A-Z][\w-]+", sentence[m.end() :]) for m in mentions
    )


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, list) for row in value)


def _list(gold: Any, value: Any, ordered: bool) -> bool:
    wanted = [
        item[0] if isinstance(item, list) and len(item) == 1 else item
        for item in (gold if isinstance(gold, list) else [gold])
    ]
    if any(isinstance(item, list) for item in wanted):
        return _table(gold, value, ordered)
    if isinstance(value, str):
        return _list_in_words(wanted, value, ordered)
    if not isinstance(value, list):
        value = [value]
    if _is_rows(value):
        widths = {len(row) for row in value}
        return len(widths) == 1 and any(
            _same_items(wanted, [row[i] for row in value], ordered) for i in range(widths.pop())
        )
    return _same_items(wanted, value, ordered)


def _dedupe(items: Sequence[Any]) -> list[Any]:
    kept: list[Any] = []
    for item in items:
        if not any(same(item, other) for other in kept):
            kept.append(item)
    return kept


def _same_items(gold: Sequence[Any], value: Sequence[Any], ordered: bool) -> bool:
    if ordered:
        return len(gold) == len(value) and all(map(same, gold, value))
    wanted, given = _dedupe(gold), _dedupe(value)
    return len(wanted) == len(given) and all(any(same(g, v) for v in given) for g in wanted)


def _list_in_words(gold: Sequence[Any], text: str, ordered: bool) -> bool:
    """A list written out: its parts equal gold, or gold's items use up all of its
    words but linking ones.
    """
    for pattern in (r"\s*[;\n]\s*(?:[-*•]\s*)?", r"\s*(?:,|;|\n|\band\b)\s*"):
        parts = [p.strip(" -*•.") for p in re.split(pattern, text) if p.strip(" -*•.")]
        if len(parts) > 1 and _same_items(gold, parts, ordered):
            return True
    said = " ".join(words(text))
    places = []
    for item in sorted(gold, key=lambda g: -len(str(g))):
        wanted = " ".join(words(str(item)))
        found = re.search(rf"(?<!\S){re.escape(wanted)}(?!\S)", said)
        if not wanted or not found:
            return False
        places.append((gold.index(item), found.start()))
        said = said[: found.start()] + "\x00" * len(wanted) + said[found.end() :]
    in_order = [start for _, start in sorted(places)]
    left = {w.strip("\x00") for w in said.split()} - _LINKING - {""}
    return not left and (not ordered or in_order == sorted(in_order))


def _cell_kind(value: Any) -> str:
    if parse_date(value):
        return "date"
    return "number" if parse_number(value) is not None else "text"


def _column_maps(gold: list[list[Any]], rows: list[list[Any]]) -> list[tuple[int, ...]]:
    """Ways to read the gold columns in predicted rows: any order between kinds, the given
    order within a kind.
    """
    width, wide = len(gold[0]), len(rows[0])
    if wide < width or wide > min(width + 2, _WIDEST_TABLE):
        return []
    kinds = [_cell_kind(cell) for cell in gold[0]]
    maps = []
    for columns in itertools.permutations(range(wide), width):
        of_kind = [
            [c for c, k in zip(columns, kinds, strict=True) if k == kind] for kind in set(kinds)
        ]
        if all(group == sorted(group) for group in of_kind):
            maps.append(columns)
    return maps


def _table(gold: Any, value: Any, ordered: bool) -> bool:
    rows_gold = [list(row) for row in gold] if _is_rows(gold) else [list(gold)]
    if isinstance(value, str):
        return len(rows_gold) == 1 and _row_in_words(rows_gold[0], value)
    if not isinstance(value, list):
        value = [value]
    if not _is_rows(value):
        value = [value] if len(rows_gold) == 1 else [[v] for v in value]
    if (
        len({len(row) for row in value}) != 1
        or len({len(row) for row in rows_gold}) != 1
        or len(value) != len(rows_gold)
    ):
        return False
    for columns in _column_maps(rows_gold, value):
        picked = [[row[c] for c in columns] for row in value]
        if ordered:
            if all(all(map(same, g, p)) for g, p in zip(rows_gold, picked, strict=True)):
                return True
        elif _same_rows(rows_gold, picked):
            return True
    return False


def _same_rows(gold: list[list[Any]], rows: list[list[Any]]) -> bool:
    left = list(rows)
    for wanted in gold:
        hit = next((row for row in left if all(map(same, wanted, row))), None)
        if hit is None:
            return False
        left.remove(hit)
    return not left


def _row_in_words(row: Sequence[Any], text: str) -> bool:
    """A one-row table written out: every date and name occurs, and the numbers
    occur in the row's order.
    """
    numbers = [
        n for cell in row if _cell_kind(cell) == "number" and (n := parse_number(cell)) is not None
    ]
    stated = iter(numbers_in(text))
    if not all(any(close(s, n) for s in stated) for n in numbers):
        return False
    for cell in row:
        kind = _cell_kind(cell)
        if kind == "date" and parse_date(cell) not in dates_in(text):
            return False
        if kind == "text" and f" {' '.join(words(str(cell)))} " not in f" {' '.join(words(text))} ":
            return False
    return True


def _free_text(gold: str, value: str, question: str) -> bool:
    """Long gold answers without a judge: the yes or no that they begin with, else their key
    number, else token F1.
    """
    yes = parse_bool(gold)
    if yes is not None:
        return parse_bool(value) is yes
    first = re.split(r"(?<=[a-z)%])\.\s", gold)[0]
    key = [  # "one" in prose is seldom the key number, nor is a year
        n
        for n in numbers_in(first, spelled=False)
        if n not in numbers_in(question) and not 1900 <= n <= 2100
    ]
    if key:
        return any(close(n, key[0], 0.01) for n in numbers_in(value))
    return token_f1(gold, value) >= _FREE_TEXT_F1
