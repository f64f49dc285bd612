"""FinanceBench, DocFinQA and TAT-DQA."""

from __future__ import annotations

from pathlib import Path

from benchmarks.papers.common import (
    PaperDataError,
    Prepared,
    first_file,
    need,
    need_keys,
    number_or_text,
    read_lines,
)


def financebench(source: Path, limit: int | None = None) -> Prepared:
    """`data/financebench_open_source.jsonl` and `pdfs/<doc_name>.pdf`; each question is
    asked of its own filing.
    """
    prepared, pdfs = Prepared("financebench"), need(source, "pdfs")
    missing = list[str]()
    for entry in read_lines(need(source, "data", "financebench_open_source.jsonl")):
        need_keys(
            entry,
            ("financebench_id", "doc_name", "question", "answer", "question_type"),
            "financebench_open_source.jsonl",
        )
        if limit is not None and len(prepared.gold) >= limit:
            break
        name = f"{entry['doc_name']}.pdf"
        if not (pdfs / name).exists():
            missing.append(name)
            continue
        prepared.documents[name] = pdfs / name
        answer, kind = number_or_text(entry["answer"])
        prepared.ask(
            entry["financebench_id"],
            entry["question"],
            answer,
            f"financebench_{entry['question_type']}",
            kind,
            [name],
            notes={
                "evidence_pages": [e.get("evidence_page_num") for e in entry.get("evidence", [])]
            },
        )
    if missing and not prepared.gold:
        raise PaperDataError(
            f"{pdfs} lacks {', '.join(sorted(set(missing))[:5])}; clone the "
            "repository with its PDFs"
        )
    return prepared


def docfinqa(source: Path, limit: int | None = None) -> Prepared:
    """`test.json` (or lines): `Context`, `Question`, `Program`, `Answer`;
    equal contexts are one document.
    """
    prepared, names = Prepared("docfinqa"), dict[str, str]()
    path = first_file(source, "test.json*", "dev.json*", "*.json*")
    for number, entry in enumerate(read_lines(path)):
        need_keys(entry, ("Context", "Question", "Answer"), f"{path.name}, entry {number}")
        if limit is not None and number >= limit:
            break
        name = names.setdefault(entry["Context"], f"filing_{len(names):04d}.txt")
        prepared.documents[name] = entry["Context"]
        answer, kind = number_or_text(entry["Answer"])
        prepared.ask(
            f"docfinqa-{number:04d}",
            entry["Question"],
            answer,
            "finance_program",
            kind,
            [name],
            notes=str(entry.get("Program", "")),
        )
    return prepared


_SCALED = {
    "": "",
    "thousand": "in thousands",
    "million": "in millions",
    "billion": "in billions",
    "percent": "in percent",
}


def tatdqa(source: Path, limit: int | None = None) -> Prepared:
    """`tatdqa_dataset_<split>.json` and `<doc uid>.pdf` anywhere below; the scale is
    asked with the question.
    """
    prepared = Prepared("tatdqa")
    path = first_file(
        source, "tatdqa_dataset_dev.json", "tatdqa_dataset_test*.json", "tatdqa_dataset*.json"
    )
    pdfs = {p.stem: p for p in path.parent.rglob("*.pdf")}
    for number, entry in enumerate(read_lines(path)):
        need_keys(entry, ("doc", "questions"), f"{path.name}, entry {number}")
        uid = need_keys(entry["doc"], ("uid",), f"{path.name}, entry {number}, doc")["uid"]
        if uid not in pdfs:
            raise PaperDataError(
                f"{path.parent} has no {uid}.pdf; unpack the documents beside {path.name}"
            )
        prepared.documents[f"{uid}.pdf"] = pdfs[uid]
        for question in entry["questions"]:
            if limit is not None and len(prepared.gold) >= limit:
                return prepared
            answer, kind = question["answer"], question.get("answer_type", "span")
            if isinstance(answer, list) and len(answer) == 1:
                answer = answer[0]
            scale = _SCALED.get(question.get("scale", ""), "")
            asked = (
                f"{question['question']} ({scale})"
                if scale and kind in {"arithmetic", "count"}
                else question["question"]
            )
            typed, type_ = (answer, "list") if isinstance(answer, list) else number_or_text(answer)
            prepared.ask(question["uid"], asked, typed, f"tatqa_{kind}", type_, [f"{uid}.pdf"])
    return prepared
