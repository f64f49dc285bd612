"""The documents of the engine's measurements: real judgments up to a number of tokens,
and small made-up ones.
"""

from __future__ import annotations

import random
import tarfile
from collections.abc import Iterator
from pathlib import Path

CHARACTERS_PER_TOKEN = 4
_ARCHIVE = "docs.tar.xz"
_SET = "scale_fca"
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo")
_WORDS = (
    "the of and to in that was for on are with they this have from one had word but not what all "
    "were when your can said there use each which she how their will other about out many then "
    "them these some her would make like him into time has look two more write see number way "
    "could people than first water been call who oil now find long down day did"
).split()


def unpacked(evals: Path, folder: Path) -> Path:
    """The folder with the judgments as text files, unpacked once.

    Args:
        evals: folder that holds the set (or the set's own folder).
        folder: where to unpack.

    Raises:
        FileNotFoundError: the archive is not there.
    """
    archive = next((p for p in (evals / _SET / _ARCHIVE, evals / _ARCHIVE) if p.exists()), None)
    if archive is None:
        raise FileNotFoundError(f"{evals} holds no {_SET}/{_ARCHIVE}; give its folder with --evals")
    done = folder / "unpacked"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        done.touch()
    return folder


def files_of(folder: Path, tokens: int) -> list[Path]:
    """The first files by name that hold about so many tokens together (characters / 4)."""
    chosen: list[Path] = []
    room = tokens * CHARACTERS_PER_TOKEN
    for path in sorted(folder.rglob("*.txt")):
        if room <= 0:
            break
        chosen.append(path)
        room -= path.stat().st_size
    return chosen


def made_up(count: int, words: int = 700, seed: int = 0) -> Iterator[str]:
    """Texts of one chunk (about 4,000 characters), each different, with a name and
    a date near the end.
    """
    draw = random.Random(seed)
    for number in range(count):
        said = " ".join(
            ". ".join(
                " ".join(draw.choices(_WORDS, k=14)).capitalize() for _ in range(words // 14)
            ).split()
        )
        name = " ".join("".join(draw.choices(_SYLLABLES, k=3)).title() for _ in range(2))
        day = f"{draw.randint(1, 28)} March {draw.randint(1990, 2020)}"
        yield (
            f"Record {number}\n\n{said}.\n\nIt was signed by {name} on {day} in the "
            "presence of all."
        )
