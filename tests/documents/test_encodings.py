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


SHORT = {
    "cp1252": (
        "Zoë pays 5 €|El año pasado, España|naïve façade|Zürich;Genève|Malmö;Göteborg|København|"
        "Reykjavík, Þór|20 °C|§ 5 Abs. 2|“quoted” text|Tromsø|½ cup|Åse Ødegård|São Paulo; Brasília"
    ),
    "cp1250": "Kraków;Gdańsk|Příliš žluťoučký kůň|Győr; Székesfehérvár|Škofja Loka, Šmarje",
    "cp1254": "İstanbul|Şirket Adı: Güneş Tekstil",
    "cp1257": "Vilnius, Šiauliai, Panevėžys|Rīga, Jūrmala|Tõnu Õunapuu, Pärnu",
    "iso8859_2": "Łódź, ul. Świętokrzyska|Žďár nad Sázavou",
    "iso8859_15": "Le cœur de Besançon coûte 5 €",
    "cp850": "Größe 45 m²|Año Muñoz",
    "mac_roman": "Résumé du café|niño año",
    "cp1251": "Цена 5 рублей|Київ; Львів",
    "cp866": "Цена 5 рублей, город Москва",
    "cp1253": "Τιμή 5 ευρώ|Αθήνα",
    "cp1255": "מחיר 5 שקלים",
    "cp1256": "السعر 5 دينار",
    "shift_jis": "価格|東京都 5|ソフトウェア,45",
    "euc_jp": "価格は5円です",
    "gb18030": "价格45欧元|北京市,5",
    "big5": "價格45歐元|台北市,5",
    "euc_kr": "가격 45|서울특별시,5",
}


@pytest.mark.parametrize("encoding", sorted(SHORT))
def test_few_letters_are_those_of_words(encoding: str) -> None:
    for short in SHORT[encoding].split("|"):
        assert read_file(short.encode(encoding), "a.txt").text == short


def test_lines_of_two_encodings_are_read_by_both() -> None:
    raw = "Café;5\nNaïve;6\n".encode() + "Müller;7\nPeña;8\n".encode("cp1252")
    document = read_file(raw, "a.csv")
    for row in ("Café | 5", "Naïve | 6", "Müller | 7", "Peña | 8"):
        assert row in document.text
    assert "is UTF-8 but for 2 places, read as Windows-1252" in document.warnings[0]


@pytest.mark.parametrize(
    ("declared", "text"),
    [("iso-8859-15", "5 € für Œuvre"), ("iso-8859-1", "5 € “für”"), ("iso-8859-9", "Iğdır 5 €")],
)
def test_a_declaration_is_read_as_browsers_do(declared: str, text: str) -> None:
    encoding = {"iso-8859-1": "cp1252", "iso-8859-9": "cp1254"}.get(declared, declared)
    page = f'<html><head><meta charset="{declared}"></head><body><p>{text}</p></body></html>'
    assert read_file(page.encode(encoding), "a.html").text == text


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


def test_the_encoding_of_a_file_does_not_depend_on_those_before_it() -> None:
    files = {name: text.encode(name) for name, text in WORDS.items()}
    alone = {name: read_file(raw, "a.txt").text for name, raw in files.items()}
    assert alone == WORDS
    for order in (sorted(files), sorted(files, reverse=True)):
        assert {name: read_file(files[name], "a.txt").text for name in order} == alone
