"""Documents: files become text with pages, headings and tables whose rows can be read alone."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
