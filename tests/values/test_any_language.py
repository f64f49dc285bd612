"""A perfect reader's values stand in any language: no finding, no doubt, no second call;
wrong ones are found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import sliders
from benchmarks.fidelity.gold import Fact, FactRow, FactTable, World
from benchmarks.fidelity.reader import PerfectReader
from benchmarks.fidelity.run import schema_of
from benchmarks.suites import GoldQuestion

Said = tuple[Any, str]
"""A value as the reader gives it, and its words."""


class Run:
    """One question over documents, each of which fills one row; `rechecks` are cells
    that a check sent back.
    """

    def __init__(
        self,
        folder: Path,
        documents: Sequence[str],
        columns: Mapping[str, Mapping[str, Any]],
        rows: Sequence[Mapping[str, Said]],
        asked: Sequence[tuple[str, str, object]],
    ) -> None:
        names = [f"d{number}.md" for number in range(len(documents))]
        facts = [
            {column: Fact(value, (words,)) for column, (value, words) in row.items()}
            for row in rows
        ]
        options = {name: {"description": name, **given} for name, given in columns.items()}
        table_rows = tuple(FactRow(name, row) for name, row in zip(names, facts, strict=True))
        table = FactTable("notices", options, table_rows, "document", "a notice")
        questions = tuple((GoldQuestion(q, q, ("",), "number"), sql) for q, sql, _ in asked)
        world = World("notices", dict(zip(names, documents, strict=True)), (table,), questions)
        reader = PerfectReader(world)
        for name, text in world.documents.items():
            (folder / name).write_text(text, encoding="utf-8")
        with sliders.Workspace(folder / "w.db", model=reader.model) as ws:
            ws.add([str(folder / name) for name in names])
            ws.pin_schema(schema_of(world))
            self.answers = [ws.ask(question) for question, _, _ in asked]
            stored = ws.session.catalog.extractions.rows("notices")
            self.doubts = {
                cell.column: cell.doubt for row in stored for cell in row.cells if cell.doubt
            }
            self.absent = [cell for row in stored for cell in row.cells if cell.absence is not None]
            self.titles = [document.title for document in ws.session.catalog.documents.all()]
        self.rechecks = [name for name, _ in reader.doubted]

    def fine(self, asked: Sequence[tuple[str, str, object]]) -> None:
        """Every answer is right and answered, and nothing was doubted or asked about again."""
        assert not self.rechecks and not self.doubts and not self.absent
        for answer, (question, _, value) in zip(self.answers, asked, strict=True):
            assert (answer.value, answer.status) == (value, "answered"), question


MONEY, PEOPLE = {"type": "number", "currency": "CNY"}, {"type": "integer"}
SHARE, DAY = {"type": "number", "unit": "%"}, {"type": "date"}
CHINESE = (
    (
        "# "
        "东江股份有限公司2023年度报告摘要\n\n公司2023年度实现营业收入28.9亿元，同比增长12.5%。截至2023年末，公司员工860名。本报告于2024年4月1日公告。",
        {
            "revenue": (2890000000, "营业收入28.9亿元"),
            "staff": (860, "员工860名"),
            "growth": (12.5, "同比增长12.5%"),
            "published": ("2024-04-01", "2024年4月1日"),
        },
    ),
    (
        (
            "# 南湖集团公告\n\n报告期内营业收入为3,450万元，同比下降4.2%。公司在职员工一百二十人。"
            "公告日期：2024年3月28日。"
        ),
        {
            "revenue": (34500000, "3,450万元"),
            "staff": (120, "在职员工一百二十人"),
            "growth": (-4.2, "同比下降4.2%"),
            "published": ("2024-03-28", "2024年3月28日"),
        },
    ),
    (
        (
            "# 北山科技业绩快报\n\n（单位：万元）\n\n| 项目 | 2023年度 |\n|---|---|\n"
            "| 营业收入 | 12,080 "
            "|\n\n员工总数为三千二百人，收入增长率8.1％。二〇二四年二月五日发布。"
        ),
        {
            "revenue": (120800000, "12,080"),
            "staff": (3200, "三千二百人"),
            "growth": (8.1, "8.1％"),
            "published": ("2024-02-05", "二〇二四年二月五日"),
        },
    ),
    (
        (
            "# 西岭能源年度公告\n\n2023年营业收入1.2亿元，增长百分之六点五，员工４５６名，公告"
            "于2024年4月30日刊登。"
        ),
        {
            "revenue": (120000000, "营业收入1.2亿元"),
            "staff": (456, "员工４５６名"),
            "growth": (6.5, "百分之六点五"),
            "published": ("2024-04-30", "2024年4月30日"),
        },
    ),
    (
        (
            "# 中原食品公告\n\n全年实现营业收入人民币5亿元，较上年增长3%，现有员工1,024人。公告"
            "日：2024年4月12日。"
        ),
        {
            "revenue": (500000000, "人民币5亿元"),
            "staff": (1024, "员工1,024人"),
            "growth": (3, "增长3%"),
            "published": ("2024-04-12", "2024年4月12日"),
        },
    ),
    (
        "# 海滨港务公告\n\n本公司全年收入9800万元，同比增长0.8%，员工人数77人。2024年1月31日。",
        {
            "revenue": (98000000, "收入9800万元"),
            "staff": (77, "77人"),
            "growth": (0.8, "0.8%"),
            "published": ("2024-01-31", "2024年1月31日"),
        },
    ),
)
ASKED = (
    ("六家公司的营业收入合计是多少？", "SELECT SUM(revenue) FROM notices", 3763300000),
    ("员工最多的公司有多少员工？", "SELECT MAX(staff) FROM notices", 3200),
    ("员工一共有多少人？", "SELECT SUM(staff) FROM notices", 5737),
    ("收入增长率最高是多少？", "SELECT MAX(growth) FROM notices", 12.5),
    ("最早的公告日期是哪一天？", "SELECT MIN(published) FROM notices", "2024-01-31"),
)
COLUMNS = {"revenue": MONEY, "staff": PEOPLE, "growth": SHARE, "published": DAY}


def test_chinese_announcements_are_answered_without_a_doubt_or_a_second_call(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path, [text for text, _ in CHINESE], COLUMNS, [row for _, row in CHINESE], ASKED)
    run.fine(ASKED)
    assert run.titles[0] == "东江股份有限公司2023年度报告摘要"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("revenue", 28900000),
        ("revenue", 2980000000),
        ("staff", 680),
        ("growth", 15.2),
        ("published", "2024-01-04"),
    ],
)
def test_a_wrong_value_of_a_chinese_announcement_is_found(
    tmp_path: Path, column: str, value: object
) -> None:
    text, row = CHINESE[0]
    run = Run(tmp_path, [text], COLUMNS, [row | {column: (value, row[column][1])}], ASKED[:1])
    assert run.rechecks == [column] and set(run.doubts) == {column}


OTHERS = {
    "ru": (
        (
            "# Отчёт компании\n\nВыручка за 2023 год составила 1,2 млн рублей, в штате двадцать "
            "три человека. Отчёт утверждён 3 марта 2024 года."
        ),
        {
            "revenue": (1200000, "1,2 млн рублей"),
            "staff": (23, "двадцать три человека"),
            "published": ("2024-03-03", "3 марта 2024 года"),
        },
        "RUB",
    ),
    "de": (
        (
            "# Geschäftsbericht\n\nDer Umsatz betrug 28,9 Mio. Euro, die Gruppe hat drei "
            "Mitarbeiter. Veröffentlicht am 3. März 2024."
        ),
        {
            "revenue": (28900000, "28,9 Mio. Euro"),
            "staff": (3, "drei Mitarbeiter"),
            "published": ("2024-03-03", "3. März 2024"),
        },
        "EUR",
    ),
    "ja": (
        "# 決算短信\n\n売上高は3億円、従業員は８６０名です。2024年4月1日に公表しました。",
        {
            "revenue": (300000000, "3億円"),
            "staff": (860, "８６０名"),
            "published": ("2024-04-01", "2024年4月1日"),
        },
        "JPY",
    ),
    "ar": (
        (
            "# تقرير الشركة\n\nبلغت الإيرادات ٤٠٫٥ مليون دولار، ويعمل في الشركة ٨٦٠ موظفا. "
            "نشر في ٣ مارس ٢٠٢٤."
        ),
        {
            "revenue": (40500000, "٤٠٫٥ مليون دولار"),
            "staff": (860, "٨٦٠ موظفا"),
            "published": ("2024-03-03", "٣ مارس ٢٠٢٤"),
        },
        "USD",
    ),
    "tr": (
        (
            "# Faaliyet raporu\n\nŞirketin geliri 1,2 milyar lira oldu, on yedi çalışan var. Rapor "
            "3 Mart 2024 tarihinde yayımlandı."
        ),
        {
            "revenue": (1200000000, "1,2 milyar lira"),
            "staff": (17, "on yedi çalışan"),
            "published": ("2024-03-03", "3 Mart 2024"),
        },
        "",
    ),
    "th": (
        "# รายงานประจำปี\n\nบริษัทมีรายได้ 1.2 ล้านบาท พนักงาน 860 คน เผยแพร่เมื่อ 3 มีนาคม 2567",
        {
            "revenue": (1200000, "1.2 ล้านบาท"),
            "staff": (860, "860 คน"),
            "published": ("2024-03-03", "3 มีนาคม 2567"),
        },
        "",
    ),
}
"""A report a language; Turkish and Thai are languages that code does not read."""


def _other(
    tmp_path: Path, language: str, changed: Mapping[str, object]
) -> tuple[Run, list[tuple[str, str, object]]]:
    text, row, currency = OTHERS[language]
    columns = {
        "revenue": {"type": "number", "currency": currency},
        "staff": PEOPLE,
        "published": DAY,
    }
    row = {name: (changed.get(name, value), words) for name, (value, words) in row.items()}
    asked = [
        (f"What is the {name}?", f"SELECT {name} FROM notices", value)
        for name, (value, _) in row.items()
    ]
    return Run(tmp_path, [text], columns, [row], asked), asked


@pytest.mark.parametrize("language", OTHERS)
def test_a_report_of_another_language_is_answered_the_same(tmp_path: Path, language: str) -> None:
    run, asked = _other(tmp_path, language, {})
    run.fine(asked)


@pytest.mark.parametrize(
    ("language", "column", "value"),
    [
        ("ru", "revenue", 1200),
        ("ru", "staff", 32),
        ("ru", "published", "2024-05-03"),
        ("de", "revenue", 28.9),
        ("de", "staff", 4),
        ("de", "published", "2024-03-30"),
        ("ja", "revenue", 30000000),
        ("ja", "staff", 680),
        ("ja", "published", "2024-01-04"),
        ("ar", "revenue", 40.5),
        ("ar", "staff", 680),
        ("ar", "published", "2024-05-03"),
        ("tr", "revenue", 1300000000),
        ("tr", "published", "2023-03-03"),
        ("th", "staff", 680),
    ],
)
def test_a_wrong_value_of_another_language_is_found(
    tmp_path: Path, language: str, column: str, value: object
) -> None:
    run, _ = _other(tmp_path, language, {column: value})
    assert set(run.rechecks) == {column} and set(run.doubts) == {column}
