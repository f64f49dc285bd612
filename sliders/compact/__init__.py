"""The compact dialect, in which small models are asked, and the embedded model with its server and
its file.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
