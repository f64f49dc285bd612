"""The documents of the kept workspaces, from a harbour town that does not exist."""

from __future__ import annotations

import io
from pathlib import Path

from reportlab.lib.pagesizes import letter
from reportlab.pdfgen import canvas

DEMO = Path(__file__).parents[2] / "demo" / "documents"
_REMARK = "of the clerk, who had nothing to add to the figures of the day and said so."
REMARKS = "\n\n".join(f"Remark {n} {_REMARK}" for n in range(150))
"""Words between two parts of a document, so many that these are read apart."""

WORKS = {
    "works_2021.md": """# Works of the year 2021

| Part | Firm | Cost | Finished |
| --- | --- | --- | --- |
| Railing | Holt & Sons | 14,500 | 3 May 2021 |
| Deck | Ostrander Works | 82,000 | 17 June 2021 |
| Lamps | Holt and Sons | 6,250 | 30 June 2021 |
| Drain | Ostrander Wks. | 3,100 | 2 July 2021 |
| Sundry | Pike | 9,900 | 9 July 2021 |
| Paint | Holt & Sons | 11,000 | 20 August 2021 |
""",
    "works_2022.txt": f"""Works of the year 2022

part: Railing; firm: Holt & Sons; cost: 15,000; finished: 4 May 2022; state: the work is done
part: Steps; firm: Ostrander Works; cost: more than 12,000; finished: 03/04/2022; \
state: done, it seems
part: Gate; firm: Pike; cost: 7,700 perhaps; finished: soon; state: nobody has begun

{REMARKS}

part: Railing; firm: Holt & Sons; cost: 15,800; finished: 4 May 2022
part: Arch; firm: unnamed; cost: 2 times 150; finished: 12 October 2022
""",
    "works_2023.txt": """Works of the year 2023

part: Cable; firm: OW; cost: about 40,000; finished: 5 March 2023; state: the work is done
part: Pier; firm: Pike; cost: between 9,000 and 10,000; finished: 8 March 2023; \
state: nobody has begun
part: Deck; firm: Holt and Sons; cost: 82,000; finished: 17 June 2023
""",
}
BERTHS = {
    "berths_east.txt": """Berths in the east harbour

berth: A1; ship: Merrow; fee: 120
berth: A2; ship: Tern; fee: 95
berth: A1; ship: Merrow; fee: 120
""",
    "berths_west.txt": """Berths in the west harbour

berth: B1; ship: Auk; fee: 80
berth: A2; ship: Tern; fee: 95
""",
}
BRIDGES = {
    "garrow.txt": """Garrow Bridge

Garrow Bridge was opened on 12 May 2003. It is 75 metres long. It cost 2.2 million euros to build.
""",
    "garrow_again.txt": """The bridges of the east: Garrow Bridge

Garrow Bridge was opened on 12 May 2003. It is 75 metres long. It cost 2.4 million euros to build.
""",
    "hollin.txt": """Hollin Bridge

Hollin Bridge was opened on 7 April 1979. It is more than 300 metres long. \
It cost 900 thousand euros to build.
""",
}
BRACKWATER = """# Brackwater Viaduct

Completion report of the Varnholm bridge office, second edition.

Brackwater Viaduct carries the tramway over the salt marsh. It was opened on 2 September 1998 \
and is 150 metres long.
The builder, Ostrander Works, was paid 2,950,000 euros for building it.
"""
_DULL = (
    "The weather was dull that week and nobody came to see it. "
    "A long road leads past the mill to the harbour. "
    "Some said that the old path would be closed again in spring. "
    "Music was heard from the square until late."
)
_KEEPERS = ("Anna Berg", "Piet Maas", "Ida Lund", "Jon Falk", "Mia Storm", "Olaf Rask")
LOCKS = {
    f"lock_{number}.txt": f"Lock number {number} of the canal\n\n{_DULL}\n\n"
    f"The keeper is {keeper}.\n\n{_DULL}\n\n"
    f"The chamber is {number + 2} metres deep.\n\n{_DULL}\n"
    for number, keeper in enumerate(_KEEPERS, 1)
}
_MARKS = (2, 30, 4, 33, 14, 29, 20, 31)
REVIEWS = {
    f"review_{number}.txt": f"Review {number} of the harbour inn. It gets the mark {mark}. "
    f"It costs {number + 10} euros. "
    f"The cook is {'Holt & Sons' if number % 2 else 'Holt and Sons'}.\n"
    for number, mark in enumerate(_MARKS, 1)
}


def survey() -> bytes:
    """A PDF of two pages, a bridge on the second."""
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer, pagesize=letter, invariant=True)
    for lines in (
        [
            "Survey of the year 2020",
            "It was done in the dry weeks of summer.",
            "Nothing was found on the first page.",
        ],
        [
            "Inver Bridge",
            "Inver Bridge was opened on 1 March 1965.",
            "It is 55 metres long. It cost 410 thousand euros.",
        ],
    ):
        for number, line in enumerate(lines):
            drawing.setFont("Times-Roman", 11)
            drawing.drawString(72, letter[1] - 72 - 24 * number, line)
        drawing.showPage()
    drawing.save()
    return buffer.getvalue()


def put(folder: Path) -> Path:
    """Write all documents into a folder; the folder."""
    folder.mkdir()
    for path in sorted(DEMO.iterdir()):
        (folder / path.name).write_bytes(path.read_bytes())
    for name, text in (WORKS | BERTHS | BRIDGES | LOCKS).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "survey.pdf").write_bytes(survey())
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.4 and no more")
    (folder / "old_minutes.doc").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600)
    return folder
