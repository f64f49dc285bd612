"""From a question with its hints to the cheapest workflow, with guards that switch off bad hints (HALO, section 6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sliders.answer.passages import Context, PassageSource, Skip, Span
from sliders.answer.reader import Mode
from sliders.answer.result import Answer
from sliders.answer.workflows import Asked, candidates, lookup, precise, split, stepwise, whole
from sliders.chunks.context import Outline
from sliders.documents.document import Document
from sliders.errors import BudgetExceeded, PlanError
from sliders.executor import run
from sliders.executor.session import Session
from sliders.executor.vectors import KeptSegments
from sliders.plan.analysis import Analyzer, TaskProfile
from sliders.plan.directives import Directive, Hints, Ignore, Locate, Normalize, Precede, Verify, parse_hints
from sliders.plan.features import Corpus, content_terms, names_in
from sliders.plan.hint_reader import read_hints
from sliders.plan.planner import (
    REPLIES,
    WORKFLOWS,
    Route,
    choose_route,
    explain_lines,
    not_a_question,
    search_words,
    shortened,
)
from sliders.plan.prune import ignored, locate
from sliders.reconcile.values import Normalization, Precedence

AUTO = "auto"
_RUN = {"lookup": lookup, "split": split, "stepwise": stepwise, "candidates": candidates, "whole_context": whole}
CHOICES = tuple(name for name in WORKFLOWS if name != "reply")
_FEW_ROWS = 0.25
"""A document with less than this share of the median rows of the others counts as cut by a hint."""
_ABOUT_ONE = ("extractive", "abstractive", "arithmetic")
"""Classes of questions that are about one thing: documents that do not name it are other things' documents."""
_PROBE = Context(5, 150, (1, 1))


@dataclass(frozen=True, slots=True)
class Planned:
    """What the planner decided, before anything is asked: printable by `explain`."""

    question: str
    hints: Hints
    profile: TaskProfile | None
    route: Route

    def lines(self) -> tuple[str, ...]:
        """What `explain` shows."""
        return explain_lines(self.route, self.hints)


async def ask_routed(
    session: Session, question: str, *, workflow: str = AUTO, directives: Sequence[Directive] = (), hints: Hints | None = None,
    cascade: bool = True,
) -> Answer:  # fmt: skip
    """Answer one question by the workflow that fits it.

    Args:
        workflow: "auto", or one of `CHOICES`.
        directives: hints beside those in the question's own words.
        hints: those of the question, where they were read already.
        cascade: precise mode: an unanswerable question is read again with everything.

    Raises PlanError: the question is empty, the workflow unknown, or there is no document.
    """
    if workflow != AUTO and workflow not in CHOICES:
        raise PlanError(f"there is no workflow {workflow!r}; choose auto or one of {', '.join(CHOICES)}")
    run.check(session, [question])
    session.notes.clear()
    source = passage_source(session, question)
    before = session.models.meter.total
    planned = await plan_question(session, question, source, workflow, directives, hints)
    _record(session, planned)
    try:
        answer = await _run(session, planned, source, cascade)
    except BudgetExceeded as error:
        answer = Answer(question, "incomplete", None, f"No answer yet: {error}", reason=str(error))
    spent = session.models.meter.total - before
    notes = tuple(dict.fromkeys((*planned.hints.notes, *session.notes, *answer.decisions)))
    return replace(answer, question=question, usage=spent, decisions=notes, workflow=planned.route.workflow)


async def explain_routed(session: Session, question: str, directives: Sequence[Directive] = ()) -> tuple[str, ...]:
    """What `ask_routed` would do with a question, line by line, without any model call.

    Raises PlanError: the question is empty, or there is no document.
    """
    run.check(session, [question])
    source = passage_source(session, question)
    hints = parse_hints(shortened(question), directives)
    planned = await plan_question(session, question, source, directives=directives, hints=hints)
    return planned.lines()


