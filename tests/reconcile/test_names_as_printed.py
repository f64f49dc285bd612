"""Names: what documents print stays in the column; forms of one name are joined beside it,
by whoever may say so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.answer import Answer
from sliders.llm import COMPACT, FULL, Dialect
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from tests.worlds import LISTS, Reader

DIALECTS = pytest.mark.parametrize("dialect", [FULL, COMPACT], ids=["full", "compact"])
HOW_MANY = "How many different names are there?"
PRINTED, JOINED = (
    "SELECT COUNT(DISTINCT name) FROM things",
    "SELECT COUNT(DISTINCT name_canonical) FROM things",
)
Settles = Callable[[str], Any]


class CanonicalReader(Reader):
    """Counts by canonical names where the tables have any, as the prompt for SQL says."""

    def statement(self, prompt: str) -> str:
        """The statement of the question, by canonical names where there are some."""
        return (
            super().statement(prompt).replace(PRINTED, JOINED)
            if "name_canonical" in prompt
            else super().statement(prompt)
        )


def settling(names: Sequence[str] = (), keep: str = "", say: str = "apart") -> Settles:
    """An agent that joins the names that it is shown all of, under `keep`, and says
    the same of all others.
    """

    def settles(prompt: str) -> Any:
        repairs = []
        for number, body in re.findall(
            r"^Group (\d+), names(.*?)</group>", prompt, re.MULTILINE | re.DOTALL
        ):
            one = bool(names) and all(f'"{name}"' in body for name in names)
            sql = [f"UPDATE rows SET name = '{keep}'"] if one else []
            repairs.append(
                {
                    "group": int(number),
                    "operation": "canonicalize" if one else say,
                    "column": "name" if one else "",
                    "statements": sql,
                    "reason": "said",
                }
            )
        return {"looks": [], "repairs": repairs} if repairs else None

    return settles


def workspace(
    place: Path,
    lines: Sequence[str],
    dialect: Dialect = FULL,
    settles: Settles | None = None,
    key: Sequence[str] = (),
    sql: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    **more: Any,
) -> Workspace:
    """A workspace of a document a line; the table's `name` is the column that is asked about."""
    place.mkdir(exist_ok=True)
    reader = CanonicalReader(
        LISTS,
        sql={HOW_MANY: PRINTED, **(sql or {})},
        dialect=dialect,
        settles=settles or settling(),
    )
    ws = Workspace(place / "w.db", model=reader.model, embedder=HashEmbedder(), **more)
    for number, line in enumerate(lines):
        ws.add_text(f"Report {number} of the year\n\n{line}", f"report_{number}.txt")
    listed = [
        {"name": c, "type": kind, "description": f"the {c} as printed"}
        for c, kind in (columns or COLUMNS).items()
    ]
    table = {
        "name": "things",
        "row": "a report",
        "grain": "many",
        "key": list(key),
        "columns": listed,
    }
    ws.pin_schema({"tables": [table | ({"key_scope": "collection"} if key else {})]})
    return ws


COLUMNS = {"name": "text", "town": "text"}


def shown(ws: Workspace, column: str = "name") -> list[str]:
    return list(ws.tables["things"][column])


def calls(ws: Workspace) -> int:
    """The calls that ask about names."""
    prompts = ws.session.catalog.database.query(
        "SELECT prompt FROM sl_calls WHERE stage = 'reconcile'"
    )
    return sum(
        re.search(r"Group \d+, names|stand for|the name .* mean", str(prompt)) is not None
        for (prompt,) in prompts
    )


def doubts(answer: Answer) -> list[str]:
    return [str(doubt) for doubt in answer.doubts if doubt.kind == "same"]


TWO = [
    ("Vitamin A deficiency", "Vitamin E deficiency"),
    ("Terminal A Gate 3", "Terminal E Gate 3"),
    ("Out of Africa", "Out to Africa"),
    ("War and Peace", "War for Peace"),
    ("Hepatitis A virus", "Hepatitis E virus"),
    ("Haus der Kunst", "Haus die Kunst"),
    ("Tour de Lyon", "Tour la Lyon"),
    ("Casa de Lima", "Casa la Lima"),
    ("Acción y Vida", "Acción e Vida"),
    ("Radio das Meer", "Radio und Meer"),
    ("Peña Alta", "Pena Alta"),
    ("Route 1.2", "Route 1-2"),
    ("Moss Ltd", "Moss Inc"),
]


