"""One call of extraction: its reply or its error as a value, and what is kept of what
gave nothing usable.
"""

from __future__ import annotations

from dataclasses import dataclass

from sliders.errors import ModelError, ModelUnavailable
from sliders.llm.model import Model, Request, Response


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call, a row or a cell that gave nothing usable: which chunk, which table ("" for
    all), what, and why.
    """

    chunk_id: str
    subject: str
    reason: str
    table: str = ""
    fatal: bool = True
    """Some of the chunk is not known, so that it is asked again on the next run."""


async def generate(request: Request, model: Model) -> Response | ModelError:
    """The reply, or the error as a value: a failed call costs its chunk and no other.

    Raises ModelUnavailable: no server, no key: every other chunk would fail alike.
    """
    try:
        return await model.generate(request)
    except ModelUnavailable:
        raise
    except ModelError as error:
        return error
