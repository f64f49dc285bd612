"""The notebooks run from their first cell to their last, with a double in place of the model."""

from __future__ import annotations

from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
# The kernel is a process of its own: its first cell puts the double in.
_DOUBLE = """
import sys
sys.path[:0] = [{root!r}]
import sliders
from tests.worlds import BRIDGES, Reader

real = sliders.Workspace
sliders.Workspace = lambda path, **settings: real(path, model=Reader(BRIDGES).model, **settings)
"""
SHOWN = {
    "first_look": ["SELECT AVG(length) FROM bridges", "10 new", "<table>", "image/png"],
    "audit": [
        "ferry_timetable.txt",
        "of surveyor: measured on site",
        "lark.txt was added",
        "image/png",
        "audit.db",
    ],
    "query_session": ["DELETE", "mean_length", "prompt tokens", "incomplete - "],
}


def test_each_notebook_is_tested() -> None:
    assert {path.stem for path in (ROOT / "notebooks").glob("*.py")} == set(SHOWN)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_runs_where_jupyter_starts_it(name: str, tmp_path: Path) -> None:
    notebook = jupytext.read(ROOT / "notebooks" / f"{name}.py")
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_DOUBLE.format(root=str(ROOT))))
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    place = {"metadata": {"path": str(tmp_path / "notebooks")}}
    client = NotebookClient(notebook, timeout=900, kernel_name="python3", resources=place)
    client.execute()
    shown = "\n".join(str(output) for cell in notebook.cells for output in cell.get("outputs", []))
    assert [words for words in SHOWN[name] if words not in shown] == []
