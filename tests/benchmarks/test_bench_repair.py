"""The planned defects: a double that knows the plan has all of them treated, nothing is lost,
and the SQL runs again.
"""

from __future__ import annotations

import asyncio
from argparse import Namespace

from benchmarks.repair import measure_all
from benchmarks.repair_cases import plans


def test_a_perfect_model_treats_every_planned_defect() -> None:
    figures = asyncio.run(measure_all(Namespace(model="")))
    assert (figures["treated"], figures["planned"], figures["lost"], figures["replays"]) == (
        100,
        100,
        0,
        True,
    ), figures["wrong"]
    assert sum(len(plan.defects) for plan in plans()) == 100
