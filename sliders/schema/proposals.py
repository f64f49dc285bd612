"""From a model's proposal to columns: names, types and words that the question itself bears out, by code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sliders.llm.model import Response
from sliders.schema.lint import SUPERLATIVES, counted_nouns, subject
from sliders.schema.literals import is_period, literals
from sliders.schema.names import kind_of, plural, snake_name, spoken_name, with_article
from sliders.schema.types import Column, ColumnType, Grain, Schema, Table


def measured(columns: Sequence[Column], question: str) -> tuple[Column, ...]:
    """The one number column under the noun that the question measures ("30 or more points" is no `score` of a player)."""
    numbers = [c for c in columns if c.type in (ColumnType.INTEGER, ColumnType.NUMBER)]
    noun = _MEASURE.search(question.lower())
    if len(numbers) != 1 or noun is None or any(c.name == noun[1] for c in columns):
        return tuple(columns)
    return tuple(replace(c, name=noun[1], description="") if c is numbers[0] else c for c in columns)


_MEASURE = re.compile(
    r"(?:\d[\d,.]*\s+or\s+(?:more|fewer|less)|(?:fewer|more|less) than \d[\d,.]*|at (?:least|most) \d[\d,.]*|"
    r"the (?:most|fewest))\s+([a-z]+s)\b"
)


def new_roles(extra: Sequence[Column], proposal: Table) -> list[Column]:
    """Columns for names that the question says, without one column for several names: they fill the roles that stand."""
    names = Counter(c.name for c in extra)
    roles = [c for c in proposal.columns if c.type is ColumnType.TEXT]
    return [c for c in extra if names[c.name] == 1 or len(roles) < names[c.name]]


def strangers(reply: Response, question: str) -> bool:
    """Whether no part of a proposal was asked for in words that the question has: the last word of each tells."""
    said = {w[:_PREFIX] for w in re.findall(r"[^\W_]+", question.lower())}
    heads = [re.findall(r"[^\W_]+", str(part.get("asked", "")).lower())[-1:] for part in parts_of(reply)]
    return bool(heads) and not any(word[:_PREFIX] in said for head in heads for word in head)


_PREFIX = 5
"""So many letters make two forms of a word alike ("registered", "registration")."""


def parts_of(reply: Response) -> list[dict[str, Any]]:
    """The named parts of a reply: what was asked, the column's name and its type."""
    data = reply.data if isinstance(reply.data, dict) else {}
    return [part for part in data.get("columns", []) if isinstance(part, dict) and part.get("name")]


def with_names(table: Table, question: str, texts: Sequence[str]) -> Table:
    """The table with a column for the names of what the question counts, where the documents give each a name of its
    own that ends with the counted word ("Saltmere Lock"): what two documents tell of one thing is counted once."""
    named = any(c.type is ColumnType.TEXT and ("name" in c.name.split("_") or c.examples) for c in table.columns)
    for noun in () if named else sorted(counted_nouns(question)):
        names = [frozenset(_names_ending_with(noun, text)) for text in texts]
        told = [n for n in names if n]
        if len(told) >= _NAMED_SHARE * len(texts) and len(set().union(*told)) > 1 and not frozenset.intersection(*told):
            name = Column(snake_name(f"{noun}_name"), ColumnType.TEXT, required=True)
            return replace(table, columns=(name, *table.columns))
    return table


def with_counts(table: Table, question: str, schema: Schema) -> Table:
    """The table with a count of what one of its columns lists, where the question compares it ("more than one author")."""
    texts = {c.name for t in (table, *schema.tables) for c in t.columns if c.type is ColumnType.TEXT}
    for found in _COMPARED.finditer(question.lower()):
        noun = found[2].rstrip("s")
        bare = [c for c in table.columns if c.type is ColumnType.INTEGER and c.name in (noun, f"{noun}s")]
        others = [c for c in table.columns if c not in bare]
        counted = any(noun in c.name.split("_") for c in others if c.type is ColumnType.INTEGER)
        if not counted and texts & {noun, f"{noun}s", f"{noun}_name", f"{noun}_names"}:
            name = f"{noun}_count"
            column = Column(name, ColumnType.INTEGER, f"{spoken_name(name)}; {found[1]} {found[2]}")
            return replace(table, columns=(*others, column))
    return table


_COMPARED = re.compile(
    r"\b((?:more|fewer|less) than (?:one|two|three|four|five|\d+)|at (?:least|most) (?:two|three|four|five|\d+)|"
    r"(?:two|three|four|five|\d+) or (?:more|fewer)) ([a-z]+)\b"
)
_NAMED_SHARE = 0.5


