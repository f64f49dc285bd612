"""The reader of a case: a model double that says what the case tells, whatever version
of `sliders` asks it.

It knows a request by the members of the reply that is asked for, and fills members that it does not
know with neutral values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.fidelity.sight import skeleton
from benchmarks.trust.cases import LOOK, Case, Paper, Part, Said, SaidRow, columns_of, statements_of

_PART_TOKENS = 600
CHUNK_TOKENS = 1000
"""A chunk's size: one part fits, two do not."""
_SHOWN = 0.6
_ABOVE = re.compile(r"^(?:From|Document|About|Section|Note): .*$", re.MULTILINE)
"""What stands above a part: its document's card and headings."""


class Reader:
    """See the module. `calls` counts requests by stage; `reasons` are its own sentences, which are
    no remark of the engine.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.calls: dict[str, int] = {}
        self.unknown: list[str] = []
        self._given: list[tuple[str, Said, SaidRow]] = []
        self._heads = [
            _head(part) for paper in case.papers for part in paper.parts if len(paper.parts) > 1
        ]
        self._bones = [
            (paper, part, skeleton(part.text)) for paper in case.papers for part in paper.parts
        ]

    def count_tokens(self, text: str) -> int:
        """Few for plain text; a part's first line counts as its whole part, so that a document is
        cut where its parts begin.
        """
        return (len(text) + 399) // 400 + _PART_TOKENS * sum(head in text for head in self._heads)

    def reply(
        self,
        stage: str,
        messages: Sequence[tuple[str, str]],
        shape: Mapping[str, Any],
        choices: Sequence[str] = (),
    ) -> Any:
        """The reply to one request: its messages as pairs of role and content."""
        self.calls[stage] = self.calls.get(stage, 0) + 1
        prompt, asked = (
            "\n".join(content for _, content in messages),
            set(shape.get("properties", {})),
        )
        turns = sum(role == "assistant" for role, _ in messages)
        if choices:
            return choices[0]
        for member, answer in (
            ("tables", self._schema),
            ("rows", self._rows),
            ("cells", self._cells),
            ("parts", _parts),
            ("looks", self._repairs),
            ("hints", self._hints),
            ("key", self._key),
        ):
            if member in asked:
                return answer(prompt, shape)
        if "sql" in asked:
            return _filled(shape, self._sql(prompt, turns))
        known = {
            "title": _file_of(prompt),
            "rows_per_document": "several",
            "row": "",
            **self._passage(prompt),
        }
        if asked and not asked & {
            "about",
            "rows_per_document",
            "quote",
            "expression",
            "questions",
            "evidence",
        }:
            self.unknown.append(f"{stage}: {', '.join(sorted(asked))}")
        return _filled(shape, known) if asked else "no"

    # schema

    def _schema(self, prompt: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        needs = []
        for number, text in re.findall(
            r"^(\d+)\. (.+)$", prompt.rpartition("Questions:")[2], re.MULTILINE
        ):
            question = self._question(text)
            needs += (
                [{"question": int(number), "columns": columns_of(self.case, question)}]
                if question
                else []
            )
        scoped = "scope" in prompt
        return {
            "tables": [_proposed(n, t, scoped) for n, t in self.case.tables.items()],
            "needs": needs,
            "not_covered": [],
        }

    # extraction

    def _seen(self, prompt: str) -> Iterator[tuple[Paper, Part]]:
        """The parts of the document that a prompt shows: of the one whose
        lines it shows most of.
        """
        section = (
            "\n".join(re.findall(r"<document[^>]*>(.*?)</document>", prompt, re.DOTALL)) or prompt
        )
        bones = skeleton(_ABOVE.sub("", section))
        shown = [
            (paper, part, _share(part.text, bones), len(own)) for paper, part, own in self._bones
        ]
        weight = {
            paper.name: sum(s * n for p, _, s, n in shown if p is paper)
            for paper in self.case.papers
        }
        best = max(weight, key=lambda name: weight[name], default="")
        yield from (
            (paper, part)
            for paper, part, share, _ in shown
            if paper.name == best and share >= _SHOWN
        )

    def _rows(self, prompt: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        out, listed = [], json.dumps(shape)
        for _, part in self._seen(prompt):
            for row in part.rows:
                asked = {c: said for c, said in row.cells.items() if _is_asked(c, prompt)}
                if f"Table {row.table}:" not in prompt or not self._worth(row, asked, prompt):
                    continue
                self._given += [(column, said, row) for column, said in asked.items()]
                told: dict[str, Any] = {
                    "table": row.table,
                    "cells": {c: said.reply() for c, said in asked.items()},
                }
                if row.absent and "does_not_apply" in listed + prompt:
                    told["does_not_apply"] = list(row.absent)
                out.append(told)
        return {"rows": out}

    def _worth(self, row: SaidRow, asked: Mapping[str, Said], prompt: str) -> bool:
        """Whether a row is told: it holds some of what is asked, its key at least, or
        each document is one.
        """
        table = self.case.tables[row.table]
        return bool(asked) or table["one_row"]

    def _cells(self, prompt: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        """Cells that came back with a finding: what the case says then, else the same once more."""
        out = []
        for number, name, line in re.findall(
            r"^(\d+)\. (\w+)\b(.*(?:\n(?!\d+\. ).*)*)", prompt, re.MULTILINE
        ):
            near = [
                (said, row)
                for column, said, row in self._given
                if column == name and repr(said.value) in line
            ]
            near.sort(
                key=lambda one: -sum(repr(said.value) in line for said in one[1].cells.values())
            )
            if near:
                said = near[0][0].again or near[0][0]
                out.append({"number": int(number), "how": "stated", **said.reply()})
        return {"cells": out}

    # reconciliation

    def _repairs(self, prompt: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        groups = re.findall(r"^Group (\d+), (\w+)(.*?)</group>", prompt, re.MULTILINE | re.DOTALL)
        return {
            "looks": [],
            "repairs": [r for n, kind, body in groups for r in self._decided(int(n), kind, body)],
        }

    def _decided(self, number: int, kind: str, body: str) -> Iterator[dict[str, Any]]:
        said = next((a for a in self.case.agent if all(str(w) in body for w in a["about"])), {})
        verdict = said.get("say", "leave" if kind == "conflict" else "apart")
        found = re.search(r"in question: ([^\n]+)", body)
        columns = found[1].split(", ") if found else [""]
        rows = re.findall(r"^row_id (\S+):(.*)$", body, re.MULTILINE)
        keep = next(
            (i for i, text in rows if str(said.get("keep", "")) in text), rows[0][0] if rows else ""
        )
        for column in columns:
            plain = {
                "group": number,
                "column": column,
                "statements": [],
                "reason": said.get("reason", "as the documents tell"),
            }
            if verdict in ("apart", "leave"):
                yield plain | {"operation": verdict}
            elif kind == "records":
                sql = f"UPDATE rows SET merged_into = '{keep}' WHERE row_id <> '{keep}'"
                yield plain | {"operation": "deduplicate", "statements": [sql]}
            else:
                value = f"(SELECT \"{column}\" FROM rows WHERE row_id = '{keep}')"
                sql = f'UPDATE rows SET "{column}" = ' + (
                    "'what no row holds'" if verdict == "bad" else value
                )
                yield plain | {
                    "operation": "canonicalize" if kind == "names" else "resolve_conflict",
                    "statements": [sql],
                }

    def _key(self, prompt: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        table = next(
            (t for n, t in self.case.tables.items() if f"Table: {n}" in prompt),
            next(iter(self.case.tables.values())),
        )
        scope = table.get("agent_scope") or table["scope"] or "document"
        return _filled(
            shape,
            {
                "key": table.get("agent_key", table["key"]),
                "scope": scope,
                "key_scope": scope,
                "reason": "it names the thing",
            },
        )

    # answers

    def _question(self, text: str) -> Mapping[str, Any] | None:
        """The question whose words stand last in a text."""
        placed = [
            (text.rfind(q["ask"]), len(q["ask"]), n)
            for n, q in enumerate(self._asked)
            if q["ask"] in text
        ]
        return self._asked[max(placed)[2]] if placed else None

    @property
    def _asked(self) -> list[Mapping[str, Any]]:
        hinted = [
            {**q, "ask": h["rest"]}
            for q in self.case.questions
            for h in q.get("hints", ())
            if h.get("rest")
        ]
        parts = [
            {**part, "ask": part["question"]}
            for q in self.case.questions
            for part in q.get("parts", ())
        ]
        return [*self.case.questions, *hinted, *parts]

    def _sql(self, prompt: str, turns: int) -> dict[str, Any]:
        question = self._question(prompt) or {}
        if question.get("cannot"):
            return {"action": "cannot", "sql": "", "reason": question["cannot"]}
        said = statements_of(question)
        sql = said[min(turns, len(said) - 1)]
        action = "look" if sql.startswith(LOOK) else "answer"
        return {
            "action": action,
            "asks": _asks(question),
            "sql": sql.removeprefix(LOOK),
            "reason": "",
        }

    def _hints(self, prompt: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        out, kinds = [], []
        for number, text in re.findall(r"^(\d+)\. (.+)$", prompt, re.MULTILINE):
            question = self._question(text)
            kinds.append(
                (question or {}).get("is", "fact" if "workflow" in (question or {}) else "all")
            )
            out += [{"question": int(number), **hint} for hint in (question or {}).get("hints", ())]
        return _filled(shape, {"hints": out, "kinds": kinds})

    def _passage(self, prompt: str) -> Mapping[str, Any]:
        """What the reader says of passages: under `passages` of the question, by the member that is
        asked for; nothing where the words that it `needs` are not shown.
        """
        said = dict((self._question(prompt) or {}).get("passages") or {})
        if said.pop("needs", "") not in prompt:
            return {
                "quote": "",
                "answer": None,
                "expression": "unanswerable",
                "evidence": "",
                "next_question": "",
            }
        for offer in said.pop("offers", ()):
            said |= {k: v for k, v in offer.items() if k != "if" and offer["if"] in prompt}
        return said


def with_part_size(dialect: Any) -> Any:
    """The dialect with chunks that hold one part."""
    return replace(dialect, chunk_tokens=CHUNK_TOKENS)


def _head(part: Part) -> str:
    return next(line.strip("# ") for line in part.text.splitlines() if line.strip("# "))


def _share(text: str, bones: str) -> float:
    """Which share of a text's lines, by their letters, stands in others."""
    lines = [own for line in text.splitlines() if (own := skeleton(line))]
    return sum(len(own) for own in lines if own in bones) / max(1, sum(map(len, lines)))


