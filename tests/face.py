"""The public face of the package: all that a user, a script or another program may rely on.

`python -m tests.face` writes it to tests/face.json, and a test compares. A difference is a
line of the changelog.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import typer

import sliders
import sliders.errors
from sliders.cli import app
from sliders.settings import STAGES
from tests.face_shapes import shapes

ROOT = Path(__file__).resolve().parents[1]
STORED = Path(__file__).with_name("face.json")
FACTORY = "<made for each>"


def commands() -> dict[str, list[str]]:
    """Each command with its arguments and options: type, default, environment variable."""
    return dict(_commands(typer.main.get_command(app), "sliders"))


def _commands(command: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    yield path, sorted(map(_parameter, command.params))
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield from _commands(command.get_command(context, name), f"{path} {name}")


def _parameter(parameter: Any) -> str:
    names = " ".join([*parameter.opts, *parameter.secondary_opts])
    told = [f"{parameter.param_type_name} {names}: {_kind(parameter.type_descriptor.annotation)}"]
    for name in ("min", "max", "default", "envvar"):
        value = getattr(parameter, name)
        told += [f"{name} {value}"] if value is not None else []
    told += ["required"] if parameter.required else []
    return ", ".join(told + (["several"] if parameter.multiple or parameter.nargs == -1 else []))


def _kind(annotation: Any) -> str:
    """The name of a type; choices are told one by one."""
    inner = [
        _kind(part) if isinstance(part, type) or get_args(part) else str(part)
        for part in get_args(annotation)
    ]
    named = [part for part in inner if part not in ("NoneType", "None")]
    return "|".join(named) or getattr(annotation, "__name__", str(annotation))


def signatures() -> dict[str, str]:
    """Public names of the package with their parameters, and the public members of its classes."""
    return dict(
        sorted(
            pair for name in sliders.__all__ for pair in _signatures(name, getattr(sliders, name))
        )
    )


def _signatures(name: str, value: Any) -> Iterator[tuple[str, str]]:
    yield name, _parameters(value)
    for member, inner in inspect.getmembers(value) if inspect.isclass(value) else ():
        if not member.startswith("_") and not _is_inherited(value, member):
            yield f"{name}.{member}", "attribute" if not callable(inner) else _parameters(inner)


def _is_inherited(kind: type, member: str) -> bool:
    return not any(
        member in base.__dict__ for base in kind.__mro__ if base.__module__.startswith("sliders")
    )


def _parameters(value: Any) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    told = [
        stars.get(p.kind, "")
        + name
        + ("" if p.default is p.empty else f"={_default(p.default)}")
        + (" (keyword)" if p.kind is p.KEYWORD_ONLY else "")
        for name, p in inspect.signature(value).parameters.items()
    ]
    return f"{'async ' * inspect.iscoroutinefunction(value)}({', '.join(told)})"


def _default(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, (str, int, float, tuple)) else FACTORY


def settings() -> dict[str, list[str]]:
    """Each setting with its default and the environment variable that sets it."""
    fields = [*dataclasses.fields(sliders.Settings), *dataclasses.fields(sliders.Budget)]
    of_stages = [(f"{stage}_model", "the value of model") for stage in STAGES]
    every = [*((field.name, _told_default(field)) for field in fields), *of_stages]
    return {
        name: [f"default {default}", *(f"variable {v}" for v in _variables(name) if _is_read(v))]
        for name, default in every
    }


def _variables(name: str) -> list[str]:
    others = {"api_key": ["OPENAI_API_KEY"], "cache_dir": ["XDG_CACHE_HOME"]}
    return [f"SLIDERS_{name.upper()}", *others.get(name, [])]


def _told_default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    assert field.default_factory is not dataclasses.MISSING
    made = field.default_factory()
    return (
        "a folder of the user"
        if isinstance(made, Path)
        else repr(dict(made) if isinstance(made, Mapping) else made)
    )


def _is_read(variable: str) -> bool:
    """Whether some value of an environment variable makes other settings."""
    given = {"SLIDERS_MODEL": "one", "SLIDERS_EXECUTOR": "ray"}
    for base in ({}, {name: value for name, value in given.items() if name != variable}):
        for value in ("7", "0.5", "true", "compact", "ray", "/folder"):
            try:
                if sliders.Settings.from_env(
                    {**base, variable: value}
                ) != sliders.Settings.from_env(base):
                    return True
            except sliders.errors.SettingsError:
                continue
    return False


def errors() -> dict[str, str]:
    """Each error of the package with the one that it is a kind of."""
    kinds = [
        kind
        for kind in vars(sliders.errors).values()
        if inspect.isclass(kind) and issubclass(kind, Exception)
    ]
    return {kind.__name__: kind.__bases__[0].__name__ for kind in kinds}


def packaging() -> dict[str, Any]:
    """The console scripts, the extras, the versions of Python, and the imports that
    README and notebooks show.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "notebooks").glob("*.py")),
    ]
    shown = "\n".join(path.read_text(encoding="utf-8") for path in texts)
    return {
        "scripts": [f"{name} = {target}" for name, target in project["scripts"].items()],
        "extras": sorted(project["optional-dependencies"]),
        "python": project["requires-python"],
        "imports shown": sorted(
            set(
                re.findall(
                    r"^(?:from sliders\S* import .+|import sliders\S*)$", shown, re.MULTILINE
                )
            )
        ),
    }


def face() -> dict[str, dict[str, Any]]:
    """All of it: sections of entries."""
    with tempfile.TemporaryDirectory() as folder:
        ran = shapes(Path(folder))
    return {
        "command": commands(),
        "signature": signatures(),
        "setting": settings(),
        "error": errors(),
        "package": packaging(),
        **ran,
    }


def differences(before: Mapping[str, Any], today: Mapping[str, Any]) -> list[str]:
    """A line for each thing that is new or gone, each with its section and entry."""
    old, new = set(_lines(before)), set(_lines(today))
    return sorted(
        [f"gone: {line}" for line in old - new] + [f"new:  {line}" for line in new - old],
        key=lambda line: line[6:],
    )


def _lines(face: Mapping[str, Any]) -> Iterator[str]:
    for section, entries in face.items():
        for entry, told in entries.items():
            for one in told if isinstance(told, list) and told else [told]:
                yield f"{section} {entry}: {one if one != [] else '(nothing)'}"


if __name__ == "__main__":
    written = json.dumps(face(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if sys.argv[1:] == ["--print"]:
        print(written)
    else:
        STORED.write_text(written, encoding="utf-8")
