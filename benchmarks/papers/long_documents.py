"""Loong, Oolong (synth), NovelQA and Qasper."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from benchmarks.papers.common import (
    PaperDataError,
    Prepared,
    first_file,
    need,
    need_keys,
    number_or_text,
    read_json,
    read_lines,
    safe_name,
)


def loong(source: Path, limit: int | None = None) -> Prepared:
    """`data/loong.jsonl` (`id, type, level, doc, instruction, question, answer`) and the files
    of `data/doc/<type>/`.

    Financial documents are kept as `<year>-<name>.txt`, of which an entry names the last part.
    """
    prepared, path = Prepared("loong"), need(source, "data", "loong.jsonl")
    for number, entry in enumerate(read_lines(path)):
        if limit is not None and len(prepared.gold) >= limit:
            break
        need_keys(
            entry, ("id", "type", "doc", "question", "answer"), f"{path.name}, entry {number}"
        )
        folder = need(source, "data", "doc", entry["type"])
        docs = [_loong_document(folder, name) for name in entry["doc"]]
        for document in docs:
            prepared.documents[document.name] = document
        asked = " ".join(
            part for part in (entry.get("instruction", ""), entry["question"]) if part
        ).strip()
        answer = entry["answer"]
        type_ = (
            "string"
            if isinstance(answer, str)
            else "list"
            if isinstance(answer, list)
            else "string"
        )
        if isinstance(answer, dict):
            answer = "; ".join(f"{key}: {value}" for key, value in answer.items())
        prepared.ask(
            str(entry["id"]),
            asked,
            answer,
            f"loong_{entry['type']}_{entry.get('level', '')}",
            type_,
            [d.name for d in docs],
        )
    return prepared


def _loong_document(folder: Path, name: str) -> Path:
    for candidate in (folder / name, folder / f"{name}.txt", folder / f"{name}.md"):
        if candidate.is_file():
            return candidate
    found = sorted(p for p in folder.iterdir() if p.stem.endswith(Path(name).stem))
    if not found:
        raise PaperDataError(
            f"{folder} has no document {name!r}; fetch the documents of the benchmark, too"
        )
    return found[-1]


def oolong(source: Path, limit: int | None = None, context_tokens: int | None = None) -> Prepared:
    """Rows of the synth split as JSON: `context_window_text`, `question`, `answer`,
    `answer_type`, `task`.

    Windows are documents; `context_tokens` keeps rows of one length. Counts score exactly here;
    the paper gives part of the credit to near ones.
    """
    prepared = Prepared("oolong")
    path = first_file(source, "*synth*.json*", "*.jsonl", "*.json")
    for number, entry in enumerate(read_lines(path)):
        if limit is not None and len(prepared.gold) >= limit:
            break
        need_keys(
            entry,
            ("id", "context_window_id", "context_window_text", "question", "answer"),
            f"entry {number}",
        )
        if (
            context_tokens is not None
            and int(entry.get("context_len", context_tokens)) != context_tokens
        ):
            continue
        name = safe_name(f"window_{entry['context_window_id']}", ".txt")
        prepared.documents[name] = entry["context_window_text"]
        answer = _literal(entry["answer"])
        if isinstance(answer, list) and len(answer) == 1:
            answer = answer[0]
        numeric = (
            str(entry.get("answer_type", "")).upper().startswith(("NUMERIC", "ANSWERTYPE.NUMERIC"))
        )
        typed, type_ = (
            number_or_text(answer)
            if numeric
            else (answer, "list" if isinstance(answer, list) else "string")
        )
        prepared.ask(
            str(entry["id"]),
            entry["question"],
            typed,
            f"oolong_{entry.get('task', '')}",
            type_,
            [name],
        )
    return prepared


def _literal(answer: Any) -> Any:
    """Oolong prints its answers as Python lists."""
    if isinstance(answer, str) and answer.startswith("["):
        try:
            return ast.literal_eval(answer)
        except (ValueError, SyntaxError):  # dates are printed as calls
            return answer.strip("[]")
    return answer


def novelqa(source: Path, limit: int | None = None) -> Prepared:
    """`Books/` with `<id>.txt` and `Data/` with `<id>.json`, both with or without a folder for
    the copyright status.
    """
    prepared = Prepared("novelqa")
    books = {p.stem: p for p in sorted(need(source, "Books").rglob("*.txt"))}
    for data in sorted(need(source, "Data").rglob("*.json")):
        if data.stem not in books:
            raise PaperDataError(f"{source}/Books has no {data.stem}.txt for {data.name}")
        entries = read_json(data)
        for key, entry in entries.items() if isinstance(entries, dict) else enumerate(entries):
            if limit is not None and len(prepared.gold) >= limit:
                return prepared
            need_keys(entry, ("Question",), f"{data.name}, {key}")
            answer = entry.get("Answer") or entry.get("Options", {}).get(entry.get("Gold", ""))
            if answer is None:
                continue  # the public release withholds some golds
            prepared.documents[f"{data.stem}.txt"] = books[data.stem]
            typed, type_ = number_or_text(answer)
            kind = f"novelqa_{entry.get('Aspect', '')}_{entry.get('Complexity', '')}"
            prepared.ask(
                f"{data.stem}-{key}", entry["Question"], typed, kind, type_, [f"{data.stem}.txt"]
            )
    if not prepared.gold:
        raise PaperDataError(
            f"{source}/Data has questions but no answers; ask its authors for the gold file"
        )
    return prepared


def qasper(source: Path, limit: int | None = None) -> Prepared:
    """`qasper-test-v0.3.json` (or dev): papers by id with `title, abstract, full_text, qas`."""
    prepared = Prepared("qasper")
    path = first_file(source, "qasper-test*.json", "qasper-dev*.json", "qasper*.json")
    for id_, paper in read_json(path).items():
        need_keys(paper, ("title", "abstract", "full_text", "qas"), f"{path.name}, paper {id_}")
        name = safe_name(id_)
        parts = [f"# {paper['title']}", "## Abstract", paper["abstract"]]
        for section in paper["full_text"]:
            parts += [f"## {section['section_name'] or 'Section'}", *section["paragraphs"]]
        for question in paper["qas"]:
            if limit is not None and len(prepared.gold) >= limit:
                return prepared
            golds = [_qasper_answer(a["answer"]) for a in question["answers"]]
            prepared.documents[name] = "\n\n".join(parts) + "\n"
            prepared.ask(
                question["question_id"],
                question["question"],
                golds[0][0],
                f"qasper_{golds[0][1]}",
                "string",
                [name],
                answers_all=[g for g, _ in golds],
            )
    return prepared


def _qasper_answer(answer: dict[str, Any]) -> tuple[str, str]:
    if answer.get("unanswerable"):
        return "UNANSWERABLE", "unanswerable"
    if answer.get("yes_no") is not None:
        return ("yes" if answer["yes_no"] else "no"), "yes_no"
    if answer.get("extractive_spans"):
        return ", ".join(answer["extractive_spans"]), "extractive"
    return str(answer.get("free_form_answer", "")), "abstractive"
