"""The meter of calls and tokens, and the trace of one question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import starting, trace
from benchmarks.checkout import ROOT, store, stored
from benchmarks.economy.__main__ import totals
from benchmarks.economy.child import Meter, equal_characters


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