async def plan_question(
    session: Session, question: str, source: PassageSource, workflow: str = AUTO,
    directives: Sequence[Directive] = (), hints: Hints | None = None,
) -> Planned:  # fmt: skip
    """Input kind, hints, profile and route; no model is called where the hints are given."""
    short = shortened(question)
    if short != question:
        session.note(f"the question has {len(question.split())} words; it was cut to the {len(short.split())} that ask")
    if not directives and (kind := turned_away(session, short)) is not None:
        return Planned(short, Hints(short), None, Route("reply", reasons=(kind,)))
    hints = hints or await read_hints(short, session.models.model_for("plan"), directives)
    if workflow == "extract_and_query":
        return Planned(hints.question, hints, None, Route("extract_and_query", reasons=("asked for",)))
    corpus = corpus_of(source, hints.question)
    profile = Analyzer().analyze(hints.question, source.rank(hints.question, _PROBE), corpus)
    route = choose_route(profile, hints, corpus)
    if workflow != AUTO:
        route = replace(route, workflow=workflow, reasons=(*route.reasons, "asked for"))  # type: ignore[arg-type]
    return Planned(hints.question, hints, profile, route)


def turned_away(session: Session, text: str) -> str | None:
    """The kind of an input that is no question about the documents, told without a model; None for a question."""
    judged = Analyzer().input_kind(text)
    if not_a_question(text, judged, False) is None:
        return None
    known = bool(session.catalog.chunks.search(" ".join(sorted(content_terms(text))), limit=1))
    return not_a_question(text, judged, known)


def plain_reply(question: str, kind: str) -> Answer:
    """The answer to what is no question: it costs nothing."""
    return Answer(question, "answered", None, REPLIES[kind], workflow="reply", reason=f"not a question: {kind}")


def corpus_of(source: PassageSource, question: str) -> Corpus:
    """Size of the text, and which words of the question occur in it."""
    index = source.index(_PROBE.tokens)
    known = frozenset(term for term in content_terms(question) if index.words.scores(term).any())
    return Corpus(len(source.documents), source.characters, known)


def _record(session: Session, planned: Planned) -> None:
    for line in planned.lines():
        stage, _, text = line.partition(": ")
        session.decide("plan", "question", stage, text)


async def _run(session: Session, planned: Planned, source: PassageSource, cascade: bool) -> Answer:
    route, hints = planned.route, planned.hints
    if route.workflow == "reply":
        return plain_reply(planned.question, route.reasons[0])
    one_thing = planned.profile is not None and planned.profile.task in _ABOUT_ONE
    named = named_documents(source, planned.question) if one_thing else frozenset()
    narrowed = narrow(session, source, hints, planned.question, named)
    if route.workflow == "extract_and_query":
        return await _extract(session, planned, source, narrowed)
    asked = _asked(session, planned, narrowed or source)
    answer = await _RUN[route.workflow](asked)
    if may_switch_off(answer, narrowed):
        _switch_off(session, "every passage was refused as holding no answer", bool(hints.of(Locate) or hints.of(Ignore)))
        asked = replace(asked, source=source)
        again = await _RUN[route.workflow](asked)
        answer = replace(again, decisions=(*answer.decisions, *again.decisions))
    if cascade and answer.status == "not_found" and route.workflow != "whole_context":
        again = await precise(asked, answer)
        session.decide("plan", "question", "cascade", "unanswerable from the passages: read again with more")
        answer = again
    return answer


def may_switch_off(answer: Answer, narrowed: PassageSource | None) -> bool:
    """Whether hints narrowed the documents and every passage that was left refused (HALO, section 6.2)."""
    return narrowed is not None and answer.status == "not_found"


def _asked(session: Session, planned: Planned, source: PassageSource) -> Asked:
    route = planned.route
    mode: Mode = "number" if route.calculate else "prose" if route.prose else "words"
    verify = planned.hints.of(Verify)
    return Asked(
        planned.question, source, session.models.model_for("answer"),
        Context(route.segments, route.tokens, route.weights, route.extend, route.share), mode,
        search_words(planned.question, planned.hints),
        tuple(p for d in verify for p in d.positive), tuple(n for d in verify for n in d.negative), route.first,
    )  # fmt: skip


