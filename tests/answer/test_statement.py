"""Names, repairs and ties of a statement."""

from __future__ import annotations

import sqlite3

import pytest

from sliders.answer.joins import single_table_sql, values_of_one_sql
from sliders.answer.profile import profile_tables
from sliders.answer.question import named_values
from sliders.answer.repair import repair
from sliders.answer.review import review
from sliders.answer.scope import DIALECT, Names, extract_sql, parse_select
from sliders.answer.shape import text_of, value_of
from sliders.answer.ties import with_ties_sql
from sliders.answer.trial import try_sql
from sliders.answer.values import TableView
from sliders.errors import QueryError
from sliders.schema.types import Column, ColumnType, Table
from tests.answer.tables import database, profiles, runner


def repaired(sql: str, question: str = "") -> str:
    known = profiles(database())
    tree = parse_select(sql)
    Names(tree, known).repair()
    repair(tree, Names(tree, known), question)
    return tree.sql(DIALECT)


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT nam FROM ship", "SELECT name FROM ships"),
        ('SELECT name FROM ships WHERE port = "Bergen"', "SELECT name FROM ships WHERE port = 'Bergen'"),
        ("SELECT name FROM ships WHERE LOWER(port) = 'bergen'", "SELECT name FROM ships WHERE port = 'Bergen'"),
        (
            "SELECT name FROM ships WHERE owner <> 'fjord ferries'",
            "SELECT name FROM ships WHERE NOT (owner = 'Fjord Ferries')",
        ),
        ("SELECT name FROM ships WHERE built = '2 May 1911'", "SELECT name FROM ships WHERE built = '1911-05-02'"),
        ("SELECT name FROM ships WHERE length > '100'", "SELECT name FROM ships WHERE length > 100"),
        ("SELECT name FROM ships WHERE NOT built IS NULL", "SELECT name FROM ships WHERE NOT built IS NULL"),
        ("SELECT name FROM ships WHERE port IS 'bergen'", "SELECT name FROM ships WHERE port = 'Bergen'"),
        ("SELECT YEAR(built) FROM ships", "SELECT CAST(SUBSTRING(built, 1, 4) AS INTEGER) FROM ships"),
    ],
)
def test_repairs(sql: str, wanted: str) -> None:
    assert repaired(sql) == wanted


@pytest.mark.parametrize(
    ("question", "written", "wanted"),
    [
        ("at least 80 metres", "length > 80", "length >= 80"),
        ("80 metres or more", "length > 80", "length >= 80"),
        ("more than 80 metres", "length >= 80", "length > 80"),
        ("fewer than 80 metres", "length <= 80", "length < 80"),
        ("at most 80", "length < 80", "length <= 80"),
        ("two or more people", "length > 2", "length >= 2"),
        ("80 metres", "length >= 80", "length >= 80"),
    ],
)
def test_the_words_of_the_question_set_the_bound(question: str, written: str, wanted: str) -> None:
    assert repaired(f"SELECT name FROM ships WHERE {written}", question) == f"SELECT name FROM ships WHERE {wanted}"


def test_a_bound_is_tested_on_its_number_and_not_on_what_is_stated() -> None:
    question = "How many ships have a length of at least two?"
    wanted = "SELECT COUNT(*) FROM ships WHERE length >= 2"
    assert repaired("SELECT COUNT(*) FROM ships WHERE NOT built IS NULL", question) == wanted
    both = "SELECT COUNT(*) FROM ships WHERE NOT built IS NULL AND NOT length IS NULL"
    assert repaired(both, question) == "SELECT COUNT(*) FROM ships WHERE NOT built IS NULL AND length >= 2"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How many ships were launched in 1911?", "built LIKE '1911-%'"),
        ("How many ships were launched in May 1911?", "built LIKE '1911-05-%'"),
        ("How many ships were launched in June 1911?", "built = '1911-05-02'"),
        ("How many ships were launched on 2 May 1911?", "built = '1911-05-02'"),
        ("How many ships were launched in 1911 or 1925?", "built = '1911-05-02'"),
        ("How many ships were launched that day?", "built = '1911-05-02'"),
    ],
)
def test_a_year_or_month_of_the_question_is_no_single_day(question: str, wanted: str) -> None:
    assert repaired("SELECT COUNT(*) FROM ships WHERE built = '1911-05-02'", question).endswith(f"WHERE {wanted}")


