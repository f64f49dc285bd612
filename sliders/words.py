"""Forms of words that every room shares: folding, names, number words, months, scales and currencies. Parses nothing."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

# Folding: forms under which printed words are compared. What is stored and shown stays as printed.

_NOT_WORD = re.compile(r"[\W_]+")
_SIGN = re.compile(r"[+#<>≤≥-]")
_NOT_WORD_OR_SIGN = re.compile(
    r"(?<=\w)(?:\s*([+#-]+)(?=\W*$)|([+#-]+)(?![\w+#-]))|(^-|[<>≤≥])\s?(?=\d)|(?:(?![<>≤≥]\s?\d)[\W_])+"
)
_MINUS = str.maketrans(dict.fromkeys("‐‑‒–−﹣－", "-"))
_APOSTROPHE = re.compile(r"(?<=\w)['’`´](?=s\b|\w)")
_DOTTED = re.compile(r"\b(?:\w\.){2,}")
LEGAL_FORMS = frozenset(
    """inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh ag sa sas sarl spa srl bv nv ab as
    oy kk pty pte kg se sdn bhd""".split()
)
"""They say how a company is registered, not which one it is."""
STOPWORDS = frozenset("the a an of and for in on at to by de la le der die das und et y e".split())


def unaccented(text: str) -> str:
    """Lower case without accents: "Août" becomes "aout"; marks stay, the length may change."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()


@lru_cache(maxsize=1 << 17)
def fold(text: str) -> str:
    """Case, accents, punctuation and white space aside; text without any letter or digit is kept, stripped."""
    return _NOT_WORD.sub(" ", _plain(text)).strip() or text.strip()


@lru_cache(maxsize=1 << 17)
def signed(text: str) -> str:
    """`fold`, but for a sign that ends a word or stands before a number: "A+", "A-", "C#" and "<5" are not "a", "c" and "5".

    It is the form under which two values are equal.
    """
    plain = _plain(text).translate(_MINUS).strip()
    if _SIGN.search(plain) is None:
        return fold(text)
    return _NOT_WORD_OR_SIGN.sub(lambda m: "".join(filter(None, m.groups())) or " ", plain).strip() or text.strip()


def _plain(text: str) -> str:
    plain = unaccented(text).replace("&", " and ")
    if "." in plain:
        plain = _DOTTED.sub(lambda m: m.group().replace(".", ""), plain)
    return _APOSTROPHE.sub("", plain)


def _telling(text: str) -> list[str]:
    """Folded tokens with their signs, without articles; what ends a name is none ("Company A")."""
    tokens = signed(text).split()
    return [t for t in tokens[:-1] if t not in STOPWORDS] + tokens[-1:]


def name_tokens(text: str) -> tuple[str, ...]:
    """Folded tokens without articles and, at the end, without legal forms; never empty for a text with a token."""
    tokens = _telling(text)
    end = len(tokens)
    while end > 1 and tokens[end - 1] in LEGAL_FORMS:
        end -= 1
    return tuple(tokens[:end])


_SAME_FORM = {"incorporated": "inc", "corporation": "corp", "company": "co", "limited": "ltd"}


def legal_form(text: str) -> str:
    """The legal forms that a name ends with, in short ("ltd"), "" for none: Moss Ltd and Moss Inc are two companies."""
    tokens = _telling(text)
    return " ".join(_SAME_FORM.get(t, t) for t in tokens[len(name_tokens(text)) :])


def name_key(text: str) -> str:
    """Name tokens in their order: equal for "Acme, Inc." and "ACME", not for "Bank of China" and "China Bank"."""
    return " ".join(name_tokens(text))


def turned(text: str) -> str:
    """A name that its one comma turned around, in the usual order: "Jane Doe" for "Doe, Jane"; "" where none did.

    What a number or only a legal form follows or precedes is no such name.
    """
    parts = text.split(",")
    words = [set(signed(part).split()) for part in parts]
    if len(parts) != 2 or not all(w - LEGAL_FORMS - STOPWORDS and all(map(str.isalpha, w)) for w in words):
        return ""
    return f"{parts[1].strip()} {parts[0].strip()}"


# Normal form: text in a form that forgives how it was typeset, with the way back to its characters.

_DASHES = "‐‑‒–—―−﹣－"
_QUOTES = '‘’‚‛“”„‟«»‹›`´′″"'
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_MAP = {**dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_QUOTES, "'"), **dict.fromkeys(_INVISIBLE, "")}
_ODD = re.compile(
    r"(?P<hyphen>(?<=[^\W\d_])[-\u2010]\s*\n\s*(?=[^\W\d_]))|\\(?=\|)|(?P<space>\s{2,}|[^\S ])|(?P<other>[^\x00-\x7f]+|[\"`])"
)


@dataclass(frozen=True, slots=True)
class Normalized:
    """`text` in normal form. Character `i` of it stands at `origin(i)` of the text that it was made from."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[int, ...]
    _advances: tuple[bool, ...]

    def origin(self, index: int) -> int:
        """Where the character at `index` starts in the original text."""
        piece = bisect_right(self._starts, index) - 1
        return self._origins[piece] + (index - self._starts[piece] if self._advances[piece] else 0)


def normalize(text: str) -> Normalized:
    """Lower case, single blanks, plain quotes, dashes and bars, no accents (NFKD), no soft hyphens, lines' hyphens joined."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    advances: list[bool] = []
    length = 0

    def put(piece: str, origin: int, advance: bool) -> None:
        nonlocal length
        if piece:
            pieces.append(piece)
            starts.append(length)
            origins.append(origin)
            advances.append(advance)
            length += len(piece)

    position = 0
    for match in _ODD.finditer(text):
        put(text[position : match.start()].lower(), position, True)
        position = match.end()
        if match["space"]:
            put(" ", match.start(), False)
        elif match["other"]:
            _put_characters(match[0], match.start(), put)
    put(text[position:].lower(), position, True)
    if not starts:
        return Normalized("", (0,), (0,), (True,))
    return Normalized("".join(pieces), tuple(starts), tuple(origins), tuple(advances))