@DIALECTS
@pytest.mark.parametrize(("left", "right"), TWO)
def test_two_things_are_two_names(tmp_path: Path, left: str, right: str, dialect: Dialect) -> None:
    lines = [
        f"name: {name}; town: {town}" for name in (left, right, left, right) for town in ("Corfe",)
    ]
    with workspace(tmp_path, lines, dialect) as ws:
        answer = ws.ask(HOW_MANY)
        assert sorted(shown(ws)) == sorted([left, right] * 2)
        assert answer.value == 2 or (dialect is COMPACT and doubts(answer))
        assert not ws.verify()


@DIALECTS
@pytest.mark.parametrize(
    ("left", "right"),
    [("Peña Alta", "Pena Alta"), ("Unit 1.5", "Unit 1-5"), ("Acme, Inc.", "Acme Inc")],
)
def test_names_of_a_key_that_differ_in_more_than_case_are_two_rows(
    tmp_path: Path, left: str, right: str, dialect: Dialect
) -> None:
    lines = [f"name: {name}; town: Corfe" for name in (left, right, left.upper())]
    with workspace(tmp_path, lines, dialect, key=("name",)) as ws:
        ws.ask(HOW_MANY)
        assert len(shown(ws)) == 2 and right in shown(ws)


COUNTRIES = [
    "Czechia",
    "Swaziland",
    "Czech Republic",
    "Holland",
    "Netherlands",
    "Eswatini",
    "Burma",
]


@DIALECTS
def test_a_country_stays_as_it_is_printed(tmp_path: Path, dialect: Dialect) -> None:
    same = "Which country has the same name as its heading?"
    lines = [
        f"name: {country}; heading: {'Czech Republic' if country == 'Czechia' else country}"
        for country in COUNTRIES
    ]
    columns = {"name": "text", "heading": "text"}
    sql = {same: "SELECT name FROM things WHERE name = heading AND name LIKE 'Cz%'"}
    with workspace(tmp_path, lines, dialect, columns=columns, sql=sql) as ws:
        assert ws.ask(same).value == "Czech Republic"
        assert sorted(shown(ws)) == sorted(COUNTRIES) and ws.ask(HOW_MANY).value == len(COUNTRIES)


@DIALECTS
def test_a_word_for_a_language_is_no_country(tmp_path: Path, dialect: Dialect) -> None:
    spoken = ["German", "Germany", "French", "Spanish", "Spain", "Greek", "Dutch"]
    with workspace(tmp_path, [f"name: {one}; town: Corfe" for one in spoken], dialect) as ws:
        assert ws.ask(HOW_MANY).value == len(spoken) and sorted(shown(ws)) == sorted(spoken)


@DIALECTS
def test_case_white_space_and_unicode_form_are_one_name_without_a_call(
    tmp_path: Path, dialect: Dialect
) -> None:
    printed = ["ACME Corp", "Acme  corp", "ACME Corp", "Ｂｅｔａ Mills", "Beta Mills", "Beta Mills"]
    with workspace(
        tmp_path, [f"name: {name}; town: Town {n}" for n, name in enumerate(printed)], dialect
    ) as ws:
        answer = ws.ask(HOW_MANY)
        assert (answer.value, answer.status, doubts(answer), calls(ws)) == (2, "answered", [], 0)
        assert sorted(shown(ws)) == sorted(printed)
        assert sorted(shown(ws, "name_canonical")) == ["ACME Corp"] * 3 + ["Beta Mills"] * 3
        assert not ws.verify()


FIRMS = ["IBM", "International Business Machines", "IBM", "Moss"]


