"""Counting the persons or things that a phrase names: "the pilot and all nine passengers" is ten."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sliders.extraction.lexicon import stem
from sliders.extraction.phrases import Item, Token, is_agent, read_item, singular, tokens_of


@dataclass(frozen=True, slots=True)
class Counted:
    """The outcome of counting: `value` with "1 (pilot) + 9 (passengers)" as rationale, or None with the reason.

    `enumerates` says that the phrase names several parts, so that a single number in it is not its count; `alike` that
    the parts are persons, or all the same thing ("110 points, 12 rebounds" are not); `stated` that the statement was
    chosen because it speaks of what is counted.
    """

    value: int | None
    rationale: str
    enumerates: bool = False
    alike: bool = True
    stated: bool = False


_OUTCOMES: dict[str, tuple[str, ...]] = {
    "died": (
        "kill",
        "died",
        "die",
        "dead",
        "death",
        "fatal",
        "fatali",
        "fatally",
        "perish",
        "deceas",
        "drown",
        "murder",
        "suffocat",
        "succumb",
        "slain",
        "lives",
    ),
    "was hurt": ("injur", "injury", "hurt", "wound", "injuri"),
    "was unhurt": ("uninjur", "unhurt", "surviv", "survivor", "unharm", "unscath", "escap"),
}
_DEGREES = ("serious", "minor", "sever", "slight", "critical", "light")
_CONJUNCTION = {"and", "&", "plus"}
_TOTAL = re.compile(
    r"(?:\b(?:a\s+)?total(?:\s+of|:|\s+was)?\s+(?P<a>NUM)"
    r"|(?P<b>NUM)(?:\s+\w+){0,2}\s+in\s+(?:all|total)\b"
    r"|(?P<c>NUM)\s+(?:total|altogether)\b)"
)


def outcome_stems(word: str) -> frozenset[str]:
    """Stems of the words that state the same outcome as the stem `word` ("kill": "died", "fatal" ...); empty for others."""
    return frozenset(stem for stems in _OUTCOMES.values() if word in stems for stem in stems)


def count_phrase(text: str, about: str = "") -> Counted:
    """Adds up the parts that a phrase names, where every part is determinate.

    A singular noun with an article, or a singular word for a person, counts one; a number counts itself; a plural
    without a number makes the phrase undecidable. A stated total wins over its breakdown. Where the phrase makes
    several statements ("two were killed and three were injured"), `about` tells which one is meant.

    Args:
        text: the words that say who or what is counted.
        about: what is counted: a column's name and description.
    """
    plain = re.sub(r"\s+", " ", text).strip()
    plain = re.sub(r"\b(?:as well as|along with|together with|in addition to)\b", "and", plain, flags=re.IGNORECASE)
    tokens = tokens_of(plain)
    if any(token.text in {"except", "besides", "excluding"} for token in tokens) or " other than " in plain.lower():
        return Counted(None, f"{plain!r} names an exception")
    total = _stated_total(tokens)
    if total is not None:
        return total
    clauses = _clauses(_without_leading_of(tokens))
    if not clauses:
        return Counted(None, f"{plain!r} names nothing that can be counted")
    chosen, reason, stated = _choose(clauses, about)
    if not chosen:
        return Counted(None, reason, enumerates=True)
    return replace(_add(chosen), stated=stated)


def _stated_total(tokens: tuple[Token, ...]) -> Counted | None:
    numbers = [token for token in tokens if token.number is not None]
    if len(numbers) < 2:
        return None
    match = _TOTAL.search(" ".join("NUM" if token.number is not None else token.text for token in tokens))
    if match is None:
        return None
    group = match.lastgroup or "a"
    index = match.string[: match.start(group)].count("NUM")
    number = numbers[index].number
    if number is None or not isinstance(number.value, int):
        return None
    return Counted(number.value, f"{number.value} (stated total)", enumerates=True)


def _without_leading_of(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Drops "Of the 142 persons on board," which only says out of how many."""
    words = [token.text for token in tokens]
    if words[:1] == ["of"] and "," in words:
        return tokens[words.index(",") + 1 :]
    return tokens


@dataclass(frozen=True, slots=True)
class _Clause:
    items: tuple[Item, ...]
    predicate: tuple[str, ...]
    joined: bool


