"""The audited sample: some chunks that the search or the gate left out are read after all, to
measure what leaving them out changes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from sliders.answer.figures import Number
from sliders.engine.fill import read_chunks
from sliders.engine.session import Session
from sliders.progress import counted

STAGE = "audit"


async def audit(
    session: Session, wanted: Mapping[str, Sequence[str]], share: float, questions: Sequence[str]
) -> str:
    """Reads a share of the chunks that were left out. Returns why it stopped early; "" when it did
    not.

    The sample is drawn by the session's seed, and chunks that were read stay read: the same share
    costs nothing a second time.
    """
    tasks = [task for table in wanted for task in session.catalog.extractions.tasks(table)]
    left = {t.chunk_id for t in tasks if t.state in ("gated", "pruned")} - {
        t.chunk_id for t in tasks if t.state == "done"
    }
    known = audited(session, list(wanted))
    number = math.ceil(share * (len(left) + len(known))) - len(known)
    if number <= 0:
        return ""
    sample = random.Random(session.settings.seed).sample(sorted(left), min(number, len(left)))
    session.progress(STAGE, detail=counted(len(sample), "part left out", "parts left out"))
    read, stopped = await read_chunks(session, sample, wanted, questions)
    for chunk in read:
        for table in wanted:
            session.decide(STAGE, "chunk", "read after all", table, chunk=chunk, table=table)
    return stopped


def audited(session: Session, tables: Sequence[str]) -> frozenset[str]:
    """Returns the chunks that were read after all for any of these tables."""
    return frozenset(
        decision.chunk
        for decision in session.catalog.journal.decisions(stage=STAGE)
        if decision.table in tables
    )


def extrapolated(value: Number, before: Number | None, read: int, left: int) -> Number:
    """Returns the number to expect if the unread chunks change it at the rate of the sample.

    Args:
        value: the number now.
        before: the number before the sample was read; None when there was none, and then `value`
            is returned as it is.
        read: the number of chunks in the sample.
        left: the number of unread chunks.
    """
    return value + (value - (value if before is None else before)) / read * left