def test_an_agent_joins_two_forms_of_one_name(tmp_path: Path) -> None:
    agent = settling(["IBM", "International Business Machines"], "International Business Machines")
    group = "What did each spend?"
    sql = {
        group: "SELECT name_canonical, SUM(amount) FROM things GROUP BY name_canonical ORDER BY 1"
    }
    lines = [f"name: {name}; amount: {n + 1}" for n, name in enumerate(FIRMS)]
    with workspace(
        tmp_path, lines, settles=agent, columns={"name": "text", "amount": "integer"}, sql=sql
    ) as ws:
        answer = ws.ask(HOW_MANY)
        assert (answer.value, answer.status, answer.doubts, calls(ws)) == (2, "answered", (), 1)
        assert shown(ws) == FIRMS
        assert shown(ws, "name_canonical") == ["International Business Machines"] * 3 + ["Moss"]
        assert [tuple(row) for row in ws.ask(group).rows] == [
            ("International Business Machines", 6),
            ("Moss", 4),
        ]
        (first, *_) = ws.tables["things"]["row_id"]
        assert "name_canonical" in str(ws.why(first)) and not ws.verify()
        page = Path(ws.view(path=tmp_path / "page.html")).read_text(encoding="utf-8")
        assert '"name":"International Business Machines"' in page.replace('": "', '":"')
        (path,) = ws.export(tmp_path / "csv", format="csv")
        assert "name_canonical" in Path(path).read_text(encoding="utf-8").splitlines()[0].split(",")


def test_grouping_by_the_printed_form_comes_back_with_the_names_that_have_several(
    tmp_path: Path,
) -> None:
    agent = settling(["IBM", "International Business Machines"], "International Business Machines")
    one, moss = "How many reports are of IBM?", "How many reports are of Moss?"
    sql = {
        one: "SELECT COUNT(*) FROM things WHERE name = 'IBM'",
        moss: "SELECT COUNT(*) FROM things WHERE name = 'Moss'",
    }
    with workspace(
        tmp_path,
        [f"name: {name}; town: Town {n}" for n, name in enumerate(FIRMS)],
        settles=agent,
        sql=sql,
    ) as ws:
        said = [attempt for attempt in ws.ask(one).attempts if attempt.findings]
        assert said and all(
            "name_canonical" in said[0].findings[0] and form in said[0].findings[0]
            for form in FIRMS[:2]
        )
        answer = ws.ask(moss)
        assert answer.value == 1 and not any(attempt.findings for attempt in answer.attempts)


INSISTED = "What is asked of the printed names?"
LONG = "International Business Machines"
JOINS = settling(["IBM", LONG], LONG)
SPENT = {"name": "text", "amount": "integer"}
SPLIT_BY_FORM = [
    ("SELECT COUNT(DISTINCT name) FROM things", "3 would be 2"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT name FROM things)", "3 would be 2"),
    ("SELECT COUNT(DISTINCT n) FROM (SELECT name AS n FROM things)", "3 would be 2"),
    ("SELECT COUNT(DISTINCT UPPER(name)) FROM things", "3 would be 2"),
    (
        (
            "WITH each AS (SELECT name, SUM(amount) AS s FROM things GROUP BY name) SELECT "
            "MAX(s) FROM each"
        ),
        "5 would be 6",
    ),
    ("SELECT SUM(amount) AS s FROM things GROUP BY name ORDER BY s DESC LIMIT 1", "5 would be 6"),
    (
        "SELECT name FROM things GROUP BY 1 ORDER BY SUM(amount) DESC LIMIT 1",
        f"Moss would be {LONG}",
    ),
    ("SELECT SUM(amount) FROM things WHERE name = 'IBM'", "4 would be 6"),
    (f"SELECT SUM(amount) FROM things WHERE name = '{LONG}'", "2 would be 6"),
    ("SELECT SUM(amount) FROM things WHERE LOWER(name) LIKE '%business%'", "2 would be 6"),
    ("SELECT SUM(amount) FROM things WHERE name <> 'IBM'", "7 would be 5"),
    ("SELECT SUM(amount) FROM things WHERE name IN ('Moss', 'IBM')", "9 would be 11"),
    ("SELECT COUNT(*) FROM things a JOIN things b ON a.name = b.name", "6 would be 10"),
    ("SELECT COUNT(*) FROM things a JOIN things b USING (name)", "6 would be 10"),
]
OVER_FORMS = [
    "SELECT name FROM things",
    "SELECT COUNT(*) FROM things",
    "SELECT SUM(amount) FROM things WHERE name = 'Moss'",
    f"SELECT SUM(amount) FROM things WHERE name IN ('IBM', '{LONG}')",
    "SELECT * FROM things WHERE name LIKE 'Mo%'",
    "SELECT COUNT(DISTINCT name) FROM things WHERE amount > 2",
    "SELECT name, SUM(amount) FROM things WHERE amount = 2 GROUP BY name",
    "SELECT COUNT(DISTINCT name_canonical) FROM things",
]


