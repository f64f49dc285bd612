"""The models of a run, made from the settings: one for each stage, behind a cache, limits, a meter
and a budget.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace

from sliders.compact.embedded_model import LocalModel, local_model, own_file
from sliders.compact.gguf import model_head
from sliders.compact.model_file import EMBEDDED
from sliders.errors import SettingsError
from sliders.extraction.second_opinion import STAGE as DOUBT
from sliders.llm.cache import CachedModel, CallLog, MemoryCallLog
from sliders.llm.client import OpenAIModel
from sliders.llm.dialect import COMPACT, FULL, Dialect
from sliders.llm.ladder import Rung
from sliders.llm.limits import Limiter, RateLimiter, RequestGate
from sliders.llm.loops import PerLoop
from sliders.llm.model import Model
from sliders.llm.outcomes import Outcomes
from sliders.llm.usage import Meter, PriceTable
from sliders.settings import LOCAL, STAGES, Settings

_SMALL = 4_000_000_000
"""The number of parameters below which a model file is asked in the compact dialect."""


class ModelSet:
    """The models of a run by stage, with the name of each stage's server (a part of the cache key).
    `gate` limits the parallel calls of models that do not limit them themselves.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        endpoints: Mapping[str, str],
        log: CallLog,
        meter: Meter | None = None,
        gate: RequestGate | None = None,
    ) -> None:
        self._models, self._endpoints, self._log, self._gate = (
            dict(models),
            dict(endpoints),
            log,
            gate,
        )
        self.meter, self.outcomes = meter or Meter(), Outcomes()
        # Stages that share a model share its wrapper too, so that equal requests of two
        # stages are one call.
        self._wrapped: dict[int, CachedModel] = {}
        self._users: PerLoop[list[ModelSet]] = PerLoop(list)

    def model_for(self, stage: str) -> CachedModel:
        """Returns the model of a stage; the default when the stage has none of its own."""
        known = stage if stage in self._models else ""
        model = self._models[known]
        if id(model) not in self._wrapped:
            endpoint = self._endpoints.get(known, "")
            self._wrapped[id(model)] = CachedModel(
                model, self._log, self.meter, endpoint, self._gate, self.outcomes
            )
        return self._wrapped[id(model)]

    @property
    def second(self) -> CachedModel | None:
        """The second model, for doubtful cells; None where none is named."""
        return self.model_for(DOUBT) if DOUBT in self._models else None

    def direct(self, stage: str) -> Model:
        """Returns the model of a stage without cache and limits."""
        return self._models[stage if stage in self._models else ""]

    def serves_one(self, stage: str) -> bool:
        """Says whether the stage's server reads one request at a time. Two requests over the same
        text should then be sent one after the other.
        """
        return isinstance(self.direct(stage), LocalModel)

    def for_run(self, log: CallLog | None = None) -> ModelSet:
        """Returns the same models with a fresh meter for the next run.

        Args:
            log: the log of calls; the present one when left out.
        """
        models = copy(self)
        models._log, models.meter, models._wrapped = log or self._log, self.meter.for_run(), {}
        models.outcomes = Outcomes()
        return models

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Keeps the connections of the running event loop open while any run of it is in such a
        block.
        """
        users = self._users.get()
        users.append(self)
        try:
            yield
        finally:
            users.remove(self)
            if not users:
                await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections of the running event loop."""
        for model in {id(m): m for m in self._models.values()}.values():
            if isinstance(model, OpenAIModel | LocalModel):
                await model.aclose()


def connect(
    settings: Settings,
    call_log: CallLog | None = None,
    *,
    model: Model | Mapping[str, Model] | None = None,
    limiter: Limiter | None = None,
) -> ModelSet:
    """Returns the models that the settings name, behind one log of calls and one meter. No server
    is contacted before the first call.

    Args:
        model: a model (a test double) in the place of the settings', or one for each stage ("":
            others).
        limiter: limits that are shared with other processes.

    Raises:
        SettingsError: a money budget over a model without a price, or an unreadable price table.
    """
    log: CallLog = MemoryCallLog() if call_log is None else call_log
    prices = PriceTable.load(settings.prices)
    meter = Meter(settings.budget, prices=prices)
    if model is not None:
        return _given(model, log, meter, RequestGate(settings.concurrency))
    gate = RequestGate(settings.concurrency)
    limiter = limiter or RateLimiter(settings.rpm, settings.tpm)
    built: dict[str, Model] = {}
    models, endpoints = {}, {}
    for stage in _stages(settings):
        name = settings.model_name(stage)
        if name not in built:
            built[name] = _built(settings, name, prices, gate, limiter)
        models[stage] = built[name]
        endpoints[stage] = settings.base_url or "openai"
        if settings.is_own(name):
            file = own_file(name)
            identity = EMBEDDED.sha256[:16] if file is None else model_head(file).identity
            endpoints[stage] = f"embedded:{identity}"
        if settings.reasoning_effort is not None:  # other replies to the same requests
            endpoints[stage] += f" effort {settings.reasoning_effort}"
    return ModelSet(models, endpoints, log, meter)


def _stages(settings: Settings) -> list[str]:
    """The stages that have a model, "" for all others; that of doubts has one where it is named."""
    named = settings.stage_models
    return ["", *(stage for stage in STAGES if stage != DOUBT or stage in named)]


def _built(
    settings: Settings, name: str, prices: PriceTable, gate: RequestGate, limiter: Limiter
) -> Model:
    """Returns the model of that name, by the settings."""
    if settings.is_own(name):
        return local_model(settings, _dialect(settings, name), own_file(name))
    _check_price(settings, name, prices)
    return OpenAIModel(
        name,
        settings,
        prices=prices,
        # "local" at an address is our own kind of server, started by someone else:
        # it takes compact grammars.
        first_rung=Rung.GRAMMAR if name == LOCAL else Rung.JSON_SCHEMA,
        dialect=_dialect(settings, name),
        gate=gate,
        limiter=limiter,
    )


def _given(
    model: Model | Mapping[str, Model], log: CallLog, meter: Meter, gate: RequestGate
) -> ModelSet:
    """Returns the models that the caller gives in the place of the models of the settings."""
    models = dict(model) if isinstance(model, Mapping) else {"": model}
    models.setdefault("", next(iter(models.values())))
    distinct = list({id(m): m for m in models.values()}.values())
    # Two doubles often have the same name; they must not answer for each other.
    endpoints = {stage: f"given:{distinct.index(m)}" for stage, m in models.items()}
    return ModelSet(models, endpoints, log, meter, gate)


def _dialect(settings: Settings, name: str) -> Dialect:
    """Returns the dialect of a model: the settings' own, else compact for the embedded model and
    small files. No other code decides this.
    """
    if settings.dialect != "auto":
        dialect = COMPACT if settings.dialect == "compact" else FULL
    else:
        file = own_file(name) if settings.is_own(name) else None
        small = name == LOCAL if file is None else model_head(file).parameters < _SMALL
        dialect = COMPACT if small else FULL
    most = settings.documents_per_call
    if most is None or most >= dialect.documents_per_call:
        return dialect
    return replace(dialect, documents_per_call=most)


def _check_price(settings: Settings, name: str, prices: PriceTable) -> None:
    if settings.budget.max_cost is not None and name != LOCAL and prices.price(name) is None:
        raise SettingsError(
            f"max_cost is set, but there is no price for model {name!r}: add it to a price file "
            "and name that in SLIDERS_PRICES, or use max_tokens"
        )