@pytest.mark.parametrize(
    ("question", "written", "wanted"),
    [
        (
            "How many ships has Harbour Lines Ltd.?",
            "owner = 'Harbour' AND port = 'Lines' AND owner = 'Ltd.' AND length > 90",
            "owner = 'Harbour Lines Ltd.' AND length > 90",
        ),
        ("How many ships has Harbour Lines Ltd.?", "owner = 'Harbour Lines Ltd.' AND port = 'Oslo'", None),
        ("How many ships has Harbour Lines Ltd.?", "owner = 'Fjord Ferries' AND owner = 'Harbour Lines Ltd.'",
         "owner = 'Harbour Lines Ltd.'"),
        ("How many ships has O'Brien?", "owner = 'Fjord Ferries' AND owner = 'Harbour Lines Ltd.'", None),
    ],
)
def test_a_name_in_pieces_is_tested_as_one_value(question: str, written: str, wanted: str | None) -> None:
    assert repaired(f"SELECT COUNT(*) FROM ships WHERE {written}", question).endswith(f"WHERE {wanted or written}")


@pytest.mark.parametrize(
    ("question", "name", "kept"),
    [
        ("How long are all the ships of 1911?", "harbour_1911_log.txt", False),
        ("How long are all the ships of the harbour in 1911?", "harbour_1911_log.txt", True),
        ("How long are the ships in the log of 1911?", "harbour_1911_log.txt", True),
        ("How long are the ships in file 032?", "slip_032.txt", True),
        ("How long are the ships of Harbour Lines?", "HARBOURLINES_1911.txt", True),
    ],
)
def test_a_file_that_the_question_does_not_name_is_not_tested(question: str, name: str, kept: bool) -> None:
    sql = repaired(f"SELECT SUM(length) FROM ships WHERE length > 9 AND document LIKE '{name}'", question)
    assert (name in sql) is kept


@pytest.mark.parametrize(
    "sql", ["SELECT x FROM planets, moons", "SELECT wingspan FROM ships", "SELECT role FROM ships"]
)
def test_a_name_that_does_not_exist_is_told_with_those_that_do(sql: str) -> None:
    with pytest.raises(QueryError, match=r"ships|crews"):
        repaired(sql)


@pytest.mark.parametrize(
    "sql", ["DELETE FROM ships", "SELECT 1; SELECT 2", "PRAGMA table_info(ships)", "not sql at all ("]
)
def test_only_one_select_passes(sql: str) -> None:
    with pytest.raises(QueryError):
        parse_select(sql)


@pytest.mark.parametrize(
    "reply",
    [
        "SELECT a FROM t",
        "SELECT a FROM t;",
        "```sql\nSELECT a FROM t;\n```",
        "Here it is:\n```\nSELECT a FROM t\n```\nDone.",
    ],
)
def test_the_statement_is_found_in_a_reply(reply: str) -> None:
    assert extract_sql(reply) == "SELECT a FROM t"


def test_a_semicolon_in_text_does_not_cut() -> None:
    assert extract_sql("SELECT a FROM t WHERE b = 'x; y';") == "SELECT a FROM t WHERE b = 'x; y'"


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM ships ORDER BY length DESC LIMIT 1", 2),
        ("SELECT owner, COUNT(*) AS n FROM ships GROUP BY owner ORDER BY n LIMIT 1", 2),
        ("SELECT name FROM ships ORDER BY built DESC LIMIT 1", 1),
    ],
)
def test_ties_are_kept(sql: str, rows: int) -> None:
    wide = with_ties_sql(parse_select(sql))
    assert wide is not None and len(database()(wide).rows) == rows


