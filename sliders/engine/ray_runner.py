"""Parsing, indexing and reading on a Ray cluster: parsing, chunking and vectors are tasks; chunks
are read by one reader (an actor) on each worker.

Ray places the work, moves its inputs, restarts it when a worker is lost, and reports when it is
done. Results come back to this process, which holds the store. A *reading* is the extraction from
one chunk; it makes one request at a time, so that a lost worker loses only the calls under way.
Files of this machine are sent to the workers; files at an address are fetched by the worker that
parses them.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import metadata
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from sliders.documents import loaders
from sliders.documents.apart import OnPage
from sliders.documents.discovery import SourceFile
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure
from sliders.engine.ray_tasks import index_task, parse_task
from sliders.engine.ray_workers import KEPT_DOCUMENTS, ClusterLimits, Reader, SharedLimiter
from sliders.engine.runner import ExtractionCall, LocalRunner, ParsedDocument
from sliders.engine.ways import ways_of
from sliders.errors import DocumentError, SettingsError, SlidersError
from sliders.extraction.asking import Refusal
from sliders.extraction.extract import Extraction
from sliders.extraction.prompt import chunk_document
from sliders.hidden import cause, hide, remember_address
from sliders.llm.cache import CachedModel
from sliders.llm.limits import Limiter
from sliders.llm.model import Model, Request, Response
from sliders.llm.usage import PriceTable
from sliders.retrieval.embeddings import Embedder, default_embedder
from sliders.retrieval.index import SegmentVectors
from sliders.settings import Budget, Settings

RETRIES = 3
"""The number of times that Ray restarts work whose worker was lost. Work that is lost more often
probably kills its workers itself.
"""
_AHEAD = 4
"""The number of tasks for each processor of the cluster that run or wait."""
_ANSWERS_WITHIN, _STARTS_WITHIN = 5.0, 120.0
"""Seconds."""


class RayRunner(LocalRunner):
    """Spreads the work over an existing cluster, or over a local one that it starts at the first
    use.

    Raises:
        SettingsError: Ray is not installed, or the address does not answer.
    """

    def __init__(self, settings: Settings) -> None:
        if find_spec("ray") is None:
            raise SettingsError(
                "executor 'ray' needs Ray, which is not installed: pip install 'sliders[cluster]'"
            )
        self._settings = settings
        self._address = settings.ray_address or os.environ.get("RAY_ADDRESS") or "local"
        remember_address(self._address)
        _check_address(self._address)
        self._here = LocalRunner()
        self._cluster: _RayCluster | None = None
        self._under_way: dict[int, asyncio.Event] = {}
        self._fresh: bool | None = None
        self._seen: set[int] = set()
        limited = settings.rpm is not None or settings.tpm is not None
        self.limiter: Limiter | None = (
            SharedLimiter(lambda: self._started().limits) if limited else None
        )

    def parse(
        self,
        sources: Sequence[SourceFile],
        max_bytes: int,
        max_tokens: int,
        model: Model,
        on_page: OnPage | None = None,
    ) -> Iterator[ParsedDocument | LoadFailure]:
        """See `LocalRunner.parse`; `on_page` is not called."""

        def submit(source: SourceFile) -> Any:
            try:
                read = None if source.address else loaders.read_source(source, max_bytes)
            except DocumentError as error:
                return loaders.failure(source, error)
            return self._started().parse.remote(source, read, max_bytes, max_tokens, model.name)

        for source, found in self._in_order(sources, submit):
            if isinstance(found, tuple):
                document, chunks = found
                yield ParsedDocument(document, partial(list, chunks))
            else:
                lost = DocumentError(f"{source.name}: {found}")
                yield found if isinstance(found, LoadFailure) else loaders.failure(source, lost)

    def index(
        self, documents: Iterable[Document], embedder: Embedder, model: Model, max_tokens: int
    ) -> Iterator[SegmentVectors]:
        """See `LocalRunner.index`. Only the shipped embedder runs on the cluster; any other stays
        in this process.
        """
        if embedder is not default_embedder():
            yield from self._here.index(documents, embedder, model, max_tokens)
            return
        for document, entry in self._in_order(
            documents, lambda d: self._started().index.remote(d, model.name, max_tokens)
        ):
            here = (
                ()
                if isinstance(entry, SegmentVectors)
                else self._here.index([document], embedder, model, max_tokens)
            )
            yield from here or (entry,)

    def _in_order(
        self, items: Iterable[Any], submit: Callable[[Any], Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Yields each item with the result of its task, or with a message when its worker was lost
        too often. A few tasks run ahead.
        """
        import ray

        waiting: deque[tuple[Any, Any]] = deque()

        def first() -> tuple[Any, Any]:
            item, reference = waiting.popleft()
            if not isinstance(reference, ray.ObjectRef):
                return item, reference
            try:
                return item, ray.get(reference)
            except (
                ray.exceptions.WorkerCrashedError,
                ray.exceptions.OutOfMemoryError,
                ray.exceptions.NodeDiedError,
            ):
                return item, _LOST

        for item in items:
            waiting.append((item, submit(item)))
            if len(waiting) >= _AHEAD * self._started().processors:
                yield first()
        while waiting:
            yield first()

    async def read(  # type: ignore[override]
        self, reading: ExtractionCall, model: CachedModel, second: Model | None = None
    ) -> list[Extraction]:
        """See `LocalRunner.read`. Readings stay in this process when the log of calls holds their
        reply, or when the model is the embedded one.
        """
        if self._settings.is_own(self._settings.model_name("extract")):
            return await self._here.read(reading, model)
        # A hash of all that decides the request: two readings with equal hashes make one call.
        shown = tuple(chunk_document(part.chunk, part.card) for part in reading.parts)
        same = hash((shown, reading.asked, reading.questions))
        while same in self._under_way:
            await self._under_way[same].wait()
        self._under_way[same] = asyncio.Event()
        try:
            if (
                self._may_be_known(same, model)
                and model.known(await self._first_request(reading, model)) is not None
            ):
                return await self._here.read(reading, model)
            model.meter.check()
            async with await self._room_for(reading, model):
                return await self._read_there(reading, model)
        finally:
            self._under_way.pop(same).set()

    def _may_be_known(self, same: int, model: CachedModel) -> bool:
        """Says whether the log of calls may hold the reply for a reading, so that the cluster is
        not needed. False only when the log had no extraction calls at the start and no equal
        reading came before.

        Args:
            same: a hash of all that decides the request; equal readings have equal hashes.
            model: the model with the log.
        """
        if self._fresh is None:
            self._fresh = ways_of(model).reader.one_call and not model.asked_before("extract")
        seen = same in self._seen
        self._seen.add(same)
        return seen or not self._fresh

    async def _room_for(
        self, reading: ExtractionCall, model: CachedModel
    ) -> AbstractAsyncContextManager[None]:
        """Reserves room in the budget for the first call of the reading."""
        if model.meter.budget == Budget():
            return nullcontext()
        return model.reserved(await self._first_request(reading, model))

    async def _first_request(self, reading: ExtractionCall, model: CachedModel) -> Request:
        """Returns the first request that the reading would make; nothing is sent."""
        try:
            await self._here.read(reading, _Asking(model))
        except _WouldAsk as asked:
            return asked.request
        raise AssertionError("a reading makes a request")

    async def _read_there(self, reading: ExtractionCall, model: CachedModel) -> list[Extraction]:
        """Makes a call on the cluster."""
        import ray

        cluster = self._started()
        reader = min(cluster.readers, key=lambda r: r.waiting)
        reader.waiting += 1
        try:
            held = [cluster.held(part.document) for part in reading.parts]
            parts = tuple(replace(part, document=_NONE) for part in reading.parts)
            found, calls = await reader.actor.read.remote(held, replace(reading, parts=parts))
        except (ray.exceptions.RayActorError, ray.exceptions.OutOfMemoryError):
            lost = [Refusal(part.chunk.id, "worker", _LOST) for part in reading.parts]
            return [Extraction(one.chunk_id, refusals=(one,)) for one in lost]
        finally:
            reader.waiting -= 1
        model.adopt(calls)
        if isinstance(found, SlidersError):
            raise found
        return list(found)

    def close(self) -> None:
        """See `LocalRunner.close`."""
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None

    def _started(self) -> _RayCluster:
        if self._cluster is None:
            self._cluster = _RayCluster(self._settings, self._address)
        return self._cluster


