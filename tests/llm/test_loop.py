"""The bounded loop of propose, check, feedback."""

from __future__ import annotations

import pytest

from sliders.llm.loop import Attempts, Outcome, refine


def below_three(proposal: int) -> Outcome[str]:
    return Outcome(proposal >= 3, f"{proposal} is too small", str(proposal) if proposal >= 3 else None)


async def counting(attempts: Attempts[int, str]) -> int:
    return len(attempts) + 1


async def test_it_ends_at_the_first_good_proposal_and_keeps_all_attempts() -> None:
    attempts = await refine(counting, below_three, max_attempts=9)
    assert [attempt.proposal for attempt in attempts] == [1, 2, 3]
    assert attempts[-1].outcome == Outcome(True, "3 is too small", "3")


async def test_it_ends_when_the_attempts_are_used_up() -> None:
    attempts = await refine(counting, below_three, max_attempts=2)
    assert [attempt.outcome.ok for attempt in attempts] == [False, False]


async def test_the_proposer_sees_the_feedback() -> None:
    seen: list[str] = []

    async def propose(attempts: Attempts[int, str]) -> int:
        seen.extend(attempt.outcome.feedback for attempt in attempts[-1:])
        return len(attempts)

    await refine(propose, below_three, max_attempts=3)
    assert seen == ["0 is too small", "1 is too small"]


async def test_a_repeated_proposal_ends_it() -> None:
    async def stubborn(attempts: Attempts[int, str]) -> int:
        return 1

    assert len(await refine(stubborn, below_three, max_attempts=5)) == 1


async def test_no_attempts_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="max_attempts"):
        await refine(counting, below_three, max_attempts=0)