@pytest.mark.parametrize(
    "sql", ["SELECT name FROM ships LIMIT 1", "SELECT name FROM ships ORDER BY length LIMIT 3", "SELECT 1"]
)
def test_other_limits_stay(sql: str) -> None:
    assert with_ties_sql(parse_select(sql)) is None


@pytest.mark.parametrize(
    ("question", "sql", "word"),
    [
        ("How many ships?", "SELECT name FROM ships", "one number"),
        ("What is the average length?", "SELECT SUM(length) FROM ships", "average"),
        ("How long was it on 2 May 1911?", "SELECT length FROM ships", "1911-05-02"),
        ("Which ships are over 90 metres?", "SELECT name FROM ships WHERE length > 9", "90"),
        ("How many ships?", "SELECT COUNT(*) FROM ships WHERE port = 'Bergen' AND port = 'Oslo'", "two different"),
        ("How many?", "SELECT COUNT(*) FROM crews WHERE role = 'Bergen'", "ships.port"),
        ("Who is longer?", "SELECT name FROM ships WHERE length > (SELECT length FROM ships)", "4 rows"),
        ("Which ship has the most people?", "SELECT ship FROM crews GROUP BY ship ORDER BY COUNT(*) DESC LIMIT 1", "people"),
    ],
)
def test_what_is_odd_is_said(question: str, sql: str, word: str) -> None:
    run = database()
    tree = parse_select(sql)
    found = review(question, tree, run(sql), profiles(run), (), run)
    assert any(word in one.text for one in found)


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("Which ship had the most people in one crew, and how many?", "MAX(c.people)"),
        ("Which ship had the fewest people in a single crew?", "MIN(c.people)"),
        ("Which ship had the most crews?", "COUNT(*)"),
    ],
)
def test_an_extreme_in_one_row_is_no_count_of_rows(question: str, end: str) -> None:
    both = "crews AS c JOIN ships AS s ON c.ship = s.name"
    found = repaired(f"SELECT c.ship, COUNT(*) FROM {both} GROUP BY c.ship ORDER BY COUNT(*) LIMIT 1", question)
    assert f"c.ship, {end} FROM" in found
    assert f"ORDER BY {end} LIMIT" in found


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which ship has the most crews?", "SELECT ship FROM crews GROUP BY ship ORDER BY COUNT(*) DESC LIMIT 1"),
        ("Which ship has the most people?", "SELECT ship FROM crews ORDER BY people DESC LIMIT 1"),
        ("In how many ships did people sail?", "SELECT COUNT(DISTINCT ship) FROM crews"),
    ],
)
def test_nothing_is_odd_about_an_extreme_that_is_read(question: str, sql: str) -> None:
    run = database()
    found = review(question, parse_select(sql), run(sql), profiles(run), (), run)
    assert not [one.text for one in found if "does not read it" in one.text]


def test_values_take_the_shape_of_the_result() -> None:
    assert value_of("How many?", [(3,)]) == 3
    assert value_of("Which ports?", [("a",), ("b",), (None,)]) == ["a", "b"]
    assert value_of("Which and how many?", [("a", 2.0)]) == [["a", 2]]
    assert value_of("Round to one decimal", [(2.25001,)]) == 2.3
    assert value_of("Which?", []) is None


