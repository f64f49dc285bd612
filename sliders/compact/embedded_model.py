"""The embedded model: llama.cpp in a child process on a loopback port, behind the same interface as
any server.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from sliders.compact.gguf import model_head
from sliders.compact.model_file import EMBEDDED, ensure_model
from sliders.compact.model_file import Progress as Report
from sliders.errors import ModelError, ModelUnavailable
from sliders.hidden import bare
from sliders.llm.client import OpenAIModel
from sliders.llm.dialect import COMPACT, Dialect
from sliders.llm.ladder import Rung
from sliders.llm.limits import RequestGate
from sliders.llm.model import Request, Response
from sliders.llm.network_switch import check_requests_allowed
from sliders.llm.tokens import token_counter
from sliders.settings import LOCAL, Settings

_SPINS = "GOMP_SPINCOUNT"
"""How often a thread of the child looks for the next piece of work before it sleeps. On a machine
with other work the default takes two thirds of the processor time and triples the time of a reply:
a thread waits awake for another one that has no core.
"""


def physical_cores() -> int:
    """The number of cores that this process may use; two threads of one core count once, since more
    threads make decoding slower.
    """
    try:
        allowed = os.sched_getaffinity(0)
        siblings = {
            Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text(
                encoding="ascii"
            )
            for cpu in allowed
        }
        return max(1, len(siblings))
    except (AttributeError, OSError):  # not Linux
        return max(1, (os.cpu_count() or 2) // 2)


@contextmanager
def download_bar(
    what: str = f"the embedded model {EMBEDDED.file}", licence: str = EMBEDDED.licence
) -> Iterator[Report]:
    """A `with` block that gives a progress callback: it prints a line with the name and size of the
    file, then a bar. When nothing is fetched, nothing is printed.
    """
    terms = f", {licence}" if licence else ""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=bare(sys.stderr)), transient=True) as bar:
        tasks = {}

        def report(step: str, done: int, total: int) -> None:
            if step not in tasks:
                if step == "fetching":
                    bar.console.print(
                        f"Fetching {what} ({total / 1e9:.2f} GB{terms}) once.",
                        soft_wrap=True,
                        highlight=False,
                    )
                tasks[step] = bar.add_task(f"{step} the model", total=total)
            bar.update(tasks[step], completed=done)

        yield report


class LocalServer:
    """One child process that serves a model file; it stops when this process ends, even if it is
    killed.

    `log` is the file for the output of the native code.
    """

    def __init__(self, path: Path, context_tokens: int, log: Path) -> None:
        self._log = log
        options = {"path": str(path), "n_ctx": context_tokens, "threads": physical_cores()}
        script = str(Path(__file__).with_name("local_server.py"))
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as stream:
            # As a script and with -P: the child needs nothing of this package, and must not find
            # its modules by accident.
            self._process = subprocess.Popen(
                [sys.executable, "-P", script, json.dumps(options)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                # Ctrl-C in the terminal is for the parent, which then closes the pipe
                start_new_session=True,
                env={_SPINS: "1000", **os.environ},
            )
        atexit.register(self.stop)
        self.base_url = self._wait_for_address() + "/v1"

    @property
    def alive(self) -> bool:
        """True while the child runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    def stop(self) -> None:
        """Ends the child; a second call does nothing."""
        atexit.unregister(self.stop)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait_for_address(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.stop()
            tail = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise ModelUnavailable(
                f"the embedded model did not start ({tail[0] if tail else 'no message'}); it needs "
                f"about 2 GB of free memory; its log is {self._log}"
            )
        return str(json.loads(line)["address"])


def own_file(model: str) -> Path | None:
    """Returns the path when a model's name is the path of a model file; None for the embedded
    model.
    """
    return None if model == LOCAL else Path(model).expanduser().absolute()


class LocalModel:
    """The embedded model, or a model file of the user, as a `Model`. The server is started at the
    first call; the embedded model is fetched before.
    """

    def __init__(
        self, settings: Settings, dialect: Dialect = COMPACT, file: Path | None = None
    ) -> None:
        self._settings, self._own, self.dialect = settings, file, dialect
        self.name, self.context_tokens = EMBEDDED.name, settings.local_context_tokens
        if file is not None:
            head = model_head(file)
            self.name = head.name
            self.context_tokens = min(self.context_tokens, head.context_tokens or 1 << 20)
        self.count_tokens = token_counter(self.name)
        self._lock = threading.Lock()
        self._server: LocalServer | None = None
        self._client: OpenAIModel | None = None

    async def generate(self, request: Request) -> Response:
        """Answers one request; see `Model.generate` for the errors."""
        check_requests_allowed("the embedded model")
        client = await asyncio.to_thread(self.started)
        try:
            return await client.generate(request)
        except ModelError:
            if self._server is not None and self._server.alive:
                raise
            # The child died (killed, or out of memory): one new start, then the error counts.
            return await (await asyncio.to_thread(self.started)).generate(request)

    async def aclose(self) -> None:
        """Closes the connections of the running event loop; the child keeps running for the next
        call.
        """
        if self._client is not None:
            await self._client.aclose()

    def stop(self) -> None:
        """Ends the child process; the next call starts a new one."""
        with self._lock:
            if self._server is not None:
                self._server.stop()
            self._server = self._client = None

    def started(self) -> OpenAIModel:
        """Returns the client of the running server, and starts the server when there is none.

        Raises:
            ModelUnavailable: the server does not start.
        """
        with self._lock:
            if self._client is not None and self._server is not None and self._server.alive:
                return self._client
            if find_spec("xllamacpp") is None:
                raise ModelUnavailable(
                    "the embedded model needs the package xllamacpp: run `pip install "
                    "'sliders[local]'`, or set SLIDERS_MODEL and SLIDERS_BASE_URL to a "
                    "server of your own"
                )
            path = self._file()
            log = self._settings.cache_dir / "logs" / f"local-server-{os.getpid()}.log"
            self._server = LocalServer(path, self.context_tokens, log)
            here = replace(
                self._settings,
                base_url=self._server.base_url,
                api_key="unused",
                rpm=None,
                tpm=None,
                context_tokens=self.context_tokens,
            )
            self._client = OpenAIModel(
                LOCAL, here, name=self.name, first_rung=Rung.GRAMMAR, gate=RequestGate(1)
            )
            return self._client

    def _file(self) -> Path:
        if self._own is not None:
            return self._own
        with download_bar() as report:
            return ensure_model(self._settings.cache_dir, report)


_MODELS: dict[tuple[int, Path, int, str, Path | None], LocalModel] = {}
_MODELS_LOCK = threading.Lock()


def local_model(
    settings: Settings, dialect: Dialect = COMPACT, file: Path | None = None
) -> LocalModel:
    """Returns the embedded model of this process, or the model in a file. Calls with equal settings
    share one child, which starts at the first request.
    """
    key = (os.getpid(), settings.cache_dir, settings.local_context_tokens, dialect.name, file)
    with _MODELS_LOCK:
        if key not in _MODELS:
            _MODELS[key] = LocalModel(settings, dialect, file)
        return _MODELS[key]
