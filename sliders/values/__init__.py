"""Printed words to typed values: folding, numbers, dates, units, names. All lists of
natural-language words stand here.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
