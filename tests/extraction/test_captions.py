"""Values of a form with their captions beneath, and how a company is called."""

from __future__ import annotations

import pytest

from sliders.extraction.captions import captioned, captions_in, common_name
from sliders.schema.types import Column

FORM = """
                         HARROW MILLS HOLDING, INC.
                 (Exact name of registrant as specified in its charter)
                 ____________________________________

        Vermont                                      03-1234567
   (State or other jurisdiction of                 (Employer Number)
   incorporation or organization)
      12 Weir Lane, Burlington                       05401
   (Address of registrant's principal offices)     (Zip Code)
"""


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("company", "HARROW MILLS HOLDING, INC."),
        ("company_name", "HARROW MILLS HOLDING, INC."),
        ("state_of_incorporation", "Vermont"),
        ("zip_code", "05401"),
        ("employer_number", "03-1234567"),
    ],
)
def test_the_value_above_a_caption(column: str, value: str) -> None:
    found = captioned(Column(column), captions_in(FORM))
    assert found is not None
    assert FORM[found.start : found.end] == value == found.value


@pytest.mark.parametrize("column", ["auditor", "country", "name_of_auditor"])
def test_what_no_caption_says_is_left_open(column: str) -> None:
    assert captioned(Column(column), captions_in(FORM)) is None


def test_a_caption_on_the_line_of_its_value() -> None:
    text = "Harrow Mills (Exact name of registrant)\n\nVermont  03-12 (State of  (Number) incorporation)\n"
    found = captioned(Column("company"), captions_in(text))
    assert found is not None
    assert found.value == "Harrow Mills"
    state = captioned(Column("state_of_incorporation"), captions_in(text))
    assert state is not None
    assert state.value == "Vermont"


@pytest.mark.parametrize(
    ("printed", "file", "called"),
    [
        ("Harrow Mills, Inc.", "a.txt", "Harrow Mills"),
        ("The Harrow Company", "a.txt", "Harrow"),
        ("Harrow Mills Limited", "HARROW_2019.txt", "Harrow"),
        ("HARROW MILLS CO., LTD.", "harrowmills_2019.pdf", "HARROW MILLS"),
        ("Harrow.com, Inc.", "harrow-2019.md", "Harrow"),
        ("Harrow Mills Limited", "harrow_mills_report_2019.txt", "Harrow Mills"),
        ("Harrowgate Mills", "harrow.txt", "Harrowgate Mills"),
        ("Inc.", "a.txt", "Inc"),
    ],
)
def test_how_a_company_is_called(printed: str, file: str, called: str) -> None:
    start, end = common_name(printed, file)
    assert printed[start:end] == called
