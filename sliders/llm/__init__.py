"""The model door: requests in, checked replies and usage out."""

from sliders.llm.cache import CachedModel, Call, CallLog, MemoryCallLog
from sliders.llm.client import OpenAIModel
from sliders.llm.connect import ModelSet, connect
from sliders.llm.dialect import COMPACT, FULL, Dialect
from sliders.llm.local import LocalServer, download_bar, local_model
from sliders.llm.model import Message, Model, Request, Response, Usage
from sliders.llm.model_file import EMBEDDED, ModelFile, ensure_model
from sliders.llm.prompts import Prompt, defuse, load_prompt
from sliders.llm.usage import Meter, Price, PriceTable

__all__ = [
    "COMPACT",
    "EMBEDDED",
    "FULL",
    "CachedModel",
    "Call",
    "CallLog",
    "Dialect",
    "LocalServer",
    "MemoryCallLog",
    "Message",
    "Meter",
    "Model",
    "ModelFile",
    "ModelSet",
    "OpenAIModel",
    "Price",
    "PriceTable",
    "Prompt",
    "Request",
    "Response",
    "Usage",
    "connect",
    "defuse",
    "download_bar",
    "ensure_model",
    "load_prompt",
    "local_model",
]
