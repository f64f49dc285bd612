"""The scope of a key, for a small model: whether rows of several documents that share a name are
one thing.

Asked whether two rows are one, a small model says yes to nearly all. Asked how many things two
documents name, one or two, it tells things (a bridge, a law) from events and entries (a visit, a
line of a receipt): in 45 cases that were written for it, 20 of 22 things lay above the first
margin, with three of 23 entries, the highest of them at 0.23. It is asked with the words in both
orders, and without the values: the values agree, or the key would not be in question, and with
values before it the model counts two of anything.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from sliders.errors import CallFailed
from sliders.extraction.cell import Scalar
from sliders.llm.dialect import COMPACT
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.reconcile.column_codes import ColumnTraits
from sliders.reconcile.keying import KeyCase, KeyReply, KeyVerdict
from sliders.schema.row_names import row_noun
from sliders.schema.types import Table

_ONE_TWO = ("one", "two")
_NAMES = 2  # names that are asked about
# Mean log-odds of one over two from which the key holds across documents, and from which that is
# no doubt.
_MARGIN, _SURE = 0.1, 0.4


def reach_request(
    table: Table, name: str, documents: Sequence[str], choices: Sequence[str] = _ONE_TWO
) -> Request:
    """Returns the request that asks how many things, one or two, two documents mean that give the
    same name.

    Args:
        documents: the names of the two documents.
        choices: "one" and "two", in the order in which the question names them.
    """
    prompt = load_prompt("reconcile/key_reach", COMPACT)
    one, other = choices
    noun = row_noun(table)
    messages = prompt.render(
        documents=documents, row=table.row or noun, noun=noun, name=name, one=one, other=other
    )
    return Request("reconcile", messages, prompt.hash, choices=_ONE_TWO, max_tokens=1)


async def count_things(
    model: Model, table: Table, profiles: Sequence[ColumnTraits], case: KeyCase
) -> KeyVerdict:
    """Asks how many things documents with a common name mean; see `ProposeKey`. The key holds
    across documents when the model says "one" on the average of the first names; otherwise nothing
    is decided. Rows that are merged by it stay in doubt unless the model is sure.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    requests = [
        reach_request(table, name, documents, choices)
        for name, documents in _shared(table, case)[:_NAMES]
        for choices in (_ONE_TWO, _ONE_TWO[::-1])
    ]
    try:
        replies = await asyncio.gather(*(model.generate(request) for request in requests))
    except CallFailed as error:
        return KeyVerdict(None, f"the model's reply could not be used ({error})", len(requests))
    one, two = _ONE_TWO
    odds = [
        reply.odds[one] - reply.odds[two] if reply.odds else (1.0 if reply.text == one else -1.0)
        for reply in replies
    ]
    mean = math.fsum(odds) / len(odds)
    said = f"documents of one {', '.join(case.key)} tell of one {row_noun(table)} by {mean:.2f}"
    if mean < _MARGIN:
        return KeyVerdict(None, f"the model is not sure that {said}", len(requests))
    reply = KeyReply(case.key, "collection", said, sure=mean >= _SURE)
    return KeyVerdict(reply, said, len(requests))


def _shared(table: Table, case: KeyCase) -> list[tuple[str, tuple[str, str]]]:
    """Returns each name with the first two documents that give it."""
    places = [table.column_names.index(name) for name in case.key]
    documents: dict[tuple[Scalar, ...], dict[str, None]] = {}
    for document, values in case.rows:
        documents.setdefault(tuple(values[p] for p in places), {})[document] = None
    return [
        (", ".join(map(str, name)), (first, second))
        for name, (first, second, *_) in ((n, d) for n, d in documents.items() if len(d) > 1)
    ]
