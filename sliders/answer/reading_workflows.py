"""Workflows that answer a question by reading passages instead of filling tables: lookup, split,
step-wise, candidates and whole context (OkraLong, sections 3.3 and 3.4; HALO, section 5).

A *passage* is a stretch of a document's text. A *segment* is the unit that a search returns; a
passage is made of segments. A *reading* is the reply of one model call over passages. All workflows
return the same type, `Answer`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ConfigDict, Field

from sliders.answer.passage_reader import (
    IN_PARTS,
    Mode,
    PassageForm,
    PassageReading,
    cite_quote,
    is_refusal,
    read,
    short,
    unprinted,
    value_of_words,
)
from sliders.answer.passages import Passage, PassageSource, SearchContext
from sliders.answer.ranking import rank
from sliders.answer.result import Answer, Citation, Completeness, Status
from sliders.answer.route import MAX_STEPS
from sliders.errors import CallFailed
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request, Usage
from sliders.llm.prompts import load_prompt
from sliders.llm.replies import LenientReply, every_member

MAX_PARTS = 4
_STEP_SEGMENTS = 3
_MUCH_LESS = 0.8
"""The first segments are read alone when they have at most this share of the tokens of all
segments.
"""
_REPLY_ROOM = 700
"""Tokens that are kept free for the prompt's own words and for the reply."""


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question with everything that a workflow needs to answer it.

    Args:
        question: the question as the user wrote it.
        source: the documents, and the search over them.
        model: the model that reads.
        context: how many segments a search returns, and how far they are widened.
        mode: how the reply gives the answer.
        search: the text of the search: the question with synonyms; "" means `question`.
        positive: what the answer must be about.
        negative: what the answer must not be about.
        first: how many segments are read before the others; 0 reads all at once.
        seen: the passages that were read so far.
        needed: the parts of these passages that a later call needs again.
        form: how passages are printed in the prompt.
    """

    question: str
    source: PassageSource
    model: Model
    context: SearchContext = field(default_factory=SearchContext)
    mode: Mode = "words"
    search: str = ""
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    first: int = 0
    seen: list[Passage] = field(default_factory=list)
    needed: list[Passage] = field(default_factory=list)
    form: PassageForm = IN_PARTS

    @property
    def query(self) -> str:
        """The text of the search."""
        return self.search or self.question

    @property
    def room(self) -> int:
        """The tokens of passages that fit into one call."""
        return self.model.context_tokens - _REPLY_ROOM - self.model.count_tokens(self.question)

    async def read(self, passages: Sequence[Passage], *, logprobs: bool = False) -> PassageReading:
        """Asks the model the question over passages, in one call."""
        reading = await read(
            self.question, passages, self.model, self.mode, logprobs=logprobs, form=self.form
        )
        self.seen.extend(() if reading.failed else passages)
        return reading

    async def read_on(self, passages: Sequence[Passage]) -> PassageReading:
        """Asks the model the question over the parts of the passages that were not read before, in
        one call, together with `needed`. Returns a reading without an answer when nothing new is
        left.
        """
        known = [*self.needed]
        room = self.room - sum(p.tokens for p in known)
        more = fitting(self.source.unread(passages, self.seen), room)
        if not more:
            lacking = "the passages do not hold the answer" if passages else "no passage was found"
            return PassageReading(False, reason=lacking)
        reading = await self.read([*known, *more])
        self.keep(reading)
        return reading

    def keep(self, reading: PassageReading) -> None:
        """Adds the words that a reading without an answer cites to `needed`."""
        places = () if reading.answered else reading.citations
        known = {(p.document_id, p.start) for p in self.needed}
        fresh = (c for c in places if (c.document_id, c.start) not in known)
        self.needed.extend(self.source.passage(c.document_id, c.start, c.end, 1.0) for c in fresh)


async def lookup(asked: PassageQuestion) -> Answer:
    """Answers by one search. One call reads the first segments; when they do not hold the answer, a
    second call reads all segments.
    """
    ranked = asked.source.rank(asked.query, asked.context)[: asked.context.segments]
    best = asked.source.assemble(ranked[: asked.first], asked.context)
    few = fitting(asked.source.unread(best, asked.seen), asked.room)
    passages = fitting(asked.source.assemble(ranked, asked.context), asked.room)
    spent, notes = Usage(), list[str]()
    if few and sum(p.tokens for p in few) < _MUCH_LESS * sum(p.tokens for p in passages):
        reading = await asked.read_on(few)
        if reading.answered:
            return finished(asked, reading, "lookup")
        spent = reading.usage
        told = "segments do not answer: the others that were found were read"
        notes.append(f"the best {asked.first} {told}")
    return finished(asked, await asked.read_on(passages), "lookup", notes, spent)


async def split(asked: PassageQuestion) -> Answer:
    """Answers by several searches and one call: the model splits the question into sub-questions,
    each of them and the question are searched, and the call reads all that was found.
    """
    parts, usage, refused = await sub_questions(asked.question, asked.model)
    each = max(2, -(-asked.context.segments // len(parts)))
    found = [
        asked.source.rank(part, asked.context)[:each]
        for part in dict.fromkeys((asked.query, *parts))
    ]
    merged = {(s.document_id, s.start, s.end): s for ranked in found for s in ranked}
    passages = fitting(asked.source.assemble(list(merged.values()), asked.context), asked.room)
    reading = await asked.read_on(passages)
    note = f"searched separately for {len(parts)} parts of the question"
    if refused:
        note = f"the question was not split: {refused}"
    return finished(asked, reading, "split", (note,), usage)


async def stepwise(asked: PassageQuestion) -> Answer:
    """Answers in steps: the model reads, says what it must look up next, and that is searched. Ends
    when the answer is found, when nothing new is asked, or after `MAX_STEPS`.
    """
    narrow = replace(asked.context, segments=min(_STEP_SEGMENTS, asked.context.segments))
    facts: list[str] = []
    citations: list[Citation] = []
    seen: dict[tuple[str, int], Passage] = {}
    usage, query, queries, notes = Usage(), asked.query, list[str](), list[str]()
    for _ in range(MAX_STEPS):
        queries.append(query)
        passages = fitting(asked.source.search(query, narrow), asked.room // 2)
        fresh = [p for p in passages if (p.document_id, p.start) not in seen]
        seen |= {(p.document_id, p.start): p for p in fresh}
        step, spent, refused = await _step(asked, facts, passages)
        usage += spent
        notes += [f"step {len(queries)} gave nothing: {refused}"] if refused else []
        found = cite_quote(step.evidence, passages)
        if step.evidence and not is_refusal(step.evidence) and step.evidence not in facts:
            facts.append(step.evidence)
            citations.extend(found)
        said = step.answer if not is_refusal(step.answer) else ""
        if said and unprinted(said, [*facts, *(p.text for p in passages)]) is None:
            cited = tuple(citations) or cite_quote(said, passages)
            reading = PassageReading(True, value_of_words(said), said, cited)
            return finished(asked, reading, "stepwise", (*_steps_note(queries), *notes), usage)
        query = step.next_question
        if not query or is_refusal(query) or query in queries or not fresh:
            break
    best = sorted(seen.values(), key=lambda p: -p.score)[: asked.context.segments]
    reading = await asked.read(fitting(best, asked.room))
    return finished(asked, reading, "stepwise", (*_steps_note(queries), *notes), usage)


async def candidates(asked: PassageQuestion) -> Answer:
    """Answers from each passage alone. The answers are ranked by the user's constraints; `rows` of
    the returned answer holds the different ones, the best first.
    """
    found = asked.source.unread(asked.source.search(asked.query, asked.context), asked.seen)
    passages = [p for p in found if p.tokens <= asked.room]
    readings = await asyncio.gather(*(asked.read([p], logprobs=True) for p in passages))
    usage = sum((r.usage for r in readings), Usage())
    pairs = [(p, r) for p, r in zip(passages, readings, strict=True) if r.answered]
    refused = [r for r in readings if r.failed]
    if not pairs:
        reason = "no passage holds the answer" if passages else "no passage was found"
        if refused:
            told = f"{len(refused)} of {len(passages)} passages could not be read"
            reason = f"{told}: {refused[0].reason}"
        nothing = PassageReading(False, reason=reason, failed=bool(refused))
        return finished(asked, nothing, "candidates", (), usage)
    texts = [" ".join([r.text, *(c.quote for c in r.citations), p.header]) for p, r in pairs]
    ranking = rank(
        texts, asked.positive, asked.negative, asked.source.embedder, _voted([r for _, r in pairs])
    )
    notes = [f"{len(pairs)} of {len(passages)} passages gave an answer; ranked by {ranking.by}"]
    notes += [f"{len(refused)} passages could not be read: {refused[0].reason}"] if refused else []
    if (asked.positive or asked.negative) and ranking.by != "verify":
        notes.append(
            "the constraints do not tell the answers apart (spread "
            f"{ranking.spread:.3f}): switched off"
        )
    best = replace(pairs[ranking.order[0]][1], usage=Usage())
    firsts = {_same(pairs[n][1]): n for n in reversed(ranking.order)}.values()
    rows = tuple(
        (pairs[n][1].text, round(ranking.scores[n], 4)) for n in ranking.order if n in firsts
    )
    answer = finished(asked, best, "candidates", notes, usage)
    return replace(answer, columns=("candidate", "score"), rows=rows)


def _same(reading: PassageReading) -> str:
    """Returns a key that two readings share when their answers are equal."""
    return str(reading.value).casefold()


def _voted(readings: Sequence[PassageReading]) -> list[float | None]:
    """Returns the confidence of each reading as a log-probability, summed over all readings with
    the same answer; None for all when a confidence is missing.
    """
    known = [(_same(r), r.confidence) for r in readings if r.confidence is not None]
    if len(known) < len(readings):
        return [None] * len(readings)
    shares: dict[str, float] = {}
    for name, confidence in known:
        shares[name] = shares.get(name, 0.0) + math.exp(confidence)
    return [math.log(shares[name]) for name, _ in known]


async def whole(asked: PassageQuestion) -> Answer:
    """Answers by one call over all documents. The answer's status is "failed" when they do not fit
    into the model's window.
    """
    passages = asked.source.whole(asked.room)
    if passages is None:
        reason = (
            f"the documents do not fit the model's window of {asked.model.context_tokens} tokens"
        )
        return finished(asked, PassageReading(False, reason=reason, failed=True), "whole_context")
    return finished(asked, await asked.read_on(passages), "whole_context")


async def precise(asked: PassageQuestion, first: Answer) -> Answer:
    """Answers a question again, over text that no call read so far, when `first` is "not_found" (a
    cascade: the cheap workflow comes first, the expensive one only when it fails).

    All unread text is read when it fits into one call, else the passages that a wide search finds.
    Returns `first` unchanged when its status is not "not_found".
    """
    if first.status != "not_found":
        return first
    every = asked.source.whole(asked.room + sum(p.tokens for p in asked.seen))
    passages, what = asked.source.unread(every or (), asked.seen), "the rest of the documents"
    if every is None or sum(p.tokens for p in passages) > asked.room:
        wide = SearchContext(20, 400, asked.context.weights, threshold=0.0)
        passages = asked.source.unread(asked.source.search(asked.query, wide), asked.seen)
        what = f"{sum(p.tokens for p in fitting(passages, asked.room))} tokens of other passages"
    reading = await asked.read_on(passages)
    note = f"unanswerable from the passages found: {what} were read"
    return finished(asked, reading, first.workflow, (*first.decisions, note), first.usage)


def fitting(passages: Sequence[Passage], room: int) -> tuple[Passage, ...]:
    """Returns the passages that fit into `room` tokens together, taken in order."""
    kept: list[Passage] = []
    for passage in passages:
        if passage.tokens <= room:
            kept.append(passage)
            room -= passage.tokens
    return tuple(kept)


def finished(
    asked: PassageQuestion,
    reading: PassageReading,
    workflow: str,
    notes: Sequence[str] = (),
    usage: Usage | None = None,
) -> Answer:
    """Returns the answer of a question from the reading that settles it."""
    spent = (usage or Usage()) + reading.usage
    documents = len(asked.source.documents)
    if reading.failed:
        return failed(asked.question, reading.reason, spent, notes, workflow)
    cited = len({citation.document_id for citation in reading.citations})
    status: Status = "answered"
    value, text, citations = reading.value, reading.text, reading.citations
    if not reading.answered:
        reason = reading.reason or "the passages do not hold the answer"
        text = f"Not found in these documents: {reason}."
        status, value, citations = "not_found", None, ()
    elif reading.lacking:
        status, text = "incomplete", f"{text} (incomplete: {reading.lacking})"
    return Answer(
        asked.question,
        status,
        value,
        text,
        citations=citations,
        completeness=Completeness(documents=documents, documents_with_rows=cited),
        usage=spent,
        reason=reading.reason,
        decisions=tuple(notes),
        workflow=workflow,
    )


def failed(
    question: str,
    reason: str,
    usage: Usage,
    notes: Sequence[str] = (),
    workflow: str = "extract_and_query",
) -> Answer:
    """Returns an answer with status "failed": the model could not be asked, or its reply could not
    be used, so that it is unknown what the documents say.
    """
    text = f"No answer: {reason.rstrip('.')}."
    return Answer(
        question,
        "failed",
        None,
        text,
        usage=usage,
        reason=reason,
        decisions=tuple(notes),
        workflow=workflow,
    )


class Parts(LenientReply):
    """The sub-questions of a question."""

    model_config = ConfigDict(json_schema_extra=every_member)

    questions: list[str] = Field(default_factory=list)


class Step(LenientReply):
    """One step: the words that help, the answer if they give it, else what to look up next."""

    model_config = ConfigDict(json_schema_extra=every_member)

    evidence: str = short(300)
    answer: str = short(160)
    next_question: str = short(300)


def split_request(question: str, dialect: Dialect) -> Request:
    """Returns the request that asks the model to split a question into sub-questions."""
    prompt = load_prompt("answer/split", dialect)
    return Request(
        "plan", prompt.render(question=question), prompt.hash, max_tokens=240, reply=Parts
    )


async def sub_questions(question: str, model: Model) -> tuple[tuple[str, ...], Usage, str]:
    """Asks the model for sub-questions that can each be answered from one source.

    Returns at most `MAX_PARTS` sub-questions (the question itself when the model gives none), the
    usage, and the reason why the model gave none ("" when it did).
    """
    data, usage, refused = await _asked_for(split_request(question, model.dialect), model)
    texts = [str(t).strip() for t in data.get("questions") or () if str(t).strip()]
    return tuple(dict.fromkeys(texts))[:MAX_PARTS] or (question,), usage, refused


async def _asked_for(request: Request, model: Model) -> tuple[Mapping[str, Any], Usage, str]:
    """Returns the data of the reply ({} when it cannot be used), the usage, and the reason why it
    cannot be used ("" when it can).
    """
    try:
        reply = await model.generate(request)
    except CallFailed as error:
        return {}, error.usage if isinstance(error.usage, Usage) else Usage(), str(error)
    return reply.data if isinstance(reply.data, dict) else {}, reply.usage, ""


def step_request(
    question: str,
    facts: Sequence[str],
    passages: Sequence[Passage],
    form: PassageForm = IN_PARTS,
) -> Request:
    """Returns the request for one step: it asks for the facts in the passages, for the answer when
    they give it, and otherwise for the next thing to look up.
    """
    prompt = load_prompt("answer/step", form.dialect)
    messages = prompt.render(question=question, facts=list(facts), passages=form.shown(passages))
    return Request("answer", messages, prompt.hash, max_tokens=320, reply=Step)


async def _step(
    asked: PassageQuestion, facts: Sequence[str], passages: Sequence[Passage]
) -> tuple[Step, Usage, str]:
    request = step_request(asked.question, facts, passages, asked.form)
    data, usage, refused = await _asked_for(request, asked.model)
    said = {name: str(data.get(name) or "").strip() for name in Step.model_fields}
    return Step(**said), usage, refused


def _steps_note(queries: Sequence[str]) -> tuple[str, ...]:
    return (f"{len(queries)} steps: " + " -> ".join(queries),) if len(queries) > 1 else ()
