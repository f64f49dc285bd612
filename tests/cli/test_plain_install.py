"""A plain install, without extras: text, CSV and PDF are read and a server is asked; for
anything else one line names the extra.

The packages that only extras bring are hidden from the command.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import openpyxl
import pytest

ROOT = Path(__file__).parents[2]
_HIDING = """
import sys
hidden = {hidden!r}

class WithoutHidden:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in hidden:
            return self.finder.find_spec(name, path, target)

sys.meta_path[:] = [WithoutHidden(finder) for finder in sys.meta_path]
"""
"""A module that every interpreter imports when it starts, children of the command too."""


def _names(requirements: list[str] | None) -> set[str]:
    """Distributions that are required without an extra."""
    lines = [line for line in requirements or [] if "extra ==" not in line]
    return {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower().replace("_", "-") for line in lines}


def _hidden() -> set[str]:
    """Top-level modules of installed distributions that a plain install does not bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plain, todo = {"sliders", "pip", "setuptools"}, _names(project["dependencies"])
    while todo:
        name = todo.pop()
        plain.add(name)
        try:
            todo |= _names(metadata.requires(name)) - plain
        except metadata.PackageNotFoundError:
            continue  # required on another system, or by another Python
    by_module = metadata.packages_distributions()
    normal = {
        module: {name.lower().replace("_", "-") for name in names}
        for module, names in by_module.items()
    }
    return {module for module, names in normal.items() if not names & plain}


@pytest.fixture(scope="module")
def hiding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `sitecustomize` hides what a plain install does not bring."""
    modules = _hidden()
    assert {"unstructured", "xllamacpp", "openpyxl", "pyarrow", "ray"} <= modules
    assert not {"openai", "pypdfium2", "pandas"} & modules
    folder = tmp_path_factory.mktemp("hiding")
    (folder / "sitecustomize.py").write_text(_HIDING.format(hidden=modules), encoding="utf-8")
    return folder


def _sliders(hiding: Path, folder: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "sliders", *words],
        cwd=folder,
        env={
            "PYTHONPATH": f"{hiding}{os.pathsep}{ROOT}",
            "PATH": "",
            "HOME": str(folder),
            "SLIDERS_CACHE_DIR": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_text_csv_and_pdf_are_read(hiding: Path, tmp_path: Path) -> None:
    from reportlab.pdfgen import canvas

    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "note.txt").write_text("The bridge cost 4.6 million euros.", encoding="utf-8")
    (papers / "costs.csv").write_text("bridge,cost\nFord,12\n", encoding="utf-8")
    page = canvas.Canvas(str(papers / "page.pdf"))
    page.drawString(72, 720, "The lock cost 640,000 euros.")
    page.save()
    code, out, error = _sliders(hiding, tmp_path, "add", "papers", "--quiet")
    assert (code, error) == (0, "")
    assert out.startswith("3 ")


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("add", "page.html"), "docs"),
        (("add", "sheet.xlsx"), "docs"),
        (("ask", "note.txt", "What did it cost?"), "local"),
        (("export", "tables", "--format", "parquet"), "export"),
        (("mcp", "sliders.db"), "mcp"),
        (("ask", "note.txt", "What?", "--executor", "ray"), "cluster"),
        (("tables", "-w", "postgresql+psycopg://ada@localhost/work"), "postgres"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
def test_the_extra_is_named(
    hiding: Path, tmp_path: Path, words: tuple[str, ...], extra: str
) -> None:
    (tmp_path / "note.txt").write_text("The bridge cost 4.6 million euros.", encoding="utf-8")
    (tmp_path / "page.html").write_text(
        "<p>The bridge cost 4.6 million euros.</p>", encoding="utf-8"
    )
    openpyxl.Workbook().save(tmp_path / "sheet.xlsx")
    _sliders(hiding, tmp_path, "add", "note.txt")
    code, _, error = _sliders(hiding, tmp_path, *words)
    assert code != 0
    assert f"sliders[{extra}]" in error
    assert "checkout" not in error
    assert sum(line.startswith("sliders: ") for line in error.splitlines()) == 1