def insisting(place: Path, sql: str, dialect: Dialect = FULL, meant: str = "") -> Answer:
    """The answer of a model that writes the same statement again and again;
    of IBM 1 and 3, of its long form 2, of Moss 5.
    """
    reader = Reader(LISTS, sql={INSISTED: sql}, dialect=dialect, settles=JOINS)
    said, reader.statement = reader.reply, lambda prompt: sql
    if meant:
        reader.model = FunctionModel(
            lambda r: said(r) | {"meant": meant} if r.stage == "answer" else said(r),
            dialect=dialect,
        )
    with Workspace(place / "w.db", model=reader.model, embedder=HashEmbedder()) as ws:
        for number, (name, amount) in enumerate([("IBM", 1), (LONG, 2), ("IBM", 3), ("Moss", 5)]):
            ws.add_text(
                f"Report {number} of the year\n\nname: {name}; amount: {amount}",
                f"report_{number}.txt",
            )
        columns = [
            {"name": c, "type": kind, "description": f"the {c} as printed"}
            for c, kind in SPENT.items()
        ]
        ws.pin_schema(
            {
                "tables": [
                    {
                        "name": "things",
                        "row": "a report",
                        "grain": "many",
                        "key": [],
                        "columns": columns,
                    }
                ]
            }
        )
        if dialect is COMPACT:
            ws.ask(INSISTED)
            ws.merge("things", {"name": LONG}, {"name": "IBM"})
        answer = ws.ask(INSISTED)
        for doubt in answer.doubts:
            if doubt.command.startswith("sliders query"):
                assert (
                    str(ws.query(shlex.split(doubt.command)[2]).iloc[0, 0])
                    == doubt.effect.rpartition(" would be ")[2]
                )
        return answer


@pytest.mark.parametrize(("sql", "effect"), SPLIT_BY_FORM)
def test_a_statement_over_printed_forms_that_the_model_insists_on_stands_with_a_doubt(
    tmp_path: Path, sql: str, effect: str
) -> None:
    answer = insisting(tmp_path, sql)
    assert answer.status == "answered" and answer.sql == sql
    [doubt] = answer.doubts
    assert (doubt.kind, doubt.effect) == ("same", effect)
    assert (
        "'IBM'" in doubt.thing
        and f"'{LONG}'" in doubt.thing
        and doubt.command.startswith("sliders query ")
    )


def test_the_range_holds_the_number_over_names(tmp_path: Path) -> None:
    answer = insisting(tmp_path, "SELECT SUM(amount) FROM things WHERE name = 'IBM'")
    assert answer.value == 4 and answer.range is not None and answer.range.high == 6


def test_a_small_model_that_insists_is_doubted_too(tmp_path: Path) -> None:
    answer = insisting(tmp_path, PRINTED, COMPACT)
    assert answer.value == 3 and any("3 would be 2" in line for line in doubts(answer))


@pytest.mark.parametrize("sql", OVER_FORMS)
def test_a_statement_that_gives_the_same_over_names_is_in_no_doubt(
    tmp_path: Path, sql: str
) -> None:
    answer = insisting(tmp_path, sql)
    assert (answer.status, answer.doubts) == ("answered", ())


def test_printed_forms_that_the_question_asks_for_are_in_no_doubt(tmp_path: Path) -> None:
    assert insisting(tmp_path, PRINTED, meant="the printed names").doubts == ()


def test_words_that_the_question_does_not_hold_ask_for_nothing(tmp_path: Path) -> None:
    assert insisting(tmp_path, PRINTED, meant="each spelling").doubts != ()


