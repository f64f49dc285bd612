"""`sliders export --for datasette`: what Datasette shows of an exported database."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sliders.cli import run

from .world import harbour

pytest.importorskip("datasette")


async def test_an_export_opens_with_titles_units_facets_and_a_query_for_each_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from datasette.app import Datasette

    workspace = harbour(tmp_path / "harbour.db")
    target = tmp_path / "out.db"
    assert run(["export", str(target), "--for", "datasette", "--workspace", str(workspace)]) == 0
    said = capsys.readouterr()
    beside = tmp_path / "out.metadata.yaml"
    assert said.out.split() == [str(target), str(beside)] and "--metadata" in said.err
    metadata = yaml.safe_load(beside.read_text(encoding="utf-8"))
    served = Datasette([str(target)], metadata=metadata)
    await served.invoke_startup()
    page = (await served.client.get("/out")).text
    assert "The words behind each value" in (await served.client.get("/out/audit_evidence")).text
    queries = metadata["databases"]["out"]["queries"]
    assert queries
    for name, query in queries.items():
        assert query["title"] in page
        shown = await served.client.get(f"/out/{name}.json?_shape=objects")
        assert shown.status_code == 200 and shown.json()["ok"], shown.text
    table = (await served.client.get("/out/incidents")).text
    assert "What it cost. USD thousands" in table, table[:200000]
    assert "an incident" in table
    assert run(["export", str(target), "--for", "datasette", "--workspace", str(workspace)]) == 0
    beside.write_text("mine", encoding="utf-8")
    assert run(["export", str(target), "--for", "datasette", "--workspace", str(workspace)]) == 1


def test_two_formats_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = harbour(tmp_path / "harbour.db")
    said = ["export", "x", "--for", "datasette", "--format", "csv", "--workspace", str(workspace)]
    assert run(said) == 2
    assert "two formats" in capsys.readouterr().err
