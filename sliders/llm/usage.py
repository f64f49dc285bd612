"""The cost of calls by stage and model, and the budget that stops a run."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from sliders.errors import BudgetExceeded, SettingsError
from sliders.llm.model import Usage
from sliders.llm.tokens import context_window, known_models
from sliders.progress import counted
from sliders.settings import Budget


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens: of a prompt, of a reply, and of prompt tokens from the
    server's cache.
    """

    prompt: float
    completion: float
    cached: float


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices and context windows by model name. The longest matching beginning of a name wins, and
    the user's rows win over the built-in ones.
    """

    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, source: Path | Mapping[str, Any] | None) -> PriceTable:
        """Returns a table from a YAML or JSON file or a mapping, of the form of `models.yaml`:
        `{"my-model": {"prompt": 0.5, "completion": 1.5, "context": 32768}}`.

        Raises SettingsError: the file cannot be read, or a row has neither two prices nor a window.
        """
        if source is None:
            return cls()
        rows = _read_prices(source) if isinstance(source, Path) else source
        rows = rows.get("models", rows)
        return cls({str(model): _checked(model, row) for model, row in rows.items()})

    def price(self, model: str) -> Price | None:
        """The price of a model, with or without its vendor before it ("openai/gpt-4.1"), None
        when it is not known.
        """
        row = self._row(model, "prompt")
        if row is None:
            return None
        return Price(row["prompt"], row["completion"], row.get("cached", row["prompt"]))

    def context(self, model: str) -> int:
        """The size of a model's context window in tokens."""
        row = self._row(model, "context", self.own)
        return context_window(model) if row is None else int(row["context"])

    def cost(
        self, model: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0
    ) -> float:
        """Returns the US dollars of a call; 0.0 for a model without a price (the embedded one costs
        nothing). `cached_tokens` are a part of `prompt_tokens`.
        """
        price = self.price(model)
        if price is None:
            return 0.0
        new = (prompt_tokens - cached_tokens) * price.prompt + completion_tokens * price.completion
        return (new + cached_tokens * price.cached) / 1e6

    def _row(self, model: str, member: str, *tables: Mapping[str, Any]) -> Any:
        """The row of a model that has the member, None when there is none."""
        for table in tables or (self.own, known_models()):
            for name in (model, model.rsplit("/", 1)[-1]):
                for prefix in sorted(table, key=len, reverse=True):
                    same = name == prefix or name.startswith(tuple(prefix + m for m in "-:@"))
                    if same and member in table[prefix]:
                        return table[prefix]
        return None


def _checked(model: object, row: Any) -> dict[str, Any]:
    """A row of a user's table.

    Raises SettingsError: it has neither two prices nor a window.
    """
    try:
        prices = {"prompt", "completion", "cached"} & set(row)
        if not prices and "context" not in row:
            raise KeyError(model)
        read = {name: float(row[name]) for name in {"prompt", "completion", *prices} if prices}
        return {**row, **read} | ({"context": int(row["context"])} if "context" in row else {})
    except (TypeError, KeyError, ValueError):
        raise SettingsError(
            f"the price of {model!r} is {row!r}: give prompt: and completion: (and cached:) in "
            "USD per million tokens, or context: in tokens"
        ) from None


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


_GO_ON = "what is known is kept, and the same command with a higher limit goes on from here"