def test_values_are_said_in_words() -> None:
    assert text_of(None) == "Not found in these documents."
    assert text_of(12345) == "12,345."
    assert text_of(["a", "b"]) == "2 found: a; b."
    assert value_of("What is the mean? Round to two decimals.", [(10.625,)]) == 10.63  # halves go up
    assert text_of([["a", 1], ["b", None]]) == "2 found: a | 1; b | not stated."


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        (
            "SELECT s.length FROM crews AS c JOIN ships AS s ON c.role = s.port WHERE s.name = 'Grey Gull'",
            "SELECT length FROM ships WHERE name = 'Grey Gull'",
        ),
        (
            "SELECT s.name FROM ships AS s JOIN crews AS c ON s.name = c.role WHERE c.people IS NOT NULL AND s.length > 9",
            "SELECT name FROM ships WHERE length > 9",
        ),
        (
            "SELECT s.name FROM ships AS s JOIN crews AS c ON s.name = c.role WHERE c.people IS NOT NULL OR s.length > 9",
            None,
        ),
        ("SELECT a.name FROM ships AS a JOIN ships AS b ON a.port = b.port", None),
        ("SELECT s.length, c.role FROM ships AS s JOIN crews AS c ON c.ship = s.name", None),
        ("SELECT name FROM ships", None),
    ],
)
def test_a_join_that_needs_one_table_only(sql: str, wanted: str | None) -> None:
    tree = parse_select(sql)
    assert single_table_sql(tree, Names(tree, profiles(database()))) == wanted


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        (
            "SELECT s.length FROM ships AS s JOIN crews AS c ON c.role = s.owner WHERE s.name = 'Grey Gull' AND c.role = 'Oslo'",
            "SELECT length FROM ships WHERE name = 'Grey Gull' AND port = 'Oslo'",
        ),
        ("SELECT s.length FROM ships AS s JOIN crews AS c ON c.role = s.owner WHERE c.role = 'Paris'", None),
        ("SELECT s.length, c.people FROM ships AS s JOIN crews AS c ON c.ship = s.name WHERE c.role = 'Oslo'", None),
        ("SELECT s.length FROM ships AS s JOIN crews AS c ON c.ship = s.name WHERE c.people > 2", None),
    ],
)
def test_values_tested_in_a_joined_table_that_the_table_itself_holds(sql: str, wanted: str | None) -> None:
    tree = parse_select(sql)
    assert values_of_one_sql(tree, Names(tree, profiles(database()))) == wanted


@pytest.mark.parametrize(
    ("question", "written", "wanted"),
    [
        ("How many people are in the crew?", "SELECT COUNT(people) FROM crews", "SELECT SUM(people) FROM crews"),
        ("How many people are in the crew?", "SELECT COUNT(*) FROM crews", "SELECT SUM(people) FROM crews"),
        ("How many crews have people?", "SELECT COUNT(people) FROM crews", "SELECT COUNT(people) FROM crews"),
        ("How many ships are there?", "SELECT COUNT(DISTINCT port) FROM ships", "SELECT COUNT(*) FROM ships"),
        ("How many ports?", "SELECT COUNT(DISTINCT port) FROM ships", "SELECT COUNT(DISTINCT port) FROM ships"),
        (
            "How many ships lie in Oslo?",
            "SELECT COUNT(port) FROM ships WHERE port = 'Oslo'",
            "SELECT COUNT(*) FROM ships WHERE port = 'Oslo'",
        ),
        (
            "Which role has the most people, and how many?",
            "SELECT role, SUM(people) FROM crews GROUP BY role",
            "SELECT role, SUM(people) FROM crews GROUP BY role ORDER BY SUM(people) DESC LIMIT 1",
        ),
    ],
)
def test_what_is_counted(question: str, written: str, wanted: str) -> None:
    assert repaired(written, question) == wanted


def test_the_other_column_comes_from_the_row_of_the_extreme() -> None:
    question = "What is the smallest length, and when was that ship built?"
    sql = repaired("SELECT MIN(length), MIN(built) FROM ships", question)
    assert database()(sql).rows == ((80, "1925-11-30"),)


@pytest.mark.parametrize(
    ("question", "test"),
    [
        ("How many ships were not lost?", "lost = 0"),
        ("How many ships do not say whether they were lost?", "lost IS NULL"),
        ("For how many is it unknown whether they were not lost?", "lost IS NULL"),
    ],
)
def test_not_is_a_value_and_silence_is_none(question: str, test: str) -> None:
    assert repaired("SELECT COUNT(*) FROM ships WHERE lost IS NULL", question).endswith(test)


