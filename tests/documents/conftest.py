"""Fixtures of the documents' tests."""

from __future__ import annotations

import pytest
from document_samples import make_pdf, statement_page
from hypothesis import settings

# A busy machine is no failure: tests here have no time limit per example.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture
def statement_pdf() -> bytes:
    return make_pdf([statement_page()], right=True, bold=frozenset({"STATEMENT OF INCOME"}))