class _Grouping:
    """Collects items until a predicate closes them."""

    def __init__(self) -> None:
        self.clauses: list[_Clause] = []
        self._items: list[Item] = []
        self._led_by: tuple[str, ...] = ()
        self._joined = False

    def add(self, item: Item, mark: str) -> None:
        """Takes one more item, which `mark` separates from the one before."""
        if not self._items and self.clauses and _is_zero(self.clauses[-1]) and not item.predicate and item.value != 0:
            return  # "no injuries among the passengers and two guards": what follows only says among whom
        if self._items and (item.leading or (self._led_by and item.predicate)):
            self.close()
        self._joined = self._joined or (mark in _CONJUNCTION and bool(self._items))
        self._items.append(item)
        if item.leading:
            self._led_by = item.predicate
        elif item.predicate:
            self.close(item.predicate)

    def close(self, predicate: tuple[str, ...] = ()) -> None:
        """Ends the clause that is open, if any."""
        if self._items:
            self.clauses.append(_Clause(tuple(self._items), predicate or self._led_by, self._joined))
        elif self.clauses and predicate:
            self.clauses[-1] = replace(self.clauses[-1], predicate=(*self.clauses[-1].predicate, *predicate))
        self._items, self._led_by, self._joined = [], (), False


def _clauses(tokens: tuple[Token, ...]) -> list[_Clause]:
    """Groups the items of an enumeration with the predicate that closes or leads them."""
    grouping = _Grouping()
    skipping = False
    for piece, mark, inner in _pieces(tokens):
        if mark in {";", "."}:
            grouping.close()
            skipping = False
        if piece[0].text in {"including", "comprising", "consisting"}:
            skipping = True
        item = None if skipping else read_item(piece)
        if item is not None:
            grouping.add(_from_breakdown(item, inner) if item.value is None and inner else item, mark)
            continue
        skipping = skipping and not any(token.text in {"were", "was"} for token in piece)
        if not skipping:
            grouping.close(tuple(token.text for token in piece))
    grouping.close()
    return grouping.clauses


def _from_breakdown(item: Item, inner: tuple[Token, ...]) -> Item:
    """A plural without a number whose parts stand in brackets: "All occupants (the captain and four passengers)"."""
    parts = [part for clause in _clauses(inner) for part in clause.items]
    if not parts or any(part.value is None for part in parts):
        return item
    value = sum(part.value or 0 for part in parts)
    return replace(item, value=value, noun=" + ".join(f"{part.value} {part.noun}" for part in parts), numbered=True)


def _pieces(tokens: tuple[Token, ...]) -> list[tuple[tuple[Token, ...], str, tuple[Token, ...]]]:
    """The members between commas, semicolons and conjunctions: tokens, the mark before them, their bracketed tokens."""
    pieces: list[tuple[tuple[Token, ...], str, tuple[Token, ...]]] = []
    current: list[Token] = []
    inner: list[Token] = []
    depth, mark = 0, ""
    for token in tokens:
        if token.text in "()":
            depth = max(0, depth + (1 if token.text == "(" else -1))
        elif depth:
            inner.append(token)
        elif token.text in {",", ";", ":", "."} or token.text in _CONJUNCTION:
            if current:
                pieces.append((tuple(current), mark, tuple(inner)))
                current, inner, mark = [], [], ""
            mark = token.text if token.text != "," or mark != ";" else mark
        else:
            current.append(token)
    if current:
        pieces.append((tuple(current), mark, tuple(inner)))
    return pieces


def _outcome(words: tuple[str, ...] | list[str]) -> str:
    """Which of the outcomes a predicate or description speaks of, "" if of none."""
    stems = {stem(word) for word in words} | set(words)
    negated = bool({"no", "not", "without", "nor"} & set(words))
    if stems & set(_OUTCOMES["died"]):
        return "was unhurt" if negated else "died"
    if stems & set(_OUTCOMES["was unhurt"]) and not (stems & set(_OUTCOMES["was hurt"])):
        return "was unhurt"
    if stems & set(_OUTCOMES["was hurt"]):
        return "was unhurt" if negated else "was hurt"
    return ""