@pytest.mark.parametrize(
    ("sql", "question", "wanted"),
    [
        ("SELECT length / 1000 FROM ships", "What is the length per 1,000 in Oslo?", "SELECT length FROM ships"),
        ("SELECT length / 100 FROM ships", "What is the length per 1,000?", "SELECT CAST(length AS REAL) / 100 FROM ships"),
    ],
)
def test_a_rate_that_is_printed_is_not_divided(sql: str, question: str, wanted: str) -> None:
    assert repaired(sql, question) == wanted


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("length > 40", ""),
        ("length > 40 AND day = '2021-05-03'", " WHERE day = '2021-05-03'"),
        ("day = '2021-05-03' AND length > 40", " WHERE day = '2021-05-03'"),
        ("length > 41", " WHERE length > 41"),
    ],
)
def test_a_bound_that_the_selected_number_has_is_not_tested_again(where: str, wanted: str) -> None:
    assert with_berths(f"SELECT MIN(berths) FROM logs WHERE {where}", "berths with a length above 40") == (
        f"SELECT MIN(berths) FROM logs{wanted}"
    )


@pytest.mark.parametrize(
    ("sql", "asked", "wanted"),
    [
        (
            "SELECT berths, MIN(length), day FROM logs WHERE length > 40",
            "smallest number of berths with a length above 40",
            "SELECT MIN(berths), day FROM logs",
        ),
        (
            "SELECT day, length FROM logs WHERE length > 40 ORDER BY length",
            "smallest number of berths with a length above 40",
            "SELECT day, length FROM logs WHERE length > 40 ORDER BY length",
        ),
        (
            "SELECT berths, MIN(length) FROM logs WHERE length >= 40",
            "berths with a length of at least 40",
            "SELECT berths, MIN(length) FROM logs",
        ),
    ],
)
def test_the_extreme_of_a_count_is_not_that_of_its_bound(sql: str, asked: str, wanted: str) -> None:
    assert with_berths(sql, asked) == wanted


def test_what_is_asked_beside_an_extreme_is_taken_from_its_row() -> None:
    sql = repaired("SELECT MIN(length) FROM ships", "What was the smallest length, and in which port?")
    shortest = "SELECT length, port FROM ships WHERE length = (SELECT MIN(length) FROM ships)"
    assert database()(sql).rows == database()(shortest).rows
    assert repaired("SELECT MIN(length) FROM ships", "What was the smallest length, and in which sea?") == (
        "SELECT MIN(length) FROM ships"
    )


def test_a_bound_that_a_column_counts_is_used_by_reading_it() -> None:
    counted = Column("berths", ColumnType.INTEGER, "berths; number of berths above 40")
    table = TableView(Table("logs", (counted, Column("length", ColumnType.NUMBER))), document="")
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE logs (berths INTEGER, length REAL); INSERT INTO logs VALUES (3, 50)")
    run = runner(connection)
    known = profile_tables([table], run)
    question = "What is the smallest number of berths above 40?"
    found = {}
    for column in ("berths", "length"):
        tree = parse_select(f"SELECT MIN({column}) FROM logs")
        found[column] = [f.text for f in review(question, tree, run(tree.sql(DIALECT)), known, (), run) if "40" in f.text]
    assert found["berths"] == [] and found["length"]


def with_berths(sql: str, asked: str) -> str:
    """A statement repaired over a table that counts berths beyond a length, beside a length of its own."""
    counted = Column("berths", ColumnType.INTEGER, f"berths; {asked}")
    columns = (counted, Column("length", ColumnType.NUMBER), Column("day", ColumnType.DATE))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE logs (berths INTEGER, length REAL, day TEXT)")
    known = profile_tables([TableView(Table("logs", columns), document="")], runner(connection))
    tree = parse_select(sql)
    repair(tree, Names(tree, known), "")
    return tree.sql(DIALECT)


