"""Words that are broken at the ends of printed lines, told apart from words that have a hyphen of
their own there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_END = re.compile(r"([^\W\d_]+)[\x02\u2010-]$")
_BEGIN = re.compile(r"[^\W\d_]+")
_SHORTEST = 3


class WordEnds:
    """The words of a document. They tell whether a hyphen at the end of a line belongs to
    the word.
    """

    def __init__(self, pages: Iterable[Sequence[str]]) -> None:
        broken: list[str] = []
        self._words: set[str] = set()
        for lines in pages:
            for above, line in pairwise(("", *lines)):
                end, begin = _END.search(above), _BEGIN.match(line)
                if end and begin:
                    broken.append(f"{end[1]}{begin[0]}".lower())
                    line = line[begin.end() :]
                whole = _WORD.findall(_END.sub("", line))
                self._words.update(word.lower() for word in whole)
        self._breaks_words = any(word in self._words for word in broken)

    def joined(self, text: str, line: str) -> str:
        """A text joined with the line that follows it."""
        if text.endswith("\xad"):
            return text[:-1] + line
        end, begin = _END.search(text), _BEGIN.match(line)
        if end is None or begin is None:
            return f"{text} {line}".lstrip()
        return text[:-1] + ("" if self._is_broken(end[1], begin[0]) else "-") + line

    def _is_broken(self, left: str, right: str) -> bool:
        if right[0].isupper() and not left.isupper():
            return False
        left, right = left.lower(), right.lower()
        if left + right in self._words:
            return True
        alone = self._words.issuperset((left, right)) and min(len(left), len(right)) >= _SHORTEST
        return self._breaks_words and not alone and f"{left}-{right}" not in self._words
