"""One ladder from bytes to text for all formats."""

from __future__ import annotations

import pytest
from document_samples import read_file

WORDS = {
    "cp1251": "Отчёт о поставках. Поставщик: Северный завод. Сумма договора составила 4500 рублей.",
    "koi8_r": "Отчёт о поставках. Поставщик: Северный завод. Сумма договора составила 4500 рублей.",
    "cp1250": "Dodavatel: Severní závod, Plzeň. Částka činila 4500 korun. Schůzka je příští úterý.",
    "cp1252": "Le café coûte 12 euros à Orléans, à Besançon et à Évreux.",
    "cp1253": "Η τιμή είναι 45 ευρώ τον μήνα και η παράδοση γίνεται τον Μάρτιο.",
    "shift_jis": "価格は45ユーロです。納期は三月の終わりです。",
    "euc_kr": "가격은 45유로입니다. 배송은 삼월에 합니다.",
}


@pytest.mark.parametrize("encoding", sorted(WORDS))
@pytest.mark.parametrize("suffix", ["txt", "md", "csv", "html"])
def test_an_encoding_that_nothing_names_is_found_by_its_letters(encoding: str, suffix: str) -> None:
    text = f"<p>{WORDS[encoding]}</p>" if suffix == "html" else WORDS[encoding]
    document = read_file(text.encode(encoding), f"a.{suffix}")
    for word in WORDS[encoding].replace(",", " ").split():
        assert word in document.text
    assert "is not UTF-8: it was read as" in document.warnings[0]


@pytest.mark.parametrize("short", ["Zoë pays 5 €", "El año pasado, España", "naïve façade"])
def test_few_letters_are_western(short: str) -> None:
    assert read_file(short.encode("cp1252"), "a.txt").text == short


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="windows-1251">',
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
    ],
)
def test_what_a_page_declares_holds(head: str) -> None:
    page = f"<html><head>{head}</head><body><p>Болт 45</p></body></html>".encode("cp1251")
    document = read_file(page, "a.html")
    assert document.text == "Болт 45"
    assert document.warnings == ()


def test_a_declaration_that_is_wrong_does_not_hold() -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><body>Größe 45 m</body></html>'
    assert read_file(page.encode(), "a.html").text == "Größe 45 m"


def test_one_bad_byte_costs_one_character_and_is_told() -> None:
    text = "Usine du Nord à Besançon, café, 4500 €. "
    document = read_file(text.encode() * 3 + b"\xff end", "a.txt")
    assert document.text.count("Besançon") == 3
    assert document.text.endswith("\ufffd end")
    assert "is UTF-8 but for 1 place" in document.warnings[0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_unicode_of_any_kind(encoding: str) -> None:
    assert (
        read_file("Zoe pays 5 EUR to Ann".encode(encoding), "a.txt").text == "Zoe pays 5 EUR to Ann"
    )