class Meter:
    """Sums usage by stage and model, and keeps a run within its budget.

    Before a call is sent, the most that it may cost is reserved (`reserved`). So the total stays
    within the limits of tokens and money, except for corrections of a call under way.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
        prices: PriceTable | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self._clock, self._prices = clock, prices or PriceTable()
        self._started = clock()
        self._sums: dict[tuple[str, str], Usage] = {}
        self._reserved: list[Usage] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._lock = threading.Lock()

    def for_run(self) -> Meter:
        """Returns a meter for another run, with the same budget and prices."""
        return Meter(self.budget, self._clock, self._prices)

    @property
    def total(self) -> Usage:
        """The usage so far."""
        with self._lock:
            return sum(self._sums.values(), Usage())

    @property
    def by_stage_and_model(self) -> dict[tuple[str, str], Usage]:
        """The usage of each pair (stage, model)."""
        with self._lock:
            return dict(self._sums)

    @property
    def minutes(self) -> float:
        """Wall-clock minutes since the meter was made."""
        return (self._clock() - self._started) / 60

    def add(self, stage: str, model: str, usage: Usage) -> None:
        """Counts one call. A cached call counts as a call without tokens."""
        with self._lock:
            self._sums[(stage, model)] = self._sums.get((stage, model), Usage()) + usage

    @asynccontextmanager
    async def in_time(self) -> AsyncIterator[None]:
        """Runs the `with` block until the minutes of the budget are over.

        Raises:
            BudgetExceeded: the block was cut short.
        """
        minutes = self.budget.max_minutes
        left = None if minutes is None else max(0.0, 60 * (minutes - self.minutes))
        try:
            async with asyncio.timeout(left) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            told = f"{self.minutes:.1f} minutes of max_minutes={minutes:,}"
            raise BudgetExceeded(
                f"the budget of this run is spent: {told}, while a model was answering; {_GO_ON}"
            ) from None

    def check(self) -> None:
        """Checks that no limit is reached; called before each call.

        Raises:
            BudgetExceeded: tokens, cost or minutes are spent.
        """
        for name, spent, limit, words in self._limits(self.total):
            if spent >= limit:
                raise BudgetExceeded(
                    f"the budget of this run is spent: {words} of {name}={limit:,}; {_GO_ON}"
                )

    @asynccontextmanager
    async def reserved(
        self, model: str, prompt_tokens: int, reply_tokens: int
    ) -> AsyncIterator[None]:
        """Reserves room in the budget for one call while the `with` block runs.

        It waits while other calls hold the rest of the budget, since most of them will cost less
        than they reserved.

        Args:
            model: name of the model, for its price.
            prompt_tokens: tokens of the prompt.
            reply_tokens: the most tokens that the reply may have.

        Raises:
            BudgetExceeded: a limit is reached, or what is left is less than the call may cost.
        """
        cost = self._prices.cost(model, prompt_tokens, reply_tokens)
        most = Usage(1, 0, prompt_tokens, reply_tokens, cost=cost)
        while (freed := self._taken(most)) is not None:
            await freed
        try:
            yield
        finally:
            self._give_back(most)

    def _limits(self, usage: Usage) -> list[tuple[str, float, float, str]]:
        """Returns the limits that are set: name, amount of this usage, limit, and the amount in
        words.
        """
        budget = self.budget
        every = (
            ("max_tokens", usage.tokens, budget.max_tokens, counted(usage.tokens, "token")),
            ("max_cost", usage.cost, budget.max_cost, f"${usage.cost:.4f}"),
            ("max_minutes", self.minutes, budget.max_minutes, f"{self.minutes:.1f} minutes"),
        )
        return [
            (name, taken, limit, words) for name, taken, limit, words in every if limit is not None
        ]

    def _taken(self, most: Usage) -> asyncio.Future[None] | None:
        """Reserves room for a call. Returns None, or a future to wait for while other calls hold
        the room.

        Raises:
            BudgetExceeded: see `reserved`.
        """
        self.check()
        with self._lock:
            spent = sum(self._sums.values(), Usage())
            with_call = sum([*self._reserved, most], spent)
            over = [
                (name, limit)
                for name, taken, limit, _ in self._limits(with_call)
                if taken > limit and name != "max_minutes"
            ]
            if not over:
                self._reserved.append(most)
                return None
            if self._reserved:
                self._waiting.append(asyncio.get_running_loop().create_future())
                return self._waiting[-1]
        said = {name: words for name, _, _, words in self._limits(spent)}
        asks = {name: words for name, _, _, words in self._limits(most)}
        name, limit = over[0]
        raise BudgetExceeded(
            f"the budget of this run does not hold the next call: {said[name]} of "
            f"{name}={limit:,} are spent, and the call may take {asks[name]}; {_GO_ON}"
        )

    def _give_back(self, most: Usage) -> None:
        with self._lock:
            self._reserved.remove(most)
            waiting, self._waiting = self._waiting, []
        for freed in waiting:
            freed.get_loop().call_soon_threadsafe(_wake, freed)


def _wake(freed: asyncio.Future[None]) -> None:
    if not freed.done():
        freed.set_result(None)


def as_cached(usage: Usage) -> Usage:
    """Returns the usage of a call that the cache answered: one cached call, no tokens, no cost."""
    return replace(
        usage,
        calls=0,
        cached_calls=1,
        prompt_tokens=0,
        completion_tokens=0,
        cached_tokens=0,
        seconds=0.0,
        cost=0.0,
        unpriced_calls=0,
    )
