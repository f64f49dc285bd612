"""The grammar of noun phrases that `quantities` counts with: tokens, items of an enumeration, what each one counts.

Lexical and shallow on purpose: determiners, plural endings, agent endings and a few closed word classes. No list of
professions, so that it works in any field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sliders.extraction.numbers import Number, numbers_in


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = _words("the a an this that his her its their our my your another one")
SKIPPED = _words(
    "all the of these those his her its their our other others additional further only just also even exactly about "
    "approximately around nearly almost roughly over at least up to more than fewer less some then with a an both "
    "another remaining total estimated and plus"
)
VAGUE = _words("several many most few some various numerous multiple every each any much countless certain")
PREPOSITIONS = _words(
    "on in aboard onboard at from of with by near to for inside outside during after before under over among as into "
    "onto upon against within while when where who whom whose which that including whereas because since if per via"
)
AUXILIARIES = _words(
    "was were is are be been being had has have did do does can could will would may might must should died fell got "
    "took lost left became went came rose said made held won ran gave bore met sank"
)
RELATIVE = _words("who whom whose which that where when while as")
COLLECTIVES = _words(
    "crew family group team couple staff personnel public crowd party police gang band squad unit majority number "
    "rest remainder others everyone everybody cast class audience jury board committee population"
)
PLURALS = _words("people men women children persons police cattle feet teeth mice geese oxen")
SINGULAR_S = _words("bus gas lens species series news boss press process access business witness hostess")
PERSONS = _words(
    "captain pilot copilot man woman child boy girl baby infant adult wife husband son daughter mother father brother "
    "sister nurse chief guest student guard clerk cook chef judge priest monk nun king queen aide coach host person "
    "individual victim member officer friend uncle aunt cousin"
)
_AGENT = re.compile(r"(?:er|or|ist|ian|ant|ent|man|woman|person|ee|eer|ess|pilot|member|mate|child)$")
ZERO = _words("none nobody zero nil neither nothing")
_TOKEN = re.compile(r"\d[\d.,]*|[^\W\d_]+(?:['’.-][^\W\d_]+)*|[();:,&]|\S")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, mark or number of a phrase, lower case; `number` is set for numbers that state an amount."""

    text: str
    printed: str
    number: Number | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One member of an enumeration: what it counts (None if it cannot be told), its noun, and its predicate's words.

    `leading` says that the predicate stands before it, so that more members may follow ("killing the pilot and ...").
    """

    value: int | None
    noun: str
    predicate: tuple[str, ...] = ()
    numbered: bool = False
    singular: bool = False
    sole: bool = False
    leading: bool = False
    reason: str = ""


def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of `text`; a number is one token, whether digits or words."""
    numbers = [number for number in numbers_in(text, whole=True) if number.plain and not number.percent]
    found: list[Token] = []
    position = 0
    for number in numbers:
        found.extend(_plain_tokens(text, position, number.start))
        found.append(Token(number.text.lower(), number.text, number))
        position = number.end
    found.extend(_plain_tokens(text, position, len(text)))
    return tuple(found)


def _plain_tokens(text: str, start: int, end: int) -> Iterator[Token]:
    for match in _TOKEN.finditer(text, start, end):
        yield Token(match[0].lower().replace("’", "'"), match[0])


def is_plural(word: str) -> bool:
    """Whether a noun looks plural."""
    if word in PLURALS or (word.endswith(("men", "people", "children")) and word != "specimen"):
        return True
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in SINGULAR_S


def singular(word: str) -> str:
    """A plural noun without its ending: "children" is "child", "ladies" "lady"."""
    irregular = {"people": "person", "children": "child", "men": "man", "women": "woman"}
    for plural, single in irregular.items():
        if word.endswith(plural):
            return word[: -len(plural)] + single
    if not is_plural(word):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def is_agent(word: str) -> bool:
    """Whether a bare singular noun looks like a person."""
    last = word.rpartition("-")[2]
    return last in PERSONS or (len(last) > 3 and _AGENT.search(last) is not None)


