"""Turn documents into a relational database built for the question, and answer with SQL.

The names are imported when they are first used: a worker of a cluster that parses needs a
tenth of the package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sliders.answer.result import Answer, Citation
    from sliders.api import Workspace, ask, ask_async
    from sliders.retrieval.selection import select_context
    from sliders.settings import Budget, Settings

__all__ = [
    "Answer",
    "Budget",
    "Citation",
    "Settings",
    "Workspace",
    "ask",
    "ask_async",
    "select_context",
]
_ROOMS = {
    "Answer": "answer.result",
    "Citation": "answer.result",
    "Budget": "settings",
    "Settings": "settings",
    "select_context": "retrieval.selection",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(
            f"module 'sliders' has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    return getattr(import_module(f"sliders.{_ROOMS.get(name, 'api')}"), name)


def load_ipython_extension(ipython: Any) -> None:
    """Adds `%%sliders ask` and `%%sliders query` to a notebook: `%load_ext sliders`."""
    import_module("sliders.magics").register(ipython.register_magic_function)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
