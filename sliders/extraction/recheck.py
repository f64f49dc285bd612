"""The second question about cells and rows with findings: the findings of a text in one call, with
the passages around their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.extraction.asking import generate
from sliders.extraction.cell import How
from sliders.extraction.check import check_cell, quoted
from sliders.extraction.drafts import Draft, Drafts, value_of
from sliders.extraction.grid_rows import Unread, grids_of
from sliders.extraction.prompt import Asked, chunk_head, recheck_prompt
from sliders.extraction.source import Source
from sliders.llm.model import Model, Response
from sliders.sentences import Sentences
from sliders.values.expected import NUMERIC

say = Sentences("extraction")

_MOST_FINDINGS = 24
_AROUND = 300
"""The number of characters that a passage has on either side of the words, extended to the end of
their line.
"""
_LEFT_OUT = "[...]"


@dataclass(frozen=True, slots=True)
class _Open:
    """The findings about one document: cells, lines of grids without a row, and rows of tables that
    do not exist.
    """

    drafts: Drafts
    findings: Sequence[tuple[Draft, str]]
    missed: Sequence[Unread]
    homeless: Sequence[tuple[str, Mapping[str, Any]]]

    @classmethod
    def of(cls, drafts: Drafts) -> _Open:
        """Returns the first findings of each kind; rows without a table are removed from the
        drafts.
        """
        homeless, drafts.homeless = drafts.homeless[:_MOST_FINDINGS], []
        missed = drafts.unread()[:_MOST_FINDINGS]
        return cls(drafts, drafts.findings()[:_MOST_FINDINGS], missed, homeless)

    @property
    def lines(self) -> list[str]:
        """The findings in words."""
        return [
            *(described(draft, name) for draft, name in self.findings),
            *(one.finding for one in self.missed),
            *(_without_table(table, cells) for table, cells in self.homeless),
        ]

    @property
    def shown(self) -> str:
        """The passages that the findings are about."""
        return passages(self.drafts, self.findings, self.missed, whole=bool(self.homeless))

    @property
    def tables(self) -> list[Asked]:
        """The tables for which the reply may give new rows."""
        named = {m.table for m in self.missed}
        return [a for a in self.drafts.asked if self.homeless or a.table.name in named]


async def recheck(every: Sequence[Drafts], model: Model) -> list[list[Unread]]:
    """Asks once more for the cells and rows with findings, and changes the drafts by the reply.
    Documents share a call while their findings are few.

    A cell that comes back unchanged keeps its doubt, whatever it is called; a failed call changes
    nothing. Rows of tables that do not exist are asked for again, too; when none comes back for
    them, a part of the text counts as unread.

    Returns:
        For each of the drafts, the lines of grids that still gave no row.
    """
    opened = [_Open.of(drafts) for drafts in every]
    together: list[_Open] = []
    for one in (one for one in opened if one.lines):
        if together and sum(len(o.lines) for o in (*together, one)) > _MOST_FINDINGS:
            await _ask(together, model)
            together = []
        together.append(one)
    if together:
        await _ask(together, model)
    left = [{line.start for line in one.drafts.unread()} if one.missed else set() for one in opened]
    return [
        [line for line in one.missed if line.start in starts]
        for one, starts in zip(opened, left, strict=True)
    ]


async def _ask(opened: Sequence[_Open], model: Model) -> None:
    """One call about the findings of some documents."""
    lines = [
        f"document {number}: {line}" if len(opened) > 1 else line
        for number, one in enumerate(opened, 1)
        for line in one.lines
    ]
    numbered = [f"{number}. {line}" for number, line in enumerate(lines, 1)]
    tables = list(dict.fromkeys(table for one in opened for table in one.tables))
    reply = await generate(recheck_prompt([o.shown for o in opened], numbered, tables), model)
    told = reply.data if isinstance(reply, Response) and isinstance(reply.data, Mapping) else {}
    first = 1
    for number, one in enumerate(opened, 1):
        rows = [
            row
            for row in told.get("new_rows") or ()
            if len(opened) == 1 or row.get("document") == number
        ]
        again = not one.homeless or isinstance(told.get("new_rows"), list)
        _take_all(one, told.get("cells") or (), rows, first, again=again)
        first += len(one.lines)


def _take_all(
    one: _Open,
    cells: Iterable[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    first: int,
    *,
    again: bool,
) -> None:
    """Takes the reply about one document.

    Args:
        first: the number of its first finding.
        again: True when rows were asked for and the reply holds a list of them.
    """
    drafts = one.drafts
    for table, _ in one.homeless:
        drafts.refuse("row", say("no_table", table=table), fatal=not again)
    for item in cells:
        number = item.get("number")
        if isinstance(number, int) and 0 <= number - first < len(one.findings):
            _take(drafts, *one.findings[number - first], item)
    drafts.add(rows if one.missed or one.homeless else ())
    for table, _ in drafts.homeless:
        drafts.refuse("row", say("no_table", table=table), fatal=True)


def _take(drafts: Drafts, draft: Draft, name: str, item: Mapping[str, Any]) -> None:
    column, before = draft.column(name), draft.cells[name]
    item = {"bound": draft.given[name].get("bound"), **item}
    again = check_cell(drafts.source, column, item, drafts.near(draft, name))
    numeric = column.type in NUMERIC
    insisted = (
        again.cell.value == before.cell.value
        and again.cell.stands
        and (again.finding or before.finding)
    )
    if item.get("value") is None:
        given = draft.given[name].get("value")
        again = replace(
            again,
            cell=replace(again.cell, detail=say("taken_back", given=given, finding=before.finding)),
        )
    elif insisted and (
        again.finding or (numeric and again.cell.how is How.JUDGED and column.reading != "judged")
    ):
        why = str(item.get("why") or "").strip()
        doubt = say("insisted", finding=insisted) + (f": {why}" if why else "")
        again = replace(again, cell=replace(again.cell, doubt=doubt), finding=insisted)
    draft.cells[name] = again


def described(draft: Draft, name: str) -> str:
    """A cell with its row, what was given for it, and the finding."""
    others = (c.cell for n, c in draft.cells.items() if n != name)
    row = ", ".join(
        f"{c.column} {c.value!r}" for c in others if c.value is not None and c.absence is None
    )
    given, about = draft.given[name], draft.column(name).description
    said = say("given", value=given.get("value"), words=quoted(given))
    return say(
        "cell_found",
        name=name,
        about=about,
        row=row or "no other cell",
        given=said,
        finding=draft.cells[name].finding,
    )


def _without_table(table: str, cells: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name} {value_of(cell)!r}" for name, cell in cells.items())
    return say("row_of_no_table", told=told or "no cell", table=table)


def passages(
    drafts: Drafts,
    findings: Sequence[tuple[Draft, str]],
    missed: Sequence[Unread] = (),
    *,
    whole: bool = False,
) -> str:
    """Returns the text around the words of the findings, below the document's card and headings.
    The whole text is returned when `whole` is asked for, or when words were not found and so have
    no place.
    """
    source = drafts.source
    places = [place for draft, name in findings for place in _places(drafts, draft, name)]
    lost = whole or any(not _places(drafts, draft, name) for draft, name in findings)
    spans = (
        _merged(source, [*places, *((one.start, one.end) for one in missed)])
        if not lost
        else [(0, len(source.text))]
    )
    if sum(end - start for start, end in spans) > 0.7 * len(source.text):
        spans = [(0, len(source.text))]
    shown = []
    for start, end in spans:
        shown += [_LEFT_OUT] if start else []
        shown += [source.text[start:end].strip("\n")]
    if spans and spans[-1][1] < len(source.text):
        shown.append(_LEFT_OUT)
    head = chunk_head(source.chunk, source.card)
    return "\n\n".join(filter(None, (head, "\n".join(shown).strip())))


def _places(drafts: Drafts, draft: Draft, name: str) -> list[tuple[int, int]]:
    """The places of a cell's words, else the places of the other cells of its row."""
    cell = draft.cells[name].cell
    own = [drafts.local(span) for span in (cell.span, *cell.parts) if span is not None]
    inside = [
        (start, end)
        for start, end in own or drafts.near(draft, name)
        if start >= 0 and end <= len(drafts.source.text)
    ]
    return inside if own or len(draft.cells) > 1 else []


def _merged(source: Source, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Whole lines around places, together with the lines that name the columns of a grid; lines
    that touch are joined.
    """
    spans = []
    for start, end in places:
        spans.append(_widened(source.text, start, end))
        grid = next(
            (
                g
                for g in grids_of(source.text)
                if g.rows and g.rows[0].start <= start < g.rows[-1].end
            ),
            None,
        )
        if grid is not None and grid.header:
            spans.append((grid.header[0].start, grid.rows[0].start))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    low, high = max(0, start - _AROUND), min(len(text), end + _AROUND)
    line, stop = text.rfind("\n", max(0, low - _AROUND), low), text.find("\n", high, high + _AROUND)
    low = line + 1 if line >= 0 else low if not low else text.find(" ", low, start) + 1 or low
    high = (
        stop
        if stop >= 0
        else high
        if high == len(text)
        else text.rfind(" ", end, high)
        if " " in text[end:high]
        else high
    )
    return low, high