def test_a_join_on_a_column_of_one_table_is_made_on_what_both_have() -> None:
    scores = TableView(Table("scores", (Column("player"), Column("team"), Column("points", ColumnType.INTEGER)), row="a player"))
    sides = TableView(Table("sides", (Column("team"), Column("won", ColumnType.BOOLEAN)), row="a team in a match"))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE scores (player TEXT, team TEXT, points INTEGER, document TEXT)")
    connection.execute("CREATE TABLE sides (team TEXT, won INTEGER, document TEXT)")
    run = runner(connection)
    known = profile_tables([scores, sides], run)
    tree = parse_select("SELECT COUNT(*) FROM scores AS a JOIN sides AS b ON a.player = A.player WHERE b.won = 0")
    repair(tree, Names(tree, known), "")
    assert "ON a.team = b.team AND a.document = b.document" in tree.sql(DIALECT)
    beside = parse_select("SELECT COUNT(*) FROM scores AS a JOIN sides AS b ON b.document = a.document WHERE b.won = 0")
    repair(beside, Names(beside, known), "")  # each row of one list would meet each of the other
    assert "ON a.team = b.team AND a.document = b.document" in beside.sql(DIALECT)
    other = parse_select("SELECT COUNT(*) FROM sides WHERE won = 0")
    question = "How many times did a player score 30 points?"
    found = review(question, other, run(other.sql(DIALECT)), known, (), run)
    assert any("read the table scores" in finding.text for finding in found)
    total = parse_select("SELECT COUNT(*) FROM scores WHERE points >= 90")
    asked = "How many times did a team score 90 or more points?"
    seen = [finding.text for finding in review(asked, total, run(total.sql(DIALECT)), known, (), run)]
    assert any("read the table sides" in text for text in seen)


def test_a_join_of_two_lists_also_pairs_the_columns_that_name_the_same_things() -> None:
    scores = TableView(Table("scores", (Column("player"), Column("club")), row="a player", grain="many"))
    sides = TableView(Table("sides", (Column("team"), Column("against"), Column("won")), row="a team in a match", grain="many"))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE scores (player TEXT, club TEXT, document TEXT)")
    connection.execute("CREATE TABLE sides (team TEXT, against TEXT, won TEXT, document TEXT)")
    players = [("Ada", "Reds", "1"), ("Ben", "Reds", "1"), ("Cy", "Blues", "1"), ("Dee", "Greens", "2")]
    connection.executemany("INSERT INTO scores VALUES (?,?,?)", players)
    played = [("Reds", "Blues", "no", "1"), ("Blues", "Reds", "yes", "1"), ("Greens", "Reds", "yes", "2")]
    connection.executemany("INSERT INTO sides VALUES (?,?,?,?)", played)
    run = runner(connection)
    known = profile_tables([scores, sides], run)
    lost = parse_select("SELECT player FROM scores AS a JOIN sides AS b ON a.document = b.document WHERE b.won = 'no'")
    repair(lost, Names(lost, known), "")
    assert run(lost.sql(DIALECT)).rows == (("Ada",), ("Ben",))


def test_what_is_so_is_asked_for_yes() -> None:
    sql = "SELECT COUNT(*) FROM ships WHERE lost IS NOT NULL"
    assert "lost = 1" in repaired(sql, "How many ships were lost at sea?")
    assert "lost = 1" not in repaired(sql, "For how many ships do the documents say whether they were lost?")
    assert "lost = 1" not in repaired(sql, "How many logs specified a loss at sea?")
    assert "lost = 1" in repaired("SELECT name FROM ships WHERE lost IS NOT NULL", "Give the ships that were lost at sea.")
    assert "IS NULL" in repaired("SELECT COUNT(*) FROM ships WHERE port IS NOT NULL", "How many ships have a port?")


