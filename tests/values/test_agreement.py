"""Words agree with a value, contradict it, or are not understood; only understood words
speak against a value.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from sliders.documents import heading_level
from sliders.schema import Column
from sliders.values import (
    ColumnType,
    Context,
    Verdict,
    agreement,
    evaluate,
    is_note,
    scale_in,
    title_note,
    unit_note,
)

_KINDS = (ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.DATE, ColumnType.TEXT)
NUMBER, WHOLE, DAY, TEXT = (Column("x", kind) for kind in _KINDS)


def verdict(value: object, words: str, column: Column, language: str = "") -> str:
    return agreement(value, words, column, Context(language=language)).verdict.value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "words", "column", "language"),
    [
        (1.2e9, "1,2 miljarder kronor", NUMBER, ""),
        (1.2e6, "1,2 miljoonaa euroa", NUMBER, ""),
        (1.2e9, "1,2 milyar lira", NUMBER, "other"),
        (17, "on yedi çalışan", WHOLE, "other"),
        (24, "zwei Dutzend", WHOLE, "de"),
        (2_300_000, "deux millions trois cent mille", NUMBER, "fr"),
        ("2021-03-03", "3 Mart 2021", DAY, "other"),
        ("2021-03-01", "Anfang März 2021", DAY, "de"),
        ("2024-03-15", "本月15日", DAY, "zh"),
        ("2024-03-03", "3 มีนาคม 2567", DAY, ""),
        ("2021-03-03", "٢٠ رجب ١٤٤٢ هـ", DAY, "ar"),
        ("Berlin", "der Berliner Bürgermeister", TEXT, "de"),
        ("chairman", "董事长", TEXT, "zh"),
        (2.5, "两倍半", NUMBER, "zh"),
        (0, "нет", WHOLE, "ru"),
    ],
)
def test_what_code_does_not_know_is_not_held_against_a_value(
    value: object, words: str, column: Column, language: str
) -> None:
    assert verdict(value, words, column, language) == Verdict.UNKNOWN.value


@pytest.mark.parametrize(
    ("value", "words", "column", "language"),
    [
        (860_000, "860 employees", WHOLE, ""),
        (17, "several visitors", WHOLE, "en"),
        (6, "five", WHOLE, ""),
        (11, "once again", WHOLE, ""),
        (100, "one cent", WHOLE, ""),
        (1.5, "1.5e-7", NUMBER, ""),
        (45, "сто сорок человек", WHOLE, "ru"),
        (4, "drei Besucher", WHOLE, "de"),
        (1.3e9, "1,2 milyar lira", NUMBER, "other"),
        (7, "1亿", NUMBER, "zh"),
        (28.9, "28.9亿元", NUMBER, "zh"),
        (12, "1,2 млн", NUMBER, "ru"),
        ("2021-01-01", "2021", DAY, ""),
        ("2021-03-01", "in March 2021", DAY, "en"),
        ("2021-03-01", "im März 2021", DAY, "de"),
        ("2024-03-04", "March 3", DAY, ""),
        ("2024-03-16", "3月15日", DAY, "zh"),
        ("2020-03-03", "3 Mart 2021", DAY, "other"),
        ("2021-06-03", "3 мая 2021 года", DAY, "ru"),
        ("Mueller", "Meier", TEXT, "en"),
    ],
)
def test_words_understood_as_another_value_speak_against_it(
    value: object, words: str, column: Column, language: str
) -> None:
    assert verdict(value, words, column, language) == Verdict.CONTRADICTS.value


@pytest.mark.parametrize(
    ("value", "words", "column", "language"),
    [
        (5, "5 bio products", WHOLE, ""),
        (1234.5, "1’234.50", NUMBER, "de"),
        (2_000_000, "deux millions", NUMBER, "fr"),
        (3, "三名", WHOLE, "zh"),
        (3200, "三千二百", WHOLE, ""),
        (23, "dreiundzwanzig", WHOLE, "de"),
        (35000, "3만5천명", WHOLE, "ko"),
        (1234567, "12,34,567", WHOLE, ""),
        (28.9, "28.9亿元", Column("x", ColumnType.NUMBER, scale="hundred millions"), "zh"),
        (0.125, "12.5％", NUMBER, "zh"),
        ("2023-03-31", "令和5年3月31日", DAY, "ja"),
        ("2021-03-03", "3-го марта 2021 г.", DAY, "ru"),
        ("2034-03", "w marcu 2034 r.", DAY, "pl"),
        ("张伟", "总经理张伟", TEXT, "zh"),
    ],
)
def test_words_that_print_a_value_carry_it(
    value: object, words: str, column: Column, language: str
) -> None:
    assert verdict(value, words, column, language) == Verdict.AGREES.value


@pytest.mark.parametrize(
    ("printed", "code", "said"),
    [
        ("¥1,234", "CNY", "agrees"),
        ("¥1,234", "JPY", "agrees"),
        ("1,234元", "CNY", "agrees"),
        ("1,234元", "EUR", "contradicts"),
        ("1,234 RMB", "CNY", "agrees"),
        ("1,234 долларов США", "USD", "agrees"),
        ("1,234 долларов США", "RUB", "contradicts"),
        ("1,234 pesos", "COP", "agrees"),
        ("1,234 euros", "USD", "contradicts"),
        ("1,234 dinars", "TND", "agrees"),
    ],
)
def test_a_mark_of_several_currencies_is_none_of_the_others(
    printed: str, code: str, said: str
) -> None:
    assert verdict(1234, printed, Column("x", ColumnType.NUMBER, currency=code)) == said


@pytest.mark.parametrize(
    ("note", "scale"),
    [
        ("(in Tausend Euro)", "thousands"),
        ("in Mio. EUR", "millions"),
        ("Beträge in TEUR", "thousands"),
        ("(en miles de euros)", "thousands"),
        ("(单位：百万元)", "millions"),
        ("（万元）", "ten thousands"),
        ("(単位：百万円)", "millions"),
        ("(단위: 백만원)", "millions"),
        ("(в тыс. руб.)", "thousands"),
        ("(тыс. руб.)", "thousands"),
        ("(بآلاف الدولارات)", "thousands"),
        ("(करोड़ रुपये में)", "crores"),
        ("(w tys. zł)", "thousands"),
        ("(v tis. Kč)", "thousands"),
        ("(em milhares de reais)", "thousands"),
        ("(in migliaia di euro)", "thousands"),
        ("(bedragen in duizenden euro's)", "thousands"),
        ("(en M€)", "millions"),
        ("单位：元", ""),
        ("(in millions, except per share data)", "millions"),
    ],
)
def test_a_note_of_units_is_one_in_any_of_the_languages(note: str, scale: str) -> None:
    assert is_note(note) and scale_in(note) == scale


@pytest.mark.parametrize(
    "line",
    [
        "The fund in Berlin",
        "(2023)",
        "(Note 5)",
        "（注）",
        "3万元",
        "(die Stadt)",
        "Umsatz in Mio. EUR",
        "万科公司",
    ],
)
def test_a_line_that_says_more_is_no_note(line: str) -> None:
    assert not is_note(line)


def test_a_note_at_the_end_of_a_line_is_taken() -> None:
    assert (
        unit_note("主要财务数据（万元）") == "（万元）"
        and unit_note("Umsatzerlöse (in Tsd. EUR):") == "(in Tsd. EUR)"
    )


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("第一章 总则", 1),
        ("一、公司概况", 3),
        ("제1장 총칙", 1),
        ("2.1 Данные", 3),
        ("1、主要财务数据", 2),
        ("RISK FACTORS", 2),
        ("公司二零二三年实现营业收入增长并且利润下降", 0),
        ("公司营业收入增长，利润下降。", 0),
        ("2.1 мы считаем", 0),
    ],
)
def test_headings_of_scripts_without_capitals(line: str, level: int) -> None:
    assert heading_level(line) == level


def test_arithmetic_reads_numerals_of_any_script() -> None:
    assert (evaluate("28.9亿 / 2"), evaluate("３ + 4"), evaluate("٤٠ * 2")) == (
        1_445_000_000,
        7,
        80,
    )


def test_importing_the_package_loads_no_language_data() -> None:
    code = (
        "import sys, sliders, sliders.values.numbers, sliders.values.dates; "
        "print('babel' in sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "False"
    )


@pytest.mark.parametrize(
    ("right", "wrong", "words", "language"),
    [
        (350_000, 300_000, "साढ़े तीन लाख रुपये", "hi"),
        (350_000, 300_000, "साढ़े 3 लाख रुपये", "hi"),
        (150, 100, "डेढ़ सौ", "hi"),
        (2_500, 2_000, "ढाई हज़ार", "hi"),
        (225, 200, "सवा दो सौ", "hi"),
        (17_500_000, 20_000_000, "पौने दो करोड़", "hi"),
        (1_500_000, 1_000_000, "anderthalb Millionen", "de"),
        (500_000, 1_000_000, "eine halbe Million", "de"),
        (2.5, 2, "zweieinhalb", "de"),
        (2_500_000, 2_000_000, "deux millions et demi", "fr"),
        (2.5, 2, "2 et demi", "fr"),
        (3_500_000, 3_000_000, "3 millones y medio", "es"),
        (2_500_000, 2_000_000, "due milioni e mezzo", "it"),
        (3.5, 3, "três e meio", "pt"),
        (2_500_000, 2_000_000, "tweeënhalf miljoen", "nl"),
        (1_500_000, 1_000_000, "półtora miliona", "pl"),
        (2_500_000, 2_000_000, "dva a půl milionu", "cs"),
        (1_500_000, 1_000_000, "полтора миллиона", "ru"),
        (2_500_000, 2_000_000, "два с половиной миллиона", "ru"),
        (3_500_000, 3_000_000, "ثلاثة ملايين ونصف", "ar"),
        (2_500, 2_005, "两千五", "zh"),
        (35_000, 30_005, "三万五", "zh"),
    ],
)
def test_a_half_in_words_is_part_of_its_number(
    right: float, wrong: float, words: str, language: str
) -> None:
    assert verdict(right, words, NUMBER, language) == "agrees"
    assert verdict(wrong, words, NUMBER, language) == "contradicts"


@pytest.mark.parametrize(
    ("value", "words", "language"),
    [
        (2.5, "2 heures et demie", "fr"),
        (2.5, "deux heures et demie", "fr"),
        (30, "eine halbe Stunde", "de"),
        (3.5, "3個半", "ja"),
        (3.5, "3시간 반", "ko"),
        (3.25, "trois heures et quart", "fr"),
    ],
)
def test_a_half_that_is_not_understood_is_never_held_against_a_value(
    value: float, words: str, language: str
) -> None:
    assert verdict(value, words, NUMBER, language) == "unknown"


def test_a_number_of_japanese_is_no_short_form_and_other_words_are_no_half() -> None:
    assert (
        verdict(2_005, "二千五", NUMBER, "ja")
        == verdict(2_005, "二千零五", NUMBER, "zh")
        == "agrees"
    )
    assert (
        verdict(10, "10 y medio ambiente", NUMBER, "es")
        == verdict(3, "3 nuits et demi-pension", NUMBER, "fr")
        == "agrees"
    )


@pytest.mark.parametrize(
    ("line", "scale"),
    [
        ("Operating costs (all amounts in thousands of euros)", "thousands"),
        ("| Costs (in thousands) |  |  |", "thousands"),
        ("Kosten in Tausend Euro", "thousands"),
        ("Kosten 2021 in Tsd. EUR", "thousands"),
        ("Coûts (en milliers d'euros)", "thousands"),
        ("Costos (en miles de euros)", "thousands"),
        ("Costi (migliaia di euro)", "thousands"),
        ("Koszty (w tys. zł)", "thousands"),
        ("Custos (em milhares de euros)", "thousands"),
        ("Kosten (in duizenden euro's)", "thousands"),
        ("Náklady (v tis. Kč)", "thousands"),
        ("Расходы, тыс. руб.", "thousands"),
        ("营业成本（单位：万元）", "ten thousands"),
        ("営業費用（単位：百万円）", "millions"),
        ("영업비용 (단위: 천원)", "thousands"),
        ("التكاليف (بآلاف اليورو)", "thousands"),
        ("व्यय (हज़ार रुपये में)", "thousands"),
        ("All amounts in thousands of euros", "thousands"),
        ("Fares (in euros)", ""),
        ("Fuel 1,845", None),
        ("We have spent thousands of euros", None),
        ("The club is known in millions of homes", None),
        ("| Item | Cost (EUR thousand) |", None),
        ("Item   Cost (EUR thousand)", None),
    ],
)
def test_a_title_states_a_scale_for_the_lines_below_it(line: str, scale: str | None) -> None:
    note = title_note(line)
    assert (note if note is None else scale_in(note)) == scale
