"""Child processes with limits, for work on input that others wrote (statements, files).

A child is a fresh interpreter (`python -m MODULE`), never a copy of this process. It receives
messages of bytes on its standard input, and answers each on its standard output. The kernel limits
its memory and its processor time (see `limited`); the parent kills it when its time is over.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_LENGTH = 8
"""The bytes before each message that give its length."""
_KEPT_IDLE = 4
"""The most children that are kept waiting for work."""
_PASSED_ON = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "HOME")
_MEASURING = ("COVERAGE_", "FAULTS_")
"""Environment variables of programs that measure tests."""
_END_SECONDS = 2.0


class ChildEnded(Exception):
    """The child did not answer: it was killed at a limit, or ended by itself. `out_of_time` is True
    when its time was over.
    """

    def __init__(self, out_of_time: bool = False) -> None:
        super().__init__("the child process ended")
        self.out_of_time = out_of_time


class Child:
    """One child process. It serves one caller at a time.

    Args:
        module: the name of the module that the child runs; it reads its messages with `Messages`.
    """

    def __init__(self, module: str) -> None:
        self.module = module
        root = str(Path(__file__).parents[1])
        own = {
            name: value
            for name, value in os.environ.items()
            if name in _PASSED_ON or name.startswith(_MEASURING)
        }
        paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        own |= {"PYTHONPATH": os.pathsep.join(paths), "MALLOC_ARENA_MAX": "1", "PYTHONUTF8": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=own,
            # Ctrl-C in the terminal is for the parent, which then ends the child.
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        _running.add(self)

    @property
    def alive(self) -> bool:
        """True while the child runs."""
        return self._process.poll() is None

    def ask(self, message: bytes, seconds: float | None = None) -> bytes:
        """Returns the child's reply to a message.

        Args:
            seconds: the time after which the child is killed; None for no limit.

        Raises:
            ChildEnded: the child did not answer, and cannot be asked again.
        """
        try:
            _write(self._to, message)
            self._wait(seconds)
            reply = _read(self._from)
            if reply is None:
                raise ChildEnded
            return reply
        except OSError as error:
            self.end()
            raise ChildEnded from error
        except BaseException:
            self.end()  # a reply that nobody waits for would be taken for the next one
            raise

    def _wait(self, seconds: float | None) -> None:
        if seconds is None or sys.platform == "win32":
            return
        if not select.select([self._from], [], [], seconds)[0]:
            raise ChildEnded(out_of_time=True)

    def end(self) -> None:
        """Ends the child; a second call does nothing."""
        _running.discard(self)
        self._process.kill()
        for stream in (self._to, self._from):
            with contextlib.suppress(OSError):
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)


_running: set[Child] = set()
_idle: list[Child] = []
_lock = threading.Lock()


def take(module: str) -> Child:
    """Returns a child that runs the module: a waiting one, or a new one."""
    with _lock:
        for child in _idle:
            if child.module == module:
                _idle.remove(child)
                if child.alive:
                    return child
                child.end()
                break
    return Child(module)


def give_back(child: Child) -> None:
    """Keeps a child for the next caller, or ends it when enough children wait."""
    with _lock:
        if child.alive and len(_idle) < _KEPT_IDLE:
            _idle.append(child)
            return
    child.end()


@atexit.register
def _end_all() -> None:
    for child in list(_running):
        child.end()


def _read(stream: IO[bytes]) -> bytes | None:
    """The next message of a stream; None at its end."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    return body if len(body) == size else None


def _write(stream: IO[bytes], message: bytes) -> None:
    """Writes a message to a stream."""
    stream.write(len(message).to_bytes(_LENGTH, "big"))
    stream.write(message)
    stream.flush()


class Messages:
    """The child's side: its standard input and output as messages. Anything else that is printed
    there is dropped.
    """

    def __init__(self) -> None:
        self._in, self._out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1):
            os.dup2(nowhere, descriptor)

    def __iter__(self) -> Iterator[bytes]:
        while (message := _read(self._in)) is not None:
            yield message

    def reply(self, message: bytes) -> None:
        """Answers the last message."""
        _write(self._out, message)


@contextlib.contextmanager
def limited(memory_bytes: float, seconds: float, held: int = 0) -> Iterator[None]:
    """A `with` block in which this process may take only that much more memory (bytes) and
    processor time (seconds); `held` are bytes of the memory that it has already.

    The kernel refuses more memory (`MemoryError`), and ends the process when its time is over. On a
    system without such limits, nothing is limited.
    """
    try:
        import resource
    except ImportError:
        yield
        return
    before = {}
    used, size = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]), address_space()
    wanted = {resource.RLIMIT_CPU: used + seconds + 1}
    if size:
        wanted[resource.RLIMIT_AS] = size - held + memory_bytes
    for kind, value in wanted.items():
        _, hard = before[kind] = resource.getrlimit(kind)
        if value < float("inf"):
            most = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(kind, (most, hard))
    try:
        yield
    finally:
        for kind, limits in before.items():
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(kind, limits)


def address_space(process: int | None = None) -> int:
    """The bytes of address space of a process, this one when left out; 0 when the system does not
    say.
    """
    try:
        text = Path(f"/proc/{process or 'self'}/statm").read_text(encoding="ascii")
    except OSError:
        return 0
    return int(text.split()[0]) * os.sysconf("SC_PAGE_SIZE")
