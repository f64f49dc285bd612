"""E-mail messages: the text of their parts, forwarded messages in their place, and attachments as
files of their own.
"""

from __future__ import annotations

import email
import email.header
import email.policy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import PurePath
from typing import Any

from sliders.documents import sniff
from sliders.documents.builder import DocumentBuilder
from sliders.documents.decode import decode
from sliders.documents.document import Document
from sliders.documents.html_file import rewritten_html
from sliders.documents.partition import add_html
from sliders.documents.text import add_lines
from sliders.errors import DocumentError

_FIELDS = ("Subject", "From", "To", "Cc", "Date")
_WORD = re.compile(r"\w+")
_LITTLE = 0.1
"""The share of words (0 to 1) that one form of a text may lack and still say the same as another
form.
"""
_DEEPEST = 60
"""Messages and groups of parts within one another that are read."""


class _Part(Message):
    """A message or a part of a message. A part that is nested too deep is handed to the parser as
    one text, since the parser would call itself without end.
    """

    depth = 0

    def attach(self, payload: Any) -> None:
        """Adds a part to this part."""
        payload.depth = self.depth + 1
        super().attach(payload)

    def get_content_type(self) -> str:
        """The media type of the part."""
        return "text/plain" if self.depth > _DEEPEST else super().get_content_type()


def message_of(raw: bytes) -> Message:
    """The message in the bytes of a file. Of messages that are nested too deep only the outer ones
    are taken apart.
    """
    return email.message_from_bytes(raw, _class=_Part, policy=email.policy.compat32)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that a message carries."""

    name: str
    raw: bytes

    @property
    def readable(self) -> bool:
        """True when its extension belongs to a format that is read."""
        return PurePath(self.name).suffix.lower() in sniff.SUFFIXES


def attachments(raw: bytes) -> tuple[Attachment, ...]:
    """Returns the files that a message and those forwarded in it carry, by order."""
    return tuple(_attached(message_of(raw)))


def _attached(message: Message) -> Iterator[Attachment]:
    for part in message.walk():
        if not part.is_multipart() and _is_file(part) and not _is_too_deep(part):
            content = part.get_payload(decode=True)
            name = _header(part.get_filename() or "unnamed").replace("/", "_").replace("\\", "_")
            yield Attachment(name, content if isinstance(content, bytes) else b"")


def _is_too_deep(part: Message) -> bool:
    return isinstance(part, _Part) and part.depth > _DEEPEST


def _is_file(part: Message) -> bool:
    """True when a part is a file, and no text of the message."""
    disposition = part.get_content_disposition()
    if part.get_content_maintype() == "text":
        return disposition == "attachment" or bool(part.get_filename())
    return part.get_content_maintype() not in ("multipart", "message")


def read_email(raw: bytes, name: str) -> Document:
    """Returns the document of a message: its header fields, the text of its bodies, the messages
    that are forwarded in it, and the names of its attachments.

    Raises:
        DocumentError: the bytes are no e-mail message, or no text.
    """
    message = message_of(raw)
    builder = DocumentBuilder()
    _add_message(builder, message, name)
    files = attachments(raw)
    if not any(message[key] for key in _FIELDS) and not builder.filled:
        raise DocumentError(f"{name}: no e-mail message; save it as .eml from the mail program")
    if files:
        builder.add("paragraph", f"Attachments: {', '.join(file.name for file in files)}")
    if unread := [file.name for file in files if not file.readable]:
        builder.warnings.append(f"attachments were not read: {', '.join(unread[:5])}")
    title = _header(message["Subject"] or "")
    return builder.build(name, raw, title=title, media_type=sniff.EMAIL)


def _add_message(builder: DocumentBuilder, message: Message, name: str) -> None:
    fields = [f"{key}: {_header(message[key])}" for key in _FIELDS if message[key]]
    builder.add("paragraph", "\n".join(fields))
    _add_part(builder, message, name)


def _add_part(builder: DocumentBuilder, part: Message, name: str) -> None:
    if _is_too_deep(part):
        builder.warnings.append(f"{name}: messages within messages below {_DEEPEST} were not read")
        return
    kind = part.get_content_type()
    inner: Any = part.get_payload() if part.is_multipart() else []
    if kind == "multipart/alternative":
        _add_alternatives(builder, inner, name)
    elif kind == "message/rfc822":
        for message in inner:
            builder.add("heading", "Forwarded message", level=2)
            _add_message(builder, message, name)
    elif part.is_multipart():
        for each in inner:
            _add_part(builder, each, name)
    elif part.get_content_maintype() in ("text", "message") and not _is_file(part):
        _add_text(builder, part, name)


def _add_alternatives(builder: DocumentBuilder, parts: list[Message], name: str) -> None:
    """Adds one form of a text that the message holds in several forms, when it says all that the
    others say; else every form.
    """
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    pages = [part for part in parts if part.get_content_type() == "text/html"]
    others = [part for part in parts if part not in plain and part not in pages]
    if not plain or not pages:
        for part in parts:
            _add_part(builder, part, name)
        return
    said = _words(_text(plain[0], name, [])), _words(_page_words(_text(pages[0], name, [])))
    if _says_all(said[0], said[1]):
        chosen = plain
    elif _says_all(said[1], said[0]):
        chosen = pages
        builder.warnings.append(
            "the HTML of the message says more than its plain text and was read"
        )
    else:
        chosen = [*plain, *pages]
        builder.warnings.append(
            "the plain text and the HTML of the message say different things: both were read"
        )
    for part in chosen:
        _add_text(builder, part, name)
    for part in others:  # pictures, a calendar, or a part that holds the HTML with its pictures
        _add_part(builder, part, name)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _says_all(words: set[str], other: set[str]) -> bool:
    """True when a set of words has all numbers of another set, and nearly all of its words."""
    missing = other - words
    return len(missing) <= _LITTLE * len(other) and not any(map(str.isdigit, "".join(missing)))


def _page_words(html: str) -> str:
    return " ".join(rewritten_html(html)[0].itertext()) if html.strip() else ""


def _add_text(builder: DocumentBuilder, part: Message, name: str) -> None:
    text = _text(part, name, builder.warnings)
    if text.strip() and part.get_content_subtype() == "html":
        add_html(builder, text, name)
    else:
        add_lines(builder, ["", *text.split("\n")])


def _text(part: Message, name: str, warnings: list[str]) -> str:
    """The text of a part, read by the ladder of all files where its charset is wrong or unknown."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or not content.strip():
        return ""
    text, told = decode(content, f"the text of {name}", str(part.get_content_charset() or ""))
    warnings.extend(told)
    return text.replace("\r\n", "\n")


def _header(value: Any) -> str:
    """A header field with its encoded words read."""
    try:
        decoded = email.header.make_header(email.header.decode_header(str(value)))
        return " ".join(str(decoded).split())
    except (LookupError, UnicodeError, ValueError):
        return " ".join(str(value).encode("utf-8", "replace").decode("utf-8").split())
