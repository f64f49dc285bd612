"""Where the work on documents and chunks is done: in this process, or on the
workers of a cluster.
"""

from __future__ import annotations

from sliders.engine.runner import LocalRunner
from sliders.errors import SettingsError
from sliders.settings import Settings


def runner_for(settings: Settings, model: object | None = None) -> LocalRunner:
    """The runner that the settings name; nothing is started before it is used.

    Args:
        model: a `Model` that was given as an object, if one was.

    Raises:
        SettingsError: Ray is not installed, its address does not answer, or the model is an
            object of this process.
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