def _names_ending_with(noun: str, text: str) -> list[str]:
    words = noun.capitalize() if len(noun) < _COMPOUNDED else f"(?:{noun.capitalize()}|[A-Z][^\\W\\d_]+{noun})"
    return re.findall(rf"\b([A-Z][^\W\d_]*[a-z](?: [A-Z][^\W\d_]*[a-z])*) {words}\b(?! [A-Z])", text)


_COMPOUNDED = 5
"""A noun of so many letters also ends compounds ("Merrow Footbridge"); a shorter one ends other words, too."""


def row_noun(questions: Sequence[str]) -> str:
    """What most of several questions count ("how many of the sailings"): one row of the table is one of these."""
    nouns = Counter(noun for question in questions for noun in counted_nouns(question))
    best = nouns.most_common(1)
    if not best or best[0][1] < max(_FEWEST_COUNTS, _COUNT_SHARE * len(questions)):
        return ""
    return best[0][0]


_FEWEST_COUNTS, _COUNT_SHARE = 3, 0.3


def proposal_of(reply: Response, grain: Grain | None, question: str, counted: str = "") -> Table:
    """The table that a reply proposes; `counted` is what the questions count, and so its row."""
    data = reply.data if isinstance(reply.data, dict) else {}
    said: Grain = "many" if data.get("in_document") == "several" else "document"
    parts = _facts([{**part, "asked": _as_written(part, question)} for part in parts_of(reply)], question)
    parts = _with_agent(_own_names(parts), question)
    columns = tuple(_column(part, question) for part in parts)
    row = _row(str(data.get("row", "")).strip().rstrip("."), counted, question)
    noun = snake_name(row.split(" of ")[0].removeprefix("a ").removeprefix("an ").removeprefix("the "), "fact")
    return Table(plural(noun), columns, row=row, grain=grain or said)


def _row(said: str, counted: str, question: str) -> str:
    """What a row is: what the questions count, else the model's word; a name of one thing says nothing of its kind."""
    if counted:
        return with_article(counted)
    row = kind_of(said)
    noun = subject(question)
    named = row != said and row.split()[-1] not in question.lower() and all(w[:1].isupper() for w in said.split())
    return with_article(noun) if noun and named else row


def _facts(parts: list[dict[str, Any]], question: str) -> list[dict[str, Any]]:
    """The parts without counts of different values, which are SQL's work, and without the event that a document is about."""
    kept = []
    for part in parts:
        if _about(str(part["asked"]), question) or _STATES.fullmatch(str(part["asked"])):
            continue
        part = _named_by_what_happens(part, parts, question)
        number = part.get("type") in ("integer", "number")
        if not number and _counted_in_one_document(part, question):
            part = {**part, "name": snake_name(part["asked"]), "type": "integer"}
        if number and _DISTINCT.match(part["asked"]):
            if any(p.get("type") == "text" for p in parts):
                continue
            part = {**part, "name": _DISTINCT.sub("", str(part["name"]).replace("_", " ")), "type": "text"}
        kept.append(part)
    return kept or parts


_STATES = re.compile(
    r"(?:that |which )?(?:states?|gives?|mentions?|prints?|has|have) (?:an?|any|the|no) (?:figure|number|value|amount)s?"
)
"""That something is stated is no fact of its own: a value is there or not."""


def _about(asked: str, question: str) -> bool:
    """Whether it is what the question's things happen in ("a storm in which houses fell"): every row is about one.

    The verb that names it may be there ("describes a storm").
    """
    noun = re.sub(r"^(?:an?|the) |^\w+ an? ", "", asked.lower())
    return bool(noun) and bool(re.search(rf"\ban? {re.escape(noun)} (?:in|during|on|at) which\b", question, re.IGNORECASE))


def _named_by_what_happens(part: dict[str, Any], parts: list[dict[str, Any]], question: str) -> dict[str, Any]:
    """The part with the verb of the question where its name lost it: that of the event for what happens in it ("a storm
    in which houses were damaged": `storm`), people for what became of them ("how many people were hurt": `guests`)."""
    asked, name = str(part["asked"]).lower(), str(part["name"])
    if _about(spoken_name(name), question) and not set(name.split("_")) & set(re.findall(r"[a-z]+", asked)):
        verbs = re.findall(rf"\b{_OUTCOME.pattern}\b", asked)
        return {**part, "name": verbs[-1] if verbs else snake_name(_other_words(asked, "") or name)}
    became = re.search(rf"\bhow many {re.escape(asked)} (?:were|was|got) ({_OUTCOME.pattern})\b", question.lower())
    if became is None or not _PEOPLE.fullmatch(asked) or any(became[1] in str(p["asked"]).lower() for p in parts):
        return part
    return {**part, "asked": became[1], "name": became[1]}


