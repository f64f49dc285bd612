"""HTML rewritten as a browser shows it: containers that `unstructured` would drop become plain
ones, hidden and struck-out text is left out with a warning, raised digits get a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import accumulate
from typing import Any

from sliders.documents.html_tables import bound_spans
from sliders.documents.rewritten import LeftOut, raised

_DECLARATION = re.compile(r"\s*<\?xml[^>]*>")  # lxml refuses it in text
_DEEPEST = 100
_MOST_OPEN = 1_000
"""A parser of HTML gives up near 2,000 open marks, and with it the page."""
_NESTING = re.compile(
    r"<(/?)(?:div|span|font|b|i|u|em|strong|small|big|center|section|article|blockquote|ul|ol|dl|a|"
    r"main|nav|header|footer|aside|form|fieldset|label|button|details|figure|tt|code|q|cite|abbr|"
    r"ins|address)\b[^>]*>",
    re.IGNORECASE,
)
_TABLE = re.compile(r"<(/?)table\b[^>]*>", re.IGNORECASE)
_MOST_TABLES = 100
_TABLE_MARK = re.compile(
    r"</?(?:table|thead|tbody|tfoot|tr|td|th|caption|colgroup|col)\b[^>]*>", re.IGNORECASE
)
_CODE = ("script", "style", "template", "xml")
_BLOCKS = frozenset(
    (
        "main details summary figure figcaption form fieldset legend nav dialog textarea menu svg"
    ).split()
)
_INLINE = frozenset(
    "button label select object audio video iframe canvas noembed noframes datalist".split()
)
_TABLE_PARTS = frozenset("table thead tbody tfoot tr td th caption".split())
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|font-size)\s*:\s*0(?![.\d])",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"text-decoration(?:-line)?\s*:[^;]*line-through", re.IGNORECASE)
_SUPER = re.compile(
    r"vertical-align\s*:\s*(?:super|text-top|\+?0*\.?0*[1-9][\d.]*\s*(?:em|ex|px|pt|rem|%))"
    r"|position\s*:\s*relative\b.*(?<![-\w])(?:top\s*:\s*-|bottom\s*:\s*\+?0*\.?0*[1-9])",
    re.IGNORECASE | re.DOTALL,
)
_NO_NUMBERS = re.compile(r"list-style(?:-type)?\s*:[^;]*\bnone", re.IGNORECASE)
_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        "m cm d cd c xc l xl x ix v iv i".split(),
        strict=True,
    )
)
_MAY_BE_RAISED = frozenset("span a small big font i b u em strong label".split())
_CSS_NOTE = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_GROUP = re.compile(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_CSS_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?([.#][\w-]+)?", re.IGNORECASE)
_VALUES_SHOWN = frozenset(
    (*"text number date email tel url search time month week datetime-local".split(), "")
)


def rewritten_html(text: str) -> tuple[Any, list[str]]:
    """Returns (root of the page, warnings): the page as a browser shows it."""
    from lxml.html import HTMLParser, document_fromstring  # type: ignore[import-untyped]

    parser = HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True)
    text, told = _without_depths(_DECLARATION.sub("", text))
    root = document_fromstring(text, parser=parser)
    told += bound_spans(root)
    left = LeftOut()
    rules = list(_rules(root))
    for element in list(root.iter(*_CODE)):
        element.drop_tree()
    for element in list(root.iter("noscript")):
        _leave_out(element, "text for browsers without scripts", left)
    for element in list(root.iter()):
        if isinstance(element.tag, str) and (why := _why_left_out(element, rules)):
            _leave_out(element, why, left)
    for element in list(root.iter("input", "select", "textarea")):
        _show_value(element)
    for element in list(root.iter("figcaption")):
        _caption_table(element)
    for element in root.iter("ol"):
        if not any(map(_NO_NUMBERS.search, _styles_of(element, rules))):
            _number_items(element)
    for element in list(root.iter()):
        if isinstance(element.tag, str):
            _mark_raised(element, rules)
            _open_up(element)
    _flatten(root)
    return root, [*told, *left.warnings()]


def _without_depths(text: str) -> tuple[str, list[str]]:
    """Returns (page, warnings): the page without marks that are nested so deep that no parser
    follows them.
    """
    told = []
    if _most_open(_TABLE, text) > _MOST_TABLES:
        text = _TABLE_MARK.sub(" ", text)
        told.append(f"tables within more than {_MOST_TABLES} tables were read as text")
    if _most_open(_NESTING, text) > _MOST_OPEN:
        text = _NESTING.sub(" ", text)
    return text, told


def _most_open(mark: re.Pattern[str], text: str) -> int:
    """The largest number of marks of one kind that are open at the same time."""
    marks = (-1 if found[1] else 1 for found in mark.finditer(text))
    return max(accumulate(marks, lambda depth, step: max(depth + step, 0)), default=0)


def _rules(root: Any) -> Iterator[tuple[str, str, str]]:
    """Yields (tag, class or id with its mark, declarations) for each plain rule of the page's
    styles; rules for a medium or a state are ignored.
    """
    for style in root.iter("style"):
        text = _CSS_GROUP.sub("", _CSS_NOTE.sub("", style.text or ""))
        for selectors, declared in _CSS_RULE.findall(text):
            if any(kind.search(declared) for kind in (_HIDDEN, _STRUCK, _SUPER, _NO_NUMBERS)):
                for selector in selectors.split(","):
                    if selector.strip() and (found := _SELECTOR.fullmatch(selector.strip())):
                        yield (found[1] or "").lower(), found[2] or "", declared


def _styles_of(element: Any, rules: list[tuple[str, str, str]]) -> list[str]:
    """The declarations of an element's own style and of the rules that name it."""
    names = {f".{name}" for name in (element.get("class") or "").split()}
    names |= {f"#{element.get('id')}", ""}
    ruled = (d for tag, mark, d in rules if tag in ("", element.tag) and mark in names)
    return [element.get("style") or "", *ruled]


