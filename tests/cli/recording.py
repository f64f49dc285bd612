"""`python -m tests.cli.recording`: the recording that README shows, `docs/recording.svg`. Its lines
are those of the tutorial, which a test runs and compares with what the commands print.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from tests.cli.test_tutorial import PAGES, shown

RECORDING = Path(__file__).parents[2] / "docs" / "recording.svg"
_COMMANDS = ("sliders add inv", "sliders ask", "sliders query", "sliders set-value")
_MOST = 24
_LINE, _EDGE, _WIDTH = 19, 16, 900


def lines() -> list[tuple[float, str]]:
    """The lines of a few commands of the tutorial, each with the second at which it appears."""
    told: list[tuple[float, str]] = []
    second = 0.0
    for command, output in shown(PAGES[0]):
        if command.startswith(_COMMANDS) and len(told) + len(output) < _MOST:
            second += 1.2
            told.append((second, "$ " + " ".join(command.split())))
            second += 0.8
            told += [(second, line) for line in output if line.strip()]
    return told


def _kind(line: str) -> str:
    return "typed" if line.startswith("$ ") else "said"


def drawn() -> str:
    """The recording as SVG; a line appears at its time, and stays."""
    listed = lines()
    height = 2 * _EDGE + _LINE * len(listed)
    texts = [
        f'<text class="{_kind(line)}" x="{_EDGE}" '
        f'y="{_EDGE + 14 + _LINE * number}" style="animation-delay:{at:.1f}s">'
        f"{escape(line[:108])}</text>"
        for number, (at, line) in enumerate(listed)
    ]
    style = (
        "text{font:13px ui-monospace,monospace;white-space:pre;fill:#d6deeb;opacity:0;"
        "animation:show 0s forwards}.typed{fill:#7fdbca}@keyframes show{to{opacity:1}}"
        "@media (prefers-reduced-motion){text{opacity:1;animation:none}}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
            'aria-label="A session of sliders in a terminal">',
            f"<style>{style}</style>",
            f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#011627"/>',
            *texts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    RECORDING.write_text(drawn(), encoding="utf-8")
