"""The ledger of model calls, which is also the cache (contract 9: ask once, pay once)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sliders.llm.cache import Call
from sliders.llm.model import Response, Usage
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.journal import Journal

_FOUND = """SELECT id, key, stage, model, prompt_hash, prompt, reply, data, finish_reason, salvaged, token_logprobs,
    prompt_tokens, completion_tokens, seconds, cost, calls, cached, error, created FROM sl_calls
    WHERE key = ? AND NOT cached AND error = '' ORDER BY number DESC LIMIT 1"""


class Calls:
    """Every call of a workspace; serves the model door as its `CallLog`."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    def lookup(self, key: str) -> Response | None:
        """The answer of an earlier call with that key that did not fail."""
        row = self._database.one(_FOUND, (key,))
        return _call(row).response() if row else None

    def record(self, call: Call) -> None:
        """Keep one call: paid, cached or failed. It is on disk when this returns."""
        repeated = call.cached
        self._database.execute(
            """INSERT INTO sl_calls (id, key, run, stage, model, prompt_hash, prompt, reply, data, finish_reason,
                salvaged, token_logprobs, prompt_tokens, completion_tokens, seconds, cost, calls, cached, error,
                created) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)""",
            (
                call.id, call.key, self._journal.open_run, call.stage, call.model, call.prompt_hash,
                None if repeated else call.prompt, None if repeated else call.reply,
                None if repeated or call.data is None else codec.dump(call.data), call.finish_reason, call.salvaged,
                codec.dump(call.token_logprobs) if call.token_logprobs and not repeated else None,
                call.prompt_tokens, call.completion_tokens, call.seconds, call.cost, call.calls, repeated,
                call.error, call.created,
            ),
        )  # fmt: skip

    def times(self, run: int) -> list[tuple[str, float, float, bool]]:
        """Stage, end (seconds since 1970), seconds taken and whether it was known, of each call of a run, in order."""
        rows = self._database.query("SELECT stage, created, seconds, cached FROM sl_calls WHERE run = ? ORDER BY number", (run,))
        return [(stage, created, 0.0 if cached else seconds, bool(cached)) for stage, created, seconds, cached in rows]

    def runs(self, identifiers: Iterable[str]) -> dict[str, int]:
        """The run that paid for each of these calls."""
        rows = self._database.query(
            """SELECT id, min(run) FROM sl_calls WHERE run IS NOT NULL AND id IN (SELECT value FROM json_each(?))
            GROUP BY id""",
            (codec.dump(sorted(set(identifiers))),),
        )
        return dict(rows)

    def usage(self, run: int | None = None) -> dict[str, Usage]:
        """What was spent, by stage."""
        rows = self._database.query(
            """SELECT stage, sum(calls), sum(cached), sum(prompt_tokens * (NOT cached)),
            sum(completion_tokens * (NOT cached)), sum(seconds), sum(cost) FROM sl_calls
            WHERE (?1 IS NULL OR run = ?1) GROUP BY stage ORDER BY stage""",
            (run,),
        )
        return {stage: Usage(*figures) for stage, *figures in rows}


def _call(row: tuple[Any, ...]) -> Call:
    identifier, key, stage, model, prompt_hash, prompt, reply, data, finish_reason, salvaged, logprobs = row[:11]
    prompt_tokens, completion_tokens, seconds, cost, calls, cached, error, created = row[11:]
    return Call(
        id=identifier,
        key=key,
        stage=stage,
        model=model,
        prompt_hash=prompt_hash,
        prompt=prompt,
        reply=reply,
        data=codec.load(data),
        finish_reason=finish_reason,
        salvaged=bool(salvaged),
        token_logprobs=tuple(codec.load(logprobs) or ()),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        seconds=seconds,
        cost=cost,
        calls=calls,
        cached=bool(cached),
        error=error,
        created=created,
    )
