"""Fixtures of the documents' tests."""

from __future__ import annotations

import pytest
from document_samples import make_pdf, statement_page


@pytest.fixture
def statement_pdf() -> bytes:
    return make_pdf([statement_page()], right=True, bold=frozenset({"STATEMENT OF INCOME"}))
