"""How the calls of a run ended: a run of which none succeeds, and that rests on nothing known, is
stopped after a few.
"""

from __future__ import annotations

from collections import Counter

from sliders.errors import ModelError, ModelUnavailable, TruncatedReply

FEW, FEW_CUT = 6, 20
"""Failed calls, none having succeeded, after which the run stops; replies that were cut are asked
for again in halves.
"""


class Outcomes:
    """Calls of one run: how many `worked`, now or for an earlier run whose replies it rests on, and
    the reasons of those that failed.
    """

    def __init__(self) -> None:
        self.worked = 0
        self._reasons: Counter[str] = Counter()
        self._cut = 0

    @property
    def failed(self) -> str:
        """The commonest reason, where calls failed and none succeeded; else ""."""
        return "" if self.worked or not self._reasons else self._reasons.most_common(1)[0][0]

    @property
    def number(self) -> int:
        """How many calls failed."""
        return self._reasons.total()

    def fails(self, error: ModelError) -> None:
        """Count a failed call.

        Raises:
            ModelUnavailable: it is one of several, and none succeeded.
        """
        self._reasons[str(error)] += 1
        self._cut += isinstance(error, TruncatedReply)
        total = self.number
        if not self.worked and (total - self._cut >= FEW or total >= FEW_CUT):
            raise ModelUnavailable(every_call_failed(self.failed, total)) from error


def every_call_failed(reason: str, number: int) -> str:
    """The words for a run of which no call succeeded."""
    return (
        f"every call to the model failed ({number} so far): {reason}; change what is wrong there "
        "and run the command again"
    )
