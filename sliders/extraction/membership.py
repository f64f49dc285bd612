"""Which of a few named groups the text speaks of where it names someone ("The Otters were led by Vik").

A list of people and their teams is where a small model swaps one for the other; the flow of the text tells it better.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sliders.chunks.sentences import sentence_spans

_BESIDE = re.compile(
    r"\b(?:against|over|versus|vs\.?|past|beat\w*|defeat\w*|from|(?<!the )(?:host|visit)\w*|fac(?:e|es|ing|ed)|play(?:s|ing)?|"
    r"to|with|by|at|on|in|than|"
    r"behind|upset|edged|topped|held|hold off|outscor\w+|stop\w*)\s+(?:the\s+)?(?:(?:visiting|host|home)\s+)?$",
    re.IGNORECASE,
)
"""Words before a group that a sentence is not about."""
_FOR = re.compile(
    r"\b(?:led|lead|leading|paced|powered|carried|for|helped|aided|gave|boosted|fueled|put|kept|sparked|only|lone)\s+(?:the\s+)?$"
)
_BY, _OWN = re.compile(r"\b(?:led|paced) by\b"), re.compile(r"['’]s?\s+(?:\w+\s+){0,3}")
_OPENING = re.compile(r"[^\W\d_][\w.'’ -]{1,40}(?:\([^)]*\) ?)?, (?:the )?")
"""A name at the end of an opening phrase, before whom the sentence is about ("Despite 41 points from Vik, the Otters")."""
_ROW = re.compile(r"(?:[A-Z][\w.'’-]*|,|and|\s)*")
"""Names one after the other, of which the last stands beside a group ("goals from Ada Vik, Jon Berg and Lund lifted")."""
_SUBJECT = re.compile(r"(?:[A-Z][\w.'’-]* ){0,2}")
_BEHIND = re.compile(r"\b(?:behind|followed|joined) (?:[A-Z][\w.'’-]* ){0,2}$")
_SUFFIX = frozenset({"Jr", "Jr.", "Sr", "Sr.", "II", "III", "IV"})
_SURE, _HERE, _BEFORE, _LEAST, _PLACED = 3.0, 1.5, 1.0, 3, 2.0


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    group: str


def memberships(text: str, names: Sequence[str], groups: Sequence[str]) -> dict[str, str]:
    """The group of each name, as far as the text tells: the one that is said to be led or owned beside the name, else
    that of the sentence, else the one that the text spoke of last. Names without a clear majority are left out."""
    mentions = sorted(_mentions(text, groups), key=lambda m: m.start)
    places = sorted(_places(text, names))
    votes: dict[str, dict[str, float]] = {name: {} for name in names}
    topic = ""
    for start, end in sentence_spans(text):
        here = [m for m in mentions if start <= m.start < end]
        about = [m for m in here if not _BESIDE.search(text[max(start, m.start - _REACH) : m.start])]
        named = [(at, name) for at, name in places if start <= at < end]
        topic = topic if about else _back_to(text, start, named, votes) or topic
        led = ""
        for at, name in named:
            found, weight = _group_at(text, at, here, about, [place for place, _ in named])
            led = found if weight == _SURE and not led else led
            if found or topic:
                group = found or topic
                votes[name][group] = votes[name].get(group, 0.0) + (weight if found else _BEFORE)
        topic = led or (about[-1].group if about else topic)
    ranked = {name: sorted(count.items(), key=lambda item: -item[1]) for name, count in votes.items() if count}
    return {name: best[0][0] for name, best in ranked.items() if len(best) == 1 or best[0][1] > best[1][1]}


_REACH = 30


def fullest(text: str, name: str) -> str:
    """The longest form that the text prints most often of a name that it also says short ("Otters": "Merrow Otters")."""
    if not name.split():
        return name
    before = re.findall(rf"((?:{_WORD} )+){re.escape(name)}(?!\w)", text)
    runs = Counter(run for found in before if (run := re.sub(r"^(?:The|And|But|For|When|While|As|If) ", "", found)))
    return f"{runs.most_common(1)[0][0]}{name}" if runs else name


_LEADING = re.compile(r"^(?:The|And|But|For|When|While|As|If|With|After|Before|Despite|Meanwhile|Both|On|In|At|By|From|Last) ")
_WORD = r"(?:[A-Z][\w’'-]*|(?:[A-Z]\.)+|(?:St|Mr|Mrs|Ms|Dr)\.)"
"""A capitalised word of a name; a full stop that is no abbreviation's ends the sentence and so the name."""