def _why_left_out(element: Any, rules: list[tuple[str, str, str]]) -> str:
    own = _styles_of(element, rules)
    if element.tag in ("html", "body"):
        return ""
    if element.get("hidden") is not None or any(_HIDDEN.search(d) for d in own):
        return "hidden text"
    struck = element.tag in ("del", "s", "strike") or any(_STRUCK.search(d) for d in own)
    return "struck-out text" if struck else ""


def _leave_out(element: Any, why: str, left: LeftOut) -> None:
    if element.getparent() is None:
        return
    left.add(why, " ".join(element.itertext()))
    for child in list(element):
        element.remove(child)  # the warning names them once
    element.drop_tree()


def _show_value(element: Any) -> None:
    """Writes the content of a form's field into the page as text."""
    if element.tag == "input":
        kind, value = (element.get("type") or "").lower(), element.get("value") or ""
        if kind in ("checkbox", "radio"):
            element.text = "[x] " if element.get("checked") is not None else "[ ] "
        elif kind in _VALUES_SHOWN:
            element.text = f" {value} " if value else ""
        element.tag = "span"
    elif element.tag == "select":
        options = list(element.iter("option"))
        words = [
            " ".join(option.text_content().split())
            + (" (selected)" if option.get("selected") is not None else "")
            for option in options
        ]
        if options:
            for child in list(element):
                element.remove(child)
            element.text = f" {', '.join(words)} "


def _number_items(items: Any) -> None:
    """Writes the number that a browser prints before each item of an ordered list into the item's
    text.
    """
    own = items.xpath("./li")
    back = items.get("reversed") is not None
    number = _whole(items.get("start"), len(own) if back else 1)
    for item in own:
        number = _whole(item.get("value"), number)
        place = item
        while not (place.text or "").strip() and len(place) and place[0].tag in ("p", "div"):
            place = place[0]
        place.text = f"{_printed_number(number, items.get('type') or '')}. {place.text or ''}"
        number += -1 if back else 1


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", text) else otherwise


def _printed_number(number: int, kind: str) -> str:
    """A number as a list of a type (1, a, A, i, I) prints it."""
    letters = ""
    if kind in ("a", "A") and number > 0:
        while number > 0:
            number, rest = divmod(number - 1, 26)
            letters = chr(97 + rest) + letters
    elif kind in ("i", "I") and 0 < number < 4000:
        for value, sign in _ROMAN:
            letters += sign * (number // value)
            number %= value
    return (letters.upper() if kind.isupper() else letters) or str(number)


def _caption_table(element: Any) -> None:
    """Makes the caption of a figure that holds one table the caption of the table."""
    tables = element.xpath("./ancestor::figure[1]//table")
    if len(tables) == 1 and tables[0].find("caption") is None:
        tables[0].insert(0, deepcopy(element))
        tables[0][0].tag, tables[0][0].tail = "caption", None
        element.drop_tree()


def _open_up(element: Any) -> None:
    """Renames a container whose words the reader would drop, so that it is read like a
    plain block.
    """
    if element.tag == "title" and element.getparent() is not None:
        if element.getparent().tag != "head":
            element.tag = "span"
    elif element.tag in _BLOCKS:
        element.tag = "div"
    elif element.tag in _INLINE:
        element.tag = "span"


def _mark_raised(element: Any, rules: list[tuple[str, str, str]]) -> None:
    if element.tag != "sup" and not (
        element.tag in _MAY_BE_RAISED and any(map(_SUPER.search, _styles_of(element, rules)))
    ):
        return
    text = "".join(element.itertext())
    written = raised(_before(element), text)
    if written == text:
        return
    if (element.tail or "").lstrip()[:1] in ("/", "⁄"):
        written = f" {text.strip()}"  # 3 and a half
    elif any((link.get("href") or "").startswith("#") for link in element.iter("a")):
        written = f"[{text.strip()}]"
    for child in list(element):
        element.remove(child)
    element.text, element.tag = written, "span"
    element.attrib.pop("style", None)


def _before(element: Any) -> str:
    """The last characters before an element, in the same block."""
    text = ""
    while element is not None and len(text) < 20:
        above = element.getprevious()
        if above is not None:
            text = "".join(above.itertext()) + (above.tail or "") + text
            element = above
            if above.tag in ("br", "p", "div", "td", "th", "tr", "li"):
                break
        else:
            element = element.getparent()
            text = (element.text or "" if element is not None else "") + text
            if element is None or element.tag in ("p", "div", "td", "th", "li", "body"):
                break
    return text[-20:]


def _flatten(root: Any) -> None:
    """Removes the marks, not the words, of markup that is nested too deep for the reader."""
    deep, todo = [], [(root, 0)]
    while todo:
        element, depth = todo.pop()
        if depth > _DEEPEST and element.tag not in _TABLE_PARTS:
            deep.append(element)
        todo.extend((child, depth + 1) for child in element)
    for element in reversed(deep):
        element.tail = " " + (element.tail or "")
        element.drop_tag()
