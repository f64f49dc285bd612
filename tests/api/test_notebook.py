"""The notebook runs from its first cell to its last, with a double in place of the model."""

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
sys.path[:0] = {places!r}
import sliders
from demo_reader import demo_reader

real = sliders.Workspace
sliders.Workspace = lambda path: real(path, model=demo_reader())
"""


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(tmp_path: Path) -> None:
    notebook = jupytext.read(ROOT / "notebooks" / "explore.py")
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_DOUBLE.format(places=[str(ROOT / "tests")])))
    (tmp_path / "build").mkdir()
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = "\n".join(str(output) for cell in notebook.cells for output in cell.get("outputs", []))
    assert "SELECT AVG(length) FROM bridges" in shown
    assert "10 new" in shown
    assert "ferry_timetable.txt" in shown
    assert (tmp_path / "build" / "audit.db").exists()
