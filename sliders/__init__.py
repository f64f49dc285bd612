"""Turn documents into a relational database built for the question, and answer with SQL."""

from sliders.answer.result import Answer, Citation
from sliders.api import Workspace, ask, ask_async
from sliders.chunks.selection import select_context
from sliders.settings import Budget, Settings

__all__ = ["Answer", "Budget", "Citation", "Settings", "Workspace", "ask", "ask_async", "select_context"]
