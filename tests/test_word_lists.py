"""Lists of words of a language stand where values are parsed, where the small model is asked, and
in prompts: nowhere else does code know what documents and questions say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "sliders"
ROOMS_OF_WORDS = ("values", "compact")
FOUR = 4
ALLOWED = {
    "audit/page/document_passages.py": "words of the page, which no document holds",
    "child.py": "variables of the environment",
    "documents/guard.py": "tags of HTML and parts of office files",
    "documents/html_file.py": "tags and styles of HTML",
    "documents/html_tables.py": "tags of HTML",
    "documents/letters.py": "codes of languages and of the encodings that they are written in",
    "documents/packed.py": "elements of packed formats",
    "documents/partition.py": "kinds of element of the library that reads files",
    "documents/pdf/reader.py": "endings of files and the maker of a PDF, in its title",
    "hidden.py": "parameters, headers and settings that hold secrets",
    "documents/word_file.py": "elements of Word files",
    "engine/model_check.py": "made-up towns that a model is asked about, and names of checks",
    "llm/completions.py": "marks of thinking in replies, and codes of errors that servers send",
    "llm/retry.py": "messages of servers, which have no other name for these errors",
    "query/cost.py": "operators of SQL",
    "query/parsing.py": "operators of SQL",
    "query/predicates.py": "operators of SQL",
    "reconcile/guard.py": "functions of SQL",
    "reconcile/repairs.py": "reasons of rulings, in words for people",
    "retrieval/lexical.py": "endings of English plurals, which words are searched without",
    "schema/names.py": "reserved words of SQL",
    "settings.py": "how a setting says yes or no, and names of types",
    "sql/wall.py": "types of SQL",
}
"""Modules that hold such a list, with the reason."""
_WORDS = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)*")
_WORD_OF_A_PATTERN = re.compile(r"[^\W\d_]{2,}")
_MARKS_OF_A_PATTERN = re.compile(r"\\[A-Za-z]|\(\?[a-zA-Z]+\)|\(\?P<\w+>")


@cache
def _modules() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(SOURCES)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCES.rglob("*.py"))
    }


def _named(node: ast.AST) -> Iterator[str]:
    """The names that a piece of code gives or uses: of attributes, parameters, fields, functions,
    classes and the values of a literal type.
    """
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.arg | ast.keyword) and node.arg:
        yield node.arg
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
        yield from _strings(ast.walk(node.slice))


@cache
def _own_names() -> frozenset[str]:
    """Words that code uses as names are no words of a language."""
    return frozenset(
        name for tree in _modules().values() for node in ast.walk(tree) for name in _named(node)
    )


def _strings(nodes: object) -> list[str]:
    assert isinstance(nodes, list | Iterator)
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def _lists(node: ast.AST) -> Iterator[set[str]]:
    """The words of a collection, of a text that is split into them, and of a pattern."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        yield set(filter(_WORDS.fullmatch, _strings(node.elts)))
    elif isinstance(node, ast.Dict):
        for side in (node.keys, node.values):
            yield set(filter(_WORDS.fullmatch, _strings(list(side))))
    elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
        pattern = " ".join(_strings(ast.walk(node.args[0])))
        yield set(_WORD_OF_A_PATTERN.findall(_MARKS_OF_A_PATTERN.sub("", pattern)))
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("'.split"):
        assert isinstance(node.func, ast.Attribute)
        yield set(filter(_WORDS.fullmatch, " ".join(_strings(ast.walk(node.func))).split()))


def _words_in(tree: ast.AST) -> list[set[str]]:
    lists = [words - _own_names() for node in ast.walk(tree) for words in _lists(node)]
    return [words for words in lists if len(words) >= FOUR]


def test_lists_of_words_are_seen() -> None:
    for code in (
        "SKIP = frozenset({'appendix', 'chapter', 'glossary', 'foreword'})",
        "SKIP = 'appendix chapter glossary foreword'.split()",
        "SKIP = re.compile(r'\\b(?:appendix|chapters?|glossary|foreword)\\b')",
        "MEANS = {'appendix': 1, 'chapter': 2, 'glossary': 3, 'foreword': 4}",
    ):
        assert _words_in(ast.parse(code)), code


def test_words_of_a_language_stand_with_the_values_and_the_small_model() -> None:
    holding = {
        module
        for module, tree in _modules().items()
        if module.split("/")[0] not in ROOMS_OF_WORDS and _words_in(tree)
    }
    assert holding - set(ALLOWED) == set()
    assert set(ALLOWED) - holding == set(), "no longer needed"
