"""Messages as mail programs write them."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest
from document_samples import read_file

from sliders import Workspace
from sliders.documents import Document, discover, load_each, load_source


def message(text: str = "", html: str = "", subject: str = "Offer") -> EmailMessage:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = subject, "a@example.org", "b@example.org"
    if text:
        made.set_content(text)
    if html and text:
        made.add_alternative(html, subtype="html")
    elif html:
        made.set_content(html, subtype="html")
    return made


def test_a_page_that_says_more_than_its_plain_text_is_read() -> None:
    document = read_file(
        message("Invoice 5512 is due.", "<p>Invoice 5512 is due: <b>318.40</b>.</p>").as_bytes(),
        "a.eml",
    )
    assert "318.40" in document.text
    assert document.text.count("Invoice 5512") == 1
    assert "says more" in document.warnings[0]


def test_texts_that_say_different_things_are_both_read() -> None:
    document = read_file(
        message("This needs a program for HTML.", "<p>Due: 318.40 EUR.</p>").as_bytes(),
        "a.eml",
    )
    assert "This needs a program" in document.text
    assert "318.40 EUR" in document.text
    assert "different things" in document.warnings[0]


def test_texts_that_say_the_same_are_read_once() -> None:
    document = read_file(message("Due: 12 EUR.", "<p>Due: <i>12</i> EUR.</p>").as_bytes(), "a.eml")
    assert document.text.count("12") == 1
    assert document.warnings == ()


def test_forwarded_messages_are_read_in_their_place() -> None:
    outer = message("See below.")
    outer.add_attachment(message("The inner price is 55 EUR.", subject="Inner"))
    text = read_file(outer.as_bytes(), "a.eml").text
    assert "Subject: Inner" in text
    assert text.index("See below.") < text.index("The inner price is 55 EUR.")


def test_second_texts_are_read() -> None:
    raw = (
        b'Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\n'
        b"First 11.\n--b\nContent-Type: text/plain\n\nSecond 22.\n--b--\n"
    )
    text = read_file(raw, "a.eml").text
    assert "First 11." in text
    assert "Second 22." in text


def test_a_wrong_charset_costs_no_message() -> None:
    head = b"Subject: x\nContent-Transfer-Encoding: 8bit\nContent-Type: text/plain; "
    said = read_file(head + "charset=unknown-8bit\n\nThe café costs 12 EUR.\n".encode(), "a.eml")
    assert "The café costs 12 EUR." in said.text
    wrong = read_file(head + b"charset=utf-8\n\nThe caf\xe9 costs 12 EUR.\n", "a.eml")
    assert "The café costs 12 EUR." in wrong.text
    assert "not UTF-8" in wrong.warnings[0]


def test_attachments_are_documents_that_name_their_mail(tmp_path: Path) -> None:
    mail = message("See the list.")
    mail.add_attachment(b"item,price\nlamp,40\n", "text", "csv", filename="prices.csv")
    mail.add_attachment(b"\x89PNG", "image", "png", filename="logo.ico")
    inner = message("Inner.", subject="Inner")
    inner.add_attachment(b"Costs 7 EUR.", "text", "plain", filename="note.txt")
    mail.add_attachment(inner)
    (tmp_path / "offer.eml").write_bytes(mail.as_bytes())
    sources = discover(tmp_path)
    documents = {source.name: load_source(source) for source in sources}
    assert list(documents) == ["offer.eml", "offer.eml/note.txt", "offer.eml/prices.csv"]
    assert "| lamp | 40 |" in documents["offer.eml/prices.csv"].text
    assert "Attachments: prices.csv, logo.ico, note.txt" in documents["offer.eml"].text
    assert documents["offer.eml"].warnings == ("attachments were not read: logo.ico",)
    assert discover(sources) == sources


@pytest.mark.parametrize("kind", ["message/rfc822", "multipart/mixed"])
def test_messages_without_end_in_one_another_stop_no_folder(kind: str, tmp_path: Path) -> None:
    lines = ["Subject: Outer"]
    for n in range(2000):
        mark = f'; boundary="b{n}"\n\n--b{n}' if kind.startswith("multipart") else "\n"
        lines.append(f"Content-Type: {kind}{mark}")
    (tmp_path / "deep.eml").write_text("\n".join([*lines, "Content-Type: text/plain", "", "Low."]))
    (tmp_path / "z.txt").write_text("The rent is 5 euros.")
    deep, plain = load_each(discover(tmp_path))
    assert isinstance(deep, Document)
    assert "Subject: Outer" in deep.text
    assert any("messages within messages" in line for line in deep.warnings)
    assert isinstance(plain, Document)


def test_attachments_are_new_documents_beside_their_message(tmp_path: Path) -> None:
    for name in ("first", "second"):
        mail = message(f"The {name} list.")
        for kind in ("prices", "places"):
            raw = f"{name} {kind} 5".encode()
            mail.add_attachment(raw, "text", "plain", filename=f"{kind}.txt")
        (tmp_path / f"{name}.eml").write_bytes(mail.as_bytes())
    with Workspace(tmp_path / "w.db") as workspace:
        added = workspace.add(tmp_path)
        assert (len(added.new), added.changed) == (6, ())
        again = workspace.add(tmp_path)
        assert (len(again.same), again.new, again.changed) == (6, (), ())