def _counted_in_one_document(part: dict[str, Any], question: str) -> bool:
    """Whether the question asks how many things of a kind one document of a date states ("how many berths had more
    than 40 feet on 3 May 1998")."""
    asked = part["asked"].lower()
    counted = asked.islower() and re.search(rf"\bhow many {re.escape(asked)}{_BOUND.pattern}", question, re.IGNORECASE)
    return bool(counted) and any(map(is_period, literals(question)))


_DISTINCT = re.compile(r"^(?:(?:number|count) of )?(?:different|distinct|unique)\s", re.IGNORECASE)


def _as_written(part: dict[str, Any], question: str) -> str:
    """The words of the question as the question writes them: a name in small letters would pass for a plain word."""
    asked = str(part.get("asked", "")).strip()
    at = question.lower().find(asked.lower())
    return question[at : at + len(asked)].strip() if asked and at >= 0 else asked


def _own_names(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One name for two roles ("winner", "loser": "team") tells nothing apart: each takes the question's own word."""
    names = Counter(str(part["name"]) for part in parts)
    out = []
    for part in parts:
        role = names[str(part["name"])] > 1 and re.fullmatch(r"(?:the )?([a-z]+(?: [a-z]+)?)", part["asked"])
        out.append({**part, "name": snake_name(role[1])} if role else part)
    return out


def _with_agent(parts: list[dict[str, Any]], question: str) -> list[dict[str, Any]]:
    """"Who launched the Otter?" asks for whom it was launched by: a part that the question does not say is that one."""
    verb = _AGENT.match(question.strip())
    if verb is None or any(verb[1][:_PREFIX] in f"{part['name']} {part['asked']}".lower() for part in parts):
        return parts
    said = question.lower()
    unsaid = [part for part in parts if part.get("type") == "text" and str(part["asked"]).lower() not in said]
    agent = {"asked": verb[1], "name": f"{verb[1]}_by", "type": "text"}
    return [agent if part is unsaid[0] else part for part in parts] if unsaid else parts


_AGENT = re.compile(r"[Ww]ho ([a-z]+ed) (?=(?:the|an?|this|these|its) |[\"“'A-Z])")


def _column(part: dict[str, Any], question: str) -> Column:
    asked, said = str(part["asked"]), ColumnType(part.get("type", "text"))
    coded = _CODED.search(asked)  # "the boat registered HL-204"
    name = _CODES[coded[1]] if coded else _name(str(part["name"]), said, asked, question)
    kind = ColumnType.BOOLEAN if _happened(asked, question) else _type(said, asked, name)
    words = _beyond(asked, question) if kind is ColumnType.INTEGER else ""
    if kind in (ColumnType.INTEGER, ColumnType.NUMBER):
        words = words or _qualified(asked, question)
    words = words or _other_words(asked, name)
    return Column(name, kind, f"{spoken_name(name)}; {words}" if words else "", examples=_example(asked))


def _name(name: str, said: ColumnType, asked: str, question: str) -> str:
    """The proposed name; a lone participle gets its noun back from the question ("killed": "people_killed")."""
    if _OF_IDENTIFIERS.search(name) and _PROPER_NAME.fullmatch(asked):
        return "name"  # what is called by a proper name is not called by a number
    if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", asked):
        return asked  # the name of a column that exists
    if told := re.search(rf"(?<![\w-]){re.escape(spoken_name(name))}-(\d{{1,3}})(?!\w)", question, re.IGNORECASE):
        return f"{name}_{told[1]}"  # "ISBN-13" is not any ISBN
    if name == "number" and re.fullmatch(r"(?:[\w-]+ )+number", asked):  # "flight number"
        return snake_name(asked)
    if (named := re.fullmatch(r"(?:different )?([a-z]+) names?", asked)) and "name" not in name:
        return f"{named[1]}_name"
    place = _BESIDE_WORDS.sub("", asked)
    beside = re.search(rf"({_BESIDE}) (?:the )?{re.escape(place)}", f"{asked} {question}") if place[:1].isupper() else None
    if beside:
        return snake_name(beside[1])  # what stands near a place is not in it
    if said in (ColumnType.INTEGER, ColumnType.NUMBER) and (fuller := _fuller(asked, name)):
        return fuller
    if said in (ColumnType.INTEGER, ColumnType.NUMBER) and _differs(asked, name):
        return snake_name(asked)  # "new confirmed cases" are no `new_deaths`, though that column exists
    if _OUTCOME.fullmatch(asked) and (name == asked or asked not in name.split("_")) and _PEOPLE.search(question):
        return f"people_{asked}"  # who is counted stands elsewhere in the question
    if _OUTCOME.fullmatch(asked) and asked not in name.split("_") and _stem_of(asked) not in name:
        return asked
    nouns = re.findall(r"\b(people|persons?|(?!was\b)[a-z]+s)\b(?=.*\b" + re.escape(name) + r"\b)", asked.lower())
    if not re.fullmatch(r"[a-z]+ed", name) or not nouns or nouns[-1] in _QUESTION_WORDS:
        return name
    return f"{'people' if nouns[-1].startswith('person') else nouns[-1]}_{name}"


def _stem_of(word: str) -> str:
    """A word without its ending, as far as two forms of it share ("operated", "operator")."""
    return word[: max(_PREFIX, len(word) - 3)]


def _fuller(asked: str, name: str) -> str:
    """The question's own words for a number where the name is but the last of them ("new confirmed cases": "cases")."""
    plain = _COUNTS.sub("", _MORE_THAN.sub("", asked))
    words = [w for w in re.findall(r"[a-z]+", plain) if w not in _QUESTION_WORDS | SUPERLATIVES | _TELLS_NOTHING]
    told, named = [w.rstrip("s") for w in words], [w.rstrip("s") for w in spoken_name(name).split()]
    short = plain.islower() and not re.search(r"\d", plain) and len(words) <= _NAME_WORDS and not _RELATIONS & set(words)
    return snake_name(" ".join(words)) if short and len(named) < len(told) and told[-len(named) :] == named else ""


_TELLS_NOTHING = frozenset("count amount final overall actual exact given stated respective combined whole entire own".split())
_MORE_THAN = re.compile(r"^(?:more|less|fewer) than [\d,.]+ |^at (?:least|most) [\d,.]+ |^[\d,.]+ or (?:more|less|fewer) ")


def _differs(asked: str, name: str) -> bool:
    """Whether question and name share a word and each has a telling one that the other lacks."""
    words = {w.rstrip("s") for w in re.findall(r"[a-z]+", asked) if w not in _QUESTION_WORDS and w not in _RELATIONS}
    told = {w.rstrip("s") for w in spoken_name(name).split() if w not in _QUESTION_WORDS}
    plain = asked.islower() and not re.search(r"\d", asked)  # a bound ("born before 1900") is no name
    return plain and bool(words & told and words - told and told - words) and len(words) <= _NAME_WORDS


_RELATIONS = frozenset("of the in a an to by for at on as its".split())
_NAME_WORDS = 4
_OUTCOME = re.compile(r"[a-z]+(?:ed|lost)")
_PEOPLE = re.compile(r"\b(?:people|persons?|passengers?|victims?|fatal|lives)\b")  # small letters: a title may say People
_OF_IDENTIFIERS = re.compile(r"(?:^|_)(?:id|no|code)$|_number$")
_IDENTIFIERS = frozenset(
    "isbn issn ean upc sku gtin asin doi iban bic vin cusip isin lei ein zip zipcode postcode phone telephone fax barcode".split()
)
_CODES = {"registered": "registration", "licensed": "licence"}
_CODED = re.compile(rf"\b({'|'.join(_CODES)})(?: as| under)? (?=\S*\d)[A-Z0-9][A-Z0-9./-]+$")
_BESIDE = r"\b(?:near|next to|close to|opposite|beside)"
_BESIDE_WORDS = re.compile(rf"^.*{_BESIDE} (?:the )?")
_OF_A_NAME = re.compile(r"([a-z]+(?: [a-z]+)?) (?:of|in|from|by) (?:the )?(?=[A-Z][^\d]*$)")
_PROPER_NAME = re.compile(r"(?:(?:about|of|in|at|by) )?(?:the )?[A-Z][^\W\d]*(?:[ '’&.-]+[^\W\d]+)*")


def _example(asked: str) -> tuple[str, ...]:
    """The question's words for a column where they name one particular thing ("near Hull pier")."""
    return (asked,) if re.search(r"\b[A-Z]", asked) and len(asked.split()) <= _EXAMPLE_WORDS else ()


_EXAMPLE_WORDS = 5


def _type(said: ColumnType, asked: str, name: str) -> ColumnType:
    """The proposed type, or integer where the question's own words count or compare with a number."""
    if name.startswith("people_"):
        return ColumnType.INTEGER
    if set(name.split("_")) & _IDENTIFIERS:
        return ColumnType.TEXT  # figures that are no number: 0310309409
    if _OUTCOME.fullmatch(asked) and f"_{name}".endswith(f"_{asked}"):
        return ColumnType.BOOLEAN  # "destroyed": so or not
    if _PROPER_NAME.fullmatch(asked):
        return ColumnType.TEXT
    return ColumnType.INTEGER if said is ColumnType.TEXT and _COUNTED.search(asked) else said


def _happened(asked: str, question: str) -> bool:
    """Whether the question counts rows to which something happened ("how many of the races went to a rerun?")."""
    found = re.search(rf"\bhow many (?:of the )?[a-z]+ ([a-z]+) (?:in|to|into) (?:an? )?{re.escape(asked)}\W*$", question.lower())
    return bool(asked) and found is not None and re.fullmatch(r"went|ended|resulted|led|came|turned", found[1]) is not None


_COUNTED = re.compile(
    r"^(?:how many|number of|total number of)\b|\b(?:at least|at most|more than|fewer than|less than|over|under) "
    r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten)|\b(?:\d[\d,.]*|ten|two|five) or (?:more|fewer|less)\b",
    re.IGNORECASE,
)


