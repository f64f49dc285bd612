"""A statement as the model wrote it, and the same one in SQLite's dialect;
its meaning is never touched (law 5).
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sliders.answer.profile import TEXTUAL, TableProfile
from sliders.answer.references import References
from sliders.errors import QueryError
from sliders.schema.names import with_apostrophes
from sliders.values.folding import normalize

DIALECT = "sqlite"
_OTHERS = ("postgres", "mysql")
_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d"}
_PARTED = {exp.Year: "YEAR", exp.Month: "MONTH", exp.Day: "DAY"}
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)


def parse_select(sql: str, dialect: str = DIALECT) -> exp.Query:
    """The one SELECT of `sql`.

    Raises QueryError: it does not parse, is not one statement, or is not a SELECT.
    """
    try:
        trees = [
            t
            for t in sqlglot.parse(sql, dialect=dialect)
            if t is not None and not isinstance(t, exp.Semicolon)
        ]
    except (SqlglotError, RecursionError) as error:
        raise QueryError(
            f"the SQL does not parse: {str(error).splitlines()[0]}; write one SQLite SELECT"
        ) from error
    if len(trees) != 1:
        raise QueryError(f"{len(trees)} statements were given; write exactly one SELECT")
    if not isinstance(trees[0], exp.Query):
        raise QueryError("the statement is not a SELECT; write one SELECT")
    return trees[0]


def statement_in(reply: str) -> str:
    """The statement of a reply that may carry a code fence or a trailing semicolon;
    nothing else is taken off.
    """
    text = reply.strip()
    if "```" in text:
        text = text.split("```")[1]
        head, _, rest = text.partition("\n")
        text = rest if head.strip().isalpha() and rest.strip() else text
    return text.strip().removesuffix(";").strip()


def without_limit(sql: str) -> str:
    """The statement with all its rows.

    Raises QueryError: it is no single SELECT.
    """
    tree = parse_select(sql)
    tree.set("limit", None)
    return tree.sql(DIALECT)


def in_sqlite(sql: str, profiles: Sequence[TableProfile]) -> tuple[str, exp.Query]:
    """The statement to run and its tree; the very text that was given wherever SQLite
    reads it as it was meant.

    What other dialects say differently is said in SQLite's words: parts of dates, days and years
    between two dates, ILIKE, double quotes around a string, an apostrophe inside one, a text that
    the column holds in other letter case. Raises QueryError: it is no single SELECT in any dialect.
    """
    try:
        tree = parse_select(sql)
        changed = False
    except QueryError:
        tries = [(sql, other) for other in _OTHERS] + [(with_apostrophes(sql), DIALECT)]
        read = next(
            (t for text, dialect in tries if (t := _tried(text, dialect)) is not None), None
        )
        if read is None:
            raise
        tree, changed = read, True
    for node in list(
        tree.find_all(exp.Year, exp.Month, exp.Day, exp.Extract, exp.Anonymous, exp.TimeToStr)
    ):
        said = _of_date(node)
        if said is not None:
            node.replace(said)
            changed = True
    known = {
        name.lower()
        for p in profiles
        for name in (p.view.name, p.view.row_id, *(c.column.name for c in p.columns))
    }
    known |= {alias.alias.lower() for alias in tree.find_all(exp.Alias, exp.TableAlias)}
    for column in list(tree.find_all(exp.Column)):
        if (
            column.this.args.get("quoted")
            and not column.table
            and column.name.lower() not in known
            and '"' in sql
        ):
            column.replace(exp.Literal.string(column.name))
            changed = True
    changed = _row_numbers(tree, profiles) or changed
    changed = changed or tree.find(exp.ILike) is not None or _spelled(tree, profiles)
    return (tree.sql(DIALECT), parse_select(tree.sql(DIALECT))) if changed else (sql, tree)


_ROW_NUMBERS = ("rowid", "_rowid_", "oid")


def _row_numbers(tree: exp.Query, profiles: Sequence[TableProfile]) -> bool:
    """Write the table's own row identifier for SQLite's, which a view does not have;
    an order by it means nothing, and stays.
    """
    names, changed = References(tree, profiles), False
    for column in tree.find_all(exp.Column):
        if column.name.lower() not in _ROW_NUMBERS or names.of(column) is not None:
            continue
        owners = [names.aliases.get(column.table.lower())] if column.table else list(names.used())
        if (
            len(owners) == 1
            and owners[0] is not None
            and owners[0].view.row_id
            and not isinstance(_within(column), exp.Ordered)
        ):
            column.this.replace(exp.to_identifier(owners[0].view.row_id))
            changed = True
    return changed


def _within(column: exp.Column) -> exp.Expr | None:
    """The ORDER BY item or the statement that a column stands in, whichever is nearer."""
    return column.find_ancestor(exp.Ordered, exp.Select)


def _spelled(tree: exp.Query, profiles: Sequence[TableProfile]) -> bool:
    """Write texts that a test for equality names as their column holds them, where case, accents,
    quotes, full stops and commas alone differ: a "C#" is no "C++".
    """
    names, changed = References(tree, profiles), False
    for node in list(tree.find_all(exp.EQ, exp.NEQ, exp.In)):
        owner = names.of(node.this)
        if owner is None or owner[1].column.type not in TEXTUAL:
            continue
        for literal in node.expressions if isinstance(node, exp.In) else [node.expression]:
            if (
                isinstance(literal, exp.Literal)
                and literal.is_string
                and literal.name not in owner[1].texts
            ):
                held = [text for text in owner[1].texts if _form(text) == _form(literal.name)]
                if len(held) == 1 or (held and isinstance(node, exp.In)):
                    for text in held[1:]:
                        node.append("expressions", exp.Literal.string(text))
                    literal.replace(exp.Literal.string(held[0]))
                    changed = True
    return changed


_MARKS = str.maketrans(".,", "  ")


def _form(text: str) -> str:
    return " ".join(normalize(text).text.translate(_MARKS).split())


def _tried(sql: str, dialect: str) -> exp.Query | None:
    try:
        return parse_select(sql, dialect)
    except QueryError:
        return None


def _of_date(node: exp.Expr) -> exp.Expr | None:
    """A function of dates that SQLite lacks, in its words; None where it has it."""
    for kind, part in _PARTED.items():
        if isinstance(node, kind):
            return _part(_bare(node.this), part)
    if isinstance(node, exp.Extract) and node.name.upper() in _PARTS:
        return _part(_bare(node.expression), node.name.upper())
    if isinstance(node, exp.TimeToStr) and isinstance(node.parent, _COMPARED):
        parts = {form: part for part, form in _PARTS.items()}
        beside = [*node.parent.args.values(), *node.parent.expressions]
        numbered = any(isinstance(side, exp.Literal) and not side.is_string for side in beside)
        form = node.args["format"].name
        return _part(_bare(node.this), parts[form]) if numbered and form in parts else None
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 2:
        first, last = (side.sql(DIALECT) for side in node.expressions)
        spans = {
            "days_between": f"CAST(JULIANDAY({last}) - JULIANDAY({first}) AS INTEGER)",
            "years_between": (
                f"(CAST(SUBSTR({last}, 1, 4) AS INTEGER) - CAST(SUBSTR({first}, 1, 4) AS INTEGER) "
                f"- (SUBSTR({last}, 6) < SUBSTR({first}, 6)))"
            ),
        }
        said = spans.get(node.name.lower())
        return exp.maybe_parse(said, dialect=DIALECT) if said else None
    return None


def _part(date: exp.Expr, part: str) -> exp.Expr:
    """Year, month or day of ISO text as an integer (`strftime` reads a bare
    year as a day number).
    """
    start, length = {"YEAR": (1, 4), "MONTH": (6, 2), "DAY": (9, 2)}[part]
    return exp.maybe_parse(
        f"CAST(SUBSTR({date.sql(DIALECT)}, {start}, {length}) AS INTEGER)", dialect=DIALECT
    )


def _bare(node: exp.Expr) -> exp.Expr:
    """A date without what only says that it is one; "now" is a date by its function alone."""
    while isinstance(
        node, exp.TsOrDsToTimestamp | exp.TsOrDsToDate | exp.Date | exp.Paren | exp.Cast
    ):
        if isinstance(node.this, exp.Literal):
            break
        node = node.this
    return node
