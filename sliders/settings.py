"""The settings of a run: the model, its speed, the budget, and where files are kept.

Flags win over environment variables, environment variables over the defaults. With no model and no
server named, the embedded model is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from sliders.errors import SettingsError
from sliders.hidden import hide, remember, remember_address

LOCAL = "local"
DIALECTS = ("auto", "full", "compact")
EXECUTORS = ("local", "ray")
OCR = ("auto", "off", "all")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_IN_BATCHES = 5_000
STAGES = ("plan", "schema", "gate", "extract", "doubt", "reconcile", "answer")


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
    """The limits of one run: tokens (prompt and generated), US dollars, minutes of wall clock; None
    for no limit.
    """

    max_tokens: int | None = None
    max_cost: float | None = None
    max_minutes: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_cost", "max_minutes"):
            value = getattr(self, name)
            if value is not None and not value > 0:  # which nan is not, either
                raise SettingsError(
                    f"{name} is {value}: a limit must be above zero; leave it out for no limit"
                )


@dataclass(frozen=True, slots=True, repr=False)
class Settings:
    """The settings of a run.

    `stage_models` maps a stage (`STAGES`) to the name of a model other than `model`; that of
    "doubt" is a second model, which is asked about doubtful cells alone. `concurrency`
    is the number of requests in flight; `rpm` and `tpm` are the server's limits of requests and
    tokens per minute; `timeout` is the seconds of a request; `retries` counts attempts after the
    first. `context_tokens` overrides the table of context windows. `prices` is a YAML or JSON file,
    or a mapping, of model name to {"prompt": ..., "completion": ...} in USD per million tokens.
    `model` may be the path of a GGUF file, which this process serves. `dialect` says how models are
    asked ("auto": compactly the embedded one and GGUF files under 4 billion parameters, every other
    one fully), `documents_per_call` how many documents share a reading call at the most; None
    leaves that to the dialect. `reasoning_effort` is the effort of a model that thinks (`EFFORTS`);
    None leaves it to the model. `batch` sends reading calls through the provider's Batch interface:
    half the price, replies within hours. `unverified` also puts values into tables whose words were
    not found in the text or did not parse. `audit_share` is the share (0 to 1) of the left-out
    parts that are read after all, to measure how much they would change an answer. `max_file_mb` is
    the size of the largest file that is read (MB of 2**20). `ocr` says what OCR reads: "auto" for
    pages without words and picture files, "all" for the pictures in office files too, "off" for
    nothing. `executor` says where the work on
    documents and chunks is done: "local", or "ray" (a cluster at `ray_address`, or one on this
    machine).
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
    documents_per_call: int | None = None
    reasoning_effort: str | None = None
    batch: bool = False
    unverified: bool = False
    audit_share: float = 0.0
    max_file_mb: int = 256
    ocr: str = "auto"
    executor: str = "local"
    ray_address: str | None = None

    def __post_init__(self) -> None:
        remember(self.api_key)
        remember_address(self.base_url, server=True)
        remember_address(self.ray_address)
        for name in _POSITIVE:
            if (value := getattr(self, name)) is not None and not value > 0:
                limits = ("rpm", "tpm", "context_tokens")
                without = "; leave it out for no limit" if name in limits else ""
                raise SettingsError(f"{name} is {value}: it must be above zero{without}")
        if self.retries < 0:
            raise SettingsError(f"retries is {self.retries}: it must be zero or more")
        if not 0 <= self.audit_share <= 1:
            raise SettingsError(
                f"audit_share is {self.audit_share}: it must be a share from 0 to 1"
            )
        if not self.model.strip():
            raise SettingsError(
                "the model name is empty: name a model, or leave it out for the embedded one"
            )
        for name, choices in (
            ("dialect", DIALECTS),
            ("executor", EXECUTORS),
            ("ocr", OCR),
            ("reasoning_effort", (None, *EFFORTS)),
        ):
            if getattr(self, name) not in choices:
                raise SettingsError(
                    f"{name} is {getattr(self, name)!r}: it must be one of "
                    + ", ".join(filter(None, choices))
                )
        self._check_address()
        if self.ray_address and self.executor != "ray":
            raise SettingsError(
                f"ray_address is {self.ray_address!r}, but executor is {self.executor!r}: "
                "set that to 'ray'"
            )
        if unknown := sorted(set(self.stage_models) - set(STAGES)):
            raise SettingsError(
                f"unknown stage {unknown[0]!r} in stage_models; the stages are {', '.join(STAGES)}"
            )

    def __repr__(self) -> str:
        shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
        return hide(f"Settings({', '.join(shown)})")

    def _check_address(self) -> None:
        """Raises SettingsError: the server's address or its key is malformed, or a setting does not
        go with the executor.
        """
        if "doubt" in self.stage_models and self.executor != "local":
            raise SettingsError("doubt_model works with the executor 'local' alone: leave one out")
        if self.api_key is not None and not self.api_key.strip().isascii():
            raise SettingsError("api_key has characters that no key has: copy it once more")
        address = self.base_url
        if address is None:
            return
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError(
                f"base_url is {address!r}: it must be the address of a server, such as "
                "http://localhost:8000/v1"
            )

    @property
    def is_local(self) -> bool:
        """True when this process serves the default model."""
        return self.is_own(self.model)

    def is_own(self, name: str) -> bool:
        """True when this process itself serves the model of that name: the embedded model, or a
        GGUF file.
        """
        return self.base_url is None and (name == LOCAL or name.lower().endswith(".gguf"))

    @property
    def reading_slots(self) -> int:
        """The number of parts that may be read at the same time."""
        return _IN_BATCHES if self.batch else self.concurrency

    @property
    def extract_model(self) -> str:
        """The name of the model of the extraction stage."""
        return self.model_name("extract")

    def model_name(self, stage: str) -> str:
        """The name of the model of a stage."""
        return self.stage_models.get(stage, self.model)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """Returns settings from `SLIDERS_*` and `OPENAI_API_KEY`; an override that is not None
        wins.

        `extract_model=` (and any `<stage>_model=`), `max_tokens=`, `max_cost=` and `max_minutes=`
        are accepted as overrides too, as the command line gives them.

        Raises:
            SettingsError: a variable is no number, a name is unknown, or a server has no model.
        """
        env = os.environ if environ is None else environ
        given = {name: value for name, value in overrides.items() if value is not None}
        named = {
            stage: model for stage in STAGES if (model := env.get(f"SLIDERS_{stage.upper()}_MODEL"))
        }
        given["stage_models"] = {**named, **given.get("stage_models", {})}
        read = _plain_values(env, () if "budget" in given else fields(Budget))
        try:
            return cls(cache_dir=default_cache_dir(env)).changed(**{**read, **given})
        except SettingsError as error:
            name = str(error).split(" ", 1)[0]
            if name not in read or name in given:
                raise
            raise SettingsError(
                f"{error}; SLIDERS_{name.upper()} says so: correct or unset it"
            ) from None

    def changed(self, **overrides: Any) -> Settings:
        """Returns a copy with the given settings that are not None; the names are those of
        `from_env`.

        Raises:
            SettingsError: a name is unknown, or a server has no model.
        """
        given = {name: value for name, value in overrides.items() if value is not None}
        stages = {
            stage: given.pop(f"{stage}_model") for stage in STAGES if f"{stage}_model" in given
        }
        limits = {f.name: given.pop(f.name) for f in fields(Budget) if f.name in given}
        unknown = sorted(set(given) - {f.name for f in fields(Settings)})
        if unknown:
            raise SettingsError(
                f"unknown setting {unknown[0]!r}; see sliders.settings.Settings for the names"
            )
        if given.get("base_url") and self.model == LOCAL and "model" not in given:
            raise SettingsError(
                f"a server is named ({given['base_url']}) but no model: set SLIDERS_MODEL or "
                "--model to one it serves"
            )
        given["stage_models"] = MappingProxyType(
            {**self.stage_models, **given.get("stage_models", {}), **stages}
        )
        given["budget"] = replace(given.get("budget", self.budget), **limits)
        paths = {
            name: Path(given[name]).expanduser()
            for name in ("cache_dir", "prices")
            if isinstance(given.get(name), str)
        }
        return replace(self, **{**given, **paths})


_POSITIVE = (
    "concurrency",
    "documents_per_call",
    "timeout",
    "local_context_tokens",
    "max_file_mb",
    "rpm",
    "tpm",
    "context_tokens",
)
_TRUTHS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_READERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "bool": (lambda said: _TRUTHS[said.strip().lower()], "true or false"),
    "str": (str, "a text"),
    "Path": (str, "a path"),
}
"""The reader of a variable by the type of its setting, and the words for what it must be."""


def _plain_values(env: Mapping[str, str], limits: Sequence[Field[Any]]) -> dict[str, Any]:
    """The value of `SLIDERS_<NAME>` for each setting and limit."""
    values = {"api_key": env["OPENAI_API_KEY"]} if env.get("OPENAI_API_KEY") else {}
    for setting in (*fields(Settings), *limits):
        variable, (reader, wanted) = (
            f"SLIDERS_{setting.name.upper()}",
            _READERS.get(str(setting.type).split(" ")[0], (None, "")),
        )
        if reader is None or not env.get(variable):
            continue
        try:
            values[setting.name] = reader(env[variable])
        except (ValueError, KeyError):
            raise SettingsError(
                f"{variable} is {env[variable]!r}: it must be {wanted}; correct or unset it"
            ) from None
    return values
