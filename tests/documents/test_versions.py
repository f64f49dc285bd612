"""Which file is a new version of which document, as files are changed, copied and moved
between two calls of `add`.
"""

from __future__ import annotations

from pathlib import Path

from sliders import Workspace
from tests.worlds import Reader


def written(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def standing(ws: Workspace) -> dict[str, str]:
    documents = ws.session.catalog.documents
    return {d.name: documents.text(d.id).strip() for d in documents.all()}


def opened(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "w.db", model=Reader().model)


def test_files_of_one_name_in_two_folders_are_two_documents_with_names_of_their_own(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as ws:
        ws.add(written(tmp_path / "2022", filed="Sales were 5."))
        report = ws.add(written(tmp_path / "2023", filed="Sales were 7."))
        assert str(report) == "1 new"
        assert standing(ws) == {"filed.txt": "Sales were 5.", "2023/filed.txt": "Sales were 7."}
        assert str(ws.add([tmp_path / "2022", tmp_path / "2023"])) == "0 new, 2 known"
        written(tmp_path / "2023", filed="Sales were 8.")
        assert str(ws.add(tmp_path / "2023")) == "0 new, 1 changed"
        assert standing(ws) == {"filed.txt": "Sales were 5.", "2023/filed.txt": "Sales were 8."}


def test_a_text_that_was_copied_away_stays_when_its_place_gets_a_new_one(tmp_path: Path) -> None:
    with opened(tmp_path) as ws:
        ws.add(written(tmp_path / "d", report="First."))
        ws.add(written(tmp_path / "d", archive__report="First.", report="Second."))
        assert standing(ws) == {"archive/report.txt": "First.", "report.txt": "Second."}


def test_two_files_that_swap_their_texts_keep_both(tmp_path: Path) -> None:
    with opened(tmp_path) as ws:
        ws.add(written(tmp_path / "d", a="One.", b="Two."))
        ws.add(written(tmp_path / "d", a="Two.", b="One."))
        assert standing(ws) == {"a.txt": "Two.", "b.txt": "One."}


def test_the_old_text_of_a_file_that_became_a_copy_is_no_longer_read(tmp_path: Path) -> None:
    with opened(tmp_path) as ws:
        ws.add(written(tmp_path / "d", a="One.", b="Two."))
        ws.add(written(tmp_path / "d", b="One."))
        assert standing(ws) == {"a.txt": "One."}


def test_one_file_is_one_document_from_whichever_folder_it_is_added(tmp_path: Path) -> None:
    with opened(tmp_path) as ws:
        ws.add(written(tmp_path / "d", sub__x="Old.") / "sub")
        ws.add(written(tmp_path / "d", sub__x="New."))
        assert list(standing(ws).values()) == ["New."]


def test_a_collection_that_was_moved_and_changed_replaces_what_is_gone(tmp_path: Path) -> None:
    with opened(tmp_path) as ws:
        ws.add(written(tmp_path / "old", x="Draft."))
        (tmp_path / "old").rename(tmp_path / "new")
        ws.add(written(tmp_path / "new", x="Final."))
        assert standing(ws) == {"x.txt": "Final."}
