"""A call of extraction with its reply or its error as a value, and records of the parts of a reply
that could not be used.
"""

from __future__ import annotations

from dataclasses import dataclass

from sliders.errors import ModelError, ModelUnavailable
from sliders.llm.model import Model, Request, Response


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call, a row or a cell that gave nothing usable: its chunk, its table ("" for all), its
    subject and the reason.
    """

    chunk_id: str
    subject: str
    reason: str
    table: str = ""
    fatal: bool = True
    """True when a part of the chunk stays unread because of it; the chunk is then asked again on
    the next run.
    """


async def generate(request: Request, model: Model) -> Response | ModelError:
    """Returns the reply, or the error as a value: a failed call costs its own chunk and no other.

    Raises:
        ModelUnavailable: there is no server or no key; every other chunk would fail alike.
    """
    try:
        return await model.generate(request)
    except ModelUnavailable:
        raise
    except ModelError as error:
        return error
