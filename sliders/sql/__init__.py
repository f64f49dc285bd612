"""SQL statements: the parser, quoting, translation between dialects, and the sandbox that runs
statements of models and users. This room knows nothing of the workspace.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
