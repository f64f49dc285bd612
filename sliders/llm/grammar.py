"""A grammar for servers of the llama.cpp family that forbids optional white space in JSON.

Asked for a JSON schema, such a server lets the model indent; measured on one nine-field object 101 generated tokens
against 73 for the same values written compactly, and 115 against 77 for a list of one such object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def compact_grammar(json_schema: Mapping[str, Any]) -> str:
    """The schema as a grammar in the server's `grammar` field (llguidance), members in the schema's order."""
    separators = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
    return "%llguidance {}\nstart: %json " + json.dumps({**json_schema, "x-guidance": separators})
