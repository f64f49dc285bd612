"""The meter of calls and tokens, and the trace of one question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sliders
from benchmarks import starting, trace
from benchmarks.checkout import ROOT, store, stored
from benchmarks.economy.__main__ import totals
from benchmarks.economy.child import Meter, equal_characters, measure_queries
from benchmarks.economy.reports import ReportsReader, load


def test_equal_lines_count_with_all_their_characters() -> None:
    assert equal_characters("rules\ncolumns\nfirst\n", "rules\ncolumns\nsecond\n") == len(
        "rules\ncolumns\n"
    )
    assert equal_characters("one\n", "two\n") == 0


def test_a_meter_counts_calls_by_stage_and_repeats_of_reading_prompts_alone() -> None:
    meter = Meter()
    meter.count("schema", "a\n", 2, 1)
    meter.count("extract", "rules\nx\n", 4, 1)
    meter.count("extract", "rules\ny\n", 4, 2)
    assert meter.calls == {"schema": 1, "extract": 2} and meter.prompt_tokens["extract"] == 8
    assert (meter.repeated, meter.compared) == (6, 8)


def test_totals_add_up_stages_and_make_shares_of_the_sums() -> None:
    one = {
        "questions": 2,
        "answered": 2,
        "calls": 3,
        "tokens": 50,
        "repeated_characters": 6,
        "compared_characters": 8,
        "parts": 4,
        "parts_read": 1,
        "document_tokens": 25,
        "calls_by_stage": {"extract": 3},
        "prompt_tokens_by_stage": {"extract": 40},
        "reply_tokens_by_stage": {"extract": 10},
    }
    both = totals([one, one | {"calls_by_stage": {"answer": 3}}])
    assert both["calls"] == 6 and both["calls_by_stage"] == {"answer": 3, "extract": 3}
    assert (both["repeated_share"], both["parts_read_share"], both["documents_share"]) == (
        0.75,
        0.25,
        2.0,
    )


def test_one_small_question_is_answered_while_it_is_traced(tmp_path: Path) -> None:
    assert trace.main(["--json", str(tmp_path / "trace.json")]) == 0
    figures = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert figures["functions"] > figures["files"] > 10 and figures["calls"] >= figures["functions"]


def test_kept_figures_are_found_by_name_and_leave_each_other(tmp_path: Path) -> None:
    assert stored("trace", folder=tmp_path) is None
    store("trace", "before", {"files": 3}, tmp_path)
    store("trace", "earlier", {"files": 2}, tmp_path)
    store("trace", "before", {"files": 4}, tmp_path)
    assert stored("trace", folder=tmp_path) == {"files": 4} and stored(
        "trace", "earlier", tmp_path
    ) == {"files": 2}
    assert stored("trace", "never", tmp_path) is None


def test_a_start_is_measured_in_processor_seconds_and_has_to_work() -> None:
    work = ("-c", "sum(range(3_000_000)); print('done')")
    nothing = ("-c", "print('done')")
    assert (
        starting.seconds(work, {}, "done", ROOT) > starting.seconds(nothing, {}, "done", ROOT) > 0
    )
    with pytest.raises(RuntimeError, match="ended with 3"):
        starting.seconds(("-c", "raise SystemExit(3)"), {}, "", ROOT)
    with pytest.raises(RuntimeError, match="ended with 0: other"):
        starting.seconds(("-c", "print('other')"), {}, "done", ROOT)


def test_queries_over_advisories_read_each_document_once() -> None:
    figures = measure_queries(sliders)
    assert figures["answered"] == figures["questions"] == 3
    assert figures["calls"] <= 14 and figures["tokens"] < 2 * figures["document_tokens"]


READ = """
Table reports: one row is a report
- employees (integer): people
- net_sales (number): sales

<document>
From: file COSTCO 2021 10K; Form 10-K
{text}
</document>
"""


def test_the_reader_of_reports_says_what_its_prompt_prints_and_nothing_else() -> None:
    reader = ReportsReader(load())
    assert reader.rows(READ.format(text="We sell goods. Net sales were 1,000.")) == []
    told = READ.format(text="We employed 288,000 employees.\n| Net sales | $192,052 | $163,220 |")
    (row,) = reader.read(told)["rows"]
    assert row["cells"]["employees"] == {"value": 288000.0, "words": ["288,000"]}
    assert row["cells"]["net_sales"]["words"] == ["192,052"]
    missed = set(reader.missed())
    assert "COSTCO_2021_10K.employees" not in missed and "COSTCO_2021_10K.auditor" in missed
    assert len(missed) == 68


def test_the_reader_of_reports_chooses_parts_by_the_words_of_their_outline() -> None:
    parts = """
- net_sales (number): sales
<part number="1">Risk factors
<part number="2">Segments | Net sales; Profit
<part number="3">Consolidated statements of income
"""
    assert ReportsReader(load()).parts(parts) == [3]
    assert ReportsReader(load()).parts(parts.replace("statements of income", "notes")) == [2]
