"""A double that reads the sample documents of the demo by patterns, as a good model would."""

from __future__ import annotations

import re
from typing import Any

from reading_model import filled

from sliders.llm.model import Request
from sliders.llm.testing import FunctionModel

COLUMNS = {"bridge_name": "text", "cost": "number", "year_opened": "integer", "length": "number"}
_PATTERNS = {
    "bridge_name": r"([A-Z]\w+(?: \w+)? (?:Footbridge|Viaduct|Bridge|Br|Crossing)\b|Ferry timetable, winter)",
    "cost": r"([\d.,]+ (?:(?:million|thousand) )?euros|3,120)",
    "year_opened": r"opened.*?((?:19|20)\d\d)",
    "length": r"(\d+ metres)",
}
_SQL = {
    "most": "SELECT bridge_name, cost FROM bridges ORDER BY cost DESC LIMIT 1",
    "after 2000": "SELECT COUNT(*) FROM bridges WHERE year_opened > 2000",
    "average": "SELECT AVG(length) FROM bridges",
}


def _reply(request: Request) -> str | dict[str, Any] | list[Any]:
    text = "\n".join(message.content for message in request.messages)
    if request.json_schema is None:
        question = text.rsplit("Question", 1)[-1]
        return next(sql for words, sql in _SQL.items() if words in question)
    schema = dict(request.json_schema)
    if "columns" in schema["properties"]:
        form = schema["properties"]["columns"]["items"]
        columns = [filled(form, {"name": n, "type": t, "asked": n}) for n, t in COLUMNS.items()]
        return filled(schema, {"columns": columns, "row": "a bridge", "table": "bridges"})
    if "pairs" in schema["properties"]:
        return {"pairs": [{"pair": 1, "verdict": "same"}]}
    document = text.rsplit("<document>", 1)[-1].replace("\n", " ")
    found = {name: re.search(_PATTERNS[name], document) for name in COLUMNS if name in schema["properties"]}
    return filled(schema, {name: match[1] if match else None for name, match in found.items()})


def demo_reader() -> FunctionModel:
    """The double as a model."""
    return FunctionModel(_reply)