def _put_characters(run: str, start: int, put: Callable[[str, int, bool], None]) -> None:
    for index, char in enumerate(run):
        put(normal_character(char), start + index, False)


@lru_cache(maxsize=4096)
def normal_character(char: str) -> str:
    """One character in normal form: "É" is "e", "ﬁ" is "fi", "–" is "-", a soft hyphen is nothing."""
    if char in _MAP:
        return _MAP[char]
    return "".join(_MAP.get(part, part) for part in unaccented(char))


# Number words (English).

UNITS: dict[str, int] = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
TENS: dict[str, int] = {
    word: 10 * (index + 2) for index, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
} | {"fourty": 40}
POWERS: dict[str, int] = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
GROUPS: dict[str, int] = {"dozen": 12, "pair": 2}
_UNIT_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth".split()
)
ORDINALS: dict[str, int] = (
    {word: value for value, word in enumerate(_UNIT_ORDINALS)}
    | {word[:-1] + "ieth": value for word, value in TENS.items()}
    | {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
)
DAYS: dict[str, int] = {
    word: value for word, value in ORDINALS.items() if 0 < value <= 31
} | {f"{tens}-{unit}": 10 * count + value for count, tens in ((2, "twenty"), (3, "thirty"))
     for value, unit in enumerate(_UNIT_ORDINALS[:10]) if 0 < value <= (9 if count == 2 else 1)}  # fmt: skip
"""Days of a month in words ("twenty-first")."""
ZERO_WORDS = frozenset("no none nil nobody nothing kein keine keiner aucun aucune ningun ninguna".split())
"""They state the number 0, folded."""
IMPLIED: dict[str, int] = {
    **dict.fromkeys(ZERO_WORDS, 0),
    **dict.fromkeys("a an single sole once ein eine einer un une uno una".split(), 1),
    **dict.fromkeys("both twice couple beide deux dos".split(), 2),
}
"""Words that carry a small number without being one, folded; enough to bear a value out, too little to read one."""

MONTHS: dict[str, int] = {}
"""Month names and abbreviations, English, German, French and Spanish, without accents."""
for _names in (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janner feber maerz apr mai jun jul aug sept okt nov dez",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "janv fevr mars avr mai juin juil aout sept oct nov dec",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "ene febr mzo abr mayo juny jul ago set oct nov dic",
):
    for _number, _name in enumerate(_names.split(), start=1):
        MONTHS.setdefault(_name, _number)

SCALES: dict[str, int] = {
    "hundreds": 10**2, "thousands": 10**3, "lakhs": 10**5, "millions": 10**6, "crores": 10**7, "billions": 10**9,
    "trillions": 10**12,
}  # fmt: skip
"""The canonical names of scales and what they multiply by."""
SCALE_WORDS: dict[str, str] = {
    word: scale
    for scale, words in (
        ("hundreds", "hundred hundreds"),
        ("thousands", "thousand thousands tausend tsd mille milliers mil miles k"),
        ("millions", "million millions mio mln mn mm millionen millones m"),
        ("billions", "billion billions bn bln b mrd mia milliarde milliarden milliard milliards"),
        ("trillions", "trillion trillions tn trn"),
        ("lakhs", "lakh lakhs"),
        ("crores", "crore crores"),
    )
    for word in words.split()
}
"""Words and abbreviations after a number, by the scale that they mean (lower case)."""
SPELLED_SCALES = frozenset(SCALE_WORDS) - set("hundreds mille milliers mil miles k mm m b".split())
"""The scale words that can stand apart from the number; `k`, `m` and `b` must touch it."""

CURRENCY_SYMBOLS: dict[str, str] = dict(
    pair.split("=")
    for pair in (
        "US$=USD A$=AUD AU$=AUD C$=CAD CA$=CAD NZ$=NZD HK$=HKD S$=SGD R$=BRL €=EUR £=GBP ¥=JPY ₹=INR ₩=KRW ₽=RUB ₺=TRY "
        "₫=VND ₱=PHP ฿=THB ₪=ILS ₴=UAH ₦=NGN RM=MYR Rs.=INR Rs=INR Rp=IDR zł=PLN Kč=CZK Fr.=CHF $=$"
    ).split()
)
"""Printed symbol to ISO code. A bare dollar sign stays "$": a score of currencies print it."""
CURRENCY_CODES = frozenset(
    "USD EUR GBP JPY CNY INR CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF RUB TRY BRL MXN ZAR SGD HKD KRW MYR IDR THB PHP VND "
    "ILS AED SAR NGN KES EGP ARS CLP COP TWD RMB UAH RON BGN".split()
)
CURRENCY_NAMES: dict[str, str] = {
    "dollar": "$", "dollars": "$", "us dollars": "USD", "u.s. dollars": "USD", "euro": "EUR", "euros": "EUR",
    "pounds sterling": "GBP", "yen": "JPY", "yuan": "CNY", "rupees": "INR", "ringgit": "MYR", "francs": "CHF",
}  # fmt: skip
DOLLAR_CODES = frozenset("USD AUD CAD NZD HKD SGD TWD".split())
