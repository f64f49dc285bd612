"""Samples of documents that a model is shown when it plans tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.llm.model import Model


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a document."""

    name: str
    text: str


def fitted(samples: Sequence[Sample], model: Model) -> tuple[Sample, ...]:
    """As many samples as the model's dialect takes, each cut to its size in tokens,
    without empty lines.
    """
    size = min(model.dialect.sample_tokens, model.context_tokens // (2 * model.dialect.samples))
    return tuple(_cut(sample, size, model) for sample in samples[: model.dialect.samples])


def _cut(sample: Sample, tokens: int, model: Model) -> Sample:
    text = "\n".join(line.rstrip() for line in sample.text.splitlines() if line.strip())
    while (size := model.count_tokens(text)) > tokens:
        text = text[: max(1, int(len(text) * min(0.95, tokens / size)))]
        if len(text) == 1:
            break
    return replace(sample, text=text)
