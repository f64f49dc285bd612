"""Sentence boundaries of long texts in linear time.

A full segmenter (pysbd) reads about 160 KB/s, which is minutes for a large corpus. Chunking and segments only need
places that are surely between two sentences, so this splitter is one regular expression with guards, errs towards not
splitting, and is compared with pysbd in the tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sliders.words import MONTHS, unaccented

Span = tuple[int, int]

# Possessive quantifiers and the look-behind keep runs of dots, brackets or blanks linear.
_CANDIDATE = re.compile(
    r"""(?<![.!?…])[.!?…]++["'”’»)\]]*+\s++   # a closed sentence, then white space
      | [。！？]++[”’」』）]*+\s*+              # full-width ends need no white space
      | \n[ \t\r]*+\n\s*+                     # an empty line ends whatever came before
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"[^\s(\[\"“'‘]+$")
_NEXT_WORD = re.compile(r"[\"“'‘(\[«]*+(\w+)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the end of a sentence: a name, a number or a unit follows.
_OPEN = _words(
    """mr mrs ms dr prof st messrs mme mlle sr jr rev hon gen col maj capt cpt lt sgt cmdr adm gov sen rep pres amb supt
    no nos nr fig figs eq eqs sec secs art arts vol vols ch chs pp approx ca cf vs v al e.g i.e eg ie viz resp incl excl
    est min max avg tel ext dept univ assn bros mt ft bzw vgl z.b d.h u.a usw hr fr dipl ing abs nr str
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"""
)
# May end a sentence: split only before a word that usually opens one.
_EITHER = _words(
    """inc corp co ltd llc plc llp lp bhd ag sa nv u.s u.k u.n e.u u.s.a d.c a.m p.m am pm etc ph.d m.d b.a m.a
    ave blvd rd sq ft lb lbs oz mi km kg hrs mins secs bn mn m b pct"""
)
_STARTERS = _words(
    """the a an in on at it its he she they we you i this that these those there as for from by with after before during
    when while if although however since because under upon and but or so our their his her all some many most each no
    one two both such further furthermore moreover additionally also according based given following to what who how
    net total"""
)


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Spans of the sentences of `text[start:end]`, without gap or overlap; white space ends the sentence before it."""
    stop = len(text) if end is None else end
    spans: list[Span] = []
    at = start
    for boundary in _boundaries(text, start, stop):
        if boundary > at:
            spans.append((at, boundary))
            at = boundary
    if at < stop:
        spans.append((at, stop))
    return spans


def _boundaries(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets after which a new sentence begins."""
    sentence = start
    for match in _CANDIDATE.finditer(text, start, end):
        boundary = match.end()
        if boundary < end and _splits(text, sentence, match.start(), boundary):
            yield boundary
            sentence = boundary


def _splits(text: str, sentence: int, mark: int, following: int) -> bool:
    """Whether the mark at `mark` ends the sentence that began at `sentence`."""
    if text[mark] in "。！？\n":
        return True
    first = text[following]
    if first.islower() or first in ",;:)]}%":
        return False
    if "\n" in text[mark:following] and _blank_line(text, mark, following):
        return True
    if text[mark] != "." or text[mark + 1 : mark + 2] == ".":
        return True
    return _dot_splits(text, sentence, mark, following)


def _blank_line(text: str, mark: int, following: int) -> bool:
    return text[mark:following].count("\n") > 1


def _dot_splits(text: str, sentence: int, mark: int, following: int) -> bool:
    """Abbreviations, initials, list numbers and ordinals keep a single dot from ending the sentence."""
    found = _LAST_WORD.search(text, max(sentence, mark - 24), mark)
    if found is None:
        return True
    word = found.group()
    lower = word.lower()
    if lower in _OPEN:
        return False
    match = _NEXT_WORD.match(text, following)
    follower = match.group(1).lower() if match else ""
    if word.isdigit() and len(word) <= 3:
        return not (not text[sentence : found.start()].strip() or unaccented(follower) in MONTHS or follower == "quartal")
    if lower in _EITHER or _is_initial(word):
        return follower in _STARTERS and not (len(follower) == 1 and len(word) == 1)
    return True


def _is_initial(word: str) -> bool:
    """One capital letter, or letters with dots between them ("J", "U.S", "e.g")."""
    if len(word) == 1:
        return word.isalpha()
    return "." in word and all(len(part) == 1 for part in word.split("."))
