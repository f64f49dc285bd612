"""Trains the analyzer's weights on the evaluation sets' labels, measures them on documents that were held out, writes
`sliders/plan/data/`. Needs the extra `train`; inference needs numpy alone.

    python -m benchmarks.train_analyzer [--report-only] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import pickle
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.planning.labels import FIVE, Labelled, groups, labelled
from sliders.chunks.embeddings import default_embedder
from sliders.plan.analysis import TASK_CLASSES, Head, evidence_row, wording_row

_HERE = Path(__file__).parent
_DATA = _HERE.parent / "sliders" / "plan" / "data"
_FOLDS = 5
_SEEDS = (0, 1, 2)
_STRENGTH = {"task": 3.0, "evidence": 0.003, "kind": 3.0}
"""Inverse strength of the L2 penalty. Of 1 and 3 the task head was better with 3 on folds of the same questions; for
evidence, 0.003 was better than 0.001 and 0.01; kind was not tuned."""


def _written(name: str) -> list[tuple[str, str]]:
    listed = yaml.safe_load((_HERE / "planning" / f"{name}.yaml").read_text(encoding="utf-8"))
    return [(text, label) for label, texts in listed.items() for text in texts]


def fit(rows: np.ndarray, labels: Sequence[str], strength: float, scaled: bool) -> Head:
    """A softmax classifier by logistic regression."""
    from sklearn.linear_model import LogisticRegression

    mean = rows.mean(axis=0) if scaled else np.zeros(rows.shape[1])
    scale = rows.std(axis=0) + 1e-6 if scaled else np.ones(rows.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=strength, max_iter=150).fit((rows - mean) / scale, list(labels))
    weights, bias = model.coef_.T, model.intercept_
    if len(model.classes_) == 2:  # one column stands for two classes
        weights, bias = np.hstack([-weights / 2, weights / 2]), np.array([-bias[0] / 2, bias[0] / 2])
    return Head(tuple(str(c) for c in model.classes_), weights, bias, mean, scale)


class Training:
    """All rows once, and heads fitted on any part of the groups."""

    def __init__(self, rows: Sequence[Labelled]) -> None:
        self.rows = list(rows)
        self.groups = np.array(groups(self.rows))
        self.embedder = default_embedder()
        self._crossed: dict[bytes, dict[int, np.ndarray]] = {}
        self.wording = np.array([wording_row(r.question, self.embedder) for r in self.rows])
        self.extra = _written("written_questions")
        self.extra_rows = np.array([wording_row(q, self.embedder) for q, _ in self.extra])

    def task_head(self, numbers: np.ndarray) -> Head:
        """The class head trained on some rows and on the written questions."""
        known = [n for n in numbers if self.rows[n].task]
        labels = [str(self.rows[n].task) for n in known] + [label for _, label in self.extra]
        return fit(np.vstack([self.wording[known], self.extra_rows]), labels, _STRENGTH["task"], False)

    def shares(self, head: Head, number: int) -> np.ndarray:
        """Class probabilities of one row, as the analyzer gives them."""
        out = head.probabilities(self.wording[number])[0]
        if self.rows[number].corpus.documents <= 1:
            out[head.classes.index("aggregation")] = 0.0
        return out / out.sum()

    def crossed_shares(self, numbers: np.ndarray, folds: int = 3) -> dict[int, np.ndarray]:
        """Class probabilities of training rows by heads that have not seen them, as at run time."""
        key = numbers.tobytes()
        if key in self._crossed:
            return self._crossed[key]
        out: dict[int, np.ndarray] = {}
        self._crossed = {key: out}
        for part in range(folds):
            inside = np.array([n for n in numbers if self.groups[n] % folds != part])
            head = self.task_head(inside)
            out |= {int(n): self.shares(head, n) for n in numbers if self.groups[n] % folds == part}
        return out

    def evidence_head(self, numbers: np.ndarray) -> Head:
        """The evidence head; other searches and ranks of the same questions are further examples."""
        shares = self.crossed_shares(numbers)
        rows, labels = [], []
        for n in numbers:
            row = self.rows[n]
            if row.evidence is None:
                continue
            examples = [(row.segments, row.evidence)] * 2 + [(v.segments, v.evidence) for v in row.variants]
            for segments, held in examples:
                rows.append(evidence_row(row.question, self.wording[n], segments, row.corpus, shares[int(n)]))
                labels.append("yes" if held else "no")
        return fit(np.array(rows), labels, _STRENGTH["evidence"], True)

    def kind_head(self) -> Head:
        """What is a question at all: the written inputs and every question that there is."""
        inputs = _written("written_inputs") + [(q, "question") for q, _ in self.extra]
        inputs += [(r.question, "question") for r in self.rows]
        rows = np.array([wording_row(text, self.embedder) for text, _ in inputs])
        return fit(rows, [label for _, label in inputs], _STRENGTH["kind"], False)


def held_out(training: Training, seed: int) -> dict[str, Any]:
    """Predictions on documents that each fold did not train on, of the five labelled sets."""
    order = np.random.default_rng(seed).permutation(training.groups.max() + 1)
    fold = order[training.groups] % _FOLDS
    out: dict[str, list[tuple[str, str, str]]] = {"class": [], "evidence": []}
    for part in range(_FOLDS):
        inside = np.flatnonzero(fold != part)
        task, evidence = training.task_head(inside), training.evidence_head(inside)
        for n in np.flatnonzero(fold == part):
            row = training.rows[n]
            if row.suite not in FIVE:
                continue
            shares = training.shares(task, n)
            features = evidence_row(row.question, training.wording[n], row.segments, row.corpus, shares)
            if row.task:
                out["class"].append((row.suite, row.task, task.classes[int(shares.argmax())]))
            if row.evidence is not None:
                said = evidence.classes[int(evidence.probabilities(features)[0].argmax())]
                out["evidence"].append((row.suite, "yes" if row.evidence else "no", said))
    return out


def accuracies(training: Training, seeds: Sequence[int] = _SEEDS) -> dict[str, Any]:
    """Held-out accuracy of each term, its mean over the seeds, and by set."""
    runs = [held_out(training, seed) for seed in seeds]
    report: dict[str, Any] = {}
    for term in ("class", "evidence"):
        triples = [triple for run in runs for triple in run[term]]
        report[term] = round(float(np.mean([gold == said for _, gold, said in triples])), 4)
        report[f"{term}_questions"] = len(runs[0][term])
        report[f"{term}_majority"] = round(max(Counter(g for _, g, _ in triples).values()) / len(triples), 4)
        report[f"{term}_by_set"] = {
            suite: round(float(np.mean([g == s for name, g, s in triples if name == suite])), 3) for suite in FIVE
        }
    return report


def write(training: Training, report: dict[str, Any], seeds: int, folder: Path = _DATA) -> None:
    """Fits on everything and writes weights and record."""
    every = np.arange(len(training.rows))
    heads = {
        "task": training.task_head(every), "evidence": training.evidence_head(every),
        "kind": training.kind_head(),
    }  # fmt: skip
    arrays = {
        f"{name}/{part}": getattr(head, part).astype(np.float32)
        for name, head in heads.items() for part in ("weights", "bias", "mean", "scale")
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "analyzer.npz", **arrays)
    counts = Counter(r.task for r in training.rows if r.task)
    record = {
        "embedder": training.embedder.name,
        "heads": {name: list(head.classes) for name, head in heads.items()},
        "made_by": "python -m benchmarks.train_analyzer (it names the data)",
        "questions": len(training.rows),
        "classes": {name: counts[name] for name in TASK_CLASSES},
        "written_questions": len(training.extra),
        "written_inputs": len(_written("written_inputs")),
        "penalty": _STRENGTH,
        "held_out": {k: v for k, v in report.items() if not k.endswith("_by_set")},
        "protocol": f"{_FOLDS} folds by document, {seeds} repetition(s); the shipped weights are fitted on everything",
        "note": "the written questions were chosen with them in view; other documents are the test",
    }
    (folder / "analyzer.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def kept_labels(path: Path | None) -> list[Labelled]:
    """The labelled questions, read from `path` if they are there, else made and kept there."""
    if path is not None and path.exists():
        rows: list[Labelled] = pickle.loads(path.read_bytes())
        return rows
    rows = list(labelled())
    if path is not None:
        path.write_bytes(pickle.dumps(rows))
    return rows


def main() -> None:
    """Trains, prints held-out accuracies, writes the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report-only", action="store_true", help="measure, write nothing")
    parser.add_argument("--labels", type=Path, help="keep the labelled questions here between runs")
    parser.add_argument("--seeds", type=int, default=len(_SEEDS), help="repetitions of the held-out measurement")
    parser.add_argument("--json", type=Path, help="write the measured accuracies here")
    args = parser.parse_args()
    training = Training(kept_labels(args.labels))
    report = accuracies(training, range(args.seeds))
    print(json.dumps(report, indent=1))
    if not args.report_only:
        write(training, report, args.seeds)
    if args.json:
        args.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
