"""One bounded loop: propose, run, tell what was wrong, propose again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[V]):
    """What running a proposal gave. `feedback` is shown to the next proposal when it was not good enough."""

    ok: bool
    feedback: str = ""
    value: V | None = None


@dataclass(frozen=True, slots=True)
class Attempt(Generic[P, V]):
    """One proposal and what came of it."""

    proposal: P
    outcome: Outcome[V]


Attempts = tuple[Attempt[P, V], ...]


async def refine(
    propose: Callable[[Attempts[P, V]], Awaitable[P]],
    check: Callable[[P], Outcome[V]],
    *,
    max_attempts: int = 3,
) -> Attempts[P, V]:
    """Propose and check until a proposal is good or the attempts are used up.

    A proposal that was made before ends the loop: the proposer has nothing new to say, and asking again would only
    cost.

    Args:
        propose: makes the next proposal from all attempts so far.
        check: runs a proposal and says whether it is good.
        max_attempts: most proposals to make, at least 1.

    Returns:
        All attempts in order; the last one is good when `attempts[-1].outcome.ok`.

    Raises:
        ValueError: `max_attempts` is below 1.
    """
    if max_attempts < 1:
        raise ValueError(f"max_attempts is {max_attempts}: at least one attempt is needed")
    attempts: Attempts[P, V] = ()
    for _ in range(max_attempts):
        proposal = await propose(attempts)
        repeated = any(proposal == attempt.proposal for attempt in attempts)
        if repeated:
            break
        attempts += (Attempt(proposal, check(proposal)),)
        if attempts[-1].outcome.ok:
            break
    return attempts
