"""The part of a prompt that shows the tables to a model that writes SQL. Nothing here runs a query
or calls a model, so that `--dry-run` can print the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rapidfuzz import utils

from sliders.answer.finding import Finding, Kind, cell_text
from sliders.answer.profile import MAX_EXAMPLES, ColumnProfile, TableProfile
from sliders.answer.turns import QueryResult, SqlTurn
from sliders.schema.types import ColumnType
from sliders.sql.quoting import plain_identifier, quote_literal
from sliders.values.expected import DATED, NUMERIC, TEXTUAL

LOOK_ROWS = 50


@dataclass(frozen=True, slots=True)
class Shown:
    """Limits on the part of the tables that a prompt shows.

    Args:
        values: the most distinct values that are listed of a column.
        characters: the most characters of a column's listed values together.
        longest: the most characters of a value that is listed whole.
        examples: the number of example rows.
        max_tokens: the most tokens of the reply.
        turns: the most turns of the conversation.
        named: the most values listed because the question names them.
        total: the most characters of all tables together.
        sent: the kinds of finding that are sent back to the model.
    """

    values: int
    characters: int
    longest: int
    examples: int
    max_tokens: int
    turns: int
    named: int
    total: int
    sent: frozenset[Kind]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the conversation with the model.

    Args:
        attempt: the reply of the model.
        told: the sentences that were sent back.
        result: the result of the statement; None when it did not run.
        found: the findings about that result.
        informed: True when the model had seen the values behind a count of 0 before this turn.
    """

    attempt: SqlTurn
    told: tuple[str, ...]
    result: QueryResult | None = None
    found: tuple[Finding, ...] = ()
    informed: bool = False


def schema_sql(profiles: Sequence[TableProfile], shown: Shown) -> str:
    """Returns the tables as commented CREATE TABLE statements. When the text exceeds `shown.total`
    characters, it lists fewer values and rows.
    """
    text = "\n\n".join(_table_sql(profile, shown) for profile in profiles)
    if len(text) <= shown.total or shown.values <= _FEWEST:
        return text
    half = replace(
        shown,
        values=shown.values // 2,
        characters=shown.characters // 2,
        examples=shown.examples // 2,
    )
    return schema_sql(profiles, half)


def on_one_line(text: str) -> str:
    """Returns a text without line breaks. A line of its own in a comment could pass for a statement
    or a question.
    """
    return " ".join(text.splitlines())


def _table_sql(profile: TableProfile, shown: Shown) -> str:
    table = profile.view.table
    about = [f"one row: {table.row}" if table.row else "", table.description]
    reach = "all rows" if table.key_scope == "collection" else "rows of a document"
    about.append(f"{reach} are told apart by {', '.join(table.key)}" if table.key else "")
    told = on_one_line("; ".join([f"{profile.rows} rows", *filter(None, about)]))
    lines = [f"CREATE TABLE {plain_identifier(table.name)} ( -- {told}"]
    for column in profile.columns:
        brief = (
            replace(shown, values=_FEW_NUMBERS)
            if column.column.name == profile.view.document
            else shown
        )
        told = on_one_line(
            "; ".join(filter(None, [_meaning(column), _summary(column, brief), _surety(column)]))
        )
        lines.append(
            f"  {plain_identifier(column.column.name)} {column.column.type.sql}, -- {told}"
        )
    lines.append(");")
    for row in profile.examples[: shown.examples]:
        lines.append(
            on_one_line(f"-- a row: {' | '.join(cell_text(_cut(cell, shown)) for cell in row)}")
        )
    return "\n".join(lines)


def _cut(cell: object, shown: Shown) -> object:
    return (
        f"{cell[: shown.longest]}..."
        if isinstance(cell, str) and len(cell) > shown.longest
        else cell
    )


def _meaning(profile: ColumnProfile) -> str:
    column, beside = profile.column, profile.companion
    if beside is not None:
        return f"{_BESIDE[beside.role]} {beside.companion_of}"
    unit = column.measured_in
    words = (column.meaning or column.description).strip().rstrip(".")
    said = f"{words} (in {unit})" if unit and words else words or (f"in {unit}" if unit else "")
    return f"{said}; judged by a reader" if column.reading == "judged" else said


_BESIDE = {
    "doubt": "why the value is not verified: of",
    "bound": "how the number is bounded: of",
    "canonical": "one name for all printed forms: of",
}


def _surety(profile: ColumnProfile) -> str:
    """Returns the counts of judged and of unverified values in words; "" when there are none."""
    judged = (
        f"{profile.judged} judged" if profile.judged and profile.column.reading != "judged" else ""
    )
    doubted = f"{profile.doubted} not verified, see {profile.doubt}" if profile.doubted else ""
    return "; ".join(filter(None, (judged, doubted)))


def _summary(profile: ColumnProfile, shown: Shown) -> str:
    """Returns a column's values in a few words: the range of numbers and dates, or a short list of
    values, and the number of NULLs.
    """
    if profile.distinct == 0:
        return "always NULL"
    kind = profile.column.type
    if kind is ColumnType.BOOLEAN:
        counts = {int(bool(value)): count for value, count in profile.values}
        said = f"1 = yes ({counts.get(1, 0)} rows), 0 = no ({counts.get(0, 0)} rows)"
    elif kind in NUMERIC and profile.distinct > _FEW_NUMBERS:
        said = f"{_brief(profile.lowest)} to {_brief(profile.highest)}"
    elif kind in NUMERIC:
        said = ", ".join(sorted(profile.texts, key=float))
    elif kind in DATED:
        said = f"{_date_forms(profile)}, {profile.lowest} to {profile.highest}"
    else:
        said = _listed(profile, shown)
    return f"{said}; {profile.nulls} NULL" if profile.nulls else said