def _all_words(clause: _Clause) -> list[str]:
    return [*clause.predicate, *(word for item in clause.items for word in item.noun.split())]


def _is_zero(clause: _Clause) -> bool:
    return all(item.value == 0 for item in clause.items)


def _choose(clauses: list[_Clause], about: str) -> tuple[list[_Clause], str, bool]:
    """The statements that count what `about` names, a reason if there are none, and whether their words say so."""
    words = re.findall(r"[a-z]+", about.lower().replace("_", " "))
    wanted = _outcome([word for word in words if word not in {"no", "not"}])
    degrees = {degree for degree in _DEGREES if degree in {stem(word) for word in words}}
    if wanted:
        known = [(clause, _outcome(_all_words(clause))) for clause in clauses]
        fitting = [c for c, outcome in known if outcome == wanted and _degree_fits(c, degrees, words)]
        fitting = fitting or [clause for clause in clauses if _is_zero(clause) and _denies(clause, wanted)]
        if fitting:
            return fitting, "", True
        others = [outcome or " ".join(clause.predicate) for clause, outcome in known if outcome or clause.predicate]
        if others:
            return [], f"the words say who {others[0]}, not who {wanted}", True
    chosen, reason = _main(clauses)
    return chosen, reason, False


def _denies(clause: _Clause, wanted: str) -> bool:
    words = [word for word in _all_words(clause) if word not in {"no", "not", "without"}]
    outcome = _outcome(words)
    return not outcome or outcome == wanted


def _degree_fits(clause: _Clause, degrees: set[str], words: list[str]) -> bool:
    if not degrees:
        return True
    found = {degree for degree in _DEGREES if degree in {stem(word) for word in _all_words(clause)}}
    return bool(found) and found <= degrees


def _main(clauses: list[_Clause]) -> tuple[list[_Clause], str]:
    """The one statement that counts, or all of them where they say the same."""
    if len(clauses) <= 1:
        return clauses, ""
    predicates = {_outcome(clause.predicate) or " ".join(clause.predicate[:2]) for clause in clauses}
    if len(predicates) == 1 and "" not in predicates:
        return clauses, ""
    numbered = [clause for clause in clauses if any(item.numbered for item in clause.items)]
    counting = numbered or [clause for clause in clauses if len(clause.items) > 1]
    if len(counting) == 1:
        return counting, ""
    return [], "the words make several statements with counts"


_GENERIC = frozenset(("people", "persons", "individuals", "occupants", "victims", "members", "participants", "guests"))


def _add(clauses: list[_Clause]) -> Counted:
    items = [item for clause in clauses for item in _members(clause)]
    several = len(items) > 1
    for item in items:
        if item.value is None:
            return Counted(None, item.reason, enumerates=several)
    unjoined = [clause for clause in clauses if not clause.joined and len(clause.items) > 1 and not clause.predicate]
    if any(sum(item.singular for item in clause.items) > 0 for clause in unjoined):
        return Counted(None, "the list has no 'and': its last member may be missing", enumerates=True)
    values = [item.value or 0 for item in items]
    if len(values) > 2 and values[0] == sum(values[1:]) and _GENERIC & set(items[0].noun.split()):
        return Counted(
            values[0], f"{values[0]} ({items[0].noun or 'stated'}), of which {_terms(items[1:])}", enumerates=True
        )
    return Counted(sum(values), _terms(items), enumerates=several, alike=_alike(items))


def _alike(items: list[Item]) -> bool:
    heads = {singular(item.noun.split()[-1]) for item in items if item.numbered and item.value and item.noun}
    return len(heads) <= 1 or all(is_agent(head) for head in heads)


def _terms(items: list[Item]) -> str:
    return " + ".join(f"{item.value} ({item.noun})" if item.noun else str(item.value) for item in items)


def _members(clause: _Clause) -> list[Item]:
    """The items without appositions: "the pilot, the sole occupant, was killed" names one person."""
    items = list(clause.items)
    kept = items[:1]
    for item in items[1:]:
        apposition = item.sole or (not clause.joined and item.singular and bool(clause.predicate) and kept[0].singular)
        age = item.numbered and not item.noun and item.value != 0 and kept[-1].singular
        if not (apposition or age):
            kept.append(item)
    return kept
