"""Export: the audit database, and the data tables as CSV, Parquet and Excel files."""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sliders.errors import SettingsError, StoreError
from sliders.store.audit_schema import AUDIT_COPIES, AUDIT_SCHEMA, AUDIT_VERSION
from sliders.store.catalog import Catalog
from sliders.store.database import Database, file_uri, quote_identifier
from sliders.store.records import Relation, TableVersion

_EXCEL_ROWS = 1_048_576
_EXCEL_TEXT = 32_767
_EXCEL_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def export_audit(catalog: Catalog, path: str | Path) -> Path:
    """Write the audit database: one plain SQLite file for Datasette, DB Browser or pandas; the file is replaced whole.

    The data tables have their own names; documents, chunks, cells, calls and decisions are in tables named `audit_...`,
    joined by foreign keys; the view `audit_evidence` shows each value with its quote, document and page.

    Raises:
        StoreError: the path is the workspace itself, or cannot be written.
    """
    target = Path(path)
    source = catalog.database.path
    if target.exists() and os.path.samefile(target, source):
        raise StoreError(f"{str(target)!r} is the workspace itself; export to another file")
    unfinished = target.with_name(target.name + ".part")
    lock = unfinished.with_name(unfinished.name + ".lock")
    try:
        unfinished.unlink(missing_ok=True)
        with Database(unfinished) as audit:
            audit.execute("ATTACH ? AS work", (file_uri(source, "ro"),))
            _copy(audit, catalog)
            audit.execute("DETACH work")
            audit.execute("PRAGMA journal_mode=DELETE")
        os.replace(unfinished, target)
    finally:
        for rest in (unfinished, lock):
            with contextlib.suppress(OSError):
                rest.unlink(missing_ok=True)
    return target


def _copy(audit: Database, catalog: Catalog) -> None:
    # Rows arrive table by table; the keys are checked together at the end by whoever verifies the file.
    audit.execute("PRAGMA foreign_keys=OFF")
    with audit.transaction():
        for statement in AUDIT_SCHEMA:
            audit.execute(statement)
        for target, columns, select in AUDIT_COPIES:
            audit.execute(f"INSERT INTO {target} ({columns}) {select}")
        for relation, version in _current(catalog):
            _copy_table(audit, relation, version)
        audit.execute("INSERT INTO audit_document_search (audit_document_search) VALUES ('rebuild')")
        audit.execute("INSERT INTO audit_meta VALUES ('layout', ?)", (str(AUDIT_VERSION),))


def _copy_table(audit: Database, relation: Relation, version: TableVersion) -> None:
    types = {column.sql_name: column.sql_type for column in relation.columns}
    name = quote_identifier(relation.relation)
    columns = "".join(f"{quote_identifier(column)} {types.get(column, '')}, " for column in version.columns)
    audit.execute(
        f"""CREATE TABLE {name} ({columns}document TEXT, document_id TEXT REFERENCES audit_documents(id),
        row_id TEXT PRIMARY KEY REFERENCES audit_rows(id))"""
    )
    listed = "".join(f"{quote_identifier(column)}, " for column in version.columns) + "document, document_id, row_id"
    physical = f"work.{quote_identifier(version.relation)}"
    audit.execute(f"INSERT INTO {name} ({listed}) SELECT {listed} FROM {physical}")
    audit.execute(
        f"""INSERT INTO audit_lineage (table_name, row_id, source_row_id)
        SELECT ?, v.row_id, j.value FROM {physical} v, json_each(v._sources) j WHERE v._sources IS NOT NULL""",
        (relation.name,),
    )


def _current(catalog: Catalog) -> Iterator[tuple[Relation, TableVersion]]:
    for relation in catalog.schemas.relations():
        version = catalog.tables.current(relation.name)
        if version is not None:
            yield relation, version