def test_names_stay_apart_after_an_undo_without_a_call(tmp_path: Path) -> None:
    with workspace(
        tmp_path, [f"name: {name}; town: Town {n}" for n, name in enumerate(FIRMS)], settles=JOINS
    ) as ws:
        assert (ws.ask(HOW_MANY).value, calls(ws)) == (2, 1)
        ws.undo("things")
        answer = ws.ask(f"{HOW_MANY} Now?")
        assert (answer.value, answer.doubts, calls(ws)) == (3, (), 1)


OTHER_FORMS = [
    ("Stadtwerke Köln GmbH", "Stadtwerke Koeln"),
    ("Münchner Löwenbräu", "Muenchner Loewenbraeu AG"),
    ("Ås", "Aas"),
    ("Øst Sørby", "Ost Sorby"),
    ("Łódź Ładna", "Lodz Ladna"),
    ("TRANSP. LIMA", "Transportes Lima Ltda."),
    ("Constr. Silva", "Construtora Silva Eireli"),
    ("Germany", "Deutschland"),
]


@pytest.mark.parametrize(("left", "right"), OTHER_FORMS)
def test_the_agent_is_asked_about_letters_written_out_short_words_and_other_languages(
    tmp_path: Path, left: str, right: str
) -> None:
    lines = [f"name: {name}; town: Town {n}" for n, name in enumerate((left, right, "Moss"))]
    with workspace(tmp_path / "one", lines, settles=settling([left, right], right)) as ws:
        answer = ws.ask(HOW_MANY)
        assert (answer.value, answer.doubts, calls(ws)) == (2, (), 1) and sorted(
            shown(ws)
        ) == sorted([left, right, "Moss"])
    with workspace(tmp_path / "refused", lines, settles=refusing) as ws:
        answer = ws.ask(HOW_MANY)
        assert answer.value == 3 and left in doubts(answer)[0] and right in doubts(answer)[0]
    with workspace(tmp_path / "two", lines) as ws:
        assert (ws.ask(HOW_MANY).value, ws.ask(HOW_MANY).doubts) == (3, ())


@pytest.mark.parametrize(
    ("left", "right"),
    [("Germany", "Frankreich"), ("Köln", "Kiel"), ("Transp. Lima", "Mills Lima Ltda.")],
)
def test_other_names_are_not_asked_about(tmp_path: Path, left: str, right: str) -> None:
    with workspace(
        tmp_path, [f"name: {name}; town: Town {n}" for n, name in enumerate((left, right))]
    ) as ws:
        assert (ws.ask(HOW_MANY).value, calls(ws)) == (2, 0)


def refusing(prompt: str) -> Any:
    """A repair that the guard refuses: it names what no row prints."""
    numbers = re.findall(r"^Group (\d+), names", prompt, re.MULTILINE)
    made = {
        "operation": "canonicalize",
        "column": "name",
        "statements": ["UPDATE rows SET name = 'Nobody'"],
        "reason": "said",
    }
    return (
        {"looks": [], "repairs": [{"group": int(number), **made} for number in numbers]}
        if numbers
        else None
    )


TOTAL = "What is the total?"
PAID = {"name": "text", "bill": "text", "amount": "integer"}
BILLS = [
    "name: Orla Mills; bill: one; amount: 108",
    "name: Orla Mils; bill: one; amount: 17",
    "name: Vela; bill: two; amount: 0",
]


@pytest.mark.parametrize("settles", [refusing, settling(say="leave")], ids=["refused", "left"])
def test_names_on_which_nobody_decided_move_the_range(tmp_path: Path, settles: Settles) -> None:
    sql = {TOTAL: "SELECT SUM(amount) FROM things"}
    with workspace(
        tmp_path, BILLS, settles=settles, key=("name", "bill"), columns=PAID, sql=sql
    ) as ws:
        answer = ws.ask(HOW_MANY)
        assert (
            answer.value == 3
            and len(doubts(answer)) == 1
            and answer.range is not None
            and answer.range.low == 2
        )
        ws.split("things", {"name": "Orla Mills"}, {"name": "Orla Mils"})
        assert not doubts(ws.ask(HOW_MANY))


