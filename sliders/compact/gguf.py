"""The description of a model in the head of its GGUF file."""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from sliders.errors import ModelUnavailable

_FORMATS = "BbHhIif?"
"""The formats of plain values, in the order of their type numbers; 8 is a text, 9 a list."""
_TEXT, _LIST, _LONG = 8, 9, {10: "Q", 11: "q", 12: "d"}
_PROBED = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelHead:
    """A model by the head of its file: `parameters` counts its weights, `context_tokens` is the
    window that it was trained for (0 when the file does not say), `identity` changes with the file.
    """

    name: str
    parameters: int
    context_tokens: int
    identity: str


@cache
def model_head(path: Path) -> ModelHead:
    """Reads the head of a model file.

    Raises:
        ModelUnavailable: there is no such file, or it is no GGUF file.
    """
    try:
        with path.open("rb") as file:
            return _head(file, path)
    except OSError as error:
        raise ModelUnavailable(
            f"the model file {path} cannot be read ({error.strerror}); correct --model, or fetch "
            "one with: sliders model pull URL --sha256 HASH"
        ) from error
    except (struct.error, UnicodeDecodeError, IndexError, MemoryError, OverflowError) as error:
        raise ModelUnavailable(
            f"{path} is no GGUF file, or it is cut off; fetch it again, or name another one"
        ) from error


def _head(file: BinaryIO, path: Path) -> ModelHead:
    if file.read(4) != b"GGUF":
        raise ModelUnavailable(f"{path} is no GGUF file; name one, or a model of a server")
    _, tensors, members = struct.unpack("<IQQ", _exactly(file, 20))
    told = {_text(file): _value(file, _number(file, "I")) for _ in range(members)}
    parameters = 0
    for _ in range(tensors):
        _text(file)
        sizes = [_number(file, "Q") for _ in range(_number(file, "I"))]
        parameters += math.prod(sizes)
        _exactly(file, 12)  # its kind and its place
    context = told.get(f"{told.get('general.architecture')}.context_length", 0)
    file.seek(0)
    size = path.stat().st_size
    probe = hashlib.sha256(f"{size} ".encode() + file.read(_PROBED))
    file.seek(max(0, size - _PROBED))
    probe.update(file.read())
    return ModelHead(path.stem, parameters, int(context), probe.hexdigest()[:16])


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return _text(file)
    if kind == _LIST:
        inner, count = _number(file, "I"), _number(file, "Q")
        for _ in range(count):  # vocabularies: nobody asks for them
            _value(file, inner)
        return None
    return _number(file, _LONG.get(kind) or _FORMATS[kind])


def _text(file: BinaryIO) -> str:
    return _exactly(file, _number(file, "Q")).decode("utf-8", "replace")


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(f"<{form}", _exactly(file, struct.calcsize(form)))[0]


def _exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise struct.error("the file ends early")
    return data
