"""A Word file rewritten to the text of the printed page: changes accepted, boxes and notes in their
place, hidden and struck-out text left out, with a warning.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from io import BytesIO
from itertools import count
from typing import Any

from sliders.documents.rewritten import LeftOut, with_parts, write_raised, xml_of

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_MAIN = "word/document.xml"
_TYPES = "[Content_Types].xml"
_WITH_MACROS = b"application/vnd.ms-word.document.macroEnabled.main+xml"
_WITHOUT = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_OFF = ("0", "false", "off", "none")
_GONE = tuple(_W + name for name in ("del", "moveFrom", "delText", "delInstrText"))
_WRAPPERS = tuple(
    _W + name
    for name in ("ins moveTo sdt sdtContent smartTag customXml hyperlink fldSimple dir bdo".split())
)
_PROPERTIES = tuple(
    _W + name for name in ("sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr", "fldData")
)


def rewritten_word(raw: bytes) -> tuple[bytes, list[str], list[str]]:
    """Returns (the file to read, warnings, []) of a .docx; its tables stay in the file.

    Raises:
        KeyError: a part of the file is missing.
        SyntaxError: a part is no XML.
        zipfile.BadZipFile: the file is no zip file, or damaged.
    """
    with zipfile.ZipFile(BytesIO(raw)) as parts:
        if _STRICT in parts.read(_MAIN)[:4000]:
            return raw, [], []  # another vocabulary
        types = parts.read(_TYPES).replace(_WITH_MACROS, _WITHOUT)
        word = _Word(parts)
    word.rewrite()
    from lxml import etree  # type: ignore[import-untyped]

    body = etree.tostring(word.root, xml_declaration=True, encoding="UTF-8", standalone=True)
    return with_parts(raw, {_MAIN: body, _TYPES: types}), word.told(), []


class _Word:
    """The main part of a Word file, and the other parts that are written into it."""

    def __init__(self, parts: zipfile.ZipFile) -> None:
        self._names = set(parts.namelist())
        self._read = parts.read
        self.root = self._part(_MAIN)
        self._left = LeftOut()
        self._hidden_styles = self._styles_with("vanish")
        self._notes = {
            kind: self._note_texts(f"word/{kind}s.xml", kind) for kind in ("footnote", "endnote")
        }
        self._number = count(1)
        self._furniture = list(self._headers_and_footers())
        comments = self._part("word/comments.xml")
        self._comments = 0 if comments is None else len(comments.findall(_W + "comment"))

    def _part(self, name: str) -> Any:
        return xml_of(self._read(name)) if name in self._names else None

    def told(self) -> list[str]:
        """The warnings for the user."""
        told = self._left.warnings()
        if self._comments:
            told.append(f"{self._comments} comments of reviewers were not read")
        return told

    def rewrite(self) -> None:
        """Changes the main part."""
        self._plain(self.root)
        self._place_notes()
        for box in list(self.root.iter(_W + "txbxContent"))[::-1]:
            _place_box(box)
        body = self.root.find(_W + "body")
        end = next((n for n, child in enumerate(body) if child.tag == _W + "sectPr"), len(body))
        for paragraph in reversed(self._furniture):
            body.insert(end, paragraph)

    def _plain(self, root: Any) -> None:
        for choice in list(root.iter(_MC + "AlternateContent")):
            _keep_choice(choice)
        _accept_changes(root)
        for element in list(root.iter(*_PROPERTIES)):
            _remove(element)
        for element in list(root.iter(*_WRAPPERS)):
            _unwrap(element)
        for equation in list(root.iter(_M + "oMath")):
            _write_equation(equation)
        self._leave_out(root)
        _write_raised(root)

    def _leave_out(self, root: Any) -> None:
        for run in list(root.iter(_W + "r")):
            why = (
                "hidden text"
                if self._is_hidden(run)
                else "struck-out text"
                if _is_on(run, "strike") or _is_on(run, "dstrike")
                else ""
            )
            if why and run.find(_W + "t") is not None:
                paragraph = next(run.iterancestors(_W + "p"), None)
                self._left.add(why, _words(run))
                _remove(run)
                if paragraph is not None and not _words(paragraph).strip():
                    _drop_if_useless(paragraph)

    def _is_hidden(self, run: Any) -> bool:
        if run.find(f"{_W}rPr/{_W}vanish") is not None:
            return _is_on(run, "vanish")
        paragraph = next(run.iterancestors(_W + "p"), None)
        styles = [run.find(f"{_W}rPr/{_W}rStyle")]
        styles += [paragraph.find(f"{_W}pPr/{_W}pStyle")] if paragraph is not None else []
        return any(s is not None and s.get(_W + "val") in self._hidden_styles for s in styles)

    def _styles_with(self, mark: str) -> set[str]:
        root = self._part("word/styles.xml")
        styles = [] if root is None else root.findall(_W + "style")
        return {style.get(_W + "styleId", "") for style in styles if _is_on(style, mark)}

    def _note_texts(self, part: str, kind: str) -> dict[str, str]:
        root = self._part(part)
        if root is None:
            return {}
        self._plain(root)
        return {
            note.get(_W + "id", ""): " ".join(_words(note).split())
            for note in root.iter(_W + kind)
            if note.get(_W + "type", "normal") == "normal"
        }

    def _place_notes(self) -> None:
        """A note's number stands at its mark, its text in a paragraph below the one with
        the mark; below the table, where the mark is in a table.
        """
        last: dict[Any, Any] = {}
        for kind, texts in self._notes.items():
            for mark in list(self.root.iter(f"{_W}{kind}Reference")):
                text = texts.get(mark.get(_W + "id", ""), "")
                if not text:
                    continue
                number = f"[{next(self._number)}]"
                mark.tag = _W + "t"
                mark.text = number
                block = _block_of(mark)
                note = _paragraph(f"{number} {text}")
                last.get(block, block).addnext(note)
                last[block] = note

    def _headers_and_footers(self) -> Iterator[Any]:
        """One paragraph for each header and footer that is printed, whatever section has it."""
        relations = self._part("word/_rels/document.xml.rels")
        targets = {} if relations is None else {r.get("Id"): r.get("Target") for r in relations}
        settings = self._part("word/settings.xml")
        even = settings is not None and settings.find(_W + "evenAndOddHeaders") is not None
        seen: set[str] = set()
        for section in self.root.iter(_W + "sectPr"):
            for reference in section.iterchildren(_W + "headerReference", _W + "footerReference"):
                kind = reference.get(_W + "type")
                if (kind == "first" and section.find(_W + "titlePg") is None) or (
                    kind == "even" and not even
                ):
                    continue
                part = self._part(f"word/{str(targets.get(reference.get(_R + 'id'))).lstrip('/')}")
                if part is None:
                    continue
                self._plain(part)
                for box in list(part.iter(_W + "txbxContent"))[::-1]:
                    _place_box(box)
                words = [" ".join(_words(p).split()) for p in part.iter(_W + "p")]
                text = "\n".join(dict.fromkeys(filter(None, words)))
                if any(map(str.isalpha, text)) and text not in seen:
                    seen.add(text)
                    yield _paragraph(" ".join(text.split("\n")))


def _is_on(element: Any, mark: str) -> bool:
    found = element.find(f"{_W}rPr/{_W}{mark}")
    return found is not None and found.get(_W + "val", "1").lower() not in _OFF


def _words(element: Any) -> str:
    """The text of a part, tabs and line breaks as blanks."""
    pieces = []
    for node in element.iter(_W + "t", _W + "tab", _W + "br", _W + "cr", _W + "p"):
        pieces.append(node.text or "" if node.tag == _W + "t" else " ")
    return "".join(pieces)


def _remove(element: Any) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _unwrap(element: Any) -> None:
    """Replaces an element by its content."""
    parent = element.getparent()
    if parent is None:
        return
    place = parent.index(element)
    if element.text and not len(element):  # an element of text alone
        return
    parent[place : place + 1] = list(element)


def _keep_choice(element: Any) -> None:
    kept = next((c for c in element if c.tag == _MC + "Choice"), None)
    if kept is None:
        kept = next((c for c in element if c.tag == _MC + "Fallback"), None)
    if kept is None:
        _remove(element)
        return
    for other in [child for child in element if child is not kept]:
        element.remove(other)
    _unwrap(kept)
    _unwrap(element)


def _accept_changes(root: Any) -> None:
    for row in list(root.iter(_W + "tr")):
        if row.find(f"{_W}trPr/{_W}del") is not None:
            _remove(row)
    for cell in list(root.iter(_W + "tc")):
        if cell.find(f"{_W}tcPr/{_W}cellDel") is not None:
            _remove(cell)
    ended = [
        p
        for p in root.iter(_W + "p")
        if p.find(f"{_W}pPr/{_W}rPr/{_W}del") is not None
        or p.find(f"{_W}pPr/{_W}rPr/{_W}moveFrom") is not None
    ]
    for element in list(root.iter(*_GONE)):
        if element.getparent() is not None and element.getparent().tag != _W + "rPr":
            _remove(element)
    for paragraph in reversed(ended):  # its end was deleted: it goes on in the next
        following = paragraph.getnext()
        if following is None or following.tag != _W + "p":
            continue
        place = int(following.find(_W + "pPr") is not None)
        for run in [child for child in paragraph if child.tag != _W + "pPr"]:
            following.insert(place, run)
            place += 1
        _remove(paragraph)


def _drop_if_useless(paragraph: Any) -> None:
    """Removes a paragraph without words, unless it is the only one of a cell."""
    parent = paragraph.getparent()
    holds = (
        paragraph.find(f".//{_W}drawing") is not None
        or paragraph.find(f".//{_W}sectPr") is not None
    )
    marks = any(
        True
        for _ in paragraph.iter(
            _W + "footnoteReference", _W + "endnoteReference", _W + "txbxContent"
        )
    )
    if parent is not None and not holds and not marks and parent.tag != _W + "tc":
        parent.remove(paragraph)


def _block_of(element: Any) -> Any:
    """The paragraph that an element is in, or the outermost table around it."""
    tables = list(element.iterancestors(_W + "tbl"))
    return tables[-1] if tables else next(element.iterancestors(_W + "p"))


def _place_box(box: Any) -> None:
    """Moves the paragraphs of a text box below the paragraph to which it is anchored."""
    anchor = next(box.iterancestors(_W + "p"), None)
    if anchor is None:
        return
    for block in reversed([child for child in box if child.tag in (_W + "p", _W + "tbl")]):
        anchor.addnext(block)
    frame = next(iter(box.iterancestors(_W + "drawing", _W + "pict", _W + "object")), box)
    if not any(True for other in frame.iter(_W + "txbxContent") if other is not box):
        _remove(frame)
    else:
        _remove(box)


def _paragraph(text: str) -> Any:
    from lxml import etree

    paragraph = etree.Element(_W + "p")
    leaf = etree.SubElement(etree.SubElement(paragraph, _W + "r"), _W + "t")
    leaf.text = text
    leaf.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return paragraph


def _write_equation(equation: Any) -> None:
    """An equation as a run of plain text."""
    run = _paragraph(_linear(equation))[0]
    equation.getparent().replace(equation, run)


def _linear(element: Any) -> str:
    kind = element.tag.removeprefix(_M)
    if kind == "t":
        return element.text or ""
    pieces = {child.tag.removeprefix(_M): _linear(child) for child in element}
    if kind == "f":
        return f"{pieces.get('num', '')}/{pieces.get('den', '')}"
    if kind == "sSup":
        return f"{pieces.get('e', '')}^{pieces.get('sup', '')}"
    return "".join(_linear(child) for child in element)


def _write_raised(root: Any) -> None:
    for paragraph in root.iter(_W + "p"):
        write_raised((leaf, _is_raised(leaf.getparent())) for leaf in paragraph.iter(_W + "t"))


def _is_raised(run: Any) -> bool:
    kind = run.find(f"{_W}rPr/{_W}vertAlign")
    return kind is not None and kind.get(_W + "val") == "superscript"