_LOST = (
    f"the worker was lost {RETRIES + 1} times (killed, or out of memory); run it again "
    "on larger workers"
)
_NONE = Document("", "", "", "", ())
"""Stands for a document that is sent once for all its calls."""


@dataclass(slots=True)
class _RemoteReader:
    actor: Any
    waiting: int = 0


class _RayCluster:
    """A connection to Ray, with the tasks and actors that this run uses."""

    def __init__(self, settings: Settings, address: str) -> None:
        self._ours = _join(address)
        import ray

        if address != "local":
            _check_version(ray)
        self.processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.parse = ray.remote(max_retries=RETRIES)(parse_task)
        self.index = ray.remote(max_retries=RETRIES)(index_task)
        held = {
            "num_cpus": 0,
            "max_restarts": -1,
            "max_task_retries": RETRIES,
            "max_concurrency": 10_000,
        }
        limited = settings.rpm is not None or settings.tpm is not None
        self.limits: Any = (
            ray.remote(**held)(ClusterLimits).remote(settings.rpm, settings.tpm)
            if limited
            else None
        )
        number = min(self.processors, settings.concurrency)
        prices = PriceTable.load(settings.prices).own
        share = replace(
            settings,
            concurrency=-(-settings.concurrency // number),
            stage_models=dict(settings.stage_models),
            prices=prices,
            budget=Budget(),
            executor="local",
            ray_address=None,
        )
        spread = ray.remote(**held, scheduling_strategy="SPREAD")(Reader)
        self._start: Callable[[], list[_RemoteReader]] = lambda: [
            _RemoteReader(spread.remote(share, self.limits)) for _ in range(number)
        ]
        self._documents: OrderedDict[str, Any] = OrderedDict()

    @cached_property
    def readers(self) -> list[_RemoteReader]:
        """The readers. They start when the first chunk is read: by then the processes that parsed
        are free, and have imported all modules.
        """
        return self._start()

    def held(self, document: Document) -> Any:
        """Returns a reference to the document in Ray's store, where it is sent once. In a list, the
        reader decides when to fetch it.
        """
        import ray

        if document.id not in self._documents:
            tables = tuple(element for element in document.elements if element.grid is not None)
            self._documents[document.id] = ray.put(replace(document, elements=tables))
            while len(self._documents) > KEPT_DOCUMENTS:
                self._documents.popitem(last=False)
        return self._documents[document.id]

    def close(self) -> None:
        """Ends the actors, and the cluster when this process started it."""
        import ray

        for reader in self.__dict__.get("readers", ()):
            ray.kill(reader.actor)
        if self.limits is not None:
            ray.kill(self.limits)
        if self._ours:
            ray.shutdown()


def _join(address: str) -> bool:
    """Connects to Ray unless this process is connected already. Returns True when it made the
    connection.

    Raises:
        SettingsError: no cluster answers.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray sends no usage data
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    # Ray prints about lost workers to standard output, which is only for the answer.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None
    if ray.is_initialized():
        return False
    started = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False, **started)
    except (ConnectionError, RuntimeError, ValueError, OSError, ImportError) as error:
        raise _no_answer(address, error) from cause(error)
    return True


def _check_version(ray: Any) -> None:
    """Refuses a cluster whose workers have another version of this package, or none.

    Raises:
        SettingsError: the versions differ, or no worker starts.
    """
    ours = metadata.version("sliders")
    try:
        theirs = ray.get(ray.remote(metadata.version).remote("sliders"), timeout=_STARTS_WITHIN)
    except metadata.PackageNotFoundError:
        theirs = "none"
    except ray.exceptions.GetTimeoutError as error:
        raise SettingsError(
            f"no worker of the Ray cluster was free within {_STARTS_WITHIN:g} s; add nodes, or wait"
        ) from error
    if theirs != ours:
        raise SettingsError(
            f"the Ray cluster's workers have sliders {theirs}, this is {ours}: install the "
            "same on each node"
        )


def _check_address(address: str) -> None:
    """Refuses an address where nothing listens. Ray itself would try for a long time.

    Raises:
        SettingsError: nothing answers there.
    """
    if address in ("local", "auto"):
        return
    parts = urlsplit(address if "://" in address else f"ray-head://{address}")
    try:
        port = parts.port or (10001 if parts.scheme == "ray" else 6379)
        with socket.create_connection((parts.hostname or "", port), timeout=_ANSWERS_WITHIN):
            return
    except (OSError, ValueError) as error:
        raise _no_answer(address, error) from cause(error)


def _no_answer(address: str, error: Exception) -> SettingsError:
    told = f"no Ray cluster answers at {address!r} ({hide(' '.join(str(error).split()))[:200]})"
    return SettingsError(
        f"{told}; correct the address, start the cluster, or leave the address out for a local one"
    )


class _WouldAsk(Exception):
    """Raised in the place of a call: holds the request that a reading would make."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


class _Asking:
    """Stands for a model, and raises the first request instead of answering it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.context_tokens, self.dialect = (
            model.name,
            model.context_tokens,
            model.dialect,
        )
        self.count_tokens = model.count_tokens

    async def generate(self, request: Request) -> Response:
        raise _WouldAsk(request)
