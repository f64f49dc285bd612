"""Faults of `faults.yaml` and their places in a package: an expression of a function,
wherever its file lies.

Expressions are compared as `ast.unparse` writes them, so a formatter or a move between
files changes nothing.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("faults.yaml")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Fault:
    """One expression of one function that becomes another one; see `faults.yaml`.

    One that `acts` does something beside having a value, before or after.
    """

    name: str
    room: str
    function: str
    before: str
    after: str
    shows: str
    context: str = ""
    acts: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Characters `start` to `end` of a file, and the lines that run when they do."""

    path: Path
    function: str
    start: int
    end: int
    lines: frozenset[int]

    def with_fault(self, after: str) -> str:
        """The file's text with another expression at this place; the file stays as it is.

        Raises:
            SyntaxError: the text does not parse any more.
        """
        text = self.path.read_text(encoding="utf-8")
        text = f"{text[: self.start]}({after}){text[self.end :]}"
        ast.parse(text)
        return text


class FaultNotFound(LookupError):
    """A fault has no place in the package, or several."""


class Package:
    """The functions of all Python files under a folder, by qualified name."""

    def __init__(self, folder: Path) -> None:
        self.functions: dict[str, list[tuple[Path, Function]]] = defaultdict(list)
        self._texts: dict[Path, str] = {}
        for path in sorted(folder.rglob("*.py")):
            self._texts[path] = path.read_text(encoding="utf-8")
            for name, function in functions_of(ast.parse(self._texts[path])):
                self.functions[name].append((path, function))

    def place(self, fault: Fault) -> Place:
        """The one place of a fault.

        Raises:
            FaultNotFound: there is none, or there are several.
        """
        known = self.functions.get(fault.function, [])
        if not known:
            raise FaultNotFound(f"{fault.name}: there is no function {fault.function}")
        wanted = _plain(fault.before)
        places = [
            Place(path, fault.function, *span, _lines(function, node))
            for path, function in known
            if not fault.context
            or any(ast.unparse(node) == _plain(fault.context) for node in own_nodes(function))
            for node in own_nodes(function)
            if isinstance(node, ast.expr) and ast.unparse(node) == wanted
            if (span := _span(self._texts[path], node)) is not None
        ]
        if len(places) != 1:
            raise FaultNotFound(
                f"{fault.name}: {fault.before} stands {len(places)} times in {fault.function}"
            )
        return places[0]


def load(file: Path = FILE) -> list[Fault]:
    """The faults of a file."""
    return [Fault(**line) for line in yaml.safe_load(file.read_text(encoding="utf-8"))]


def functions_of(tree: ast.AST, around: tuple[str, ...] = ()) -> Iterator[tuple[str, Function]]:
    """Every function under a node with its qualified name: classes and outer functions
    before it, points between.
    """
    for child in ast.iter_child_nodes(tree):
        names = around
        if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            names = (*around, child.name)
            if not isinstance(child, ast.ClassDef):
                yield ".".join(names), child
        yield from functions_of(child, names)


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """Expressions and statements of a function, without those of the functions
    and classes inside it.
    """
    waiting: list[ast.AST] = [*ast.iter_child_nodes(function)]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if isinstance(node, (ast.expr, ast.stmt)):
                yield node
            waiting.extend(ast.iter_child_nodes(node))


def _plain(source: str) -> str:
    """An expression or a statement as `ast.unparse` writes it."""
    return ast.unparse(ast.parse(source))


def _lines(function: Function, node: ast.expr) -> frozenset[int]:
    """The lines of an expression, and the first one of the statement that it belongs to."""
    statements = [one for one in own_nodes(function) if isinstance(one, ast.stmt)]
    around = [one.lineno for one in statements if any(inner is node for inner in ast.walk(one))]
    last = node.end_lineno or node.lineno
    return frozenset(range(node.lineno, last + 1)) | frozenset([max(around)] if around else [])


def _span(text: str, node: ast.expr) -> tuple[int, int] | None:
    """Where an expression begins and ends; None inside an f-string, where older
    Pythons count wrongly.
    """
    assert node.end_lineno is not None and node.end_col_offset is not None
    lines = text.split("\n")
    start, end = (
        sum(len(before) + 1 for before in lines[: line - 1])
        + len(lines[line - 1].encode()[:column].decode())
        for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
    )
    try:
        same = _plain(f"({text[start:end]})") == ast.unparse(node)
    except SyntaxError:
        same = False
    return (start, end) if same else None
