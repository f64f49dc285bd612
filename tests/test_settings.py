"""Settings from flags and environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from sliders.errors import SettingsError
from sliders.settings import Budget, Settings, default_cache_dir


def test_the_default_is_the_embedded_model() -> None:
    settings = Settings.from_env({})
    assert settings.is_local and settings.model == "local" and settings.base_url is None


def test_the_environment_is_read() -> None:
    settings = Settings.from_env(
        {
            "SLIDERS_MODEL": "m",
            "SLIDERS_BASE_URL": "http://x/v1",
            "OPENAI_API_KEY": "k",
            "SLIDERS_EXTRACT_MODEL": "small",
            "SLIDERS_CONCURRENCY": "3",
            "SLIDERS_RPM": "60",
            "SLIDERS_TIMEOUT": "1.5",
            "SLIDERS_MAX_COST": "0.5",
            "SLIDERS_CACHE_DIR": "/c",
            "SLIDERS_PRICES": "/p.yaml",
        }
    )
    assert (settings.model, settings.base_url, settings.api_key) == ("m", "http://x/v1", "k")
    assert (settings.extract_model, settings.model_name("gate")) == ("small", "m")
    assert (settings.concurrency, settings.rpm, settings.timeout) == (3, 60, 1.5)
    assert settings.budget == Budget(max_cost=0.5)
    assert (settings.cache_dir, settings.prices) == (Path("/c"), Path("/p.yaml"))
    assert not settings.is_local


def test_a_flag_wins_and_none_is_no_flag() -> None:
    env = {"SLIDERS_MODEL": "m", "SLIDERS_GATE_MODEL": "g", "SLIDERS_MAX_TOKENS": "5"}
    settings = Settings.from_env(
        env, model="n", gate_model=None, extract_model="e", max_tokens=9, rpm=None
    )
    assert settings.model == "n"
    assert dict(settings.stage_models) == {"gate": "g", "extract": "e"}
    assert settings.budget.max_tokens == 9


def test_our_own_key_wins_over_the_vendors() -> None:
    assert Settings.from_env({"OPENAI_API_KEY": "a", "SLIDERS_API_KEY": "b"}).api_key == "b"


def test_the_key_is_not_shown() -> None:
    assert "secret" not in repr(Settings(api_key="secret"))


@pytest.mark.parametrize(
    ("env", "overrides", "told"),
    [
        ({"SLIDERS_RPM": "many"}, {}, "SLIDERS_RPM.*whole number"),
        ({"SLIDERS_TIMEOUT": "soon"}, {}, "SLIDERS_TIMEOUT"),
        ({"SLIDERS_BASE_URL": "http://x/v1"}, {}, "SLIDERS_MODEL"),
        ({}, {"colour": "red"}, "colour"),
        ({}, {"stage_models": {"cook": "m"}}, "cook"),
        ({}, {"model": " "}, "empty"),
        ({}, {"concurrency": 0}, "concurrency"),
        ({}, {"retries": -1}, "retries"),
        ({}, {"max_tokens": 0}, "max_tokens"),
        ({}, {"rpm": -5}, "rpm"),
    ],
)
def test_what_cannot_be_used_is_named(
    env: dict[str, str], overrides: dict[str, object], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings.from_env(env, **overrides)


def test_where_files_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert default_cache_dir({"SLIDERS_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert default_cache_dir({"XDG_CACHE_HOME": "/b"}) == Path("/b/sliders")
    assert default_cache_dir({}) == Path.home() / ".cache" / "sliders"


def test_changed_settings_keep_the_others() -> None:
    known = Settings(
        seed=7,
        timeout=11.0,
        budget=Budget(max_tokens=5, max_cost=2.0),
        stage_models={"gate": "small"},
    )
    new = known.changed(concurrency=2, max_tokens=9, extract_model="big", model=None)
    assert (new.seed, new.timeout, new.concurrency) == (7, 11.0, 2)
    assert new.budget == Budget(max_tokens=9, max_cost=2.0)
    assert new.stage_models == {"gate": "small", "extract": "big"}
    with pytest.raises(SettingsError, match="unknown setting 'sead'"):
        known.changed(sead=1)
    with pytest.raises(SettingsError, match="no model"):
        known.changed(base_url="http://localhost:1/v1")


def test_no_limit_is_not_a_number() -> None:
    with pytest.raises(SettingsError, match="max_minutes is nan"):
        Budget(max_minutes=float("nan"))


def test_unverified_values_are_asked_for_by_name() -> None:
    assert not Settings.from_env({}).unverified
    assert Settings.from_env({"SLIDERS_UNVERIFIED": "true"}).unverified
    assert not Settings.from_env({"SLIDERS_UNVERIFIED": "0"}).unverified
    assert Settings.from_env({"SLIDERS_UNVERIFIED": "no"}, unverified=True).unverified
    with pytest.raises(SettingsError, match="must be true or false"):
        Settings.from_env({"SLIDERS_UNVERIFIED": "maybe"})


def test_a_variable_out_of_range_is_named() -> None:
    with pytest.raises(SettingsError, match=r"rpm is -1.*SLIDERS_RPM says so"):
        Settings.from_env({"SLIDERS_RPM": "-1"})
    with pytest.raises(SettingsError, match=r"^(?!.*SLIDERS_RPM)"):
        Settings.from_env({"SLIDERS_RPM": "60"}, rpm=-1)
