"""The help texts in the documentation, generated.
`python -m tests.cli.help_blocks docs/command-line.md` (or `make docs`) renews them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path

from sliders.cli import run

_BLOCK = re.compile(r"<!-- help: (?P<words>[^>]*?) -->\n```text\n.*?```\n", re.DOTALL)


def help_text(words: str) -> str:
    """What `sliders WORDS --help` prints on a terminal of 100 columns."""
    before = {name: os.environ.get(name) for name in ("COLUMNS", "TERMINAL_WIDTH")}
    os.environ.update({"COLUMNS": "100", "TERMINAL_WIDTH": "100"})
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run([*words.split()[1:], "--help"])
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    return out.getvalue().strip()


def renewed(text: str) -> str:
    """A page with each block after `<!-- help: sliders ... -->` replaced by
    the present help text.
    """
    return _BLOCK.sub(
        lambda m: f"<!-- help: {m['words']} -->\n```text\n{help_text(m['words'])}\n```\n", text
    )


def commands(text: str) -> list[str]:
    """The commands whose help stands in a page."""
    return [m["words"] for m in _BLOCK.finditer(text)]


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