def _other_words(asked: str, name: str) -> str:
    """The question's own words for a column, where they say more than its name does, without the name of one thing."""
    if found := _OF_A_NAME.match(asked):
        asked = found[1]  # "citizens of Chile"
    plain = re.sub(r"\S*[A-Z]\S*|(?<!\S)[\d.,]+(?!\S)", " ", asked)
    words = list(dict.fromkeys(w for w in re.findall(r"(?:\d+-)?\b[a-z]{3,}", plain) if w not in _QUESTION_WORDS))
    told = {word.rstrip("s") for word in spoken_name(name).split()}
    if not words or (plain != asked and len(words) < _FEWEST_LEFT) or all(w.rstrip("s") in told for w in words):
        return ""
    return " ".join(words) if len(words) <= 6 else ""


_FEWEST_LEFT = 2
"""So many words must be left of an asked part without its names and numbers, else it named one thing."""


def _beyond(asked: str, question: str) -> str:
    """The words for what is counted beyond a bound that the question says ("berths above 40 feet")."""
    at = question.lower().find(asked.lower()) if asked else -1
    tail = _BOUND.match(question[at + len(asked) :]) if at >= 0 else None
    noun = _COUNTS.sub("", asked.lower())
    return f"{noun} {' '.join(tail[1].split())}" if tail and noun else ""