@pytest.mark.parametrize("rest", [" WHERE name LIKE 'O%'", ""], ids=["named", "not named"])
def test_rows_that_would_be_one_thing_under_one_name_move_a_sum(tmp_path: Path, rest: str) -> None:
    sql = {TOTAL: f"SELECT SUM(amount) FROM things{rest}"}
    with workspace(
        tmp_path, BILLS, settles=refusing, key=("name", "bill"), columns=PAID, sql=sql
    ) as ws:
        answer = ws.ask(TOTAL)
        assert (
            answer.value == 125
            and doubts(answer)
            and answer.range is not None
            and answer.range.low <= 108
        )


DELIVERED = "How many crates did Maltby Dairy deliver?"
CRATES = {"name": "text", "number": "integer", "crates": "integer"}


@pytest.mark.parametrize(
    "other", ["Maltby Dairies", "Maltby Dairy Ltd", "Maltby Diary", "Maltby, Dairy"]
)
def test_rows_of_a_name_that_has_several_say_nothing_against_another_form(
    tmp_path: Path, other: str
) -> None:
    rows = [("Maltby Dairy", 1, 60), (other, 2, 17), ("Maltby Dairy", 3, 48)]
    lines = [f"name: {name}; number: {number}; crates: {crates}" for name, number, crates in rows]
    sql = {DELIVERED: "SELECT SUM(crates) FROM things WHERE name = 'Maltby Dairy'"}
    with workspace(
        tmp_path, lines, settles=refusing, key=("number",), columns=CRATES, sql=sql
    ) as ws:
        answer = ws.ask(DELIVERED)
        assert answer.value == 108 and answer.range is not None and answer.range.high == 125
        assert other in doubts(answer)[0]


def test_the_agents_verdict_apart_closes_a_pair(tmp_path: Path) -> None:
    with workspace(tmp_path, BILLS, key=("name", "bill"), columns=PAID) as ws:
        answer = ws.ask(HOW_MANY)
        assert (answer.value, answer.status, answer.doubts) == (3, "answered", ())


def test_a_person_joins_names_of_a_column_that_names_no_row(tmp_path: Path) -> None:
    with workspace(
        tmp_path, [f"name: {name}; town: Town {n}" for n, name in enumerate(FIRMS)]
    ) as ws:
        assert ws.ask(HOW_MANY).value == 3
        ws.merge("things", {"name": "IBM"}, {"name": "International Business Machines"})
        answer = ws.ask(HOW_MANY)
        assert (answer.value, answer.doubts, shown(ws)) == (2, (), FIRMS)
        changes = ws.diff(1, 2).cells
        assert {(c.column, c.before, c.after) for c in changes} == {
            ("name_canonical", FIRMS[1], "IBM")
        }
        assert all(c.cause.kind == "repair" and "person" in c.cause.text for c in changes)


def test_a_users_term_stands_beside_what_is_printed(tmp_path: Path) -> None:
    from sliders.schema import Normalize

    with workspace(
        tmp_path,
        [f"name: {name}; town: Town {n}" for n, name in enumerate(("UK", "Britain", "Peru"))],
    ) as ws:
        answer = ws.ask(HOW_MANY, directives=[Normalize(("United Kingdom", "UK", "Britain"))])
        assert answer.value == 2 and shown(ws) == ["UK", "Britain", "Peru"]
        assert (
            shown(ws, "name_canonical") == ["United Kingdom", "United Kingdom", "Peru"]
            and not ws.verify()
        )


def test_what_a_small_model_picks_is_shown_as_one_name_in_doubt_and_merges_no_rows(
    tmp_path: Path,
) -> None:
    names = ["Dunmarrow Bridge", "Dunmarrow Br.", "Alder Ford", "Cinder Lock"]
    towns = ["Corfe", "Corfe", "Eye", "Diss"]
    lines = [f"name: {name}; town: {town}" for name, town in zip(names, towns, strict=True)]
    with workspace(tmp_path, lines, COMPACT, key=("name",)) as ws:
        answer = ws.ask(HOW_MANY)
        assert shown(ws) == names and len(set(shown(ws, "name_canonical"))) == 3
        assert (
            doubts(answer)
            and answer.range is not None
            and {answer.range.low, answer.range.high} >= {4}
        )
        ws.split("things", {"name": names[0]}, {"name": names[1]})
        answer = ws.ask(HOW_MANY)
        assert answer.value == 4 and not doubts(answer)
