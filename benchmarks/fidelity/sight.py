"""Which document, and which parts of it, a prompt shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.fidelity.words import Place

_PIECE = 90
_TELLING = 12
_MOST = 0.7


def skeleton(text: str) -> str:
    """Letters and digits only, in small letters: what stays of a text however it is laid out."""
    return re.sub(r"[\W_]+", "", text.casefold())


def documents_shown(prompt: str) -> dict[int | None, str]:
    """The documents of a reading call by their numbers, which its rows repeat as "document"; None
    is the number of the only one.
    """
    shown = re.findall(r'<document(?: number="(\d+)")?>\n(.*?)\n</document>', prompt, re.DOTALL)
    return {int(number) if number else None: text for number, text in shown}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line or a part of one: its place and bones, those without its first word, which
    may be a mark of its line, and those of its cells where it is a row of a table, which
    may be laid out anew.
    """

    place: Place
    bones: str
    rest_at: int
    rest: str
    cells: tuple[str, ...]


def _pieces(text: str) -> list[_Piece]:
    out: list[_Piece] = []
    for line in re.finditer(r"[^\n]+", text):
        for part in re.finditer(rf"\S.{{0,{_PIECE}}}(?=\s|$)|\S+", line[0]):
            start, end = line.start() + part.start(), line.start() + part.end()
            first = len(re.match(r"\S+\s*", part[0])[0])  # type: ignore[index]
            rest = skeleton(part[0][first:])
            if bones := skeleton(part[0]):
                cells = tuple(map(skeleton, re.split(r"\s{2,}|[\t,|]", part[0])))
                row = cells if len(cells) > 1 else ()
                out.append(
                    _Piece(
                        (start, end),
                        bones,
                        start + first,
                        rest if len(rest) >= _TELLING else "",
                        row,
                    )
                )
    return out


@dataclass(frozen=True, slots=True)
class Sight:
    """One document as a prompt shows it: the shown pieces of its text."""

    document: str
    shown: tuple[Place, ...]

    def shows(self, place: Place) -> bool:
        """Whether most of the place is shown."""
        start, end = place
        return sum(max(0, min(e, end) - max(s, start)) for s, e in self.shown) > _MOST * (
            end - start
        )


class Eyes:
    """Finds the document of a prompt by its rarest pieces."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self.pieces = {name: _pieces(text) for name, text in documents.items()}
        self._known = Counter(
            bones for found in self.pieces.values() for bones in {p.bones for p in found}
        )
        self.look = lru_cache(maxsize=512)(self._look)

    def _look(self, prompt: str, named: str = "") -> Sight | None:
        bones = skeleton(prompt)
        best, score = None, 0.0
        for name, pieces in self.pieces.items() if not named else [(named, self.pieces[named])]:
            shown, sum_ = list[Place](), 0.0
            for piece in pieces:
                whole = piece.bones in bones
                if whole or (piece.rest and piece.rest in bones):
                    shown.append(piece.place if whole else (piece.rest_at, piece.place[1]))
                    sum_ += (len(piece.bones) if whole else len(piece.rest) / 2) / self._known[
                        piece.bones
                    ]
                elif piece.cells and all(cell in bones for cell in piece.cells):
                    shown.append(piece.place)
            if sum_ > score:
                best, score = Sight(name, tuple(shown)), sum_
        return best

    def start(self, document: str) -> Place:
        """The first piece of a document."""
        return next((piece.place for piece in self.pieces[document]), (0, 0))