def test_that_a_joined_row_names_something_asks_whether_it_is_the_own_one() -> None:
    rowers = TableView(Table("rowers", (Column("rower"), Column("crew"), Column("km", ColumnType.INTEGER)), grain="many"))
    races = TableView(Table("races", (Column("winner"), Column("loser")), row="a race", grain="document"))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE rowers (rower TEXT, crew TEXT, km INTEGER, document TEXT)")
    connection.execute("CREATE TABLE races (winner TEXT, loser TEXT, document TEXT)")
    listed = [("Ada", "Reds", 9, "1"), ("Ben", "Blues", 9, "1"), ("Cy", "Reds", 9, "2"), ("Dee", "Greens", 2, "2")]
    connection.executemany("INSERT INTO rowers VALUES (?,?,?,?)", listed)
    connection.executemany("INSERT INTO races VALUES (?,?,?)", [("Blues", "Reds", "1"), ("Reds", "Greens", "2")])
    run = runner(connection)
    known = profile_tables([rowers, races], run)
    on = "FROM rowers AS a JOIN races AS b ON a.document = b.document WHERE a.km >= 5 AND b.loser IS NOT NULL"
    lost = parse_select(f"SELECT a.rower {on}")
    repair(lost, Names(lost, known), "")
    assert run(lost.sql(DIALECT)).rows == (("Ada",),)
    beside = parse_select(f"SELECT a.rower, b.winner {on}")
    repair(beside, Names(beside, known), "")
    assert len(run(beside.sql(DIALECT)).rows) == 3, "the race itself is asked for"


def test_a_join_to_sides_by_their_names_stays_in_the_document() -> None:
    scores = TableView(Table("scores", (Column("player"), Column("team")), row="a player", grain="many"))
    sides = TableView(Table("games_of_teams", (Column("team"), Column("opponent"), Column("won")), row="a team", grain="many"))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE scores (player TEXT, team TEXT, document TEXT)")
    connection.execute("CREATE TABLE games_of_teams (team TEXT, opponent TEXT, won INTEGER, document TEXT)")
    connection.executemany("INSERT INTO scores VALUES (?,?,?)", [("Ada", "Reds", "1"), ("Ben", "Reds", "2")])
    played = [("Reds", "Blues", 0, "1"), ("Blues", "Reds", 1, "1"), ("Reds", "Greens", 1, "2"), ("Greens", "Reds", 0, "2")]
    connection.executemany("INSERT INTO games_of_teams VALUES (?,?,?,?)", played)
    run = runner(connection)
    known = profile_tables([scores, sides], run)
    lost = parse_select("SELECT player FROM scores AS a JOIN games_of_teams AS b ON a.team = b.team WHERE b.won = 0")
    repair(lost, Names(lost, known), "")
    assert run(lost.sql(DIALECT)).rows == (("Ada",),)


@pytest.mark.parametrize(
    ("question", "also", "ports"),
    [
        ("What is the home port of the Grey Gull?", "T2.ship = 'Northern Star'", (("Oslo",),)),
        ("What is the home port of that ship?", "T2.ship = 'Northern Star'", ()),  # no filter is the question's own
        ("What is the home port of the Grey Gull?", "(T2.ship = 'Northern Star' OR T2.role = 'cook')", ()),
    ],
)
def test_a_filter_on_a_name_that_the_question_does_not_say_is_left_out_where_it_leaves_nothing(
    question: str, also: str, ports: tuple[tuple[str, ...], ...]
) -> None:
    run = database()
    known = profiles(run)
    sql = f"SELECT T1.port FROM ships AS T1 JOIN crews AS T2 ON T1.name = T2.ship WHERE T1.name = 'Grey Gull' AND {also}"
    candidate = try_sql(question, sql, known, named_values(question, known), run)
    assert candidate.result is not None and tuple(candidate.result.rows) == ports
    assert (not candidate.weight) == bool(ports)
