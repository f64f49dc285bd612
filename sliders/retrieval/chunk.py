"""A chunk: a span of one document, with the context that makes it readable alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChunkContext:
    """The facts about the rest of the document that a reader of a chunk needs (SLIDERS:
    contextualized chunking).
    """

    title: str = ""
    heading_path: tuple[str, ...] = ()
    page_from: int | None = None
    page_to: int | None = None
    captions: tuple[str, ...] = ()

    def header(self) -> str:
        """The context as a short text for a prompt: title, headings, captions, and last the head of
        a table that began before the chunk. "" when nothing is known.
        """
        lines = []
        if self.title:
            lines.append(f"Document: {self.title}")
        if self.heading_path:
            lines.append("Section: " + " > ".join(self.heading_path))
        lines.extend(f"Note: {caption}" for caption in self.captions if not caption.startswith("|"))
        lines.extend(caption for caption in self.captions if caption.startswith("|"))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text == document.text[start:end]`; the chunks of a document follow each other
    without gap or overlap.
    """

    id: str
    document_id: str
    position: int
    start: int
    end: int
    text: str
    tokens: int
    context: ChunkContext
    kinds: frozenset[str] = frozenset()
