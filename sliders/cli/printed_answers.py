"""An answer for the terminal, as CSV, as Markdown and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sliders.answer.doubts import doubt_lines
from sliders.answer.result import Answer
from sliders.answer.result_shape import ResultTable, headline, needs_table, row_name, table_of
from sliders.cli.printed_tables import MOST_ROWS, csv_text, markdown_table, printed_table
from sliders.cli.shell import CommandCall, result_data
from sliders.progress import counted, duration

MOST_CITATIONS = 10


def answers_printed(answers: Sequence[Answer], call: CommandCall) -> str:
    """Answers in the format of the call. With CSV, a table for each answer; the rows of several
    answers start with their question. With CSV, everything beside the rows goes to standard error.
    """
    if call.format == "csv":
        several = len(answers) > 1
        for answer in answers:
            for line in _remarks(answer) if answer.rows else [answer.text, *_remarks(answer)]:
                about = f"{answer.question} " if several else ""
                print(f"sliders: {about}{line}", file=sys.stderr)
        return "\n\n".join(_csv_of(answer, several, call) for answer in answers)
    if call.format == "markdown":
        return "\n\n".join(map(answer_markdown, answers))
    return "\n\n".join(answer_text(answer, call.plain) for answer in answers)


def _csv_of(answer: Answer, named: bool, call: CommandCall) -> str:
    """The rows of an answer as CSV; with `named`, the first column holds its question."""
    rows: Sequence[tuple[Any, ...]] = answer.rows
    if not rows and answer.value is not None:
        rows = [(str(answer.value),)]
    columns, units = answer.columns or ("answer",), answer.units
    if named:
        rows = [(answer.question, *row) for row in rows or [("",) * len(columns)]]
        columns, units = ("question", *columns), ("", *units)
    return csv_text(columns, rows, units, call.csv_safe)


def answer_data(answer: Answer) -> dict[str, Any]:
    """Returns an answer as the command line's JSON: its rows by column name, in the form of
    `query`.
    """
    return answer.to_dict() | result_data(answer.frame, answer.units, answer.notes)


def answer_text(answer: Answer, plain: bool = False) -> str:
    """An answer for the terminal: words, SQL, rows, citations, completeness and cost."""
    table = _table(answer)
    lines = [f"Question: {answer.question}", f"Answer:   {_headline(answer)}"]
    if table is not None:
        lines.append(printed_table(table, plain, indent=2, most=MOST_ROWS))
    if answer.sql:
        lines.append("SQL:      " + "\n          ".join(answer.sql.splitlines()))
    if answer.citations:
        lines += ["Sources:", *_sources(answer)]
    lines += [f"{name + ':':<10}{line}" for name, line in _named_remarks(answer)]
    usage = answer.usage
    cost = f", ${usage.cost:.4f}" if usage.cost else ""
    cost += ", price not known (SLIDERS_PRICES)" if usage.unpriced_calls else ""
    kept = f"({usage.cached_tokens} of them kept by the server) " if usage.cached_tokens else ""
    lines.append(
        f"Cost:     {counted(usage.calls, 'call')} ({usage.cached_calls} known), "
        f"{usage.prompt_tokens} prompt {kept}and {usage.completion_tokens} generated tokens, "
        f"{duration(usage.seconds)}{cost}"
    )
    return "\n".join(lines)


def answer_markdown(answer: Answer) -> str:
    """An answer in Markdown: question, words, table, SQL, sources and remarks."""
    table = _table(answer)
    parts = [f"**{answer.question}**", _headline(answer)]
    parts += [markdown_table(table)] if table is not None else []
    parts += [f"```sql\n{answer.sql}\n```"] if answer.sql else []
    if answer.citations:
        parts.append("\n".join(f"- {line.strip()}" for line in _sources(answer)))
    parts.append("\n".join(f"- {name}: {line}" for name, line in _named_remarks(answer)))
    return "\n\n".join(parts)


def _table(answer: Answer) -> ResultTable | None:
    """The result as a table; None when the text of the answer holds all of it."""
    if not needs_table(answer.rows):
        return None
    return table_of(answer.columns, answer.rows, answer.units)


def _headline(answer: Answer) -> str:
    said = headline(answer.text, answer.rows)
    return said if said == answer.text or answer.complete else f"{said} ({answer.status})"


def _named_remarks(answer: Answer) -> list[tuple[str, str]]:
    """The remarks to an answer, each with its name."""
    told = []
    if answer.workflow not in ("extract_and_query", "reply", ""):
        told.append(("Way", answer.workflow.replace("_", " ")))
    if answer.range and str(answer.range):
        told.append(("Range", str(answer.range)))
    told += [("Doubt", line) for line in doubt_lines(answer.doubts)]
    told += [("Complete", line) for line in [_ledger(answer)] if line]
    told += [("See", gap.command) for gap in answer.completeness.missing if gap.command]
    return told + [("Note", note) for note in answer.notes]


def _ledger(answer: Answer) -> str:
    """The parts that are missing, without those that the words of the answer name."""
    said, whole = _headline(answer), answer.completeness
    left = replace(whole, missing=tuple(gap for gap in whole.missing if str(gap) not in said))
    return str(left) if whole.documents else "; ".join(left.remarks())


def _remarks(answer: Answer) -> list[str]:
    """The remarks beside the rows of an answer, without the mere number of documents."""
    told = [line for name, line in _named_remarks(answer) if name in ("Range", "Doubt", "Note")]
    return [*told, *answer.completeness.remarks()]


def _sources(answer: Answer) -> list[str]:
    """The first citations of each result row."""
    groups = answer.cited_rows
    several, shown = len(groups) > 1, 0
    cells = table_of(answer.columns, answer.rows, answer.units).cells if several else ()
    lines = []
    for row, cited in groups.items():
        few = cited[: max(1, MOST_CITATIONS // len(groups))]
        if shown + len(few) > MOST_CITATIONS:
            break
        if several and row is not None:
            lines.append(f"  row {row + 1}: {row_name(cells[row])}")
        lines += [f"  {'  ' if several else ''}{citation}" for citation in few]
        shown += len(few)
    more = len(answer.citations) - shown
    return [*lines, *([f"  and {more} more (--json lists them all)"] if more > 0 else [])]
