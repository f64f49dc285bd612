"""The exceptions of the package, as a tree.

Every message names the thing, says what happened, and ends with what to do next. The docstring of
each class says what a user does in general.
"""

from __future__ import annotations

from sliders.hidden import hide


class SlidersError(Exception):
    """Base of every error that the package raises on purpose; its words show no secret.

    Next: read the message; its last part is the next step.
    """

    def __init__(self, *words: object) -> None:
        super().__init__(*(hide(word) if isinstance(word, str) else word for word in words))


class SettingsError(SlidersError):
    """A flag, an environment variable or an argument cannot be used, or an extra is missing.

    Next: correct the setting that the message names, or install the extra.
    """


class DocumentError(SlidersError):
    """A file cannot be read as a document.

    Next: check the path, save the file anew or in another format, or leave it out.
    """


class SchemaError(SlidersError):
    """A schema is not well formed, or a pinned part of it would change.

    Next: correct the table or column that the message names, and pin the schema again.
    """


class PlanError(SlidersError):
    """A question, hint or query cannot be planned.

    Next: ask in other words, or add documents first.
    """


class QueryError(PlanError):
    """SQL is not supported, or names what does not exist.

    Next: correct the statement; `sliders tables` lists tables and columns.
    """


class ModelError(SlidersError):
    """A model did not give a usable reply.

    Next: see the classes below.

    Attributes:
        usage: the `sliders.llm.model.Usage` that was paid all the same; None when nothing was.
    """

    usage: object | None = None


class ModelUnavailable(ModelError):
    """The server, model name, key or model file cannot be used; no call can work.

    Next: correct `--model`, `--base-url` or the key; `sliders model check` tries them.
    """


class CallFailed(ModelError):
    """One call gave no usable reply; another call may.

    Next: run the same command again; only what failed is asked again.
    """


class ModelRefusal(CallFailed):
    """No form of structured output gave a reply that could be read.

    Next: run the command again, or take a model that follows a JSON schema.
    """


class TruncatedReply(CallFailed):
    """The reply stopped at the token limit, or the input does not fit.

    Next: nothing; the caller splits the input. A message that reaches a user names the limit to
    raise.

    Attributes:
        partial: the text that came before the limit.
    """

    def __init__(self, message: str, partial: str = "") -> None:
        super().__init__(message)
        self.partial = partial


class BudgetExceeded(SlidersError):
    """The run's limit of tokens, money or minutes is reached.

    Next: run the same command with a higher limit; it goes on from there.
    """


class StoreError(SlidersError):
    """A workspace cannot be used, or SQL over it is wrong.

    Next: check the path or address of the workspace, or correct the statement.
    """


class WorkspaceMissing(StoreError):
    """There is no such workspace on the server.

    Next: check the address, or make the workspace with `sliders add`.
    """


class WorkspaceLocked(StoreError):
    """Another process writes to the workspace.

    Next: wait until that process ends; reading is possible meanwhile.
    """


class WorkspaceTooNew(StoreError):
    """The workspace was written by a newer version of the package.

    Next: upgrade the package.
    """


class UnsafeStatement(StoreError):
    """The guard refuses or stops a SQL statement.

    Next: write one SELECT over the data tables, or ask for less.
    """


class RepairError(SlidersError):
    """A repair would lose a row or invent a value.

    Next: nothing; the table stays as it was. `sliders conflicts` lists what is left open.
    """


class AuditError(SlidersError):
    """An audit database does not verify.

    Next: export it again from the workspace, and compare.
    """


EXIT_CODES: dict[type[BaseException], int] = {
    SettingsError: 2,
    BudgetExceeded: 3,
    SlidersError: 1,
    KeyboardInterrupt: 130,
}
"""Exit codes of the command line by exception: the first class that fits decides."""