def whole_name(text: str, last: str) -> str:
    """The one full name of which a text also says the last word alone ("Lund": "Ada Lund"); "" where it has none or two."""
    found = re.findall(rf"(?<![\w’'.-])((?:{_WORD} ){{1,2}}{re.escape(last)}(?: (?:Jr|Sr)\.)?)(?!\w)", text)
    names = {whole for name in found if " " in (whole := _LEADING.sub("", name))}
    longest = max(names, key=len, default="")
    return longest if all(longest.startswith(name) for name in names) else ""


def _back_to(text: str, start: int, named: Sequence[tuple[int, str]], votes: Mapping[str, Mapping[str, float]]) -> str:
    """The group that a text comes back to with a name that it placed before: as the subject of a sentence, or as the one
    whom its subject came next to ("Berg was right behind Vik")."""
    for at, name in named:
        subject = _SUBJECT.fullmatch(text[start:at].lstrip()) and not re.match(r"[\w.-]+['’]", text[at:])
        if subject or _BEHIND.search(text[start:at]):
            ranked = sorted(votes[name].items(), key=lambda item: -item[1])
            if ranked and ranked[0][1] >= _PLACED and all(_PLACED * n <= ranked[0][1] for _, n in ranked[1:]):
                return ranked[0][0]
    return ""


def _group_at(
    text: str, at: int, here: Sequence[_Mention], about: Sequence[_Mention], named: Sequence[int]
) -> tuple[str, float]:
    before = [m for m in here if m.start < at]
    sure = [m.group for m in before if _OWN.fullmatch(text[m.end : at]) or _BY.search(text[m.end : at])]
    if sure:
        return sure[-1], _SURE
    for m in here:
        between = max((other for other in named if at < other < m.start), default=at)
        next_to = m.start > at and _ROW.fullmatch(text[at:between])
        if next_to and _FOR.search(text[max(at, m.start - _REACH) : m.start]):
            return m.group, _SURE
    subjects = [m.group for m in about if m.start < at]
    subjects = subjects or [m.group for m in about if m.start > at and _OPENING.fullmatch(text[at : m.start])]
    return (subjects[-1], _HERE) if subjects else ("", 0.0)


def _mentions(text: str, groups: Sequence[str]) -> Iterator[_Mention]:
    taken: list[tuple[int, int]] = []
    forms = [(form, group) for group, own in _forms(text, groups).items() for form in own]
    for form, group in sorted(forms, key=lambda item: -len(item[0])):
        for match in re.finditer(rf"(?<![\w-]){re.escape(form)}(?!\w)", text):
            if not any(start <= match.start() < end for start, end in taken):
                taken.append(match.span())
                yield _Mention(*match.span(), group)


def _forms(text: str, groups: Sequence[str]) -> Mapping[str, set[str]]:
    """What a text calls each group: the whole name, its words that no other has, the place before its last word, and short
    forms of that ("Mavs" of Mavericks)."""
    words = {group: group.split() for group in groups}
    every = Counter(word for own in words.values() for word in set(own))
    out = {}
    plurals = set(re.findall(r"\b[A-Z][a-z]{2,}s\b", text))
    for group, own in words.items():
        last = own[-1]
        place = " ".join(own[:-1])
        forms = {group, last, *(w for w in own if every[w] == 1 and len(w) >= _LEAST)}
        others = {word for other, said in words.items() if other != group for word in said}
        forms |= {w for w in plurals if w[:_LEAST] == last[:_LEAST] and w not in others}
        forms |= {last.removesuffix("s")} if len(last) > _LEAST + 1 else set()
        if place and not any(other.startswith(place) for other in groups if other != group):
            forms.add(place)
        out[group] = {form for form in forms if every[form] <= 1}
    return out


def _places(text: str, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Where the names stand: by their last word, or whole where two share that."""
    lasts = {name: next((w for w in reversed(name.split()) if w not in _SUFFIX), name) for name in names}
    shared = Counter(lasts.values())
    for name, last in lasts.items():
        called = last if shared[last] == 1 else name
        for match in re.finditer(rf"(?<!\w){re.escape(called)}(?!\w)", text):
            yield match.start(), name