def _date_forms(profile: ColumnProfile) -> str:
    """Returns the forms of a column's dates in words. Some documents give only a year or a month,
    and SQLite's date functions return NULL for these.
    """
    lengths = {len(text) for text in profile.texts if len(text) < len(_DAY)}
    forms = [repr(_DAY[:length]) for length in sorted(lengths)]
    return (
        f"{' or '.join([*forms, repr(_DAY)])}, of the shorter ones strftime makes NULL"
        if forms
        else repr(_DAY)
    )


_DAY = "YYYY-MM-DD"
_FEW_NUMBERS = 6
_FEWEST = 3


def _listed(profile: ColumnProfile, shown: Shown) -> str:
    short = [quote_literal(text) for text in profile.texts if len(text) <= shown.longest]
    whole = profile.complete and len(short) == profile.distinct <= shown.values
    if whole and sum(map(len, short)) <= shown.characters:
        return "values " + ", ".join(short)
    if not shown.examples:  # a small model takes shown values for the question
        return (
            f"{profile.distinct} different, like "
            f"{short[0] if short else quote_literal(profile.texts[0][: shown.longest])}"
        )
    if profile.distinct == profile.rows - profile.nulls:
        like = f", like {', '.join(short[:MAX_EXAMPLES])}" if short else ", long texts"
        return f"all different{like}; look up the rest"
    most = [
        f"{quote_literal(str(value))} ({count})"
        for value, count in profile.values
        if len(str(value)) <= shown.longest
    ]
    return (
        f"{profile.distinct} different, most frequent {', '.join(most[: shown.values // 3])}; "
        "look up the rest"
    )


def _brief(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def named_values(question: str, profiles: Sequence[TableProfile], most: int) -> list[str]:
    """Returns the values of text columns that the question names, each with its columns; at most
    `most`.

    Values that stand word for word in the question come first, the longest before the others; then
    values with all words of a name in the question ("Anna Berg" in "Anna Maria Berg").
    """
    asked, names = f" {_plain(question)} ", _names(question)
    places: dict[str, list[str]] = {}
    near: dict[str, list[str]] = {}
    for profile in profiles:
        for column in profile.columns:
            if column.column.type not in TEXTUAL or (
                column.companion is not None and column.companion.role != "canonical"
            ):
                continue
            exact = [
                text
                for text in column.texts
                if len(key := _plain(text)) > 1 and not key.isdigit() and f" {key} " in asked
            ]
            for text in exact:
                places.setdefault(text, []).append(column.column.name)
            for text in () if exact else _nearly_named(names, column.texts):
                near.setdefault(text, []).append(column.column.name)
    longest = sorted(places, key=lambda text: -len(text))
    kept = [
        t
        for t in longest
        if not any(len(o) > len(t) and f" {_plain(t)} " in f" {_plain(o)} " for o in longest)
    ]
    said = [
        f"{quote_literal(text)} is in {', '.join(dict.fromkeys(places[text]))}" for text in kept
    ]
    said += [
        f"{quote_literal(text)}, which is near, is in {', '.join(dict.fromkeys(columns))}"
        for text, columns in near.items()
    ]
    return [on_one_line(one) for one in said[:most]]


def _names(question: str) -> list[frozenset[str]]:
    """Returns the names in a question, each as its set of plain words: runs of two to six words
    that begin and end with a capitalised word; the longest first.
    """
    words = _WORD.findall(question)
    tall = [at for at, word in enumerate(words) if word[0].isupper()]
    runs = [words[a : b + 1] for a in tall for b in tall if 1 <= b - a < _LONGEST_NAME]
    return [frozenset(_plain(" ".join(run)).split()) for run in sorted(runs, key=len, reverse=True)]


def _nearly_named(names: Sequence[frozenset[str]], texts: Sequence[str]) -> list[str]:
    """Returns the values that hold every word of the longest name that any value holds; [] when
    more than `_MOST_NEAR` values do.
    """
    words = [frozenset(_plain(text).split()) for text in texts]
    for name in names:
        if found := [text for text, held in zip(texts, words, strict=True) if name <= held]:
            return found if len(found) <= _MOST_NEAR else []
    return []


_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_LONGEST_NAME = 6
_MOST_NEAR = 3


def _plain(text: str) -> str:
    return " ".join(utils.default_process(text).split())


def result_lines(result: QueryResult, most: int = LOOK_ROWS) -> list[str]:
    """Returns a result as lines of text: the column names, then at most `most` rows, then the
    number of rows left out.
    """
    rows = [" | ".join(cell_text(cell) for cell in row)[:500] for row in result.rows[:most]]
    more = len(result.rows) - most
    return [" | ".join(result.columns), *rows, *([f"... and {more} rows more"] if more > 0 else [])]


def shown_values(
    question: str, profiles: Sequence[TableProfile], shown: Shown, uncovered: str
) -> dict[str, object]:
    """Returns the variables of a prompt that asks for the statement of one question."""
    return {
        **table_values(profiles, shown),
        "named": named_values(question, profiles, shown.named),
        "uncovered": uncovered,
        "question": question,
    }


def table_values(profiles: Sequence[TableProfile], shown: Shown) -> dict[str, object]:
    """Returns the variables of a prompt that show the tables."""
    roles = {c.companion.role for p in profiles for c in p.columns if c.companion is not None}
    return {"tables": schema_sql(profiles, shown), "beside": sorted(roles)}
