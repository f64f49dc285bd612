"""Chooses where documents and chunks are processed: in this process, or on the workers of a
cluster.
"""

from __future__ import annotations

from sliders.engine.runner import LocalRunner
from sliders.errors import SettingsError
from sliders.settings import Settings


def runner_for(settings: Settings, model: object | None = None) -> LocalRunner:
    """Returns the runner that the settings name; it starts nothing before its first use.

    Args:
        model: a `Model` object that the user gave in the place of a model's name, if any.

    Raises:
        SettingsError: Ray is not installed, its address does not answer, or the model is an object
            that only this process has.
    """
    if settings.executor == "local":
        return LocalRunner()
    if model is not None:
        raise SettingsError(
            "executor 'ray' calls models by name, and this one is an object of this process: name "
            "a model, or leave executor out"
        )
    from sliders.engine.ray_runner import RayRunner  # needs an extra

    return RayRunner(settings)
