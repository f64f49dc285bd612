"""What calls cost, who made them, and when to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from sliders.errors import BudgetExceeded, SettingsError
from sliders.llm.model import Usage
from sliders.settings import Budget


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    prompt: float
    completion: float


# List prices of hosted models; a user's table wins. Prefixes match dated variants
# ("gpt-4.1-2025-04-14").
_PRICES = {
    "gpt-5": Price(1.25, 10.0),
    "gpt-5-mini": Price(0.25, 2.0),
    "gpt-5-nano": Price(0.05, 0.4),
    "gpt-4.1": Price(2.0, 8.0),
    "gpt-4.1-mini": Price(0.4, 1.6),
    "gpt-4.1-nano": Price(0.1, 0.4),
    "gpt-4o": Price(2.5, 10.0),
    "gpt-4o-mini": Price(0.15, 0.6),
    "o3": Price(2.0, 8.0),
    "o4-mini": Price(1.1, 4.4),
}


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model name; the longest prefix wins, and the user's rows win
    over the built-in ones.
    """

    own: Mapping[str, Price] = field(default_factory=dict)

    @classmethod
    def load(cls, source: Path | Mapping[str, Any] | None) -> PriceTable:
        """A table from a YAML or JSON file or a mapping:
        `{"my-model": {"prompt": 0.5, "completion": 1.5}}`.

        Raises SettingsError: the file cannot be read, or a row has no two numbers.
        """
        if source is None:
            return cls()
        rows = _read_prices(source) if isinstance(source, Path) else source
        own: dict[str, Price] = {}
        for model, row in rows.items():
            try:
                own[str(model)] = Price(float(row["prompt"]), float(row["completion"]))
            except (TypeError, KeyError, ValueError):
                raise SettingsError(
                    f"the price of {model!r} is {row!r}: give prompt: and completion: in USD "
                    "per million tokens"
                ) from None
        return cls(own)

    def price(self, model: str) -> Price | None:
        """The price of a model, with or without its vendor before it ("openai/gpt-4.1"), None
        when it is not known.
        """
        for table in (self.own, _PRICES):
            for name in (model, model.rsplit("/", 1)[-1]):
                for prefix in sorted(table, key=len, reverse=True):
                    if name == prefix or name.startswith(
                        (prefix + "-", prefix + ":", prefix + "@")
                    ):
                        return table[prefix]
        return None

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars of a call; 0.0 for a model without a price (the
        embedded one costs nothing).
        """
        price = self.price(model)
        if price is None:
            return 0.0
        return (prompt_tokens * price.prompt + completion_tokens * price.completion) / 1e6


def _read_prices(path: Path) -> Mapping[str, Any]:
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8"))  # which JSON is, too
    except OSError as error:
        raise SettingsError(
            f"the price file {path} cannot be read ({error.strerror}); correct SLIDERS_PRICES"
        ) from error
    except yaml.YAMLError as error:
        raise SettingsError(
            f"the price file {path} does not parse: {error}; write it as YAML or JSON"
        ) from error
    if not isinstance(rows, Mapping):
        raise SettingsError(
            f"the price file {path} holds no table of models; start each line with a model's name"
        )
    return rows


class Meter:
    """Sums usage by stage and model, and refuses a call that would start after the budget is spent.

    Calls that are already under way when a limit is reached are finished and counted, so the total
    can pass the limit by what was in flight.
    """

    def __init__(
        self, budget: Budget | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.budget = budget or Budget()
        self._clock = clock
        self._started = clock()
        self._sums: dict[tuple[str, str], Usage] = {}
        self._lock = threading.Lock()

    @property
    def total(self) -> Usage:
        """Everything so far."""
        with self._lock:
            return sum(self._sums.values(), Usage())

    @property
    def by_stage_and_model(self) -> dict[tuple[str, str], Usage]:
        """Usage of each pair of stage and model."""
        with self._lock:
            return dict(self._sums)

    @property
    def minutes(self) -> float:
        """Wall-clock minutes since the meter was made."""
        return (self._clock() - self._started) / 60

    def add(self, stage: str, model: str, usage: Usage) -> None:
        """Count one call. A cached call counts as one, and costs no tokens."""
        with self._lock:
            self._sums[(stage, model)] = self._sums.get((stage, model), Usage()) + usage

    def check(self) -> None:
        """Refuse to start another call once a limit is reached.

        Raises BudgetExceeded: tokens, cost or minutes are spent.
        """
        total, budget = self.total, self.budget
        for name, spent, limit, shown in (
            ("max_tokens", total.tokens, budget.max_tokens, f"{total.tokens:,} tokens"),
            ("max_cost", total.cost, budget.max_cost, f"${total.cost:.4f}"),
            ("max_minutes", self.minutes, budget.max_minutes, f"{self.minutes:.1f} minutes"),
        ):
            if limit is not None and spent >= limit:
                raise BudgetExceeded(
                    f"the budget of this run is spent: {shown} of {name}={limit:,}; what is known "
                    "is kept, and the same command with a higher limit goes on from here"
                )


def as_cached(usage: Usage) -> Usage:
    """The usage of a call that the cache answered: no tokens, no cost, one cached call."""
    return replace(
        usage, calls=0, cached_calls=1, prompt_tokens=0, completion_tokens=0, seconds=0.0, cost=0.0
    )
