"""The engine: the stages of one question, and the work that questions share. Only this room calls
the other rooms.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