def _qualified(asked: str, question: str) -> str:
    """The words for a number with those that the question has around it ("the daily 3-hour load per 1,000")."""
    if not asked or not (found := re.search(rf"\bthe ((?:[\w-]+ ){{0,3}}){re.escape(asked)}( per [\d,.]*\d)?", question)):
        return ""
    before = found[1].split()
    others = _QUESTION_WORDS | _RELATIONS | SUPERLATIVES  # "the reports give more than": no words of the number
    bounded = re.search(r"(?<!\S)\d[\d.,]*(?!\S)", asked)
    if bounded or any(w in others or w != w.lower() for w in before) or not (before or found[2]):
        return ""
    words = [w for w in [*before, *asked.split()] if w not in _QUESTION_WORDS]
    return f"{' '.join(words)}{found[2] or ''}"


_COUNTS = re.compile(r"^(?:how many|(?:the )?(?:total )?number of) ")
_BOUND = re.compile(
    r" ((?:(?:that |which |who )?(?:had|have|has|with) (?:[\w-]+ ){1,4})?(?:above|over|below|under|more than|less than|at least)"
    r"(?: [a-z]+){0,4}? \d[\d,.]*%?)"
)


_QUESTION_WORDS = frozenset(
    (
        "all and any are average being between describes did does each eight fewer five for four give gives "
        "had has have highest how its largest least less list lowest many more most much name nine number one "
        "over per reported says seven six smallest stated ten than that the their there three total two under "
        "was were what when where which who whose with"
    ).split()
)
