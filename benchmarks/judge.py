"""A model that judges free text with a fixed prompt (`judge.md`)."""

from __future__ import annotations

import hashlib
import json
import os
import urllib.request
from dataclasses import dataclass
from pathlib import Path

PROMPT = Path(__file__).with_name("judge.md").read_text(encoding="utf-8")
PROMPT_HASH = hashlib.sha256(PROMPT.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Asks an OpenAI-compatible endpoint; the key comes from `OPENAI_API_KEY`."""

    base_url: str
    model: str
    timeout: float = 120.0

    def __call__(self, question: str, gold: str, answer: str) -> bool:
        """Whether the answer says what gold says.

        Raises:
            OSError: the endpoint cannot be reached.
        """
        prompt = PROMPT.format(question=question, gold=gold, answer=answer)
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": 4,
        }
        request = urllib.request.Request(
            self.base_url.rstrip("/") + "/chat/completions",
            json.dumps(body).encode(),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}",
            },
        )
        with urllib.request.urlopen(request, timeout=self.timeout) as reply:
            said = json.load(reply)["choices"][0]["message"]["content"]
        return str(said).strip().upper().startswith("RIGHT")