def _is_asked(column: str, prompt: str) -> bool:
    return re.search(rf"^- {re.escape(column)} \(", prompt, re.MULTILINE) is not None


def _asks(question: Mapping[str, Any]) -> str:
    """What a question asks for, by what its right answer is."""
    right = question.get("right")
    usual = (
        "several"
        if isinstance(right, list)
        else "number"
        if isinstance(right, int | float)
        else "one"
        if right
        else ""
    )
    return str(question.get("asks", usual))


def _file_of(prompt: str) -> str:
    found = re.search(r"^File name: (.+?)(?:\.\w+)?$", prompt, re.MULTILINE)
    return found[1] if found else ""


def _parts(prompt: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    return {"parts": [int(number) for number in re.findall(r'<part number="(\d+)"', prompt)]}


def _proposed(name: str, table: Mapping[str, Any], scoped: bool) -> dict[str, Any]:
    columns = []
    for column, options in table["columns"].items():
        usual = {
            "description": f"the {column.replace('_', ' ')} as the document tells it",
            "unit": "",
            "scale": "",
            "currency": "",
            "values": [],
            "reading": "stated",
            "required": False,
        }
        columns.append({"name": column, **usual, **options})
    row = table["row"] or f"one of the {name.replace('_', ' ')}"
    scope = {"key_scope": table["scope"] or "document"} if scoped else {}
    return {
        "name": name,
        "row": row,
        "description": row,
        "documents": "",
        "key": list(table["key"]),
        **scope,
        "rows_per_document": "one" if table["one_row"] else "several",
        "columns": columns,
    }


def _filled(shape: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """An object of a JSON schema: what is known, and for the rest its default, the first
    allowed or an empty value.
    """
    empty: dict[str, Any] = {
        "array": [],
        "object": {},
        "boolean": False,
        "integer": 0,
        "number": 0,
        "string": "",
    }
    definitions, out = shape.get("$defs", {}), {}
    for name, form in shape.get("properties", {}).items():
        form = definitions.get(str(form.get("$ref", "")).rpartition("/")[2], form)
        forms = [form, *form.get("anyOf", ())]
        allowed = next((f["enum"] for f in forms if "enum" in f), None)
        if name in known:
            out[name] = known[name] if not allowed or known[name] in allowed else allowed[0]
        elif "default" in form:
            out[name] = form["default"]
        elif any(f.get("type") == "null" for f in forms) and not allowed:
            out[name] = None
        else:
            out[name] = (
                allowed[0] if allowed else empty.get(str(forms[-1].get("type", "string")), "")
            )
    return out
