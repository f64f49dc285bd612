"""HotpotQA and 2WikiMultihop: paragraphs of all questions pooled into one collection."""

from __future__ import annotations

from pathlib import Path

from benchmarks.papers.common import Prepared, first_file, need_keys, read_lines, safe_name


def _pooled(name: str, path: Path, limit: int | None) -> Prepared:
    prepared = Prepared(name, scope="all")
    for number, entry in enumerate(read_lines(path)):
        if limit is not None and number >= limit:
            break
        need_keys(
            entry,
            ("_id", "question", "answer", "context", "supporting_facts"),
            f"{path.name}, entry {number}",
        )
        context = entry["context"]
        if isinstance(context, dict):  # the release on model hubs keeps parallel lists
            context = list(zip(context["title"], context["sentences"], strict=True))
        for title, sentences in context:
            prepared.documents[safe_name(title)] = f"# {title}\n\n{''.join(sentences).strip()}\n"
        facts = entry["supporting_facts"]
        titles = facts["title"] if isinstance(facts, dict) else [fact[0] for fact in facts]
        evidence = list(dict.fromkeys(safe_name(title) for title in titles))
        prepared.ask(
            entry["_id"],
            entry["question"],
            entry["answer"],
            f"multihop_{entry.get('type', 'unknown')}",
            "string",
            evidence,
        )
    return prepared


def hotpotqa(source: Path, limit: int | None = None) -> Prepared:
    """`hotpot_dev_distractor_v1.json`: a list of
    `_id, question, answer, type, supporting_facts, context`.
    """
    return _pooled(
        "hotpotqa", first_file(source, "hotpot_dev_distractor*.json", "hotpot*.json"), limit
    )


def twowiki(source: Path, limit: int | None = None) -> Prepared:
    """`dev.json` of 2WikiMultihopQA: HotpotQA's form with `evidences`."""
    return _pooled("2wikimultihop", first_file(source, "dev.json", "*dev*.json", "*.json"), limit)
