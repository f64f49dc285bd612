"""A year or a month that a question asks about, where a statement compares a date with one day of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from sliders.answer.profile import DATED
from sliders.answer.scope import Names
from sliders.extraction.dates import dates_in

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def repair_periods(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """Compare the year or month that the question states, not a day of it that the question does not."""
    stated = dates_in(question, day_first=True)
    if any(date.full for date in stated) or len(years := set(_YEAR.findall(question))) != 1:
        return
    (year,) = years
    months = {f"{date.year:04d}-{date.month:02d}" for date in stated if date.month is not None}
    for node in list(tree.find_all(exp.EQ)):
        found, day = names.resolve(node.this), node.expression
        if not found or found[1].column.type not in DATED or not isinstance(day, exp.Literal) or not day.is_string:
            continue
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", day.name) or not day.name.startswith(year):
            continue
        period = next(iter(months)) if len(months) == 1 else year
        if day.name.startswith(period):
            node.replace(exp.Like(this=node.this.copy(), expression=exp.Literal.string(f"{period}-%")))
            yield f"{found[1].column.name} compared with {period}, which the question asks about, not with one day"
