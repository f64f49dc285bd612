"""Gold rows: rows of a table that a person filled by hand, compared with what was extracted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sliders.engine.given_tables import separated_frame
from sliders.errors import SettingsError
from sliders.markup import table_html
from sliders.progress import counted
from sliders.schema.types import Column, Schema, Table
from sliders.store.catalog import Catalog
from sliders.store.lineage import lineage_of
from sliders.values.expected import ColumnType, Scalar
from sliders.values.folding import name_key
from sliders.values.parse import typed

if TYPE_CHECKING:
    import pandas as pd

_DOCUMENT = "document"
_SHOWN = 20
_SAME = 1e-9
_POWERS = (100, 1_000, 1_000_000, 1_000_000_000)


@dataclass(frozen=True, slots=True)
class GoldDifference:
    """A value that differs from the gold one, or a row that only one side has.

    Args:
        table: the table's name.
        row: what identifies the row, in words.
        column: the column; "" for a whole row.
        gold: the value that the person wrote; None for none.
        read: the value that the table shows; None for none.
        words: the printed words behind it.
        place: the document and page.
        advice: what the user can do about it.
    """

    table: str
    row: str
    column: str
    gold: Scalar
    read: Scalar
    words: str = ""
    place: str = ""
    advice: str = ""

    def __str__(self) -> str:
        of = f"{self.table}.{self.column}" if self.column else self.table
        said = (
            "row" if not self.column else f"{_shown(self.gold)} expected, {_shown(self.read)} read"
        )
        words = f', from "{self.words}"' if self.words else ""
        place = f" ({self.place})" if self.place else ""
        return f"{of} of {self.row}: {said}{words}{place}; {self.advice}"


@dataclass(frozen=True, slots=True)
class GoldScore:
    """The comparison of a column with gold: the number of values that are right, wrong, missed
    (gold has one, the table none) and invented (the table has one, gold none).
    """

    column: str
    right: int = 0
    wrong: int = 0
    missed: int = 0
    invented: int = 0

    @property
    def accuracy(self) -> float:
        """The share (0 to 1) of gold values, empty ones included, that the table has right."""
        total = self.right + self.wrong + self.missed + self.invented
        return self.right / total if total else 1.0


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """A table compared with gold rows.

    Args:
        table: the table's name.
        matched_on: the columns by which gold rows and rows of the table are matched.
        rows: the number of gold rows.
        missing: the number of gold rows that the table does not have.
        extra: the number of rows without a gold row, in documents that have gold rows.
        scores: the comparison of each column.
        differences: everything that differs.
    """

    table: str
    matched_on: tuple[str, ...]
    rows: int
    missing: int
    extra: int
    scores: tuple[GoldScore, ...]
    differences: tuple[GoldDifference, ...]

    @property
    def accuracy(self) -> float:
        """The mean over the columns of their share of right values (0 to 1); 1 without columns."""
        return sum(s.accuracy for s in self.scores) / len(self.scores) if self.scores else 1.0

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        head = (
            f"{self.table}: {counted(self.rows, 'gold row')}, matched on "
            f"{', '.join(self.matched_on)}; {self.missing} missing, {self.extra} extra"
        )
        lines = [head]
        for score in self.scores:
            faults = (
                ("wrong", score.wrong),
                ("missed", score.missed),
                ("invented", score.invented),
            )
            told = ", ".join(f"{count} {name}" for name, count in faults if count)
            lines.append(
                f"  {score.column}: {score.accuracy:.0%} right" + (f" ({told})" if told else "")
            )
        lines += [f"  {difference}" for difference in self.differences[:_SHOWN]]
        more = len(self.differences) - _SHOWN
        return "\n".join(
            lines + ([f"  and {more} more (--json lists them all)"] if more > 0 else [])
        )

    def _repr_html_(self) -> str:
        head = ("row", "column", "gold", "read", "words", "place", "what may mend it")
        lines = [
            (d.row, d.column, d.gold, d.read, d.words, d.place, d.advice) for d in self.differences
        ]
        scores = [
            (s.column, f"{s.accuracy:.0%}", s.wrong, s.missed, s.invented) for s in self.scores
        ]
        listed = table_html(("column", "right", "wrong", "missed", "invented"), scores)
        return listed + (table_html(head, lines, most=100) if lines else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        scores = [asdict(s) | {"accuracy": s.accuracy} for s in self.scores]
        return asdict(self) | {"accuracy": self.accuracy, "scores": scores}


def gold_frame(path: Path) -> pd.DataFrame:
    """The rows of a CSV or Excel file, as texts.

    Raises:
        SettingsError: the file is missing, or is no table.
    """
    import pandas as pd

    try:
        if path.suffix.lower() in (".xlsx", ".xlsm"):
            return pd.read_excel(path, dtype=str).fillna("")
        return separated_frame(path)
    except ImportError as error:
        raise SettingsError(
            "Excel needs openpyxl; install it with: pip install 'sliders[export]'"
        ) from error
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{str(path)!r} cannot be read as gold rows: {error}; correct it, or save it again"
        ) from error


def check_gold(
    catalog: Catalog, gold: pd.DataFrame, table: str = "", on: Sequence[str] = ()
) -> GoldCheck:
    """Compares gold rows with the current rows of a table.

    Columns that gold does not have are not compared. An empty gold value means that the document
    states none. Documents without a gold row are ignored.

    Args:
        gold: the rows; columns named as in the table, and `document` when it matters.
        table: the table's name. When left out: the only table with all these columns.
        on: the columns by which rows are matched. When left out: `document` and the table's key, as
            far as gold has them.

    Raises:
        SettingsError: no table fits, a column is unknown, or a gold value is of another type.
    """
    names = [str(name) for name in gold.columns]
    of = _table(catalog.schemas.current() or Schema(), table, names)
    matched = tuple(on) or _identity(of, names)
    if strange := [name for name in matched if name not in names]:
        raise SettingsError(
            f"gold has no column {strange[0]!r} to match on; add it, or name others"
        )
    comparison = _Comparison(catalog, of, matched, [n for n in names if n != _DOCUMENT])
    expected = [comparison.parsed(number, row) for number, row in enumerate(_rows(gold), 2)]
    return comparison.check(expected)


def _rows(gold: pd.DataFrame) -> Iterator[dict[str, Any]]:
    absent = gold.isna().to_numpy()
    for values, gone in zip(gold.astype(object).to_numpy(), absent, strict=True):
        yield {
            str(n): None if missing or v == "" else v
            for n, v, missing in zip(gold.columns, values, gone, strict=True)
        }


def _table(schema: Schema, name: str, names: Sequence[str]) -> Table:
    columns = {n for n in names if n != _DOCUMENT}
    if name:
        tables = [t for t in schema.tables if t.name == name]
    else:
        tables = [t for t in schema.tables if columns <= {*t.column_names}]
    known = "; ".join(f"{t.name}: {', '.join(t.column_names)}" for t in schema.tables) or "none yet"
    if len(tables) != 1:
        which = (
            f"there is no table {name!r}" if name else "no table, or more than one, has the columns"
        )
        raise SettingsError(f"{which} {', '.join(sorted(columns))}; name one (--table): {known}")
    if strange := columns - {*tables[0].column_names}:
        raise SettingsError(
            f"table {tables[0].name!r} has no column {', '.join(sorted(strange))}; it has {known}"
        )
    return tables[0]


def _identity(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    key = [name for name in table.key if name in names]
    beside = [_DOCUMENT] if _DOCUMENT in names and table.key_scope == "document" else []
    found = tuple(beside + key) or tuple(name for name in names if name == _DOCUMENT)
    if not found:
        raise SettingsError(
            f"table {table.name!r} has no key that gold has, and gold has no column "
            f"{_DOCUMENT!r}; say which columns to match on (--on)"
        )
    return found


@dataclass(frozen=True)
class _Comparison:
    catalog: Catalog
    table: Table
    on: tuple[str, ...]
    names: list[str]

    def parsed(self, line: int, row: Mapping[str, Any]) -> dict[str, Scalar]:
        """A gold row in the types of the table.

        Raises:
            SettingsError: a value does not fit its column.
        """
        values: dict[str, Scalar] = {_DOCUMENT: row.get(_DOCUMENT)}
        for name in self.names:
            said = row[name]
            item = said.item() if hasattr(said, "item") else said
            read = typed(item, self.table.column(name))
            if item is not None and read.value is None and not read.absent:
                raise SettingsError(
                    f"gold, line {line}, column {name!r}: {said!r} is no "
                    f"{self.table.column(name).type.value}: {read.reason}"
                )
            values[name] = read.value
        return values

    def check(self, expected: Sequence[Mapping[str, Scalar]]) -> GoldCheck:
        """Matches the rows and compares them."""
        documents = {row[_DOCUMENT] for row in expected if row[_DOCUMENT] is not None}
        left: dict[tuple[str, ...], list[dict[str, Scalar]]] = {}
        for row in self._shown():
            left.setdefault(self._key(row), []).append(row)
        counts = {name: Counter[str]() for name in self.names}
        differences: list[GoldDifference] = []
        missing = 0
        for gold in expected:
            candidates = left.get(self._key(gold), [])
            if not candidates:
                missing += 1
                differences.append(
                    self._lone(gold, "gold has it, the table has not", gold[_DOCUMENT])
                )
                for name in self.names:
                    counts[name]["missed" if gold[name] is not None else "right"] += 1
                continue
            read = max(candidates, key=lambda row: self._agreeing(gold, row))
            candidates.remove(read)
            documents.add(read[_DOCUMENT])
            for name in self.names:
                verdict = self._verdict(name, gold[name], read[name])
                counts[name][verdict] += 1
                if verdict != "right":
                    differences.append(self._difference(name, gold, read))
        extra = [row for rows in left.values() for row in rows if row[_DOCUMENT] in documents]
        differences += [
            self._lone(row, "the table has it, gold has not", row[_DOCUMENT]) for row in extra
        ]
        scores = tuple(GoldScore(name, **counts[name]) for name in self.names)
        return GoldCheck(
            self.table.name, self.on, len(expected), missing, len(extra), scores, tuple(differences)
        )

    def _shown(self) -> list[dict[str, Scalar]]:
        relation = self.catalog.schemas.relation(self.table.name)
        if relation.current_version is None:
            raise SettingsError(f"table {self.table.name!r} is empty; ask or extract first")
        wanted = [relation.sql_name(name) for name in self.names]
        _, rows = self.catalog.tables.read(self.table.name, [*wanted, _DOCUMENT, "row_id"])
        return [dict(zip((*self.names, _DOCUMENT, "row_id"), row, strict=True)) for row in rows]

    def _key(self, row: Mapping[str, Scalar]) -> tuple[str, ...]:
        return tuple(self._comparable(name, row[name]) for name in self.on)

    def _comparable(self, name: str, value: Scalar) -> str:
        if isinstance(value, bool | int | float):
            return repr(float(value))
        return name_key(value or "") if name != _DOCUMENT else str(value or "")

    def _agreeing(self, gold: Mapping[str, Scalar], row: Mapping[str, Scalar]) -> int:
        return sum(self._verdict(n, gold[n], row[n]) == "right" for n in self.names)

    def _verdict(self, name: str, gold: Scalar, read: Scalar) -> str:
        if gold is None or read is None:
            return "right" if gold is read else "invented" if gold is None else "missed"
        if isinstance(gold, int | float) and isinstance(read, int | float):
            same = math.isclose(gold, read, rel_tol=_SAME)
        else:
            same = self._comparable(name, gold) == self._comparable(name, read)
        return "right" if same else "wrong"

    def _lone(self, row: Mapping[str, Scalar], advice: str, document: Scalar) -> GoldDifference:
        mend = f"{advice}: see sliders why {document}" if document else advice
        return GoldDifference(self.table.name, self._named(row), "", None, None, advice=mend)

    def _named(self, row: Mapping[str, Scalar]) -> str:
        return ", ".join(_shown(row[name]) for name in self.on)

    def _difference(
        self, name: str, gold: Mapping[str, Scalar], read: Mapping[str, Scalar]
    ) -> GoldDifference:
        row_id = str(read["row_id"])
        evidence = next(iter(lineage_of(self.catalog, row_id, name)), None)
        page = f", page {evidence.page}" if evidence and evidence.page else ""
        return GoldDifference(
            self.table.name,
            self._named(gold),
            name,
            gold[name],
            read[name],
            evidence.printed if evidence else "",
            f"{evidence.document if evidence else read[_DOCUMENT]}{page}",
            _advice(self.table.column(name), gold[name], read[name], row_id),
        )


def _advice(column: Column, gold: Scalar, read: Scalar, row_id: str) -> str:
    """Says what the user can do about a difference, as far as the two values show it."""
    if read is None:
        return f"see sliders why {row_id}; say in the description where documents print it"
    if gold is None:
        return "say in the description when there is no such value"
    if isinstance(gold, int | float) and isinstance(read, int | float) and gold and read:
        if math.isclose(gold, -read, rel_tol=_SAME):
            return "the sign differs: say in the description what is negative"
        ratio = abs(gold / read)
        if any(math.isclose(ratio, p) or math.isclose(ratio * p, 1) for p in _POWERS):
            return "the scale differs: set the column's unit or scale"
    if column.type in (ColumnType.DATE, ColumnType.DATETIME):
        return "say in the description which date is meant"
    return "say in the description which value is meant, and which is not"


def _shown(value: Scalar) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "nothing" if value is None else str(value)
