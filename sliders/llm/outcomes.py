"""The outcomes of a run's calls: when the first few fail, and the run does not rest on earlier
replies, it is stopped.
"""

from __future__ import annotations

from collections import Counter

from sliders.errors import ModelError, ModelUnavailable, TruncatedReply

FEW, FEW_CUT = 6, 20
"""Failed calls, none having succeeded, after which the run stops; replies that were cut are asked
for again in halves.
"""


class Outcomes:
    """The outcomes of one run's calls: the number that `worked`, in this run or in an earlier one
    whose replies it uses, and the reasons of the failures.
    """

    def __init__(self) -> None:
        self.worked = 0
        self._reasons: Counter[str] = Counter()
        self._cut = 0

    @property
    def failed(self) -> str:
        """The most frequent reason, when every call failed; else ""."""
        return "" if self.worked or not self._reasons else self._reasons.most_common(1)[0][0]

    @property
    def number(self) -> int:
        """The number of failed calls."""
        return self._reasons.total()

    def fails(self, error: ModelError) -> None:
        """Counts a failed call.

        Raises:
            ModelUnavailable: several calls have failed, and none succeeded.
        """
        self._reasons[str(error)] += 1
        self._cut += isinstance(error, TruncatedReply)
        total = self.number
        if not self.worked and (total - self._cut >= FEW or total >= FEW_CUT):
            raise ModelUnavailable(every_call_failed(self.failed, total)) from error


def every_call_failed(reason: str, number: int) -> str:
    """Returns the sentence for a run in which every call failed."""
    return (
        f"every call to the model failed ({number} so far): {reason}; change what is wrong there "
        "and run the command again"
    )
