"""Statements: one parser, one quoting, one translation of SQL, and one sandbox in which
statements of others run; nothing here knows the workspace.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
