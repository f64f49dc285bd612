"""Entity resolution without labels on the public record-linkage sets:
pairwise F1 beside Splink and a plain threshold.

    python -m benchmarks.entity_resolution [--suites DIR] [--split dev]
        [--model NAME --base-url URL] [--json FILE]

A set is a folder `er_*/<split>`: two sources under `inputs/` and their pairs, or one list of
strings with clusters, under `tables/`. Columns are taken as they come; nothing here tells the
resolver what they mean. Where candidate pairs are labelled, F1 counts those pairs only. The
plain threshold is fixed at a rapidfuzz token-set ratio of 90, Splink runs with its documented
defaults and is not tuned. `f1_model`: the agent of reconciliation is asked about the open band
only, at most one call in ten records, as about any rows that may be one thing. `--model local`
is the embedded model.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from rapidfuzz import fuzz, process, utils

from benchmarks.repair import connected
from sliders.engine import ways_of
from sliders.llm import Model
from sliders.reconcile import Case, Group, Match, Options, Resolved, cluster, link
from sliders.schema import Column, Table

Pair = tuple[int, int]
PLAIN_THRESHOLD = 90


@dataclass(frozen=True, slots=True)
class Task:
    """Records by column; those before `boundary` are one source (None: a single
    source), and the true pairs.
    """

    name: str
    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    boundary: int | None
    gold: frozenset[Pair]
    labelled: frozenset[Pair] | None


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def load(folder: Path, name: str) -> Task:
    """Read one set."""
    inputs = sorted((folder / "inputs").glob("*.csv")) if (folder / "inputs").is_dir() else []
    if not inputs:
        gold_file = next(
            p for p in sorted((folder / "tables").glob("*_gold.csv")) if "slice" not in p.name
        )
        rows = read_csv(gold_file)
        text = next(c for c in rows[0] if c not in ("id", "cluster"))
        members: dict[str, list[int]] = defaultdict(list)
        for index, row in enumerate(rows):
            members[row["cluster"]].append(index)
        gold = frozenset(p for m in members.values() for p in combinations(m, 2))
        return Task(name, (text,), (tuple(r[text] for r in rows),), None, gold, None)
    pairs = read_csv(folder / "tables" / "gold_pairs.csv")
    left_id, right_id = list(pairs[0])[:2]
    inputs.sort(key=lambda p: p.stem != left_id.removesuffix("_id"))
    left, right = read_csv(inputs[0]), read_csv(inputs[1])
    place = [
        {r["id"]: i for i, r in enumerate(left)},
        {r["id"]: i + len(left) for i, r in enumerate(right)},
    ]
    names = tuple(c for c in left[0] if c != "id")
    columns = tuple(tuple(r[c] for r in [*left, *right]) for c in names)
    numbered = [
        (place[0][p[left_id]], place[1][p[right_id]], p.get("match", "1") == "1") for p in pairs
    ]
    gold = frozenset((a, b) for a, b, match in numbered if match)
    labelled = frozenset((a, b) for a, b, _ in numbered) if "match" in pairs[0] else None
    return Task(name, names, columns, len(left), gold, labelled)


def f1(found: Iterable[Pair], task: Task) -> float:
    """Pairwise F1 of the found pairs, on the labelled pairs where only some are labelled."""
    pairs = {(min(p), max(p)) for p in found}
    if task.labelled is not None:
        pairs &= task.labelled
    right = len(pairs & task.gold)
    return 2 * right / (len(pairs) + len(task.gold)) if right else 0.0


def resolve(task: Task) -> Resolved:
    """Our resolver, model off."""
    return cluster(task.columns) if task.boundary is None else link(task.columns, task.boundary)


def plain_threshold(task: Task) -> list[Pair]:
    """All pairs whose joined records reach the token-set ratio."""
    records = [utils.default_process(" ".join(parts)) for parts in zip(*task.columns, strict=True)]
    start = task.boundary or 0
    left = records if task.boundary is None else records[:start]
    scores = process.cdist(
        left, records[start:], scorer=fuzz.token_set_ratio, score_cutoff=PLAIN_THRESHOLD
    )
    pairs = ((int(a), int(b) + start) for a, b in zip(*scores.nonzero(), strict=True))
    return [p for p in pairs if p[0] < p[1]]


def splink_pairs(task: Task) -> list[Pair]:
    """Splink with its documented defaults: string comparisons on every column, EM, match
    probability of 0.5 or more.
    """
    import pandas as pd
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    logging.getLogger("splink").setLevel(logging.ERROR)
    frame = pd.DataFrame(dict(zip(task.names, task.columns, strict=True))).replace("", None)
    frame["unique_id"] = range(len(frame))
    rules = [block_on(f"substr({c}, 1, 5)") for c in task.names]
    settings = SettingsCreator(
        link_type="dedupe_only" if task.boundary is None else "link_only",
        comparisons=[cl.JaroWinklerAtThresholds(c, [0.95, 0.88, 0.7]) for c in task.names],
        blocking_rules_to_generate_predictions=rules,
    )
    parts = [frame] if task.boundary is None else [frame[: task.boundary], frame[task.boundary :]]
    door = DuckDBAPI()
    sides = [door.register(part, dataset_display_name=f"side{n}") for n, part in enumerate(parts)]
    linker = Linker(sides if len(sides) > 1 else sides[0], settings, log_level=None)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
    for rule in (
        rules[:2] if len(rules) > 1 else ()
    ):  # EM needs a column that the blocking rule does not fix
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    found = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
    return list(zip(found["unique_id_l"], found["unique_id_r"], strict=True))


async def heard(task: Task, resolved: Resolved, model: Model) -> tuple[list[Match], int]:
    """The open pairs that the agent holds to be one thing, and the calls made."""
    asked = sorted(resolved.open, key=lambda m: -m.score)[: len(task.columns[0]) // 10]
    table = Table("records", tuple(map(Column, task.names)), row="one record")
    cases = []
    for match in asked:
        rows = {
            str(r): tuple(c[r] or None for c in task.columns) for r in (match.left, match.right)
        }
        cases.append(
            Case("records", Group(task.names, rows), (), {}, tuple((row,) for row in rows))
        )
    outcomes, calls = await ways_of(model).repairer.repair(model, table, cases, Options())
    return [
        m for m, outcome in zip(asked, outcomes, strict=True) if outcome.verdict == "repaired"
    ], calls


def joined(resolved: Resolved, added: Iterable[Match]) -> set[Pair]:
    """All pairs with the added ones; two clusters that one of them joins match in every pair."""
    home = {record: group for group in resolved.clusters for record in group}
    found = {(m.left, m.right) for m in resolved.matches}
    for match in added:
        both = tuple(
            dict.fromkeys(
                (*home.get(match.left, (match.left,)), *home.get(match.right, (match.right,)))
            )
        )
        found |= {(min(pair), max(pair)) for pair in combinations(both, 2)}
        home |= dict.fromkeys(both, both)
    return found


def measure(
    suites: Path,
    split: str,
    names: Sequence[str],
    model: Model | None,
    seen: Callable[[dict[str, float]], None] = lambda figures: None,
) -> dict[str, float]:
    """Figures of all sets, flat; `seen` is told after each set."""
    figures: dict[str, float] = {}
    for name in names:
        task = load(suites / name / split, name)
        start = time.perf_counter()
        resolved = resolve(task)
        figures[f"{name}.seconds"] = round(time.perf_counter() - start, 2)
        figures[f"{name}.records"] = len(task.columns[0])
        figures[f"{name}.f1"] = round(f1(((m.left, m.right) for m in resolved.matches), task), 4)
        figures[f"{name}.open"] = len(resolved.open)
        figures[f"{name}.f1_plain"] = round(f1(plain_threshold(task), task), 4)
        figures[f"{name}.f1_splink"] = round(f1(splink_pairs(task), task), 4)
        if model is not None:
            start = time.perf_counter()
            added, calls = asyncio.run(heard(task, resolved, model))
            figures[f"{name}.seconds_model"] = round(time.perf_counter() - start, 2)
            figures[f"{name}.f1_model"] = round(f1(joined(resolved, added), task), 4)
            figures[f"{name}.calls"] = calls
            figures[f"{name}.added"] = len(added)
        seen(figures)
    return figures


def show(figures: dict[str, float], names: Sequence[str]) -> None:
    """Print the figures as a table."""
    columns = (
        "f1",
        "f1_model",
        "calls",
        "added",
        "f1_splink",
        "f1_plain",
        "open",
        "records",
        "seconds",
    )
    print("set".ljust(20), *(c.rjust(10) for c in columns))
    for name in names:
        print(name.ljust(20), *(str(figures.get(f"{name}.{c}", "-")).rjust(10) for c in columns))


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suites", type=Path, default=Path("../shared/evals"))
    parser.add_argument("--split", default="dev")
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--api-key", default="none")
    parser.add_argument("--dialect", default="auto")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    names = [p.name for p in sorted(given.suites.glob("er_*")) if (p / given.split).is_dir()]
    if not names:
        parser.error(f"no er_*/{given.split} in {given.suites}; --suites names their folder")
    model = connected(given).model_for("reconcile") if given.model else None

    def keep(figures: dict[str, float]) -> None:
        if given.json:
            given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

    show(measure(given.suites, given.split, names, model, keep), names)


if __name__ == "__main__":
    main()
