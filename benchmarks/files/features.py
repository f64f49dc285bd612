"""What a file may hold, in blocks that each format writes in its own way."""

from __future__ import annotations

from dataclasses import dataclass

Run = tuple[str, str]
"""Words, and how they are set: "", "sup", "strike" or "hidden"."""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading ("h"), paragraph ("p"), item of a list ("li") or table ("table")."""

    kind: str
    runs: tuple[Run, ...] = ()
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Feature:
    """What must be read of some blocks: `lines` are words that stand in one line together, `never`
    what must not be there.
    """

    name: str
    blocks: tuple[Block, ...]
    lines: tuple[tuple[str, ...], ...]
    never: tuple[str, ...] = ()
    told: bool = False
    sets: frozenset[str] = frozenset()


def _p(*runs: Run | str, kind: str = "p") -> Block:
    return Block(kind, tuple((run, "") if isinstance(run, str) else run for run in runs))


def _table(*rows: tuple[str | tuple[Run, ...], ...]) -> Block:
    cells = tuple(
        tuple(((cell, ""),) if isinstance(cell, str) else cell for cell in row) for row in rows
    )
    return Block("table", rows=cells)


def _plain(name: str, *blocks: Block, lines: tuple[tuple[str, ...], ...]) -> Feature:
    return Feature(name, blocks, lines)


HEAD = ("Part", "Town", "Price")
_UP = frozenset({"sup"})
FEATURES = (
    _plain("words", _p("The lamp costs 40 EUR."), lines=(("The lamp costs 40 EUR.",),)),
    _plain(
        "heading",
        _p("Supply agreement of Lund", kind="h"),
        _p("Signed in 2024."),
        lines=(("Supply agreement of Lund",), ("Signed in 2024.",)),
    ),
    _plain(
        "list",
        _p("First, pay 12 euros.", kind="li"),
        _p("Then pay 13 euros.", kind="li"),
        lines=(("First, pay 12 euros.",), ("Then pay 13 euros.",)),
    ),
    _plain(
        "table",
        _table(HEAD, ("Bolt", "Alm", "1.50"), ("Nut", "Brix", "0.80")),
        lines=(("Bolt", "Alm", "1.50"), ("Nut", "Brix", "0.80")),
    ),
    _plain(
        "empty cell",
        _table(HEAD, ("Bolt", "", "1.50"), ("Nut", "Brix", "0.80")),
        lines=(("Bolt", "1.50"), ("Nut", "Brix", "0.80")),
    ),
    _plain(
        "decimal commas",
        _table(HEAD, ("Bolt", "Alm", "12,5"), ("Nut", "Brix", "7,25")),
        lines=(("Bolt", "12,5"), ("Nut", "7,25")),
    ),
    _plain(
        "leading zeros",
        _table(HEAD, ("Bolt", "Alm", "01234"), ("Nut", "Brix", "00017")),
        lines=(("Bolt", "01234"), ("Nut", "00017")),
    ),
    _plain(
        "brackets",
        _table(HEAD, ("Bolt", "Alm", "(1,234)"), ("Nut", "Brix", "(17)")),
        lines=(("Bolt", "(1,234)"), ("Nut", "(17)")),
    ),
    _plain(
        "two tables",
        _table(HEAD, ("Bolt", "Alm", "1.50"), ("Nut", "Brix", "0.80")),
        _p("Staff of the works in Lund."),
        _table(("Name", "Role", "Year"), ("Ana", "chief", "2019"), ("Bo", "clerk", "2021")),
        lines=(("Bolt", "1.50"), ("Ana", "chief"), ("Staff of the works",)),
    ),
    _plain(
        "signs",
        _p("The limit is 5 < x & x > 3 in it."),
        lines=(("5 < x & x > 3",),),
    ),
    _plain(
        "scripts",
        _p("Η τιμή είναι 45 ευρώ, цена 46 рублей, 价格是47欧元."),
        lines=(("τιμή", "45", "цена", "46", "47"),),
    ),
    _plain(
        "long",
        *(_p(f"Paragraph {n} says that lamp {n} costs {n + 7000} euros.") for n in range(120)),
        lines=tuple((f"lamp {n} costs {n + 7000} euros",) for n in range(120)),
    ),
    Feature(
        "footnote mark",
        (_p("The price is 45", ("1", "sup"), " EUR a month."),),
        (("45", "EUR a month"),),
        ("451",),
        sets=_UP,
    ),
    Feature(
        "power",
        (_p("They counted 10", ("6", "sup"), " cells in it."),),
        (("10^6 cells",),),
        ("106",),
        sets=_UP,
    ),
    Feature(
        "mark in brackets",
        (_p("The price of 2022", ("1)", "sup"), " stands."),),
        (("2022^1) stands",),),
        ("20221",),
        sets=_UP,
    ),
    Feature(
        "letter as mark",
        (_p("The price is 45", ("b", "sup"), " EUR a month."),),
        (("45^b EUR a month",),),
        ("45b",),
        sets=_UP,
    ),
    Feature(
        "footnote mark in a table",
        (_table(HEAD, ("Bolt", "Alm", (("45", ""), ("1", "sup"))), ("Nut", "Brix", "17")),),
        (("Bolt", "45"),),
        ("451",),
        sets=_UP,
    ),
    Feature(
        "struck out",
        (_p("The penalty is ", ("900", "strike"), " 80 euros."),),
        (("The penalty is", "80 euros"),),
        ("900",),
        told=True,
        sets=frozenset({"strike"}),
    ),
    Feature(
        "hidden",
        (_p("The fee is 40 euros. ", ("The draft said 300.", "hidden")),),
        (("The fee is 40 euros.",),),
        ("300",),
        told=True,
        sets=frozenset({"hidden"}),
    ),
)
