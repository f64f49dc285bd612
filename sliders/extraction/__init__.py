"""Rows out of text: the model is asked for them, code checks them, and every value keeps the place
of its words.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