def is_verb(tokens: tuple[Token, ...], index: int) -> bool:
    """Whether the token is a finite verb or participle behind a noun ("killed", but not in "two injured men")."""
    word = tokens[index].text
    if word in AUXILIARIES:
        return True
    if not (word.endswith("ed") and len(word) > 3):
        return False
    before = [token for token in tokens[:index] if token.number is None]
    nouns = [t for t in before if t.text not in SKIPPED | DETERMINERS and not t.text.endswith(("ly", "ed"))]
    return bool(nouns) or (bool(tokens[:index]) and tokens[index - 1].number is not None and index + 1 == len(tokens))


def read_item(tokens: tuple[Token, ...]) -> Item | None:
    """What one member of an enumeration counts; None if it is no member (a clause, a place, a bare verb)."""
    tokens, led_by = _strip_leading_verb(tokens)
    if not tokens or tokens[0].text in RELATIVE:
        return None
    split = next((i for i in range(len(tokens)) if is_verb(tokens, i)), len(tokens))
    predicate = (*led_by, *(token.text for token in tokens[split:]))
    head = tokens[:split]
    if not head or (head[0].text in PREPOSITIONS - {"with", "over"} and not led_by):
        return None
    counted = _zero(head, predicate) or _part_of_whole(head, predicate) or _numbered(head, predicate)
    counted = counted or _object_of(head, tokens[split:], predicate) or _noun_item(head, predicate)
    return replace(counted, leading=True) if led_by and split == len(tokens) and counted.value != 0 else counted


def _strip_leading_verb(tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[str, ...]]:
    """Takes off "killing", "fatally injuring", "killed" before a determiner or number, and leading connectives."""
    while tokens and tokens[0].text in {"and", "plus", "also", "then", "with", "but", "there"}:
        tokens = tokens[1:]
    index = 0
    while index < len(tokens) - 1 and index < 4:
        word = tokens[index].text
        if tokens[index].number is not None or not (word.endswith(("ing", "ed", "ly")) or word in AUXILIARIES):
            break
        index += 1
    if not index:
        return tokens, ()
    follower = tokens[index]
    opens = follower.number is not None or follower.text in DETERMINERS | VAGUE | {"all", "both", "no", "none"}
    return (tokens[index:], tuple(token.text for token in tokens[:index])) if opens else (tokens, ())


def _zero(head: tuple[Token, ...], predicate: tuple[str, ...]) -> Item | None:
    words = [token.text for token in head]
    if words[0] in ZERO or words[:2] in (["no", "one"], ["no", "other"]) or words[0] == "no":
        if {"but", "except", "besides"} & set(words) or words[:2] == ["no", "other"]:
            return Item(None, " ".join(words), predicate, reason=f"'{' '.join(words)}' has an exception")
        noun = " ".join(words[:4] if words[1:2] == ["one"] else words[1:4]) if words[0] == "no" else words[0]
        return Item(0, noun, predicate, numbered=True)
    if words[0] == "without":
        return Item(0, " ".join(words[1:3]), predicate, numbered=True)
    return None


def _whole(number: Number) -> int | None:
    return number.value if isinstance(number.value, int) and number.value >= 0 else None


def _part_of_whole(head: tuple[Token, ...], predicate: tuple[str, ...]) -> Item | None:
    """ "two of the three occupants" counts two, "all but two of the 37" 35, "both" two, "half of the 20" ten."""
    words = [token.text for token in head]
    numbers = [(i, token.number) for i, token in enumerate(head) if token.number is not None]
    if words[:2] == ["all", "but"] and len(numbers) == 2:
        left, right = _whole(numbers[0][1]), _whole(numbers[1][1])
        if left is not None and right is not None and right >= left:
            return Item(right - left, _noun(head, numbers[1][0]), predicate, numbered=True)
    if words[0] == "both":
        return Item(2, _noun(head, 0), predicate, numbered=True)
    if len(numbers) == 2 and "of" in words[numbers[0][0] + 1 : numbers[1][0]]:
        between = words[numbers[0][0] + 1 : numbers[1][0]]
        if len([word for word in between if word not in SKIPPED]) <= 2:
            first, second = numbers[0][1], _whole(numbers[1][1])
            part = _whole(first)
            if first.value == 0.5 and second is not None and second % 2 == 0:
                part = second // 2
            if part is not None and second is not None and part <= second:
                return Item(part, _noun(head, numbers[1][0]), predicate, numbered=True)
    return None


