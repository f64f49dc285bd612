"""One statement on trial: checked, repaired, run, tidied and reviewed; code only, no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

from sqlglot import exp

from sliders.answer.compare import comparison_sql
from sliders.answer.filings import year_columns
from sliders.answer.joins import both_sql, single_table_sql, values_of_one_sql, without_repetition_sql
from sliders.answer.missing import bring_in
from sliders.answer.profile import TableProfile
from sliders.answer.prune import asked_columns, keep
from sliders.answer.question import NamedValue
from sliders.answer.repair import repair
from sliders.answer.review import Finding, is_zero, review
from sliders.answer.rewritings import with_spoken_sql, without_invented_sql, without_unstated_sql
from sliders.answer.scope import DIALECT, Names, parse_select
from sliders.answer.shape import empty
from sliders.answer.ties import with_ties_sql
from sliders.answer.values import QueryResult, RunSql, SqlAttempt
from sliders.errors import QueryError, StoreError

MAX_TIES = 20
ERROR_WEIGHT = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that was tried, with its result when it ran; the lighter its `weight`, the less is odd about it."""

    attempt: SqlAttempt
    weight: int
    tree: exp.Query | None = None
    result: QueryResult | None = None
    findings: tuple[Finding, ...] = ()


class _Trial:
    """The statement as it stands, what it gave, and what was done to it."""

    def __init__(self, profiles: Sequence[TableProfile], run_sql: RunSql) -> None:
        self.profiles = profiles
        self.run_sql = run_sql
        self.repairs: list[str] = []
        self.sql = ""
        self.tree: exp.Query
        self.result: QueryResult

    def run(self, tree: exp.Query, note: str = "") -> None:
        """Run `tree` and take it for the statement."""
        self.sql = tree.sql(DIALECT)
        self.tree, self.result = tree, self.run_sql(self.sql)
        if note:
            self.repairs.append(note)

    def names(self) -> Names:
        return Names(self.tree, self.profiles)

    def tidy_joins(self) -> None:
        """Take away joins that only repeat rows, or that leave nothing of a table that holds all."""
        once = without_repetition_sql(self.tree, self.names(), self.run_sql)
        if once:
            self.run(parse_select(once), "a join that only repeats rows is left out")
        if not empty(self.result.rows) and not is_zero(self.result):
            return
        both = both_sql(self.tree.copy(), self.names())
        if both and not empty((tried := self.run_sql(both)).rows):
            self.run(parse_select(both), "no row holds both values: asked of what they belong to")
            return
        for rewritten, note in (
            (single_table_sql, "the join gave nothing: one table alone is asked"),
            (values_of_one_sql, "the join gave nothing: the table that is read holds the tested values itself"),
        ):
            alone = rewritten(self.tree, self.names())
            if alone and not empty((tried := self.run_sql(alone)).rows) and not is_zero(tried):
                self.run(parse_select(alone), note)
                return

    def keep_ties(self) -> None:
        """Keep every row that is equal to the first one."""
        wide = with_ties_sql(self.tree)
        if wide and len(self.result.rows) == 1 and 1 < len(rows := self.run_sql(wide).rows) <= MAX_TIES:
            self.run(parse_select(wide), f"{len(rows)} rows tie: all are kept")

    def leave_out(self, question: str) -> None:
        """Leave out columns that were not asked for."""
        kept = asked_columns(question, self.tree, self.result.rows)
        if kept is not None and isinstance(self.tree, exp.Select):
            self.run(keep(self.tree, kept), "columns that were not asked for are left out")


def try_sql(
    question: str, written: str, profiles: Sequence[TableProfile], named: Sequence[NamedValue], run_sql: RunSql
) -> Candidate:
    """Check, repair, run and review one statement; errors become findings."""
    trial = _Trial(profiles, run_sql)
    trial.sql = written
    try:
        tree = parse_select(written)
        trial.repairs += year_columns(tree, profiles)
        trial.repairs += bring_in(tree, profiles)
        trial.repairs += Names(tree, profiles).repair()
        trial.repairs += repair(tree, Names(tree, profiles), question, named)
        trial.run(tree)
        trial.tidy_joins()
        trial.keep_ties()
        trial.leave_out(question)
    except (QueryError, StoreError) as error:
        attempt = SqlAttempt(written, trial.sql, tuple(trial.repairs), (str(error),), str(error))
        return Candidate(attempt, ERROR_WEIGHT)
    best = _judged(question, written, trial, named)
    rewrites: Sequence[tuple[Callable[[], str | None], str]] = (
        (lambda: comparison_sql(question, trial.tree, trial.names(), run_sql), "the two years are set side by side"),
        (
            lambda: without_invented_sql(question, trial.tree, trial.result, trial.names(), named),
            "a filter on what the question does not name is left out",
        ),
        (
            lambda: without_unstated_sql(trial.tree, trial.result, trial.names()),
            "a test that a column has a value is left out: it has none in any row",
        ),
        (lambda: with_spoken_sql(question, trial.tree, trial.names()), "the number that the question speaks of is read"),
    )
    for rewritten, note in rewrites:
        if not best.weight:
            return best
        try:
            if (other := rewritten()) is None:
                continue
            tried = copy(trial)
            tried.repairs = list(trial.repairs)
            tried.run(parse_select(other), note)
        except (QueryError, StoreError):
            continue
        if (judged := _judged(question, written, tried, named)).weight < best.weight:
            best, trial = judged, tried
    return best


def _judged(question: str, written: str, trial: _Trial, named: Sequence[NamedValue]) -> Candidate:
    findings = tuple(review(question, trial.tree, trial.result, trial.profiles, named, trial.run_sql))
    texts = tuple(one.text for one in findings)
    attempt = SqlAttempt(written, trial.sql, tuple(trial.repairs), texts, "", len(trial.result.rows))
    return Candidate(attempt, sum(one.weight for one in findings), trial.tree, trial.result, findings)
