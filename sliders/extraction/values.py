"""Words that are values: absent markers, booleans, members of an enumeration, plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from sliders.extraction.lexicon import NEGATIONS, fold, stem

_ABSENT = """
    null | none | n/a | na | nan | n.a. | not stated | not given | not available | not applicable | not mentioned
    | not specified | not provided | not found | not reported | not disclosed | unknown | unspecified | undefined
    | missing | - | -- | – | — | ? | ... | … | k.a. | keine angabe |
"""
ABSENT = frozenset(marker.strip() for marker in _ABSENT.split("|"))
_TRUE = frozenset(("yes", "y", "true", "t", "1", "ja", "oui", "si", "x", "✓", "✔", "☑", "☒", "on"))
_FALSE = frozenset(("no", "n", "false", "f", "0", "nein", "non", "☐", "off"))
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "a an the is are was were be been being it its this that has have had does do did whether if true false when "
        "of for in at on to and or with by as very also place venue kind type",
    )
)
_HEDGES = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|unclear|sometimes|partly|partially|reportedly|depending)\b"
)


def collapse(text: str) -> str:
    """`text` trimmed, with each run of white space as one blank and soft hyphens gone."""
    return re.sub(r"\s+", " ", text.replace("\u00ad", "")).strip()


def is_absent(text: str) -> bool:
    """Whether the words only say that there is no value ("n/a", "not stated", a dash)."""
    return collapse(text).strip(" .\"'()[]").casefold() in ABSENT or collapse(text).casefold() in ABSENT


def read_boolean(text: str, name: str, description: str = "") -> tuple[bool | None, str]:
    """Whether the words affirm or deny the statement that a column makes, and the reason where they do neither.

    Args:
        text: "yes", "not family-friendly", "is open on Sundays".
        name: the column's name, which is the statement ("family_friendly").
        description: its description.
    """
    word = fold(text).strip(" .!,;:\"'()[]")
    if word in _TRUE or word in _FALSE:
        return word in _TRUE, ""
    if _HEDGES.search(word):
        return None, f"{text!r} neither affirms nor denies {name!r}"
    tokens = re.findall(r"[^\W_]+(?:['’][^\W_]+)?", word)
    if (
        tokens[:1]
        and tokens[0] in {"yes", "no"}
        and text.strip()[len(tokens[0]) : len(tokens[0]) + 1] in {",", ".", ";", ":"}
    ):
        return tokens[0] == "yes", ""
    denials, content = _split_negations(tokens, word)
    named = {stem(part) for part in re.findall(r"[a-z0-9]+", fold(name))} - _FILLERS
    flipped = bool({"not", "no", "non", "without"} & named)
    stems = {stem(token) for token in content} - _FILLERS
    prefixed = [
        token
        for token in content
        if any(stem(token) == prefix + part for prefix in ("un", "non", "in", "dis") for part in named)
    ]
    denials += len(prefixed)
    if not (stems & named or prefixed or _described(stems, description)):
        return None, f"{text!r} does not speak of {name!r}"
    if denials > 1:
        return None, f"{text!r} denies twice"
    return (denials == 0) != flipped, ""


def _split_negations(tokens: Sequence[str], text: str) -> tuple[int, list[str]]:
    """How many negations there are, and the other words; "not only" is none, "no longer" one."""
    denials = 0
    content: list[str] = []
    for index, token in enumerate(tokens):
        token = token.replace("’", "'")
        if token in NEGATIONS or token.endswith("n't") or token in {"non", "cant", "isnt", "doesnt", "arent", "wont"}:
            denials += 0 if tokens[index + 1 : index + 2] == ["only"] else 1
        elif token not in _FILLERS and token != "longer":
            content.append(token)
    denials += len(re.findall(r"\b(?:fails?|failed|refus\w+) to\b", text))
    return denials, content


def _described(stems: set[str], description: str) -> bool:
    """Whether every word of content stands in the description."""
    described = {stem(word) for word in re.findall(r"[a-z0-9]+", fold(description))}
    return bool(stems) and stems <= described


def _key(text: str) -> str:
    return re.sub(r"[^0-9a-z\u00c0-\uffff]+", "", text.casefold().replace("£", "gbp").replace("€", "eur"))


def _spaced(text: str) -> str:
    return f" {re.sub(r'[^0-9a-zà-￿£€$<>+]+', ' ', text.casefold()).strip()} "


def _digits(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def read_enum(text: str, values: Sequence[str]) -> tuple[str | None, str, bool]:
    """The one member that the words mean; else the reason. The flag says that it is not printed as such.

    Tried in turn: equal without case, spaces and punctuation; the only member that the words contain or that begins
    with them; a fuzzy match with a clear winner whose digits are the same. A negated member does not match.
    """
    key = _key(text)
    equal = [value for value in values if _key(value) == key]
    if len(equal) == 1:
        return equal[0], "", False
    shown = ", ".join(values)
    spaced = _spaced(text)
    inside = [value for value in values if _spaced(value).strip() and _spaced(value) in spaced]
    inside = [value for value in inside if not any(_spaced(value) in _spaced(o) for o in inside if o != value)]
    if any(word in NEGATIONS for word in spaced.split()) and not any(
        set(_spaced(v).split()) & NEGATIONS for v in inside
    ):
        return None, f"{text!r} says what it is not; allowed are {shown}", False
    if len(inside) == 1:
        return inside[0], "", False
    if len(inside) > 1:
        return None, f"{text!r} names several of {', '.join(inside)}", False
    starting = [value for value in values if key and (_key(value).startswith(key) or key.startswith(_key(value)))]
    if len(starting) == 1 and len(key) >= 2 and _digits(starting[0]) == _digits(text):
        return starting[0], "", True
    ranked = sorted(
        ((fuzz.ratio(_key(value), key), value) for value in values if _digits(value) == _digits(text)), reverse=True
    )
    if ranked and ranked[0][0] >= 80 and (len(ranked) == 1 or ranked[0][0] - ranked[1][0] >= 8):
        return ranked[0][1], "", True
    return None, f"{text!r} is none of {shown}", False
