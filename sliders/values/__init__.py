"""Printed words to typed values: folding, numbers, dates, units, names. No list of natural-language
words stands elsewhere.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