def narrow(
    session: Session, source: PassageSource, hints: Hints, question: str, named: frozenset[str] = frozenset()
) -> PassageSource | None:
    """The documents limited by Locate and Ignore, and to those `named`, None where nothing changes anything."""
    places, skips = hints.of(Locate), hints.of(Ignore)
    spans: dict[str, tuple[Span, ...]] = {}
    skipped: dict[str, int] = {}
    for document in source.documents.values() if places else ():
        if named and document.id not in named:
            continue
        located = locate(document, places, session.embedder)
        if located.pruned:
            spans[document.id] = located.spans
            kept = sum(end - start for start, end in located.spans)
            session.decide("plan", f"document:{document.name}", "located",
                           f"{', '.join(located.matched)}: {kept} of {len(document.text)} characters")  # fmt: skip
        for hint in located.skipped:
            skipped[hint] = skipped.get(hint, 0) + 1
    for hint, count in skipped.items():
        if count == len(named or source.documents):
            session.note(f'no document has "{hint}": the hint is skipped')
            session.decide("plan", "hint:locate", "skipped", f"no document has {hint!r}")
    if named:
        spans |= {identifier: () for identifier in source.documents if identifier not in named}
        listed = ", ".join(sorted(source.documents[d].name for d in named)[:5])
        session.decide("plan", "documents", "named", f"{len(named)} of {len(source.documents)}: {listed}")
    skip = _skip(session, skips, question) if skips else None
    return source.narrowed(spans, skip) if spans or skip else None


def _skip(session: Session, directives: Sequence[Ignore], question: str) -> Skip:
    def dropped(document: Document, spans: Sequence[Span], vectors: np.ndarray) -> list[bool]:
        outline = Outline(document)
        texts = [document.text[start:end] for start, end in spans]
        headings = [" ".join(outline.heading_path(start)) for start, _ in spans]
        out = ignored(texts, headings, vectors, question, directives, session.embedder)
        if any(out):
            topics = ", ".join(topic for d in directives for topic in d.topics)
            session.decide(
                "plan", f"document:{document.name}", "ignored", f"{sum(out)} of {len(out)} segments: {topics}"
            )
        return out

    return dropped


def _switch_off(session: Session, reason: str, hinted: bool = True) -> None:
    told = "Locate and Ignore were switched off" if hinted else "the documents that the question does not name were read, too"
    session.note(f"{told}: {reason}")
    session.decide("plan", "hints", "switched off", reason)


async def _extract(session: Session, planned: Planned, source: PassageSource, narrowed: PassageSource | None) -> Answer:
    """Extract and query under the hints; documents that the hints starve are read whole."""
    hints = planned.hints
    question = _with_verify(planned.question, hints)
    session.normalize = tuple(Normalization(d.terms[0], d.terms[1:]) for d in hints.of(Normalize) if len(d.terms) > 1)
    session.precede = tuple(Precedence(d.prefer, d.over) for d in hints.of(Precede))
    session.out_of_scope = _left_out(session, narrowed) if narrowed is not None else frozenset()
    try:
        answer = await _asked_of_tables(session, question)
        starved = _starved(session) if session.out_of_scope else []
        if session.out_of_scope and answer.status == "not_found":
            starved = list(source.documents)
        if starved:
            reason = f"no rows, or far fewer than elsewhere, in {len(starved)} documents"
            _switch_off(session, reason)
            chunks = [c for d in starved for c in session.catalog.chunks.of(d)]
            session.out_of_scope -= {c.id for c in chunks}
            answer = await _asked_of_tables(session, question)
    finally:
        session.out_of_scope, session.normalize, session.precede = frozenset(), (), ()
    return answer