def export_csv(catalog: Catalog, folder: str | Path) -> list[Path]:
    """One UTF-8 CSV file for each data table; the paths.

    Raises:
        StoreError: a file cannot be written.
    """
    paths = []
    for name, columns, rows in _contents(catalog):
        path = _file(folder, name, ".csv")
        with _writing(path), path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(rows)
        paths.append(path)
    return paths


def export_parquet(catalog: Catalog, folder: str | Path) -> list[Path]:
    """One Parquet file for each data table; the paths.

    Raises:
        SettingsError: the extra is not installed.
        StoreError: a file cannot be written.
    """
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise SettingsError("Parquet needs pyarrow; install it with: pip install 'sliders[export]'") from error
    kinds = {"INTEGER": arrow.int64(), "REAL": arrow.float64()}
    types = {
        relation.relation: {column.sql_name: column.sql_type for column in relation.columns}
        for relation in catalog.schemas.relations()
    }
    paths = []
    for name, columns, rows in _contents(catalog):
        path = _file(folder, name, ".parquet")
        values = list(zip(*rows, strict=True)) or [()] * len(columns)
        arrays = [
            _array(arrow, data, kinds.get(types[name].get(column, "TEXT")))
            for column, data in zip(columns, values, strict=True)
        ]
        with _writing(path):
            parquet.write_table(arrow.table(arrays, names=list(columns)), path)
        paths.append(path)
    return paths


def _array(arrow: Any, data: tuple[Any, ...], kind: Any) -> Any:
    if kind is not None and all(value is None or isinstance(value, (int, float)) for value in data):
        return arrow.array([float(v) if v is not None and kind == arrow.float64() else v for v in data], kind)
    return arrow.array([None if value is None else str(value) for value in data], arrow.string())


def export_excel(catalog: Catalog, path: str | Path) -> Path:
    """One workbook with a sheet for each data table. Texts stay texts: none is read as a formula.

    Raises:
        SettingsError: the extra is not installed.
        StoreError: a table has more rows than a sheet, or the file cannot be written.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
    except ImportError as error:
        raise SettingsError("Excel needs openpyxl; install it with: pip install 'sliders[export]'") from error
    target = Path(path)
    workbook = Workbook(write_only=True)
    names: set[str] = set()
    for name, columns, rows in _contents(catalog):
        sheet = workbook.create_sheet(_sheet_name(name, names))
        for number, row in enumerate([columns, *rows]):
            if number >= _EXCEL_ROWS:
                raise StoreError(
                    f"table {name!r} has more rows than an Excel sheet ({_EXCEL_ROWS}); export CSV or Parquet"
                )
            cells = []
            for value in row:
                text = isinstance(value, str)
                cell = WriteOnlyCell(sheet, _EXCEL_FORBIDDEN.sub("", value)[:_EXCEL_TEXT] if text else value)
                if text:
                    cell.data_type = "s"
                cells.append(cell)
            sheet.append(cells)
    if not names:
        workbook.create_sheet("no tables")
    with _writing(target):
        workbook.save(target)
    return target


def _contents(catalog: Catalog) -> Iterator[tuple[str, tuple[str, ...], Iterator[tuple[Any, ...]]]]:
    for relation, _ in _current(catalog):
        select = f"SELECT * FROM {quote_identifier(relation.relation)}"
        yield relation.relation, catalog.database.columns(f"{select} LIMIT 0"), catalog.database.stream(select)


def _file(folder: str | Path, name: str, suffix: str) -> Path:
    with _writing(Path(folder)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    safe = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", name).strip(". ") or "table"
    return Path(folder) / f"{safe}{suffix}"


def _sheet_name(name: str, names: set[str]) -> str:
    base = re.sub(r"[\[\]:*?/\\]", "_", name).strip("'")[:28] or "table"
    found, number = base, 2
    while found.casefold() in names:
        found, number = f"{base}_{number}", number + 1
    names.add(found.casefold())
    return found


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{str(path)!r} cannot be written: {error.strerror}; choose another place") from error
