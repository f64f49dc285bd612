"""A grammar for servers of the llama.cpp family that forbids optional white space in JSON.

Asked for a JSON schema, such a server lets the model indent; measured on one nine-field object 101 generated tokens
against 73 for the same values written compactly, and 115 against 77 for a list of one such object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# A grammar alone bends the model: it wants to start a new line, and takes `[]` when it may not. Told so, it writes
# the rows (3 of 3 documents, against 0 of 3), and leaves the list empty where there are none.
COMPACT_NOTE = "Reply with compact JSON on one line, without spaces."


def compact_grammar(json_schema: Mapping[str, Any]) -> str:
    """The schema as a grammar in the server's `grammar` field (llguidance), members in the schema's order."""
    separators = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
    return "%llguidance {}\nstart: %json " + json.dumps({**json_schema, "x-guidance": separators})
