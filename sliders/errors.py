"""The exceptions of the package: every message names the thing, says what happened, and ends
with what to do next.
"""

from __future__ import annotations


class SlidersError(Exception):
    """Base of every error that the package raises on purpose."""


class SettingsError(SlidersError):
    """A flag, environment variable or argument cannot be used."""


class DocumentError(SlidersError):
    """A file cannot be read as a document."""


class SchemaError(SlidersError):
    """A schema is not well formed, or a pinned part of it would change."""


class PlanError(SlidersError):
    """A question, hint or query cannot be planned."""


class QueryError(PlanError):
    """SQL that is not supported or names what does not exist."""


class ModelError(SlidersError):
    """The model did not give a usable reply.

    `usage` is the `sliders.llm.model.Usage` of what was paid all the same, None when nothing was.
    """

    usage: object | None = None


class ModelUnavailable(ModelError):
    """The server, model name, key or model file cannot be used."""


class CallFailed(ModelError):
    """One call gave no usable reply; another call may."""


class ModelRefusal(CallFailed):
    """No rung of the structured-output ladder could parse the reply."""


class TruncatedReply(CallFailed):
    """The reply stopped at the token limit, or the input does not fit; the caller splits its input.

    `partial` is the text that came before the limit.
    """

    def __init__(self, message: str, partial: str = "") -> None:
        super().__init__(message)
        self.partial = partial


class BudgetExceeded(SlidersError):
    """The run's limit of tokens, money or minutes is reached."""


class StoreError(SlidersError):
    """The workspace file cannot be used."""


class WorkspaceMissing(StoreError):
    """There is no such workspace on the server."""


class WorkspaceLocked(StoreError):
    """Another process writes to the workspace."""


class WorkspaceTooNew(StoreError):
    """The workspace was written by a newer version of the package."""


class UnsafeStatement(StoreError):
    """The guard refuses a SQL statement."""


class RepairError(SlidersError):
    """A repair would lose a row or invent a value."""


class AuditError(SlidersError):
    """An audit database does not verify."""
