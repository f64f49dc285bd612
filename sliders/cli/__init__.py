"""The command line: one command for each verb of the API. Its names are imported when they are
first used.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