def _with_verify(question: str, hints: Hints) -> str:
    """The question with what Verify says in words: tables have no candidates to rank."""
    verify = hints.of(Verify)
    said = [f"It is {p}." for d in verify for p in d.positive] + [f"It is not {n}." for d in verify for n in d.negative]
    return " ".join([question, *said])


async def _asked_of_tables(session: Session, question: str) -> Answer:
    """Extract and query; lines for the user that stand already are kept."""
    notes = list(session.notes)
    answer = await run.ask(session, question)
    session.notes[:0] = notes
    return answer


def _left_out(session: Session, narrowed: PassageSource) -> frozenset[str]:
    """Chunks that hold none of the segments that the hints leave; the first one of a document stays: it names it."""
    kept = narrowed.index(_PROBE.tokens)
    out: set[str] = set()
    for document_id in narrowed.documents:
        spans = [(start, end) for start, end, _ in kept.entries[document_id].spans.tolist()]
        for chunk in session.catalog.chunks.of(document_id)[1:]:
            if not any(start < chunk.end and chunk.start < end for start, end in spans):
                out.add(chunk.id)
                session.decide("gate", f"chunk:{chunk.id}", "left out", "outside of what the hints name")
    return frozenset(out)


def _starved(session: Session) -> list[str]:
    """Documents with chunks left out that gave no rows, or far fewer than the others."""
    schema = session.catalog.schemas.current()
    if schema is None:
        return []
    counts: dict[str, int] = {}
    for table in schema.tables:
        for row in session.catalog.extractions.rows(table.name):
            counts[row.document_id] = counts.get(row.document_id, 0) + 1
    cut = {c.document_id for c in session.catalog.chunks.all() if c.id in session.out_of_scope}
    others = sorted(counts.values())
    typical = others[len(others) // 2] if others else 0
    return [d for d in sorted(cut) if counts.get(d, 0) < max(1.0, _FEW_ROWS * typical)]


MOST_CHARACTERS = 2_000_000
"""Documents beyond this are chosen by full-text search first: embedding takes about a second for 20,000 characters."""
_HITS = 400


def passage_source(session: Session, question: str) -> PassageSource:
    """All current documents, or those that full-text search prefers when there is too much text."""
    stored = session.catalog.documents.all()
    chosen = [d.id for d in stored]
    if sum(d.characters for d in stored) > MOST_CHARACTERS:
        sizes = {d.id: d.characters for d in stored}
        ranked = dict.fromkeys(hit.document_id for hit in session.catalog.chunks.search(question, limit=_HITS))
        chosen, room = [], MOST_CHARACTERS
        for document_id in [*ranked] or chosen[:1]:
            if sizes[document_id] <= room or not chosen:
                chosen.append(document_id)
                room -= sizes[document_id]
        chosen = chosen or [stored[0].id]
        session.note(f"{len(chosen)} of {len(stored)} documents were searched closely, those with the question's words")
    documents = [session.catalog.documents.get(document_id) for document_id in chosen]
    count = session.models.model_for("answer").count_tokens
    kept = KeptSegments(session, "answer")
    return PassageSource(documents, session.embedder, count, lambda document, tokens: kept.of(document.id, tokens))


_LEAST_NAME = 4
_BEGINNING = 300


def named_documents(source: PassageSource, question: str) -> frozenset[str]:
    """Documents that bear the question's names (in file name, title or first lines) while most others do not.

    Empty when no name tells documents apart.
    """
    marks = {d.id: _squeezed(f"{d.name} {d.title} {d.text[:_BEGINNING]}") for d in source.documents.values()}
    hits: dict[str, int] = {}
    for name in {_squeezed(re.sub(r"['’]s\b", "", name)) for name in names_in(question)}:
        bearing = [identifier for identifier, mark in marks.items() if name in mark] if len(name) >= _LEAST_NAME else []
        if 2 * len(bearing) <= len(marks):
            for identifier in bearing:
                hits[identifier] = hits.get(identifier, 0) + 1
    most = max(hits.values(), default=0)
    return frozenset(identifier for identifier, number in hits.items() if number == most)


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()