def _noun(head: tuple[Token, ...], index: int) -> str:
    words: list[str] = []
    for token in head[index + 1 :]:
        if token.text in PREPOSITIONS - {"of"} or token.number is not None or len(words) == 4:
            break
        if token.text not in SKIPPED:
            words.append(token.text)
    return " ".join(words)


def _numbered(head: tuple[Token, ...], predicate: tuple[str, ...]) -> Item | None:
    """A number with nothing but determiners before it, or a noun "of" a number: "a crew of five"."""
    for index, token in enumerate(head):
        if token.number is not None:
            value = _whole(token.number)
            if value is None:
                return Item(None, "", predicate, reason=f"{token.printed!r} is not a whole number")
            after = [other for other in head[index + 1 :] if other.number is not None]
            before_stop = _until_preposition(head[index + 1 :])
            if any(other.number is not None for other in before_stop):
                return Item(
                    None, "", predicate, reason=f"{token.printed!r} and {after[0].printed!r} stand side by side"
                )
            return Item(value, _noun(head, index), predicate, numbered=True)
        if token.text == "of" and index + 1 < len(head) and index and not VAGUE & {t.text for t in head[:index]}:
            continue
        following_of = any(t.text == "of" for t in head[index : index + 4]) and not PREPOSITIONS & {token.text}
        if token.text not in SKIPPED | DETERMINERS and not following_of:
            return None
    return None


def _until_preposition(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    for index, token in enumerate(tokens):
        if token.text in PREPOSITIONS:
            return tokens[:index]
    return tokens


def _object_of(head: tuple[Token, ...], rest: tuple[Token, ...], predicate: tuple[str, ...]) -> Item | None:
    """ "the fire killed two guests": the number stands behind the verb, whose subject is no countable thing."""
    if not rest or is_plural(head[-1].text):
        return None
    behind = rest[1:]
    while behind and behind[0].text in {"the", "all", "about", "only", "lives", "of", "at", "least", "a", "total"}:
        behind = behind[1:]
    if behind and behind[0].number is not None and not is_agent(head[-1].text):
        value = _whole(behind[0].number)
        if value is not None and (len(behind) == 1 or _noun(behind, 0)):
            return Item(value, _noun(behind, 0), predicate, numbered=True, leading=True)
    return None


def _noun_item(head: tuple[Token, ...], predicate: tuple[str, ...]) -> Item:
    phrase = _until_preposition(head)
    words = [token.text for token in phrase if re.match(r"[^\W\d_]", token.text)]
    printed = " ".join(token.printed for token in phrase)
    if not words or VAGUE & set(words) or words[:2] in (["a", "number"], ["a", "couple"], ["a", "group"]):
        return Item(None, printed, predicate, reason=f"'{printed or head[0].printed}' gives no number")
    if "or" in words:
        return Item(None, printed, predicate, reason=f"'{printed}' is an alternative")
    noun, determined = words[-1], words[0] in DETERMINERS
    if is_plural(noun) or noun in COLLECTIVES or words[0] == "all":
        return Item(None, printed, predicate, reason=f"'{printed}' gives no number")
    if determined or is_agent(noun):
        name = " ".join(words[1:] if determined else words)
        return Item(1, name, predicate, singular=True, sole=bool({"sole", "only"} & set(words)))
    return Item(None, printed, predicate, reason=f"'{printed}' gives no number")
