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
import re, sys
sys.path.insert(0, {tests!r})
import reading_model as double, sliders
from sliders.llm.testing import FunctionModel

def reply(request):
    text = "\\n".join(m.content for m in request.messages)
    schema = request.json_schema
    if schema is None:
        return "SELECT AVG(length) FROM bridges"
    if "columns" in schema["properties"] and "items" in schema["properties"]["columns"]:
        about = [double._filled(schema["properties"]["columns"]["items"], dict(name=n, type=t, asked=n, description=n))
                 for n, t in (("bridge", "text"), ("length", "number"))]
        return double._filled(schema, dict(columns=about, row="a bridge", table="bridges"))
    body = text.rsplit("<document>", 1)[-1]
    length = re.search(r"\\d+ metres", body)
    name = re.search(r"[A-Z]\\w+(?: \\w+)? (?:Footbridge|Viaduct|Bridge|Brg|Crossing)", body)
    found = dict(length=length and length[0], bridge=name and name[0])
    return double._filled(schema, {{k: v for k, v in found.items() if k in schema["properties"]}})

real = sliders.Workspace
sliders.Workspace = lambda path: real(path, model=FunctionModel(reply))
"""


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(tmp_path: Path) -> None:
    notebook = jupytext.read(ROOT / "notebooks" / "explore.py")
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_DOUBLE.format(tests=str(ROOT / "tests"))))
    (tmp_path / "build").mkdir()
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = "\n".join(str(output) for cell in notebook.cells for output in cell.get("outputs", []))
    assert "SELECT AVG(length) FROM bridges" in shown
    assert "8 new" in shown
    assert "ferry_timetable.txt" in shown
    assert (tmp_path / "build" / "audit.db").exists()
