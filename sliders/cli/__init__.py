"""The command line: one command for each verb of the API. Its names are imported when
they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {
    "Call": "shell",
    "answer_text": "shell",
    "app": "ask",
    "main": "ask",
    "mcp_server": "serve",
    "next_steps": "start",
    "run": "ask",
    "split_words": "ask",
}
__all__ = [
    "Call",
    "answer_text",
    "app",
    "main",
    "mcp_server",
    "next_steps",
    "run",
    "split_words",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(
            f"module 'sliders.cli' has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    return getattr(import_module(f"sliders.cli.{_NAMES[name]}"), name)
