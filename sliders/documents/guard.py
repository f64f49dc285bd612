"""A check against lost text: the words of a raw file, taken out in a simpler way than its reader
does, are compared with the words of its document. A large share of missing words is a warning.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Callable, Iterable

from sliders.documents import sniff
from sliders.documents.decode import declared_encoding, decode
from sliders.documents.document import Document
from sliders.documents.mail import message_of
from sliders.errors import DocumentError

_WORD = re.compile(r"\w+")
_MOST_LOST = 0.02
_MARKS = str.maketrans("", "", "^[]")
_SHOWN = 6
_MOST_LOOKED_FOR = 100
_OFFICE_TEXT = re.compile(
    rb"<(?:\w+:)?t(?:\s[^>]*)?>([^<]*)</(?:\w+:)?t>|(</(?:\w+:)?(?:p|si|is|c|num|e)>|<(?:\w+:)?(?:tab|br)\b)"
)
_MOVED_AWAY = re.compile(rb"<w:moveFrom\b.*?</w:moveFrom>", re.DOTALL)
_OFFICE_PARTS = {
    sniff.DOCX: re.compile(r"word/(?:document|footnotes|endnotes)\.xml"),
    sniff.PPTX: re.compile(r"ppt/(?:slides|notesSlides|charts|diagrams)/(?!drawing)[^/]*\.xml"),
    sniff.XLSX: re.compile(r"xl/(?:sharedStrings|worksheets/sheet[^/]*|drawings/drawing\d*)\.xml"),
}
_GONE = re.compile(r"<(script|style|template|head|xml)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.I)
_INLINE = re.compile(
    r"</?(?:a|b|i|em|strong|span|u|small|big|font|code|mark|ins|wbr|sub|sup)\b[^>]*>", re.I
)
_TAG = re.compile(r"<[^>]*>")
_TARGET = re.compile(r"\]\([^)\n]*\)|^ {0,3}\[[^\]\n]+\]:.*$|^(?:```|~~~).*$", re.MULTILINE)


def guarded(document: Document, raw: bytes) -> tuple[str, ...]:
    """Returns the document's warnings, and one more when too many words of its raw file are not in
    it.
    """
    words_of = _WAYS.get(document.media_type)
    if words_of is None:
        return document.warnings
    told = " ".join(document.warnings)
    plain = document.text.translate(_MARKS)
    kept = _words([document.text, plain, plain.replace("_", " "), told])
    there = _words(words_of(raw, document))
    lost = sorted(word for word in there - kept if not _explained(word, kept, _words([told])))
    if _MOST_LOST * len(there) < len(lost) <= _MOST_LOOKED_FOR:
        low = document.text.lower()
        lost = [word for word in lost if not _apart(word).search(low)]
    if not lost or len(lost) <= _MOST_LOST * len(there):
        return document.warnings
    shown = ", ".join(lost[:_SHOWN]) + (", ..." if len(lost) > _SHOWN else "")
    share = f"{len(lost)} of {len(there)} words of the file are not in what was read: {shown}"
    return (*document.warnings, share)


def _explained(word: str, kept: set[str], told: set[str]) -> bool:
    """True when a word is a word of the document joined with a word that is known to be
    left out.
    """
    return any(piece in word and word.replace(piece, "", 1) in kept for piece in told)


def _apart(word: str) -> re.Pattern[str]:
    """A pattern that finds a word in a document that writes a mark or a blank inside it, as m2 or
    77-4512.
    """
    inside = r"[\s^\[(\u2011-]{0,2}".join(map(re.escape, word))
    return re.compile(rf"(?<!\w){inside}(?!\w)")


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.lower())}


def _office(raw: bytes, document: Document) -> Iterable[str]:
    wanted = _OFFICE_PARTS[document.media_type]
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        for name in parts.namelist():
            if wanted.fullmatch(name):
                content = _MOVED_AWAY.sub(b"", parts.read(name))
                pieces = (m[1] or b" " * bool(m[2]) for m in _OFFICE_TEXT.finditer(content))
                yield html.unescape(b"".join(pieces).decode("utf-8", "replace"))


def _page(text: str) -> str:
    return html.unescape(_TAG.sub(" ", _INLINE.sub("", _GONE.sub(" ", text))))


def _html(raw: bytes, document: Document) -> Iterable[str]:
    yield _page(decode(raw, document.name, declared_encoding(raw))[0])


def _markdown(raw: bytes, document: Document) -> Iterable[str]:
    yield _page(_TARGET.sub("] ", decode(raw, document.name)[0])).replace("_", " ")


def _mail(raw: bytes, document: Document) -> Iterable[str]:
    for part in message_of(raw).walk():
        content = part.get_payload(decode=True)
        if (
            part.get_content_maintype() != "text"
            or part.get_filename()
            or part.get_content_disposition() == "attachment"
            or not isinstance(content, bytes)
        ):
            continue
        try:
            text = decode(content, document.name, str(part.get_content_charset() or ""))[0]
        except DocumentError:  # an empty part
            continue
        yield _page(text) if part.get_content_subtype() == "html" else text


_WAYS: dict[str, Callable[[bytes, Document], Iterable[str]]] = {
    sniff.DOCX: _office,
    sniff.PPTX: _office,
    sniff.XLSX: _office,
    sniff.HTML: _html,
    sniff.MARKDOWN: _markdown,
    sniff.EMAIL: _mail,
}
