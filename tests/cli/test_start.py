"""The program starts at once: its version, its help and the tab key load nothing
that only work needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

HEAVY = {
    "aiohttp",
    "httpx",
    "instructor",
    "jinja2",
    "numpy",
    "onnxruntime",
    "openai",
    "pandas",
    "pydantic",
    "rich",
    "sliders.api",
    "sqlalchemy",
    "sqlglot",
}
OF_TYPER = {"pydantic"}
"""What typer itself loads when it reads the words of a command."""


def started(code: str, **environment: str) -> tuple[str, set[str]]:
    """What a fresh interpreter prints when it runs `code`, and the modules that it
    has loaded at its end.
    """
    whole = (
        f"import json, sys\ntry:\n    {code}\nfinally:\n    print(json.dumps(list(sys.modules)), "
        "file=sys.stderr)"
    )
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SLIDERS_", "COV_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", whole],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout, set(json.loads(done.stderr))


def test_heavy_modules_are_those_that_work_loads() -> None:
    assert all(find_spec(name) for name in HEAVY)
    assert {"sliders.api", "numpy", "sqlalchemy"} <= started("from sliders import Workspace")[1]


@pytest.mark.parametrize("module", ["sliders", "sliders.cli"])
def test_an_import_loads_nothing_heavy(module: str) -> None:
    loaded = started(f"import {module}")[1]
    assert module in loaded and loaded & HEAVY == set()


@pytest.mark.parametrize(
    ("word", "said"), [("--version", "sliders 0."), ("--help", "Usage: sliders")]
)
def test_an_option_of_the_program_loads_nothing_heavy(word: str, said: str) -> None:
    told, loaded = started(f"from sliders.cli import run; run([{word!r}])")
    assert told.strip().startswith(said) and loaded & HEAVY - OF_TYPER == set()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("sliders di", {"diff"}),
        ("sliders ask --work", {"--workspace", "--workflow"}),
        (
            "sliders export audit --format ",
            {"sqlite", "csv", "csv-safe", "parquet", "excel", "datasette"},
        ),
        ("sliders mcp --allow", {"--allow-add"}),
        ("sliders model pu", {"pull"}),
    ],
)
def test_the_tab_key_loads_nothing_heavy(words: str, offered: set[str]) -> None:
    place = str(len(words.split(" ")) - 1)
    told, loaded = started(
        "from sliders.cli import run; run([])",
        _SLIDERS_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=place,
    )
    assert set(told.split()) == offered and loaded & HEAVY - OF_TYPER == set()
