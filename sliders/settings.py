"""The settings of a run: which model, how fast, how much it may cost, where things are kept.

Flags win over environment variables, environment variables over the defaults. With no model and no server named, the
embedded model is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sliders.errors import SettingsError

LOCAL = "local"
DIALECTS = ("auto", "full", "compact")
EXECUTORS = ("local", "ray")
STAGES = ("plan", "schema", "gate", "extract", "reconcile", "answer")


def default_cache_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The user's cache directory for model files and logs.

    `SLIDERS_CACHE_DIR` wins, then `XDG_CACHE_HOME`/sliders, then the platform's place.
    """
    env = os.environ if environ is None else environ
    if env.get("SLIDERS_CACHE_DIR"):
        return Path(env["SLIDERS_CACHE_DIR"]).expanduser()
    if env.get("XDG_CACHE_HOME"):
        return Path(env["XDG_CACHE_HOME"]).expanduser() / "sliders"
    if sys.platform == "win32" and env.get("LOCALAPPDATA"):
        return Path(env["LOCALAPPDATA"]) / "sliders" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sliders"
    return Path.home() / ".cache" / "sliders"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run: tokens (prompt and generated), US dollars, minutes of wall clock; None is no limit."""

    max_tokens: int | None = None
    max_cost: float | None = None
    max_minutes: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_cost", "max_minutes"):
            value = getattr(self, name)
            if value is not None and not value > 0:  # which nan is not, either
                raise SettingsError(f"{name} is {value}: a limit must be above zero; leave it out for no limit")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a run can be told.

    `stage_models` maps a stage (`STAGES`) to a model name where it differs from `model`. `concurrency` is the number of
    requests in flight; `rpm` and `tpm` are the server's limits a minute; `timeout` is in seconds a request; `retries`
    counts attempts after the first. `context_tokens` overrides the table of context windows. `prices` is a YAML or
    JSON file, or a mapping, of model name to {"prompt": ..., "completion": ...} in USD per million tokens. `dialect` says
    how models are asked ("auto": the embedded one compactly, every other fully). `unverified` lets values into tables that
    were not found in the text or did not parse. `audit_share` is the share (0 to 1) of the parts that choice and gate left
    out that is read after all, to say how much they would change an answer. `max_file_mb` is the size of the largest file
    that is read (MB of 2**20). `executor` says where the work on documents and chunks is done: "local", or "ray" (a cluster
    at `ray_address`, or one on this machine).
    """

    model: str = LOCAL
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    stage_models: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    concurrency: int = 8
    rpm: int | None = None
    tpm: int | None = None
    timeout: float = 300.0
    retries: int = 5
    budget: Budget = field(default_factory=Budget)
    cache_dir: Path = field(default_factory=default_cache_dir)
    context_tokens: int | None = None
    local_context_tokens: int = 16384
    prices: Path | Mapping[str, Any] | None = None
    seed: int = 0
    dialect: str = "auto"
    unverified: bool = False
    audit_share: float = 0.0
    max_file_mb: int = 256
    executor: str = "local"
    ray_address: str | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "timeout", "local_context_tokens", "max_file_mb"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{name} is {getattr(self, name)}: it must be above zero")
        for name in ("rpm", "tpm", "context_tokens"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise SettingsError(f"{name} is {value}: it must be above zero; leave it out for no limit")
        if not 0 <= self.audit_share <= 1:
            raise SettingsError(f"audit_share is {self.audit_share}: it must be a share from 0 to 1")
        if self.retries < 0:
            raise SettingsError(f"retries is {self.retries}: it must be zero or more")
        if not self.model.strip():
            raise SettingsError("the model name is empty: name a model, or leave it out for the embedded one")
        if self.dialect not in DIALECTS:
            raise SettingsError(f"dialect is {self.dialect!r}: it must be one of {', '.join(DIALECTS)}")
        if self.executor not in EXECUTORS:
            raise SettingsError(f"executor is {self.executor!r}: it must be one of {', '.join(EXECUTORS)}")
        if self.ray_address and self.executor != "ray":
            raise SettingsError(f"ray_address is {self.ray_address!r}, but executor is {self.executor!r}: set that to 'ray'")
        unknown = sorted(set(self.stage_models) - set(STAGES))
        if unknown:
            raise SettingsError(f"unknown stage {unknown[0]!r} in stage_models; the stages are {', '.join(STAGES)}")

    @property
    def is_local(self) -> bool:
        """Whether the default model is the embedded one, served by this process."""
        return self.model == LOCAL and self.base_url is None

    @property
    def extract_model(self) -> str:
        """Model of the extraction stage."""
        return self.model_name("extract")

    def model_name(self, stage: str) -> str:
        """Name of the model that serves a stage."""
        return self.stage_models.get(stage, self.model)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """Settings from `SLIDERS_*` and `OPENAI_API_KEY`; an override that is not None wins.

        `extract_model=` (and any `<stage>_model=`), `max_tokens=`, `max_cost=` and `max_minutes=` are accepted as
        overrides too, as the command line gives them.

        Raises:
            SettingsError: a variable that is not a number where one is needed, an unknown name, a server without a
            model.
        """
        env = os.environ if environ is None else environ
        given = {name: value for name, value in overrides.items() if value is not None}
        values: dict[str, Any] = {**_plain_values(env), **_pop_known(given)}
        values["stage_models"] = MappingProxyType({**_stage_models_from_env(env), **_pop_stage_models(given)})
        values["budget"] = _limited(given.pop("budget", None) or _budget(env), given)
        _check(values, given, unnamed="model" not in values)
        values.setdefault("cache_dir", default_cache_dir(env))
        return cls(**values)

    def changed(self, **overrides: Any) -> Settings:
        """The same settings with those that are given and not None in place of theirs; names as for `from_env`.

        Raises:
            SettingsError: an unknown name, a server without a model.
        """
        given = {name: value for name, value in overrides.items() if value is not None}
        values = _pop_known(given)
        values["stage_models"] = MappingProxyType({**self.stage_models, **_pop_stage_models(given)})
        values["budget"] = _limited(given.pop("budget", None) or self.budget, given)
        _check(values, given, unnamed=self.model == LOCAL and "model" not in values)
        return replace(self, **values)



_TEXT = {
    "SLIDERS_MODEL": "model",
    "SLIDERS_BASE_URL": "base_url",
    "OPENAI_API_KEY": "api_key",
    "SLIDERS_API_KEY": "api_key",
    "SLIDERS_DIALECT": "dialect",
    "SLIDERS_EXECUTOR": "executor",
    "SLIDERS_RAY_ADDRESS": "ray_address",
}
_WHOLE = {
    "SLIDERS_CONCURRENCY": "concurrency",
    "SLIDERS_RPM": "rpm",
    "SLIDERS_TPM": "tpm",
    "SLIDERS_RETRIES": "retries",
    "SLIDERS_CONTEXT_TOKENS": "context_tokens",
    "SLIDERS_LOCAL_CONTEXT_TOKENS": "local_context_tokens",
    "SLIDERS_SEED": "seed",
    "SLIDERS_MAX_FILE_MB": "max_file_mb",
}


def _number(env: Mapping[str, str], variable: str, kind: type[int] | type[float]) -> Any:
    try:
        return kind(env[variable])
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{variable} is {env[variable]!r}: it must be {wanted}; correct or unset it") from None


def _plain_values(env: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {name: env[variable] for variable, name in _TEXT.items() if env.get(variable)}
    for variable, name in _WHOLE.items():
        if env.get(variable):
            values[name] = _number(env, variable, int)
    if env.get("SLIDERS_TIMEOUT"):
        values["timeout"] = _number(env, "SLIDERS_TIMEOUT", float)
    if env.get("SLIDERS_AUDIT_SHARE"):
        values["audit_share"] = _number(env, "SLIDERS_AUDIT_SHARE", float)
    if env.get("SLIDERS_PRICES"):
        values["prices"] = Path(env["SLIDERS_PRICES"]).expanduser()
    if env.get("SLIDERS_UNVERIFIED"):
        values["unverified"] = _truth(env, "SLIDERS_UNVERIFIED")
    return values


def _truth(env: Mapping[str, str], variable: str) -> bool:
    said = env[variable].strip().lower()
    if said not in ("1", "true", "yes", "0", "false", "no"):
        raise SettingsError(f"{variable} is {env[variable]!r}: it must be true or false; correct or unset it")
    return said in ("1", "true", "yes")


def _stage_models_from_env(env: Mapping[str, str]) -> dict[str, str]:
    named = {stage: env.get(f"SLIDERS_{stage.upper()}_MODEL") for stage in STAGES}
    return {stage: model for stage, model in named.items() if model}


def _pop_stage_models(given: dict[str, Any]) -> dict[str, str]:
    models = dict(given.pop("stage_models", {}))
    for stage in STAGES:
        if f"{stage}_model" in given:
            models[stage] = given.pop(f"{stage}_model")
    return models


def _pop_known(given: dict[str, Any]) -> dict[str, Any]:
    plain = {f.name for f in fields(Settings)} - {"stage_models", "budget"}
    values = {name: given.pop(name) for name in sorted(plain & set(given))}
    for name in ("cache_dir", "prices"):
        if isinstance(values.get(name), str):
            values[name] = Path(values[name]).expanduser()
    return values


def _check(values: Mapping[str, Any], left: Mapping[str, Any], *, unnamed: bool) -> None:
    if left:
        raise SettingsError(f"unknown setting {sorted(left)[0]!r}; see sliders.settings.Settings for the names")
    if values.get("base_url") and unnamed:
        raise SettingsError(
            f"a server is named ({values['base_url']}) but no model: set SLIDERS_MODEL or --model to one it serves"
        )


def _budget(env: Mapping[str, str]) -> Budget:
    return Budget(
        _number(env, "SLIDERS_MAX_TOKENS", int) if env.get("SLIDERS_MAX_TOKENS") else None,
        _number(env, "SLIDERS_MAX_COST", float) if env.get("SLIDERS_MAX_COST") else None,
        _number(env, "SLIDERS_MAX_MINUTES", float) if env.get("SLIDERS_MAX_MINUTES") else None,
    )


def _limited(base: Budget, given: dict[str, Any]) -> Budget:
    limits = {name: given.pop(name) for name in ("max_tokens", "max_cost", "max_minutes") if name in given}
    return replace(base, **limits)
